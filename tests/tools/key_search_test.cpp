// SPDX-License-Identifier: MIT
// key_search_test.cpp - a search for keys in the output of every command with every option, in a subnet that has keys
// everywhere. Commands and options come from the help. The test fails if a new command or option has no arguments here.
#include "program/ibtool_rig.hpp"
#include <comad/iba/detail/bits.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cctype>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <sys/stat.h>

namespace key_search_test {

using namespace ibtool_rig;
using comad::u64;

namespace {

// The value of M_Key, SM_Key, CC_Key and vs_key. No other value in the subnet contains either half of this number.
constexpr u64 key = 0x9e3779b97f4a7c15;

/// Returns the notation in which the key appears in a text or in bytes; empty if the key is absent.
std::string found_key(const std::string& given) {
    std::string text = given;
    for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    const std::string hex = fmt::format("{:016x}", key);
    std::string bytes(8, '\0');
    comad::iba::store_be<u64>(reinterpret_cast<comad::u8*>(bytes.data()), key);
    const std::pair<const char*, std::string> ways[] = {
        {"decimal", std::to_string(key)},
        {"signed", std::to_string(static_cast<std::int64_t>(key))},
        {"high half", hex.substr(0, 8)},
        {"low half", hex.substr(8)},
        {"with colons", hex.substr(0, 4) + ':' + hex.substr(4, 4)},
        {"words", hex.substr(0, 4) + ' ' + hex.substr(4, 4)},
        {"bytes in hex", hex.substr(0, 2) + ' ' + hex.substr(2, 2) + ' ' + hex.substr(4, 2)},
    };
    for (const auto& [name, way] : ways)
        if (const std::size_t at = text.find(way); at != text.npos)
            return fmt::format("{}: {}", name, text.substr(at < 60 ? 0 : at - 60, 100));
    if (given.find(bytes) != given.npos) return "big-endian bytes";
    if (given.find(std::string(bytes.rbegin(), bytes.rend())) != given.npos) return "little-endian bytes";
    return {};
}

/// The arguments for a command, or the reason why the command has no access to a subnet's keys.
struct command_use {
    words arguments = {};
    const char* none = nullptr;
    std::set<std::string> ends_never = {}; ///< options with which the command serves until a signal arrives
};

const std::map<std::string, command_use> commands{
    {"ibnetdiscover", {}},
    {"ibhosts", {}},
    {"ibswitches", {}},
    {"ibrouters", {}},
    {"ibnodes", {}},
    {"ibprintca", {{"-l"}}},
    {"ibprintswitch", {{"0,1"}}},
    {"ibprintrt", {{"-l"}}},
    {"iblinkinfo", {}},
    {"summary", {}},
    {"export", {{"--format", "json"}}},
    {"subnet_diff", {{"FILES", "FILES"}}},
    {"watch", {{"--every", "1s", "-n", "1"}}},
    {"smpquery", {{"PortInfo", "0,1", "1"}}},
    {"saquery", {{"PIR"}}},
    {"query", {{"SubnGet", "PortInfo", "0,1", "-a", "1"}}},
    {"sminfo", {}},
    {"ibaddr", {{"1"}}},
    {"ibroute", {{"0,1"}}},
    {"ibtracert", {{"1", "2"}}},
    {"ibfindnodesusing", {{"0,1", "3"}}},
    {"dump_lfts", {}},
    {"dump_mfts", {}},
    {"smpdump", {{"0,1", "0x15"}}},
    {"perfquery", {{"-a", "-l", "1"}}},
    {"ibqueryerrors", {}},
    {"ibdatacounts", {{"1"}}},
    {"ibdatacounters", {}},
    {"ibclearcounters", {}},
    {"ibclearerrors", {}},
    {"ibswportwatch", {{"-n", "1", "1"}}},
    {"sample", {{"1"}}},
    {"ibcheckerrors", {}},
    {"ibcheckerrs", {{"1"}}},
    {"ibchecknet", {}},
    {"ibcheckroutes", {}},
    {"ibchecknode", {{"1"}}},
    {"ibcheckport", {{"1", "1"}}},
    {"ibcheckportstate", {{"1", "1"}}},
    {"ibcheckportwidth", {{"1", "1"}}},
    {"ibcheckstate", {}},
    {"ibcheckwidth", {}},
    {"ibidsverify", {{"FILES"}}},
    {"check_lft_balance", {}},
    {"check_cabling", {{"PLAN"}}},
    {"vendstat", {{"-N", "1"}}},
    {"ibccquery", {{"SP", "9"}}},
    {"ibping", {{"-c", "1", "1"}, nullptr, {"--Server"}}},
    {"ibsysstat", {{"1"}, nullptr, {"--Server"}}},
    {"ibstat", {{}, "it reads this machine's ports from sysfs"}},
    {"ibstatus", {{}, "it reads this machine's ports from sysfs"}},
    {"ibv_devices", {{}, "it reads this machine's devices from sysfs"}},
    {"doctor", {}},
    {"set_nodedesc", {{}, "it writes to this machine's sysfs"}},
    {"install-links", {{}, "it makes links in a directory"}},
    {"vumad", {{}, "what runs in it prints, and it prints counts of MADs"}},
    {"ibportstate", {{"0,1", "1", "speed", "1"}}},
    {"set_port_state", {{"--disable", "0,1@1", "--force"}}},
    {"init_all_ports", {}},
    {"set_guid", {{"1", "3", "0x1122334455667788"}}},
    {"set_sminfo", {{"1", "handover"}}},
    {"ibccconfig", {{"--all", "CS", "1", "1", "150", "0", "0", "0"}}},
    {"mcm_rereg_test", {{"GUIDS"}}},
    {"ibsendtrap", {}},
    {"bench",
     {{"--rpc", "SubnGet", "--attribute", "PortInfo", "0,1", "-c", "10", "--rounds", "1", "--warm-up", "1", "--windows",
       "1"}}},
    {"rdma_bw", {{}, "it sends no MAD, and needs verbs"}},
    {"health", {{"--for", "1ms"}}},
    {"sweep", {{"-c", "1"}}},
    {"decode", {{}, "it prints the bytes that it is given"}},
    {"encode", {{}, "it prints the bytes that it is given"}},
    {"ibcacheedit", {{}, "reports_test has its bytes"}},
    {"ibdiscover", {}},
    {"describe", {{}, "it prints tables"}},
    {"help", {{}, "it prints texts"}},
};

/// Options that print keys on the user's request.
const std::set<std::string> show_keys{"--show_keys", "--pcap-keys"};

/// An option of a command, from the command's help.
struct option {
    std::string name, placeholder, text;
    bool is_flag = false;
    words choices;
};

/// Returns the options of a command by their long names; for an empty name, the global options.
std::vector<option> options_of(const std::string& command) {
    std::vector<option> all;
    for (const std::string& line : lines_in_order(run({"help", "--arguments"}).out)) {
        const nlohmann::json o = nlohmann::json::parse(line);
        const std::string names = o.at("argument"), help = o.at("help");
        if (o.at("command") != command || !names.starts_with('-') || o.at("hidden")) continue;
        all.push_back(
            {names.substr(names.rfind(',') + 1), o.at("placeholder"), names + help, o.at("flag"), o.at("choices")});
    }
    return all;
}

/// Runs commands in a subnet with keys and searches their output and files for the keys.
class search {
public:
    search() {
        // Puts the key into every request as well.
        keys_ = files_.write("keys",
                             fmt::format("default M_Key {0:#x}\ndefault SM_Key {0:#x}\ndefault CC_Key {0:#x}\n", key));
        REQUIRE(::chmod(keys_.c_str(), 0600) == 0);
        std::filesystem::create_directory(files_ / "out");
        names_["FILES"] = files_ / "subnet.topo";
        names_["PLAN"] = files_.write("plan.csv", "leaf-0001,1,spine-0001,1\n");
        names_["GUIDS"] = files_.write("guids", "0x0002c90300000301\n");
        check_success(run(words{"ibnetdiscover", names_["FILES"]} + fabric()));
    }

