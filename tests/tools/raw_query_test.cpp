// SPDX-License-Identifier: MIT
// raw_query_test.cpp - query --class: any class, method and attribute. The MADs that it sends are read from a capture.
#include "program/ibtool_rig.hpp"

#include <nlohmann/json.hpp>

namespace raw_query_test {

using namespace ibtool_rig;
using nlohmann::json;

namespace {

const words fabric{"--fabric", "sim:fattree2,radix=4,sm=1,time=virtual"};

process_result query(const words& arguments) { return run(words{"query"} + arguments + fabric); }
std::string output_of(const words& arguments) {
    const process_result r = query(arguments);
    INFO("stderr: " << r.err); // -vv prints counts there
    CHECK(r.status == 0);
    return r.out;
}

/// Returns the first MAD that a query sends, as hexadecimal digits.
std::string sent_by(const words& arguments) {
    const directory files;
    const std::string capture = files / "all.pcap";
    static_cast<void>(query(arguments + words{"--pcap", capture, "--pcap-keys"}));
    const process_result decoded = run({"decode", "--json", capture});
    std::string all;
    for (const std::string& line : lines_in_order(decoded.out)) {
        const json message = json::parse(line);
        for (const auto& [name, part] : message.items())
            if (part.is_object() && part.contains("method")) return part.dump() + message.value("data", "");
        if (message.contains("data")) return message.dump();
    }
    return all;
}

} // namespace

TEST_CASE("a query with class, method and attribute ID prints what the named RPC prints") {
    CHECK(output_of({"Get", "0x11", "9", "--class", "SubnLID"}) == output_of({"SubnGet", "NodeInfo", "9"}));
    CHECK(output_of({"Get", "0x11", "0,1", "--class", "1"}) == output_of({"SubnGet", "NodeInfo", "0,1"}));
    CHECK(output_of({"Get", "0x11", "0,1", "--class", "0x81", "--json"}) ==
          output_of({"SubnGet", "NodeInfo", "0,1", "--json"}));
    CHECK(output_of({"1", "0x12", "9", "--class", "Performance", "-f", "portSelect=1", "-vv"}) ==
          output_of({"PerformanceGet", "PortCounters", "9", "-f", "portSelect=1", "-vv"}));
    CHECK(output_of({"Get", "PMPortCounters", "9", "--class", "4", "--data", "0x0001"}) ==
          output_of({"PerformanceGet", "PortCounters", "9", "-f", "portSelect=1"}));
    CHECK(output_of({"GetTable", "NodeRecord", "--class", "SubnAdm", "-f", "nodeInfo.nodeType=Switch"}) ==
          output_of({"SubnAdmGetTable", "NodeRecord", "-f", "nodeInfo.nodeType=Switch"}));
    // Component 0 of a NodeRecord is its LID. Without the mask, the SA ignores the data.
    CHECK(output_of({"GetTable", "0x11", "--class", "SubnAdm", "--data", "0009", "--component-mask", "0x1"}) ==
          output_of({"SubnAdmGetTable", "NodeRecord", "-f", "LID=9"}));
    CHECK(output_of({"GetTable", "0x11", "--class", "SubnAdm", "--data", "0009"}) ==
          output_of({"SubnAdmGetTable", "NodeRecord"}));
    CHECK(output_of({"Get", "0x17", "9", "--class", "0x0a"}) == output_of({"VendGet", "MlxGeneralInfo", "9"}));
    CHECK(output_of({"Get", "0x15", "9", "--class", "SubnLID", "--attribute-id", "1"}) ==
          output_of({"SubnGet", "PortInfo", "9", "-a", "1"}));
}

TEST_CASE("a query sends the version, OUI, modifier and data that the options give") {
    const std::string sent = sent_by({"Set", "0xff10", "9", "--class", "0x33", "--class-version", "3", "--oui",
                                      "0x001405", "--data", "0a0b0c", "-a", "0x1234", "--write"});
    CAPTURE(sent);
    // With an unknown version, only the MAD header is decoded.
    CHECK_THAT(sent, Contains("0133"
                              "0302") &&
                         Contains("ff100000"
                                  "00001234"));
    const std::string vendor =
        sent_by({"Get", "0x10", "9", "--class", "0x33", "--oui", "0x001405", "--data", "0a0b0c"});
    CAPTURE(vendor);
    CHECK_THAT(vendor, Contains("\"OUI\":5125") && Contains("0x0a0b0c"));
}

TEST_CASE("a query sends a method other than Get only with --write") {
    const words set{"Set", "0x15", "9", "--class", "SubnLID", "-a", "1", "--data", "00"};
    const process_result r = query(set);
    CHECK(r.status == 2);
    CHECK(r.err == "ibtool: the method 'Set' may change the target; add --write to send it\n");
    CHECK(sent_by(set).empty());
    for (const char* method : {"Send", "0x7f", "Trap", "GetTable"})
        check_failure(query({method, "0x15", "9", "--class", "0x0a"}), 2, "add --write");
    check_failure(query({"Set", "0x15", "9", "--write"}), 2, "--class");
    check_failure(query({"Set", "0x20", "9", "--class", "0x0a", "--write"}), 1, "refused");
}

// ibping sends attribute 0 of this class, which has no table. The server replies with its name (ibping.c).
TEST_CASE("query prints the data of an unknown attribute in hexadecimal") {
    const words ping{"Get", "0", "8", "--class", "0x32", "--oui", "0x001405"};
    const std::string text = output_of(ping);
    CHECK_THAT(text, StartsWith("682d 3030 3038 2048 4341 2d31 ")); // h-0008 HCA-1
    CHECK(lines_in_order(text).size() == 14);                       // 216 bytes
    const json object = json::parse(output_of(ping + words{"--json"}));
    CHECK(object.size() == 1);
    const std::string data = object.at("data");
    CHECK_THAT(data, StartsWith("0x682d30303038204843412d31"));
    CHECK(data.size() == 2 + 2 * 216);
}

TEST_CASE("query names what is wrong with a class, method, attribute or data") {
    check_failure(query({"Get", "0x11", "9", "--class", "Subn"}), 2, "the management class 'Subn' is unknown");
    check_failure(query({"Get", "0x11", "9", "--class", "0"}), 2, "must be 1..0xff");
    check_failure(query({"Get", "0x11", "9", "--class", "256"}), 2, "management class must be a number up to 255");
    check_failure(query({"GetResp", "0x11", "9", "--class", "1"}), 2, "is not a request");
    check_failure(query({"Got", "0x11", "9", "--class", "1"}), 2, "similar: Get");
    check_failure(query({"Get", "0x10000", "9", "--class", "1"}), 2, "the attribute must be a number up to 65535");
    check_failure(query({"Get", "PMPortCounters", "9", "--class", "1"}), 2, "is not an attribute of class 0x01");
    check_failure(query({"Get", "0x11", "9", "--class", "1", "--data", "0"}), 2, "two hexadecimal digits");
    check_failure(query({"Get", "0x11", "9", "--class", "1", "--data", "0g"}), 2, "two hexadecimal digits");
    check_failure(query({"Get", "0x11", "9", "--class", "1", "--data", std::string(130, '0')}), 2,
                  "has 65 bytes, but a MAD of this class has 64 bytes of data");
    check_failure(query({"Get", "0x99", "9", "--class", "0x0a", "-f", "a=1"}), 2,
                  "the fields of attribute 0x0099 are unknown");
    check_failure(query({"Get", "0x11", "9", "--class", "1", "--oui", "5"}), 2, "--oui is for the vendor classes");
    check_failure(query({"Get", "0x11", "0,1", "--class", "4"}), 2, "directed routes are only supported by SMPs");
    check_failure(query({"Get", "0x11", "9", "--class", "1", "--sa"}), 2, "--sa is not supported");
    check_failure(query({"Get", "0x11", "9", "--class", "1", "--raw"}), 2, "--raw");
    check_failure(query({"SubnGet", "NodeInfo", "9", "--write"}), 2, "--class");
}

} // namespace raw_query_test
