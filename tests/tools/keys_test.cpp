// SPDX-License-Identifier: MIT
// keys_test.cpp - keys appear in no output unless the user requests them.
#include "input/options.hpp"
#include "program/ibtool_subnet.hpp"
#include <comad/iba/detail/bits.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace keys_test {

using namespace ibtool_rig;
using comad::u64;
using comad::mad::key_kind;

namespace {

constexpr u64 MKey = 0x1a2b3c4d5e6f7081, SMKey = 0x92a3b4c5d6e7f809, CCKey = 0x0f1e2d3c4b5a6978;
const words with_keys{"-y",      fmt::format("{:#x}", MKey), "--smkey", fmt::format("{:#x}", SMKey),
                      "--cckey", fmt::format("{:#x}", CCKey)};
const words subnet{"--fabric", "sim:fattree2,radix=4,sm=1,time=virtual"};

/// Returns a text in lower case.
std::string lower(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
    return text;
}

/// Returns true if the text contains the key in any notation: decimal, hex with 64 bits or in words of 32 bits, or with
/// colons like a GUID.
bool reports(const std::string& given, u64 key) {
    const std::string text = lower(given), hex = fmt::format("{:016x}", key);
    const std::string ways[] = {std::to_string(key), hex.substr(0, 8), hex.substr(8),
                                hex.substr(0, 4) + ':' + hex.substr(4, 4)};
    return std::any_of(std::begin(ways), std::end(ways),
                       [&](const std::string& way) { return text.find(way) != std::string::npos; });
}
/// Returns true if the output of a command contains one of the keys.
bool reports_one(const process_result& r) {
    return reports(r.out + r.err, MKey) || reports(r.out + r.err, SMKey) || reports(r.out + r.err, CCKey);
}

/// Returns the bytes of a key in network byte order.
std::string bytes_of(u64 key) {
    std::string bytes(8, '\0');
    comad::iba::store_be<u64>(reinterpret_cast<comad::u8*>(bytes.data()), key);
    return bytes;
}

/// Returns the permission bits of a file.
mode_t mode_of(const std::string& file) {
    struct stat about {};
    REQUIRE(::stat(file.c_str(), &about) == 0);
    return about.st_mode & 0777;
}

} // namespace

TEST_CASE("traces, errors, counts and JSON contain no key from paths, options or replies") {
    const std::string path = fmt::format("IBPath(DLID=999, MKey={0:#x}, SMKey={0:#x}, CCKey={0:#x})", MKey);
    for (const words& command : {
             words{"ibnetdiscover", "-dd"},
             words{"ibnetdiscover", "-d", "-v", "--json"},
             words{"smpquery", "PI", "0,1", "-dd"},
             words{"smpquery", "NI", path, "-dd", "--retries", "0"},
             words{"smpquery", "NI", path, "-d", "--retries", "0"},
             words{"smpquery", "NI", path, "--retries", "0"},
             words{"saquery", "PIR", "-dd"},
             words{"saquery", "SMIR", "-dd"},
             words{"saquery", "PIR", "--json"},
             words{"sminfo", "-dd", "--json"},
             words{"smpdump", "0,1", "0x15", "-dd"},
             words{"query", "CongestionControlGet", "CongestionKeyInfo", "1", "-dd", "--retries", "0"},
             words{"query", "SubnSet", "PortInfo", "0,1,2", "-a", "1", "-f", fmt::format("MKey={:#x}", MKey)},
             words{"query", "SubnSet", "PortInfo", "0,1,2", "-a", "1", "-f", fmt::format("MKey={:#x}", MKey), "--json",
                   "-dd"},
             words{"bench", path, "--count", "1", "--retries", "0", "--json"},
             words{"sweep", "-dd"},
         }) {
        CAPTURE(command);
        const process_result r = run(command + with_keys + subnet);
        CHECK_FALSE((r.out + r.err).empty());
        CHECK_FALSE(reports_one(r));
    }
}

TEST_CASE("the option -K prints the keys of a reply") {
    const words set{"query", "SubnSet", "PortInfo", "0,1,2", "-a", "1", "-f", fmt::format("MKey={:#x}", MKey)};
    CHECK_THAT(run(set + subnet).out, Contains("MKey.............................<not displayed>\n"));
    CHECK(reports(run(set + words{"-K"} + subnet).out, MKey));
    CHECK(reports(run(set + words{"-K", "--json"} + subnet).out, MKey));
}

TEST_CASE("the option -K prints the keys of a trace") {
    const words query{"smpquery", "PI", "0,1", "-dd"};
    CHECK_FALSE(reports(run(query + with_keys + subnet).err, MKey));
    CHECK(reports(run(query + words{"-K"} + with_keys + subnet).err, MKey));
}