    words fabric() const {
        return {
            "--fabric",
            fmt::format("sim:fattree2,radix=4,sm=1,time=virtual,keys={},cc=3,counters=1,cut=leaf-0002/1@1500ms", key),
            "--key-file", keys_};
    }
    std::string out_file() const { return files_ / "out/file"; }

    /// Runs the command and searches its output and the files that it writes.
    process_result examine(const words& command) {
        CAPTURE(command);
        const process_result r = run(command + fabric());
        ++runs;
        CHECK(found_key(without_fabric(r.out)) == "");
        CHECK(found_key(without_fabric(r.err)) == "");
        for (const auto& written : std::filesystem::recursive_directory_iterator(files_ / "out"))
            if (written.is_regular_file()) {
                ++written_files;
                CAPTURE(written.path().string());
                CHECK(found_key(read_file(written.path())) == "");
            }
        std::filesystem::remove_all(files_ / "out");
        std::filesystem::create_directory(files_ / "out");
        return r;
    }

    words command_line(const std::string& name, const command_use& how) const {
        words all{name};
        for (const std::string& word : how.arguments) {
            const auto file = names_.find(word);
            all.push_back(file == names_.end() ? word : file->second);
        }
        return all;
    }

    /// Runs the command with this option and each of its choices.
    void examine_option(const words& command, const option& o) {
        if (o.is_flag) examine(command + words{o.name});
        else if (o.choices.empty()) examine(command + words{o.name, sample_of(o)});
        for (const std::string& choice : o.choices) examine(command + words{o.name, choice});
    }

