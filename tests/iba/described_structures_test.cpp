// SPDX-License-Identifier: MIT
// described_structures_test.cpp - structures that a text describes at run time: the same tables as compiled ones, and one clear line for
// each mistake.
#include "support/catch.hpp"
#include <comad/iba.hpp>
#include <comad/iba/detail/keys.hpp>
#include <comad/iba/detail/mask.hpp>
#include <comad/iba/detail/registry.hpp>
#include <comad/iba/fields.hpp>
#include <comad/iba/print.hpp>

#include <fmt/format.h>

#include <fstream>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace described_structures_test {

using namespace comad;
using namespace comad::iba;

namespace {

/// Registers structures for one test.
struct registered {
    explicit registered(std::string_view text, const std::string& name = "my.toml") { register_structures(text, name); }
    ~registered() { forget_registered_structures(); }
};

std::string contents_of(const std::string& file) {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
}

/// Returns the message for a text that must be refused. The registry must stay unchanged.
std::string refused(const std::string& text, const std::string& name = "my.toml") {
    const std::size_t before = structures().size();
    std::string message;
    try {
        register_structures(text, name);
    } catch (const std::runtime_error& e) {
        message = e.what();
    }
    INFO(text);
    CHECK(structures().size() == before);
    forget_registered_structures();
    CHECK_FALSE(message.empty());
    CHECK(message.find('\n') == std::string::npos);
    return message;
}

/// Returns a text with one structure of 8 bytes and these lines of fields, the first of which is line 5.
std::string with_fields(const std::string& fields) {
    return "[[structures]]\nname = \"Mine\"\nsize = 8\nfields = [\n" + fields + "]\n";
}
/// Returns a text with one complete structure and these other members, which start in line 4.
std::string with_members(const std::string& members) {
    return "[[structures]]\nname = \"Mine\"\nsize = 8\n" + members +
           "fields = [ { name = \"a\", offset = 0, width = 64 } ]\n";
}

/// Returns the rows of a table without their addresses.
std::string rows_of(const record_info& info) {
    std::string text = fmt::format("{} bytes, {}\n", info.bytes, info.section);
    for (const row_info& r : info.rows)
        text +=
            fmt::format("{} at {} width {} count {} shown {} mask {} reserved {} names {}\n", r.name, r.off, r.width,
                        r.count, static_cast<int>(r.how), static_cast<int>(r.masked), r.is_reserved, r.names.size());
    return text;
}

} // namespace

TEST_CASE("Mellanox attributes that a file describes have the rows of the compiled tables") {
    const registered file(contents_of(COMAD_SOURCE_DIR "/tests/data/mellanox_structures.toml"));
    const std::pair<const char*, const char*> pairs[] = {{"TestGeneralInfo", "MlxGeneralInfo"},
                                                         {"TestCounterGroupInfo", "MlxCounterGroupInfo"},
                                                         {"TestCounterGroupConfig", "MlxCounterGroupConfig"}};
    std::mt19937 random(3);
    for (const auto& [mine, compiled] : pairs) {
        const structure *a = find_structure(mine), *b = find_structure(compiled);
        REQUIRE((a && b));
        CHECK(rows_of(*a->info) == rows_of(*b->info));
        CHECK(a->attributeID == b->attributeID);
        REQUIRE((a->uses.size() == 1 && b->uses.size() == 1));
        CHECK(a->uses[0].mgmt_class == b->uses[0].mgmt_class);
        CHECK(a->uses[0].class_version == b->uses[0].class_version);
        CHECK(a->uses[0].methods == b->uses[0].methods);
        std::vector<u8> bytes(b->info->bytes);
        for (u8& byte : bytes) byte = static_cast<u8>(random());
        CHECK(dotted(*a->info, bytes) == dotted(*b->info, bytes));
        CHECK(json(*a->info, bytes) == json(*b->info, bytes));
        CHECK(dump(*a->info, bytes) == dump(*b->info, bytes));
    }
    // The described attribute takes precedence over the compiled one.
    CHECK(find_attribute(vend::mellanox_class, 1, 0x17)->name == "TestGeneralInfo");
    CHECK(find_compiled_attribute(vend::mellanox_class, 1, 0x17)->name == "MlxGeneralInfo");
    CHECK(is_legal_request(vend::mellanox_class, 1, Method::Get, 0x17));
}

