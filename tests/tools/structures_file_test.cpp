// SPDX-License-Identifier: MIT
// structures_file_test.cpp - structures of --structures in decode, encode, describe, query and traces, compared with compiled tables.
#include "program/ibtool_rig.hpp"

namespace structures_file_test {

using namespace ibtool_rig;

namespace {

const std::string file = COMAD_SOURCE_DIR "/tests/data/mellanox_structures.toml";
const words with_file{"--structures", file};
const words fabric{"--fabric", "sim:fattree2,radix=4,sm=1,time=virtual"};

/// Returns the output of a command that must succeed.
std::string output_of(const words& command) {
    const process_result r = run(command);
    CAPTURE(command);
    INFO("stderr: " << r.err); // -vv prints counts there
    CHECK(r.status == 0);
    return r.out;
}

/// Returns the text with another name of the structure.
std::string renamed(std::string text, const std::string& from, const std::string& to) {
    for (std::size_t at = 0; (at = text.find(from, at)) != text.npos; at += to.size())
        text.replace(at, from.size(), to);
    return text;
}

} // namespace

TEST_CASE("describe prints a structure of a file as it prints a compiled one") {
    for (const auto& [mine, compiled] :
         {std::pair("TestGeneralInfo", "MlxGeneralInfo"), std::pair("TestCounterGroupInfo", "MlxCounterGroupInfo"),
          std::pair("TestCounterGroupConfig", "MlxCounterGroupConfig")}) {
        for (const words& format : {words{}, words{"--json"}})
            CHECK(renamed(output_of(words{"describe", mine} + with_file + format), mine, compiled) ==
                  output_of(words{"describe", compiled} + format));
    }
    CHECK_THAT(output_of(words{"describe"} + with_file), Contains("TestGeneralInfo "));
    check_failure(run({"describe", "TestGeneralInfo"}), 2, "unknown structure 'TestGeneralInfo'");
}

TEST_CASE("query reads an attribute of a file with the fields of the compiled one") {
    const words compiled{"query", "VendGet", "MlxGeneralInfo", "9"}, mine{"query", "VendGet", "TestGeneralInfo", "9"};
    for (const words& format : {words{}, words{"--json"}, words{"-vv"}})
        CHECK(output_of(mine + with_file + fabric + format) == output_of(compiled + fabric + format));
    CHECK_THAT(output_of(mine + with_file + fabric), Contains("Fw_psid.........................."));
}

TEST_CASE("decode, encode and traces use the structures of a file") {
    const words fields{"fw_major=31", "fw_psid=MT_0000000001", "capability_mask=[1,2,3,4]"};
    const std::string bytes = output_of(words{"encode", "--struct", "TestGeneralInfo"} + fields + with_file);
    CHECK(bytes == output_of(words{"encode", "--struct", "MlxGeneralInfo"} + fields));
    const std::string hex = bytes.substr(0, bytes.find('\n'));
    CHECK(output_of(words{"decode", "--struct", "TestGeneralInfo", hex} + with_file) ==
          output_of({"decode", "--struct", "MlxGeneralInfo", hex}));

    const directory files;
    const std::string mad = files.write("mad", "010a018100000000000000000000000000170000"
                                               "00000000" +
                                                   hex + std::string(2 * (256 - 24) - hex.size(), '0') + "\n");
    const std::string json = output_of(words{"decode", "--json", mad} + with_file);
    CHECK_THAT(json, Contains("\"attribute\":\"TestGeneralInfo\"") && Contains("\"fw_major\":31"));
    CHECK(renamed(json, "TestGeneralInfo", "MlxGeneralInfo") == output_of({"decode", "--json", mad}));

    const words query{"query", "VendGet", "TestGeneralInfo", "9", "-dd"};
    CHECK_THAT(run(query + with_file + fabric).err, Contains("TestGeneralInfo(23)") && Contains("fw_minor=2"));
}

TEST_CASE("traces show the first field of a vendor attribute unless it is a key, and a key only with -K") {
    const directory files;
    const auto trace_of = [&](const std::string& field, const words& more) {
        const std::string described =
            files.write("s.toml", "[[structures]]\nname = \"Outer\"\nsize = 8\nclass = 0x0a\nattribute = 0x92\n"
                                  "methods = [\"Get\"]\nfields = [ { name = \"" +
                                      field + "\", offset = 0, width = 64 } ]\n");
        return run(words{"query", "VendGet", "Outer", "9", "-f", field + "=0x1a2b3c4d5e6f7081", "-dd", "--structures",
                         described} +
                   more + fabric)
            .err;
    };
    CHECK_THAT(trace_of("a", {}), Contains("Outer(146)") && Contains("1A2B3C4D") && Contains("5E6F7081"));
    CHECK_THAT(trace_of("VSKey", {}), Contains("Outer(146), keys shown as 0") && !Contains("1A2B3C4D"));
    CHECK_THAT(trace_of("VSKey", {"-K"}), Contains("1A2B3C4D") && Contains("5E6F7081"));
}

TEST_CASE("a structures file with a mistake ends the command with one line") {
    const directory files;
    const std::string wrong = files.write(
        "wrong.toml", "[[structures]]\nname = \"A\"\nsize = 4\nfields = [ { name = \"a\", offset = 0, width = 8 } ]\n");
    const process_result r = run({"describe", "A", "--structures", wrong});
    CHECK(r.status == 1);
    CHECK(r.out.empty());
    CHECK(r.err ==
          "ibtool: " + wrong +
              ":4: A: no field describes the 24 bits at 1; add a field of the kind 'reserved' with offset = \"1\" and "
              "width = 24\n");
    check_failure(run({"describe", "--structures", files / "none"}), 1, "No such file");
    const std::string other = files.write(
        "other.toml", "[[structures]]\nname = \"B\"\nsize = 1\nfields = [ { name = \"a\", offset = 0, width = 8 } ]\n");
    CHECK_THAT(output_of(words{"describe", "B", "--structures", other} + with_file), StartsWith("B, 1 bytes, "));
    check_failure(run(words{"describe"} + with_file + with_file), 1, "another structure has this name");
}

} // namespace structures_file_test