    unsigned runs = 0, written_files = 0;

private:
    /// Removes the fabric's name from messages, because the name in this test contains the key.
    std::string without_fabric(std::string text) const {
        const std::string name = fmt::format("keys={}", key);
        for (std::size_t at = 0; (at = text.find(name, at)) != text.npos;) text.erase(at, name.size());
        return text;
    }
    std::string sample_of(const option& o) const {
        if (o.placeholder == "FILE" || o.text.find("write") != o.text.npos) return out_file();
        if (o.placeholder == "KEY") return fmt::format("{:#x}", key);
        return "1";
    }

    directory files_;
    std::string keys_;
    std::map<std::string, std::string> names_; // names of files that arguments contain
};

/// Returns the names of all commands.
std::vector<std::string> all_commands() {
    std::vector<std::string> all;
    for (const std::string& line : lines_in_order(run({"help", "--json"}).out))
        all.push_back(nlohmann::json::parse(line).at("command"));
    return all;
}

} // namespace

TEST_CASE("every command is searched for keys or has a documented exception") {
    for (const std::string& name : all_commands()) {
        CAPTURE(name);
        CHECK(commands.contains(name));
    }
}

TEST_CASE("no command prints a key in text, JSON or traces, or writes one to a capture or cache") {
    search s;
    unsigned answered = 0, searched = 0;
    sampled sample;
    for (const auto& [name, how] : commands) {
        if (how.none || sample.skips()) continue;
        const words command = s.command_line(name, how);
        ++searched;
        const process_result plain = s.examine(command + words{"-dd", "--pcap", s.out_file()});
        answered += plain.status == 0 || plain.status == 3;
        s.examine(command + words{"--json", "-vv", "--subnet-cache", s.out_file()});
    }
    CHECK(answered + 12 >= searched); // the simulator does not support the others
    CHECK(s.written_files >= searched);
}

TEST_CASE("no command prints or writes a key with any of its options") {
    search s;
    std::set<std::string> seen; // tries an option of several commands only once
    sampled sample;
    for (const auto& [name, how] : commands) {
        if (how.none) continue;
        const words command = s.command_line(name, how);
        for (const option& o : options_of(name)) {
            if (o.name == "--help" || o.name == "--json" || show_keys.contains(o.name) ||
                how.ends_never.contains(o.name))
                continue;
            if (!seen.insert(o.text).second || sample.skips()) continue;
            s.examine_option(command, o);
        }
    }
    CHECK((s.written_files > 0 || other_program())); // with a sanitizer, only a sample runs
    CHECK(seen.size() > 100);
}

TEST_CASE("no global option makes a command print or write a key") {
    search s;
    for (const option& o : options_of("")) {
        if (o.name == "--help" || o.name == "--version" || show_keys.contains(o.name)) continue;
        for (const words& command : {words{"saquery", "PIR"}, words{"ibnetdiscover"}}) s.examine_option(command, o);
    }
    CHECK(s.runs > 40);
}

TEST_CASE("the key search finds a key if a command prints one on request") {
    search s;
    const auto has_key = [&](const words& command) { return found_key(run(command + s.fabric()).out) != ""; };
    CHECK(has_key({"smpquery", "PortInfo", "0,1", "1", "-K"}));
    CHECK(has_key({"smpquery", "PortInfo", "0,1", "1", "-K", "-vv"}));
    CHECK(has_key({"saquery", "PIR", "-K", "--json"}));
    CHECK(has_key({"query", "CongestionControlGet", "CongestionKeyInfo", "9"}));
    CHECK(has_key({"query", "VendGet", "MlxGeneralInfo", "1", "-K", "--json"}));
    CHECK(has_key({"smpdump", "0,1", "0x15", "-K"}));
    for (const words& command :
         {words{"ibhosts"}, words{"ibccquery", "CongestionInfo", "9"}, words{"saquery", "PIR"}}) {
        check_success(run(command + words{"--pcap", s.out_file(), "--pcap-keys"} + s.fabric()));
        CHECK(found_key(read_file(s.out_file())) == "big-endian bytes");
    }
}

} // namespace key_search_test
