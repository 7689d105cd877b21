// SPDX-License-Identifier: MIT
// decode_test.cpp - ibtool decode, encode and describe: known vectors in both directions, every input format, and
// captures.
#include "library/iba_data.hpp"
#include "program/ibtool_rig.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <arpa/inet.h>
#include <map>
#include <set>

using namespace comad;
using namespace ibtool_rig;
using nlohmann::json;

namespace {

/// Runs the program with the file as its standard input.
process_result run_with_input(const words& arguments, const std::string& file) {
    return run_process(words{"sh", "-c", "exec \"$@\" < '" + file + "'", "sh", "env"} + ibtool(arguments));
}

/// Returns bytes as hex digits.
std::string hex(std::span<const u8> bytes) {
    std::string text;
    for (u8 byte : bytes) text += fmt::format("{:02x}", byte);
    return text;
}

/// Returns the test vectors, grouped by structure.
const std::map<std::string, std::vector<json>>& vectors() {
    static const auto all = [] {
        std::map<std::string, std::vector<json>> by_name;
        for (json& v : load_data("iba_vectors.jsonl")) by_name[v["struct"]].push_back(std::move(v));
        return by_name;
    }();
    return all;
}

/// Returns a value in the notation of the test vectors, which contain GUIDs and GIDs in hex.
json as_vector(const json& value) {
    if (!value.is_string()) return value;
    const std::string text = value;
    if (text.starts_with("0x")) return text;
    std::array<u8, 16> gid;
    if (std::count(text.begin(), text.end(), ':') == 3 && text.size() == 19) {
        std::string digits = text;
        digits.erase(std::remove(digits.begin(), digits.end(), ':'), digits.end());
        return "0x" + digits;
    }
    if (::inet_pton(AF_INET6, text.c_str(), gid.data()) == 1) return "0x" + hex(gid);
    return text;
}

/// Collects the leaves of an object by their dotted names.
void flatten(const json& value, const std::string& name, std::map<std::string, json>& out) {
    if (value.is_object()) {
        for (const auto& [key, inner] : value.items()) flatten(inner, name.empty() ? key : name + '.' + key, out);
    } else if (value.is_array()) {
        for (std::size_t i = 0; i < value.size(); ++i) flatten(value[i], fmt::format("{}[{}]", name, i), out);
    } else {
        out[name] = as_vector(value);
    }
}

/// Structures whose layout in the vectors (as their first author described it) differs from the layout in independent
/// implementations (see the sections that describe prints). iba_test compares the bits that both layouts contain.
const std::set<std::string> disputed{
    "CMLAP",
    "CMMRA",
    "CMREP",
    "CMREQ",
    "CMSIDR_REP",
    "CMSIDR_REQ",
    "MlxGeneralInfo",
    "OFASysStatPing",
    "PMPortCounters",
    "PMPortCountersExt",
    "SAInformInfoRecord",
    "SAMultiPathRecord",
    "SAMulticastForwardingTableRecord",
    "SAPortInfoRecord",
    "SMPPortInfo",
    "SMPVendorDiag",
};
/// Disputed structures that also differ in size.
const std::set<std::string> resized{"MlxGeneralInfo", "PMPortCountersExt", "SAInformInfoRecord"};

/// Returns bytes in the notation of C and Python strings.
std::string quoted(std::span<const u8> bytes) {
    std::string text;
    for (const u8 byte : bytes) {
        if (byte == '\n') text += "\\n";
        else if (byte == '\'' || byte == '"' || byte == '\\') text += fmt::format("\\{:c}", byte);
        else if (byte >= ' ' && byte < 0x7f) text += static_cast<char>(byte);
        else text += byte % 2 ? fmt::format("\\x{:02x}", byte) : fmt::format("\\{:03o}", byte);
    }
    return text;
}

const words rig{"--fabric", "sim:fattree2,radix=4,time=virtual"};

/// Returns a capture of a discovery.
std::string capture(const directory& files) {
    const std::string file = files / "discovery.pcap";
    check_success(run(rig + words{"ibnetdiscover", "--pcap", file}));
    return file;
}

} // namespace