TEST_CASE("the registry returns to its compiled structures after the described ones are forgotten") {
    const std::size_t before = structures().size();
    {
        const registered one(with_members(""));
        CHECK(structures().size() == before + 1);
        CHECK(find_structure("Mine"));
    }
    CHECK(structures().size() == before);
    CHECK_FALSE(find_structure("Mine"));
    CHECK(find_attribute(vend::mellanox_class, 1, 0x17) == &info_of<vend::MlxGeneralInfo>);
}

TEST_CASE("a JSON file describes the same structures as a TOML file") {
    const registered toml(R"(
[[structures]]
name = "FromTOML"
source = "a source"
size = 12
class = "SubnLID"
attribute = 0xff80
methods = ["Get", 2]
fields = [
    { name = "state", offset = 0, width = 4, enumerators = { Down = 1, Up = 2 } },
    { name = "flag", offset = "0.4", width = 1 },
    { kind = "reserved", offset = "0.5", width = 27 },
    { name = "portGUID", offset = 4, kind = "GUID", mask = "none" },
]
)");
    register_structures(R"({"structures": [{
  "name": "FromJSON", "source": "a source", "size": 12, "class": "0x01", "attribute": "0xff81", "methods": ["Get", "Set"],
  "fields": [
    {"name": "state", "offset": 0, "width": 4, "kind": "enumeration", "enumerators": {"Up": 2, "Down": 1}},
    {"name": "flag", "offset": "0.4", "width": 1},
    {"kind": "reserved", "offset": "0.5", "width": 27},
    {"name": "portGUID", "offset": "4", "width": 64, "kind": "GUID", "mask": "none"}]}]})",
                        "my.json");
    const structure *a = find_structure("FromTOML"), *b = find_structure("FromJSON");
    REQUIRE((a && b));
    CHECK(rows_of(*a->info) == rows_of(*b->info));
    CHECK(a->uses[0].methods == b->uses[0].methods);
    CHECK(a->uses[0].covers(MgmtClass::SubnDirected));
    const std::vector<u8> bytes{0x28, 0, 0, 0, 0, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77};
    CHECK(get_field(*b->info, bytes, "state").value() == "Up");
    CHECK(get_field(*b->info, bytes, "flag").value() == "1");
    CHECK(get_field(*b->info, bytes, "portGUID").value() == "0011:2233:4455:6677");
}

TEST_CASE("a described structure can contain structures, and fields of any width") {
    const registered file(R"(
[[structures]]
name = "Part"
size = 4
fields = [ { name = "x", offset = 0, width = 12 }, { name = "y", offset = "1.4", width = 20, kind = "hex" } ]

[[structures]]
name = "Whole"
size = 32
class = 0x33
OUI = 0x001405
attribute = 0x44
methods = ["Get"]
fields = [
    { name = "part", offset = 0, count = 2, kind = "Part" },
    { name = "info", offset = 8, kind = "GID" },
    { name = "raw", offset = 24, count = 4, kind = "bytes" },
    { name = "name", offset = 28, count = 4, kind = "text" },
]
)");
    const structure* whole = find_structure("Whole");
    REQUIRE(whole);
    std::vector<u8> bytes(32);
    for (const auto& [name, text] :
         {std::pair("part[1].x", "0xabc"), std::pair("part[1].y", "0x12345"), std::pair("info", "fe80::1"),
          std::pair("raw", "0x01020304"), std::pair("name", "abc")})
        REQUIRE(set_field(*whole->info, bytes, name, text));
    CHECK(std::vector<u8>(bytes.begin() + 4, bytes.begin() + 8) == std::vector<u8>{0xab, 0xc1, 0x23, 0x45});
    CHECK(bytes[8] == 0xfe);
    CHECK(get_field(*whole->info, bytes, "name").value() == "abc");
    CHECK(find_attribute(MgmtClass{0x33}, 1, 0x44, 0x001405) == whole->info);
    CHECK(find_attribute(MgmtClass{0x33}, 1, 0x44, 0x000002) == nullptr);
}