TEST_CASE("no error message contains any part of an invalid key") {
    const directory files;
    const auto written = [&](const char* name, const std::string& text) {
        const std::string file = files.write(name, text);
        ::chmod(file.c_str(), 0600);
        return file;
    };
    const std::string sim = "sim:single,time=virtual";
    for (const words& command : {
             words{"ibhosts", "-y", "s3cret"},
             words{"ibhosts", "--smkey", "0x112233445566s3cret"},
             words{"ibhosts", "--cckey", "99999999999999999999999s3cret"},
             words{"ibhosts", "-ys3cret"},
             words{"ibhosts", "--m_key=s3cret"},
             words{"ibhosts", "-y", "s3cret", "-y", "s3cret"},
             words{"ibhosts", "-z", written("conf", "m_key=s3cret\n")},
             words{"ibhosts", "-z", written("conf2", "sa_key=s3cret\n")},
             words{"ibhosts", "--key-file", written("keys", "0x1 s3cret\n")},
             words{"smpquery", "NI", "IBPath(DLID=7, MKey=s3cret)"},
             words{"smpquery", "NI", "IBPath(DLID=7, MKey=0x1s3cret"},
             words{"smpquery", "NI", "IBPath(DLID=7, MKey s3cret)"},
             words{"smpquery", "NI", "IBPath(DLID=7, MKye=s3cret)"},
             words{"query", "SubnSet", "PortInfo", "0,", "-f", "MKey=s3cret"},
             words{"encode", "--struct", "SMPPortInfo", "MKey=s3cret"},
         }) {
        CAPTURE(command);
        const process_result r = run(command + (command[0] == "encode" ? words{} : words{"--fabric", sim}));
        CHECK(r.status != 0);
        CHECK(std::count(r.err.begin(), r.err.end(), '\n') == 1);
        CHECK_THAT(r.err, StartsWith("ibtool: ") && !Contains("s3cret"));
    }
    check_failure(run({"ibhosts", "-y", "0x1ffffffffffffffff", "--fabric", sim}), 2,
                  "M_Key must be a number of at most 64 bits");
    check_failure(run({"ibhosts", "--m_key=-1", "--fabric", sim}), 2, "M_Key must be a number of at most 64 bits");
    const process_result refused =
        run({"smpquery", "-L", "NI", "IBPath(DGID=fe80::1, MKey=0x5e5e5e5e)", "--fabric", sim});
    CHECK(refused.status == 2);
    CHECK_THAT(refused.err, Contains("the path is not a LID") && !Contains("5e5e"));
}

TEST_CASE("a capture is readable only by its owner, and contains keys only on request") {
    const directory files;
    const std::string file = files.write("all.pcap", "was there");
    REQUIRE(::chmod(file.c_str(), 0644) == 0);
    const words query{"saquery", "PIR", "--pcap", file};
    const auto contents = [&](const words& command) {
        check_success(run(command + with_keys + subnet));
        CHECK(mode_of(file) == 0600);
        return read_file(file);
    };
    const std::string hidden = contents(query), shown = contents(query + words{"--pcap-keys"});
    CHECK(hidden.size() == shown.size());
    CHECK(hidden.find(bytes_of(SMKey)) == std::string::npos);
    CHECK(shown.find(bytes_of(SMKey)) != std::string::npos);
    const words discover{"ibhosts", "--pcap", file};
    CHECK(contents(discover).find(bytes_of(MKey)) == std::string::npos);
    CHECK(contents(discover + words{"--pcap-keys"}).find(bytes_of(MKey)) != std::string::npos);
    const std::string made = files / "new.pcap";
    check_success(run(words{"ibhosts", "--pcap", made} + subnet));
    CHECK(mode_of(made) == 0600);
}

TEST_CASE("a peer port is queried with its own M_Key") {
    const auto at = [](const std::string& route) {
        return nlohmann::json::parse(run(words{"smpquery", "--json", "NI", route} + subnet).out);
    };
    const auto leaf = at("0,1");
    unsigned port = 0;
    nlohmann::json host;
    do host = at(fmt::format("0,1,{}", ++port));
    while (host["nodeType"] == 2 || host["portGUID"] == at("0,")["portGUID"]);
    const directory files;
    const auto key_of = [](const nlohmann::json& node, u64 key) {
        return fmt::format("{} {:#x}\n", node["portGUID"].get<std::string>(), key);
    };
    const std::string keys = files.write("guid2mkey", key_of(leaf, MKey) + key_of(host, SMKey));
    REQUIRE(::chmod(keys.c_str(), 0600) == 0);
    const std::string capture = files / "asked.pcap";
    check_success(
        run(words{"ibportstate", "0,1", std::to_string(port), "--key-file", keys, "--pcap", capture, "--pcap-keys"} +
            subnet));
    const process_result all = run({"decode", "--json", capture});
    unsigned here = 0, beyond = 0;
    for (const nlohmann::json& mad : objects_of(all.out)) {
        if (mad.value("attribute", "") != "SMPNodeInfo") continue;
        const nlohmann::json& smp = mad["SMPFormatDirected"];
        here += smp["hopCount"] == 1 && smp["MKey"] == fmt::format("{:#018x}", MKey);
        beyond += smp["hopCount"] == 2 && smp["MKey"] == fmt::format("{:#018x}", SMKey);
    }
    CHECK(here > 0);
    CHECK(beyond > 0);
}