TEST_CASE("decode prints the known values of every structure, and encode restores the bytes") {
    const directory files;
    std::size_t structures = 0, skipped = 0;
    sampled sample;
    for (const auto& [name, all] : vectors()) {
        CAPTURE(name);
        std::string input;
        for (const json& v : all) input += v["hex"].get<std::string>() + '\n';
        if (all[0]["hex"] == "" || resized.count(name)) continue; // decode does not read an empty line as a structure
        if (sample.skips()) {
            ++skipped;
            continue;
        }
        const std::string file = files.write("vectors", input);
        const process_result decoded = run_with_input({"decode", "--struct", name, "--json"}, file);
        check_success(decoded);
        std::istringstream lines(decoded.out);
        for (const json& v : all) {
            std::string line;
            REQUIRE(std::getline(lines, line));
            std::map<std::string, json> values, expected;
            flatten(json::parse(line), "", values);
            for (const auto& [key, value] : v["values"].items()) expected[key] = value;
            if (!disputed.count(name)) CHECK(values == expected);
        }
        const std::string objects = files.write("objects", decoded.out);
        const process_result encoded = run_with_input({"encode", "--struct", name}, objects);
        check_success(encoded);
        CHECK(encoded.out == input);
        ++structures;
    }
    CHECK(structures + skipped == vectors().size() - 3 - resized.size()); // three structures have no bytes
}

TEST_CASE("decode accepts structures on the command line, including structures without bytes") {
    const process_result node = run({"decode", "--struct", "SMPLedInfo", "--json", "80000000", "0x00 00 00 01"});
    check_success(node);
    CHECK(node.out == "{\"ledMask\":1,\"reserved_1\":0}\n{\"ledMask\":0,\"reserved_1\":1}\n");
    const process_result empty = run({"decode", "--struct", "DMPrepareToTest", "--json", ""});
    check_success(empty);
    CHECK(empty.out == "{}\n");
    const process_result made = run({"encode", "--struct", "SMPLedInfo", "ledMask=1"});
    check_success(made);
    CHECK(made.out == "80000000\n");
    const process_result nested =
        run({"encode", "--struct", "SANodeRecord", "nodeInfo.portGUID=0017:77ff:feb6:2ca4", "LID=0x17"});
    check_success(nested);
    CHECK(nested.out.substr(0, 4) == "0017");
    CHECK(nested.out.substr(2 * (4 + 20), 16) == "001777fffeb62ca4");
}