// Compiled tables with such mistakes do not compile (tests/iba/compile_fail).
TEST_CASE("each mistake in the rows of a described structure has its own message") {
    const auto a = [](const char* rest) { return std::string("{ name = \"a\", ") + rest + " },\n"; };
    const auto b = [](const char* rest) { return std::string("{ name = \"b\", ") + rest + " },\n"; };
    CHECK(refused(with_fields(a("offset = 0, width = 32") + b("offset = 3, width = 40"))) ==
          "my.toml:6: Mine: field 'b' at 3 overlaps 'a', which ends at 4; correct an offset or a width");
    CHECK(refused(with_fields(a("offset = 4, width = 32") + b("offset = 0, width = 32"))) ==
          "my.toml:5: Mine: no field describes the 32 bits at 0; add a field of the kind 'reserved' with offset = "
          "\"0\" and "
          "width = 32");
    CHECK(refused(with_fields(a("offset = 0, width = 12") + b("offset = 4, width = 32"))) ==
          "my.toml:6: Mine: no field describes the 20 bits at 1.4; add a field of the kind 'reserved' with offset = "
          "\"1.4\" "
          "and width = 20");
    CHECK(refused(with_fields(a("offset = 0, width = 32"))) ==
          "my.toml:5: Mine: no field describes the 32 bits at 4; add a field of the kind 'reserved' with offset = "
          "\"4\" and "
          "width = 32");
    CHECK(
        refused(with_fields(a("offset = 0, width = 64") + b("offset = 8, width = 8"))) ==
        "my.toml:6: Mine: field 'b' at 8 ends at 9, outside of the structure of 8 bytes; correct the field or 'size'");
    CHECK(
        refused(with_fields(a("offset = 0, width = 16") + b("offset = 2, width = 32"))) ==
        "my.toml:6: Mine.b: crosses the boundary of a 32-bit word; correct 'offset' or 'width', or set crosses_words = "
        "true in the structure");
    CHECK(refused(with_fields(a("offset = 0, width = 32") + a("offset = 4, width = 32"))) ==
          "my.toml:6: Mine.a: another field has this name; give each field its own name");
    CHECK(refused(with_fields(a("offset = 0, width = 65"))) ==
          "my.toml:5: Mine.a: 65 bits are too many; a number has at most 64");
    CHECK(refused(with_fields(a("offset = \"0.4\", kind = \"GUID\", width = 32"))) ==
          "my.toml:5: Mine.a: 'width' is 32, but an element of kind 'GUID' has 64 bits");
    CHECK(refused(with_fields(a("offset = \"0.4\", kind = \"text\", count = 4"))) ==
          "my.toml:5: Mine.a: must start at a whole byte");
    CHECK(refused(with_fields(a("offset = \"0.4\", kind = \"GID\""))) ==
          "my.toml:5: Mine.a: must start at a whole byte");
    CHECK_THAT(refused(with_fields(a("offset = \"0.8\", width = 1"))), Catch::Contains("'offset' must be a byte"));
    CHECK_THAT(refused(with_fields(a("offset = 0.5, width = 1"))), Catch::Contains("'offset' must be a byte"));
    CHECK_THAT(refused(with_fields(a("offset = -1, width = 1"))), Catch::Contains("'offset' must be a byte"));
    CHECK_THAT(refused(with_fields(a("width = 1"))), Catch::Contains("'offset' is missing"));
    CHECK_THAT(refused(with_fields(a("offset = 0"))), Catch::Contains("'width' is missing; add the number of bits"));
    CHECK_THAT(refused(with_fields("{ offset = 0, width = 64 },\n")), Catch::Contains("'name' is missing"));
    CHECK_THAT(refused(with_fields(a("offset = 0, width = 64, kind = \"float\""))),
               Catch::StartsWith("my.toml:5: Mine.a: unknown kind 'float'; must be integer, hex, "));
    CHECK_THAT(refused(with_fields(a("offset = 0, width = 64, shown = \"hex\""))),
               Catch::Contains("unknown member 'shown'"));
    CHECK_THAT(refused(with_fields("{ name = \"reserved_0\", offset = 0, width = 64 },\n")),
               Catch::Contains("is for reserved fields"));
    CHECK_THAT(refused(with_fields("{ name = \"a b\", offset = 0, width = 64 },\n")),
               Catch::Contains("invalid name 'a b'"));
    CHECK_THAT(refused(with_fields("{ kind = \"reserved\", name = \"x\", offset = 0, width = 64 },\n")),
               Catch::Contains("remove 'name'"));
}