TEST_CASE("a key in a configuration file that other users can read is ignored with a warning") {
    const directory files;
    const std::string conf = files.write("ibdiag.conf", fmt::format("m_key={:#x}\nsa_key={:#x}\n", MKey, SMKey));
    const std::string capture = files / "x.pcap";
    const words command{"saquery", "PIR", "-z", conf, "--pcap", capture, "--pcap-keys"};
    REQUIRE(::chmod(conf.c_str(), 0644) == 0);
    const process_result open = run(command + subnet);
    CHECK(open.status == 0);
    CHECK(open.err == fmt::format("ibtool: {0}: m_key ignored: other users can read the file; run chmod 600\n"
                                  "ibtool: {0}: sa_key ignored: other users can read the file; run chmod 600\n",
                                  conf));
    CHECK(read_file(capture).find(bytes_of(SMKey)) == std::string::npos);
    REQUIRE(::chmod(conf.c_str(), 0600) == 0);
    check_success(run(command + subnet));
    CHECK(read_file(capture).find(bytes_of(SMKey)) != std::string::npos);
    check_success(run(words{"ibhosts", "-z", conf, "--pcap", capture, "--pcap-keys"} + subnet));
    CHECK(read_file(capture).find(bytes_of(MKey)) != std::string::npos);
}

TEST_CASE("an unreadable default configuration causes a warning, and a missing one causes none") {
    const directory files;
    ibtool::global_options o;
    ibtool::read_default_config(o, files / "missing");
    ibtool::read_default_config(o, files / "missing/inside");
    CHECK(o.warnings.empty());
    ibtool::read_default_config(o, files / "");
    REQUIRE(o.warnings.size() == 1);
    CHECK_THAT(o.warnings[0], Contains("cannot read") && EndsWith("; file ignored"));
    CHECK_THROWS_AS(ibtool::read_default_config(o, files.write("conf", "timeout=soon\n")), ibtool::usage_error);
}

TEST_CASE("values of ibdiag.conf have the meaning that they have in infiniband-diags") {
    // In ibdiag_common.c, read_ibdiag_config() ignores a timeout of 0. MLX_EPI is true if its value starts with true or
    // TRUE.
    const directory files;
    const auto with = [&](const std::string& text) {
        ibtool::global_options o;
        ibtool::read_default_config(o, files.write("conf", text));
        return o;
    };
    using namespace std::chrono_literals;
    CHECK(with("timeout=50\n").timeout == 50ms);
    for (const char* zero : {"timeout=0\n", "timeout=50\ntimeout=0\n", "timeout = 0 # the default\n", "timeout=0x0\n"})
        CHECK(with(zero).timeout == 0ms);
    CHECK(with("MLX_EPI=true\n").mlnx_ext_port_info);
    CHECK(with("MLX_EPI=TRUE\n").mlnx_ext_port_info);
    for (const char* off : {"MLX_EPI=false\n", "MLX_EPI=FALSE\n", "MLX_EPI=no\n", "MLX_EPI=0\n"})
        CHECK_FALSE(with(off).mlnx_ext_port_info);
}

TEST_CASE("keys are reread in the order of the options, and an unreadable file changes no key") {
    const directory files;
    const std::string file = files.write("keys", "default 0x1\n0x7 0x2\n");
    ::chmod(file.c_str(), 0600);
    ibtool::global_options o;
    o.add_keys([&](comad::mad::port_keys& k) { k.set_default(key_kind::SMKey, 9); });
    o.add_keys([&](comad::mad::port_keys& k) {
        const auto added = k.add(read_file(file));
        if (!added) throw std::runtime_error(added.error().text);
    });
    const comad::iba::guid port{7}, other{8};
    CHECK(o.keys.of(key_kind::MKey, port) == 2);
    files.write("keys", "0x8 0x3\n");
    CHECK(o.keys.of(key_kind::MKey, port) == 2);
    o.reread_keys();
    CHECK(o.keys.of(key_kind::MKey, port) == 0);
    CHECK(o.keys.of(key_kind::MKey, other) == 3);
    CHECK(o.keys.default_of(key_kind::SMKey) == 9);
    files.write("keys", "nonsense\n");
    CHECK_THROWS(o.reread_keys());
    CHECK(o.keys.of(key_kind::MKey, other) == 3);
}

} // namespace keys_test