TEST_CASE("decode refuses unknown structures and fields, invalid hex and short input with a one-line message") {
    check_failure(run({"decode", "--struct", "SMPPortinfo", "00"}), 2, "similar: SMPPortInfo, ");
    // The message contains the three nearest of a hundred names.
    check_failure(run({"describe", "PortInf"}), 2,
                  "unknown structure 'PortInf'; similar: MADClassPortInfo, SMPPortInfo, SMPPortInfoExtended; "
                  "ibtool describe lists all");
    check_failure(run({"query", "SubnGott", "PortInfo", "1"}), 2,
                  "unknown RPC 'SubnGott'; similar: SubnGet, SubnSet, ");
    const process_result field =
        run({"query", "SubnSet", "PortInfo", "1", "-f", "linkWidth=1", "--fabric", "sim:single"});
    CHECK(field.status == 2);
    CHECK(std::ranges::count(field.err, ',') <= 4);
    check_failure(run({"decode", "--struct", "SMPLedInfo", "0000"}), 1,
                  "SMPLedInfo needs 4 bytes, but the input has only 2");
    check_failure(run({"decode", "--struct", "SMPLedInfo", "0000000g"}), 1, "'g' is not a hex digit");
    check_failure(run({"decode", "--struct", "SMPLedInfo", "000"}), 1, "the number of hex digits is odd");
    check_failure(run({"decode", "--struct", "SMPLedInfo", "'\\x80"}), 1, "the closing quote is missing");
    check_failure(run({"decode", "--struct", "SMPLedInfo", "'\\q'"}), 1, "unknown escape sequence in quoted text");
    check_failure(run({"decode", "--struct", "SMPLedInfo", "'\\777'"}), 1, "invalid escape sequence in quoted text");
    check_failure(run({"decode", "--struct", "SMPLedInfo", "'abcd' ef"}), 1, "unexpected 'ef' after quoted text");
    check_failure(run({"decode", "--struct", "SMPLedInfo", "-o", "3", "0000"}), 1,
                  "-o skips 3 bytes, but the input has only 2");
    CHECK(run({"decode", "--struct", "SMPLedInfo", "--json", "-o", "1", "'\\a\\x80\\0\\0\\0'"}).out ==
          "{\"ledMask\":1,\"reserved_1\":0}\n");
    check_failure(run({"encode", "--struct", "SMPPortInfo", "portStat=1"}), 2, "portState");
    check_failure(run({"encode", "--struct", "SMPPortInfo", "LMC=8"}), 2, "LMC: value 8 does not fit in 3 bits");
    check_failure(run({"encode", "--struct", "SMPPortInfo", "{\"LMC\":8}"}), 1, "LMC");
    check_failure(run({"decode", "/nonexistent"}), 1, "cannot read '/nonexistent': No such file");
    const process_result padded = run({"decode", "--struct", "SMPLedInfo", "--json", "8000000000000000"});
    CHECK(padded.status == 0);
    CHECK(padded.out == "{\"ledMask\":1,\"reserved_1\":0}\n");
    CHECK_THAT(padded.err, Contains("the 4 bytes after them are ignored"));
    const process_result some = run({"decode", "--struct", "SMPLedInfo", "--json", "80000000", "00"});
    CHECK(some.status == 3);
    CHECK(some.out == "{\"ledMask\":1,\"reserved_1\":0}\n");
}

TEST_CASE("decode prints equal fields for MADs in every file format") {
    const directory files;
    const process_result objects = run({"decode", "--json", capture(files)});
    check_success(objects);
    std::istringstream lines(objects.out);
    std::string line, expected, binary, with_header, plain_hex, xxd, hexdump, C_strings, python, junk_in_front;
    for (unsigned n = 0; n < 8 && std::getline(lines, line); ++n) {
        json mad = json::parse(line);
        for (const char* header : {"HdrLRH", "HdrBTH", "HdrDETH"}) {
            CHECK(mad.contains(header));
            mad.erase(header);
        }
        expected += mad.dump() + '\n';
        const process_result bytes =
            run({"encode", "--struct", "SMPFormatDirected", [&] {
                     json format = mad["SMPFormatDirected"];
                     // Encodes the attribute back into bytes.
                     const std::string name = mad["attribute"];
                     std::string data = run({"encode", "--struct", name, format["data"].dump()}).out;
                     data.pop_back();
                     data.resize(128, '0');
                     format["data"] = "0x" + data;
                     return format.dump();
                 }()});
        check_success(bytes);
        const std::vector<u8> raw = from_hex(bytes.out);
        REQUIRE(raw.size() == 256);
        binary.append(raw.begin(), raw.end());
        with_header += std::string(64, '\0') + std::string(raw.begin(), raw.end());
        plain_hex += "# one MAD a line\n" + bytes.out;
        junk_in_front += "# more at the beginning\ndead " + bytes.out;
        python += (n % 2 ? "b'" : "'") + quoted(raw) + "'\n";
        for (std::size_t at = 0; at < 256; at += 64)
            C_strings += "  \"" + quoted(std::span(raw).subspan(at, 32)) + "\" \"" +
                         quoted(std::span(raw).subspan(at + 32, 32)) + "\"\n";
        C_strings += '\n';
        for (std::size_t at = 0; at < 256; at += 16) {
            xxd += fmt::format("{:08x}: ", at);
            hexdump += fmt::format("{:08x}  ", at);
            for (std::size_t i = at; i < at + 16; i += 2) xxd += fmt::format("{:02x}{:02x} ", raw[i], raw[i + 1]);
            for (std::size_t i = at; i < at + 16; ++i) hexdump += fmt::format("{:02x} ", raw[i]);
            xxd += " beef feed and more\n";
            hexdump += "|beef feed and mo|\n";
        }
        xxd += '\n';
        hexdump += '\n';
    }
    for (const auto& [name, contents] : std::map<std::string, std::string>{{"binary", binary},
                                                                           {"with_header", with_header},
                                                                           {"plain_hex", plain_hex},
                                                                           {"xxd", xxd},
                                                                           {"C_strings", C_strings},
                                                                           {"python", python},
                                                                           {"junk_in_front", junk_in_front},
                                                                           {"hexdump", hexdump}}) {
        CAPTURE(name);
        const std::string file = files.write(name, contents);
        words command{"decode", "--json"};
        if (name == "junk_in_front") command.insert(command.end(), {"-o", "2"});
        for (const process_result& r : {run(command + words{file}), run_with_input(command, file)}) {
            check_success(r);
            std::string all;
            std::istringstream decoded(r.out);
            while (std::getline(decoded, line)) all += json::parse(line).dump() + '\n';
            CHECK(all == expected);
        }
    }
}