TEST_CASE("each mistake in the enumerators and mask bits of a field has its own message") {
    const auto field = [](const char* rest) {
        return with_fields(std::string("{ name = \"a\", offset = 0, width = 64, ") + rest + " },\n");
    };
    CHECK(refused(field("enumerators = { Down = 1, Up = 1 }")) ==
          "my.toml:5: Mine.a: the enumerators Down and Up have the same value 1; remove one");
    CHECK_THAT(refused(field("enumerators = { Down = \"x\" }")), Catch::Contains("'Down' must be a number from 0 to "));
    CHECK(refused(with_fields("{ name = \"a\", offset = 0, width = 2, enumerators = { Down = 4 } },\n")) ==
          "my.toml:5: Mine.a: 'Down' must be a number from 0 to 3");
    CHECK_THAT(refused(field("enumerators = {}")), Catch::Contains("must be a table of names and numbers"));
    CHECK(refused(field("kind = \"enumeration\"")) ==
          "my.toml:5: Mine.a: 'enumerators' is missing; add a table of names and numbers");
    CHECK(refused(field("kind = \"hex\", enumerators = { Down = 1 }")) ==
          "my.toml:5: Mine.a: 'enumerators' requires the kind 'enumeration'");
    CHECK_THAT(refused(field("mask = \"all\"")),
               Catch::Contains("'mask' must be one, two, each, with_previous or none"));
    CHECK_THAT(refused(field("mask = \"with_previous\"")), Catch::Contains("the first field cannot have the mask bit"));

    std::string record = "[[structures]]\nname = \"Mine\"\nsize = 65\nclass = \"SubnAdm\"\nattribute = 0xfff0\n"
                         "methods = [\"Get\"]\nfields = [\n";
    const std::string last = "{ name = \"f64\", offset = 64, width = 8";
    for (int i = 0; i < 64; ++i) record += fmt::format("{{ name = \"f{0}\", offset = {0}, width = 8 }},\n", i);
    CHECK_THAT(refused(record + last + " },\n]\n"), Catch::Contains("65 bits of a component mask, but a mask has 64"));
    const registered allowed(record + last + ", mask = \"none\" },\n]\n");
    CHECK(component_mask(*find_structure("Mine")->info, "f63").value() == u64{1} << 63);
    CHECK_FALSE(component_mask(*find_structure("Mine")->info, "f64"));
}

TEST_CASE("each mistake in the class, attribute and methods of a structure has its own message") {
    const std::string attribute = "attribute = 0x17\n", in = "class = 0x0a\n", get = "methods = [\"Get\"]\n";
    CHECK_THAT(refused(with_members(attribute + get)),
               Catch::StartsWith("my.toml:1: Mine: 'class' is missing; add the management class"));
    CHECK_THAT(refused(with_members(attribute + in)), Catch::Contains("'methods' is missing"));
    CHECK(refused(with_members(in)) == "my.toml:4: Mine: 'class' requires 'attribute', the ID of the attribute");
    CHECK_THAT(refused(with_members("attribute = 0x10000\n" + in + get)),
               Catch::Contains("'attribute' must be a number from 0 to 65535"));
    CHECK_THAT(refused(with_members(attribute + "class = 0x10\n" + get)),
               Catch::Contains("class 0x10 has no known format of MADs; use SubnLID, "));
    CHECK_THAT(refused(with_members(attribute + "class = 0x0a\nclass_version = 2\n" + get)),
               Catch::Contains("class 0x0a with version 2 has no known format of MADs"));
    CHECK_THAT(refused(with_members(attribute + "class = \"SubnDirected\"\n" + get)),
               Catch::Contains("use the class SubnLID"));
    CHECK_THAT(refused(with_members(attribute + "class = \"Vendor\"\n" + get)),
               Catch::Contains("unknown class 'Vendor'"));
    CHECK_THAT(refused(with_members(attribute + in + "OUI = 1\n" + get)),
               Catch::Contains("only the classes 0x30..0x4f have an OUI"));
    CHECK_THAT(refused(with_members(attribute + in + "methods = []\n")),
               Catch::Contains("'methods' must be a list of methods"));
    CHECK_THAT(refused(with_members(attribute + in + "methods = [\"Got\"]\n")),
               Catch::Contains("unknown method 'Got'; must be Get, Set, "));
    CHECK_THAT(refused(with_members(attribute + in + "methods = [\"GetResp\"]\n")),
               Catch::Contains("must be a request"));
    CHECK_THAT(
        refused("[[structures]]\nname = \"Mine\"\nsize = 65\nclass = \"SubnLID\"\nattribute = 1\nmethods = [\"Get\"]\n"
                "fields = [ { name = \"a\", offset = 0, width = 8, count = 65 } ]\n"),
        Catch::Contains("the attribute has 65 bytes, but a SMPFormat has only 64 bytes of data"));
    CHECK_THAT(refused(with_members(attribute + in + get) + "[[structures]]\nname = \"Other\"\nsize = 1\n" + attribute +
                       in + get + "fields = [ { name = \"a\", offset = 0, width = 8 } ]\n"),
               Catch::Contains("Other: Mine describes the same attribute of this class"));
    CHECK_THAT(
        refused(
            "[[structures]]\nname = \"SMPNodeInfo\"\nsize = 1\nfields = [ { name = \"a\", offset = 0, width = 8 } ]\n"),
        Catch::Contains("another structure has this name"));
}

TEST_CASE("a text that is not a list of structures is refused with its line") {
    CHECK_THAT(refused(""), Catch::Contains("'structures' is missing"));
    CHECK_THAT(refused("a = "), Catch::StartsWith("my.toml:1: ") && Catch::Contains("must be TOML or JSON"));
    CHECK_THAT(refused("structure = []"), Catch::Contains("unknown member 'structure'; the nearest are structures"));
    CHECK_THAT(refused("structures = 7"), Catch::Contains("must be a list of tables"));
    CHECK_THAT(refused("structures = [ 7 ]"), Catch::Contains("a structure: must be a table with the members name, "));
    CHECK_THAT(refused("{\n\"structures\": [\n{\"name\": \"A\",\n\"name\": \"B\"}]}", "my.json"),
               Catch::StartsWith("my.json:4: 'name' is given twice"));
    CHECK_THAT(refused("{\n\"structures\": [\n{\"name\": }]}", "my.json"),
               Catch::StartsWith("my.json:3: invalid JSON"));
    CHECK_THAT(
        refused("{\"structures\": [{\"name\": \"A\",\n\"size\": 1,\n\"fields\": [{\"name\": \"a\", \"offset\": 0,\n"
                "\"width\": 9}]}]}",
                "my.json"),
        Catch::StartsWith("my.json:3: A: field 'a' at 0 ends at 1.1, outside of the structure of 1 bytes"));
    CHECK_THAT(refused(std::string(200, '{') + "\"a\":" + std::string(200, '[')), Catch::StartsWith("my.toml:1: "));
    CHECK_THAT(refused("{" + std::string("\"a\":") + std::string(100, '[')), Catch::Contains("nested too deeply"));
    CHECK_THAT(refused(std::string((1u << 20) + 1, ' ')), Catch::Contains("too large"));
}