TEST_CASE("decode prints the bytes of a MAD with an unknown class") {
    const std::string bytes = "0x01550101" + std::string(2 * 252, '0'); // no class has the value 0x55
    const directory files;
    const process_result r = run({"decode", "--json", files.write("mad", bytes + '\n')});
    check_success(r);
    CHECK(r.out == "{\"data\":\"" + bytes + "\"}\n");
}

TEST_CASE("a capture contains every MAD that was sent and every reply") {
    const directory files;
    const std::string file = files / "all.pcap";
    const process_result run_ = run(rig + words{"ibhosts", "-v", "--pcap", file});
    REQUIRE(run_.status == 0);
    unsigned sent = 0;
    REQUIRE(std::sscanf(run_.err.c_str(), "%u MADs sent", &sent) == 1);
    const process_result objects = run({"decode", "--json", file});
    check_success(objects);
    unsigned requests = 0, replies = 0;
    std::istringstream lines(objects.out);
    for (std::string line; std::getline(lines, line);)
        (json::parse(line)["SMPFormatDirected"]["method"] == 1 ? requests : replies) += 1;
    CHECK(requests == sent);
    CHECK(replies == sent);
}

TEST_CASE("a capture that cannot be written is an error and loses no results") {
    const process_result none = run(rig + words{"ibhosts", "--pcap", "/nonexistent/x.pcap"});
    check_failure(none, 1, "cannot write the capture");
    const process_result full = run(rig + words{"ibhosts", "--pcap", "/dev/full"});
    CHECK(full.status == 3);
    CHECK(lines_of(full.out).size() == 8);
    CHECK_THAT(full.err, Contains("the capture '/dev/full' is incomplete: No space left on device"));
}

TEST_CASE("decode reads a truncated capture up to the end and reports the truncation") {
    const directory files;
    const std::string whole = capture(files);
    std::ifstream in(whole, std::ios::binary);
    std::string contents{std::istreambuf_iterator<char>(in), {}};
    const process_result r = run({"decode", "--json", files.write("cut.pcap", contents.substr(0, 24 + 322 * 3 + 100))});
    CHECK(r.status == 3);
    CHECK(lines_of(r.out).size() == 3);
    CHECK_THAT(r.err, StartsWith("ibtool: ") && Contains("truncated"));
}