TEST_CASE("structures can be nested in 16 levels") {
    std::string levels =
        "[[structures]]\nname = \"L1\"\nsize = 1\nfields = [ { name = \"a\", offset = 0, width = 8 } ]\n";
    const auto add = [&levels](unsigned level) {
        levels += "[[structures]]\nname = \"L" + std::to_string(level) +
                  "\"\nsize = 1\nfields = [ { name = \"a\", offset = 0, kind = \"L" + std::to_string(level - 1) +
                  "\" } ]\n";
    };
    for (unsigned level = 2; level <= 16; ++level) add(level);
    { const registered file(levels); }
    add(17);
    CHECK_THAT(refused(levels), Catch::Contains("structures are nested too deeply; the limit is 16 levels"));
}

// The fields of a described attribute may not be named as keys. The keys of the compiled table stay hidden.
TEST_CASE("keys stay hidden in attributes that a text describes without them") {
    const registered file("[[structures]]\nname = \"Open\"\nsize = 8\nclass = \"SubnLID\"\nattribute = 0x15\n"
                          "methods = [\"Get\"]\nfields = [ { name = \"secret\", offset = 0, width = 64 } ]\n");
    REQUIRE(find_attribute(MgmtClass::SubnLID, 1, 0x15)->name == "Open");
    std::vector<u8> mad(256);
    mad[0] = mad[1] = mad[2] = 1;
    mad[3] = 0x81;
    mad[17] = 0x15; // PortInfo, which starts with the M_Key of the port
    for (std::size_t i = 64; i < 72; ++i) mad[i] = 0xab;
    CHECK(hide_keys(mad));
    CHECK(std::vector<u8>(mad.begin() + 64, mad.begin() + 72) == std::vector<u8>(8));
}

// ibis has a key in the first 8 bytes of all data in these classes. A text can describe an attribute without it.
TEST_CASE("the first bytes of a vendor attribute stay hidden unless a text describes them without a key") {
    const auto text = [](const std::string& mgmt_class, const std::string& id, const std::string& fields) {
        return "[[structures]]\nname = \"Mine\"\nsize = 12\nclass = " + mgmt_class + "\nattribute = " + id +
               "\nmethods = [\"Get\"]\nfields = [ " + fields + ", { name = \"last\", offset = 8, width = 32 } ]\n";
    };
    const auto hides = [](u8 mgmt_class, u8 id) {
        std::vector<u8> mad(256);
        mad[0] = mad[2] = 1;
        mad[1] = mgmt_class;
        mad[3] = 0x81;
        mad[17] = id;
        for (std::size_t i = 24; i < 36; ++i) mad[i] = 0xab;
        const std::vector<u8> before = mad;
        const bool has_some = hide_keys(mad);
        CHECK(has_some == (mad != before));
        std::vector<u8> hidden = before;
        std::fill(hidden.begin() + 24, hidden.begin() + 32, u8{0});
        if (has_some) CHECK(mad == hidden);
        return has_some;
    };
    const std::string number = "{ name = \"a\", offset = 0, width = 64 }";
    CHECK(hides(0x0a, 0x92)); // not described
    for (const auto& [name, mgmt_class] : {std::pair("0x0a", u8{0x0a}), std::pair("0x0b", u8{0x0b})}) {
        CAPTURE(name);
        const registered file(text(name, "0x92", number));
        CHECK_FALSE(hides(mgmt_class, 0x92));
        CHECK(hides(mgmt_class, 0x93)); // another attribute
    }
    for (const char* fields :
         {"{ name = \"VSKey\", offset = 0, width = 64 }", "{ kind = \"reserved\", offset = 0, width = 64 }",
          "{ name = \"a\", offset = 0, width = 32 }, { name = \"VSKey\", offset = 4, width = 32 }"}) {
        CAPTURE(fields);
        const registered file(text("0x0a", "0x92", fields));
        CHECK(hides(0x0a, 0x92));
    }
    {
        const registered file("[[structures]]\nname = \"Inner\"\nsize = 8\nfields = [ " + number + " ]\n" +
                              text("0x0a", "0x92", "{ name = \"inner\", offset = 0, kind = \"Inner\" }"));
        CHECK_FALSE(hides(0x0a, 0x92));
    }
    // MlxCounterGroupInfo has a key there, whatever the text says.
    const registered file(text("0x0a", "0x90", number));
    CHECK(hides(0x0a, 0x90));
}

} // namespace described_structures_test
