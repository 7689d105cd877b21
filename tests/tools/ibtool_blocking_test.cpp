// SPDX-License-Identifier: MIT
// ibtool_blocking_test.cpp - the blocking matrix: every input file and every output of ibtool, with a FIFO, an endless
// file, a full disk and a stopped reader. The first SIGTERM must end the program, and an exporter must always reply to
// /health. The rows come from the descriptors of the commands. An argument without a row fails a test.
#include "program/http_client.hpp"
#include "program/ibtool_rig.hpp"

#include <nlohmann/json.hpp>

#include <fcntl.h>
#include <map>
#include <optional>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ibtool_blocking_test {

using namespace ibtool_rig;
using namespace std::chrono_literals;
using comad::mad::unique_fd;
using nlohmann::json;

namespace {

const std::string fabric = "sim:fattree2,radix=4,sm=1";

/// An argument with a value, from the descriptor of its command.
struct argument {
    std::string command, name, file, value, help;
};

/// Returns the arguments with a value of all commands.
std::vector<argument> arguments() {
    std::vector<argument> all;
    const process_result r = run({"help", "--arguments"});
    for (const std::string& line : lines_in_order(r.out)) {
        const json o = json::parse(line);
        if (!o.at("flag"))
            all.push_back({o.at("command"), o.at("argument"), o.at("file"), o.at("placeholder"), o.at("help")});
    }
    REQUIRE(all.size() > 100);
    return all;
}

/// Returns the arguments whose files have one of these uses.
std::vector<argument> arguments_used(const std::vector<std::string>& uses) {
    std::vector<argument> some;
    for (const argument& a : arguments())
        if (std::find(uses.begin(), uses.end(), a.file) != uses.end()) some.push_back(a);
    return some;
}

/// Returns the name of a topology file that a command reads before the file under test.
std::string some_topology() {
    static const directory files;
    static const std::string name = files.write("topology", run({"ibnetdiscover", "--fabric", fabric}).out);
    return name;
}

/// Returns the further arguments that a command needs before it uses the file. Commands without an entry need a fabric.
const std::map<std::string, words>& rows() {
    static const directory files;
    static const std::string plan = files.write("plan", "a,1,b,1\n");
    static const std::map<std::string, words> all{
        {"", {"ibhosts", "--fabric", fabric}}, // arguments of all commands
        {"bench", {"--switches", "--windows", "1", "--rounds", "1", "--fabric", fabric}},
        {"check_cabling", {plan, "--fabric", fabric}},
        {"decode", {}},
        {"export", {"--format", "dot", "--fabric", fabric}},
        {"health", {"--fabric", fabric, "--for", "1ms"}},
        {"ibcacheedit", {}},
        {"ibccconfig", {"CK", "--all", "--dry-run", "1", "0", "0", "0", "--fabric", fabric}},
        {"ibdiscover", {some_topology()}},
        {"ibfindnodesusing", {"0", "1", "--fabric", fabric}},
        {"ibprintca", {"-l", "--fabric", fabric}},
        {"ibprintrt", {"-l", "--fabric", fabric}},
        {"ibprintswitch", {"-l", "--fabric", fabric}},
        {"ibroute", {"1", "--fabric", fabric}},
        {"ibswportwatch", {"1", "1", "--fabric", fabric}},
        {"mcm_rereg_test", {"--dry-run"}},
        {"set_port_state", {"--disable", "leaf-0001@1", "--dry-run", "--fabric", fabric}},
        {"smpquery", {"nodeinfo", "1", "--fabric", fabric}},
        {"subnet_diff", {some_topology(), "--fabric", fabric}},
        {"sweep", {"--fabric", fabric, "--listen", "127.0.0.1:0"}},
    };
    return all;
}

/// Returns the command line with the file as the argument's value.
words with_file(const argument& a, const std::string& file) {
    const std::string name = a.name.substr(a.name.rfind(',') + 1);
    const auto row = rows().find(a.command);
    const words others = row == rows().end() ? words{"--fabric", fabric} : row->second;
    words all = a.command.empty() ? words{} : words{a.command};
    const bool is_option = name.starts_with('-');
    if (a.command == "subnet_diff" && name == "current") return all + words{some_topology(), file};
    if (a.command == "ibcacheedit" && name == "cache") return all + words{file, "/dev/null"};
    if (is_option) return all + others + words{name, file};
    if (a.command == "subnet_diff" || a.command == "ibdiscover") return all + words{file};
    if (a.command == "check_cabling") return all + words{file, "--fabric", fabric};
    return all + words{file} + others;
}

/// Checks that the command reached the point where it uses the file.
void check_row(const process_result& r) {
    for (const char* wrong : {"is required", "is missing", "which node", "says what"})
        CHECK_THAT(r.err, !Contains(wrong));
}

/// A FIFO in a directory.
struct fifo {
    explicit fifo(const directory& files, std::string_view as = "fifo") : name(files / as) {
        REQUIRE(::mkfifo(name.c_str(), 0600) == 0);
    }
    /// Fills the FIFO, so that no further writes succeed while nothing reads from it.
    void fill() {
        both_ends = unique_fd(::open(name.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC));
        while (::write(both_ends.get(), "full", 4) > 0) continue;
    }
    std::string name;
    unique_fd both_ends;
};

/// Returns true if the process has the file open.
bool has_open(const process& p, const std::string& file) {
    std::error_code none;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/" + std::to_string(p.pid()) + "/fd", none))
        if (std::filesystem::read_symlink(entry, none) == file) return true;
    return false;
}

/// Returns true if the process handles signals as ibtool does. Before exec() it is still the test or a shell.
bool is_ibtool(const process& p) {
    const std::string status = read_file("/proc/" + std::to_string(p.pid()) + "/comm");
    return status.starts_with("ibtool");
}

/// Checks that the first SIGTERM ends the program.
process_result end_by_signal(process& p) {
    if (!p.ended()) p.signal(SIGTERM);
    return p.wait(5s);
}

TEST_CASE("every argument that names a file declares how the command uses the file") {
    // These arguments name a directory, a socket, a fabric, a link or an option. Some accept a file as only one of
    // several forms, and some only mention an option that names a file.
    const std::vector<std::string> others{"--fabric", "--dev",     "--listen", "--target", "--sysfs",
                                          "--sys",    "directory", "--m_key",  "--smkey",  "--cckey"};
    for (const argument& a : arguments()) {
        const std::string name = a.name.substr(a.name.rfind(',') + 1);
        const bool mentions_one = a.value == "FILE" || a.value == "PATH" || a.name.find("file") != a.name.npos ||
                                  a.help.find("file") != a.help.npos || a.help.find("CSV") != a.help.npos;
        CAPTURE(a.command, a.name, a.help);
        if (mentions_one && a.file == "none") CHECK(std::find(others.begin(), others.end(), name) != others.end());
        if (a.file != "none") CHECK((a.command.empty() || a.command == "ibhosts" || !a.help.empty()));
    }
    CHECK(arguments_used({"read", "read_regular", "read_again", "cached"}).size() > 30);
}

TEST_CASE("the first SIGTERM ends ibtool while it reads a FIFO without a writer, for every input file argument") {
    const directory files;
    const fifo silent(files);
    sampled sample;
    for (const argument& a : arguments_used({"read", "read_regular", "read_again", "cached"})) {
        if (sample.skips()) continue;
        CAPTURE(a.command, a.name, a.file);
        process p(ibtool(with_file(a, silent.name)));
        // A command that requires a regular file opens the FIFO briefly and refuses it.
        const bool is_refused =
            a.file == "read_regular" || a.file == "cached" || a.name == "--key-file" || a.name == "--known";
        await([&] { return p.ended() || (!is_refused && has_open(p, silent.name)); });
        CHECK(p.ended() == is_refused);
        const process_result r = end_by_signal(p);
        CAPTURE(r.err);
        check_row(r);
        if (is_refused) check_failure(r, r.status == 2 ? 2 : 1, "it is not a regular file");
        else CHECK((r.status == 1 || r.status == 2 || r.status == 128 + SIGTERM));
    }
}

TEST_CASE("an endless file is refused with one line and bounded memory, for every input file argument") {
    const directory files;
    sampled sample;
    for (const argument& a : arguments_used({"read", "read_regular", "read_again", "cached"})) {
        if (sample.skips()) continue;
        CAPTURE(a.command, a.name);
        const words limited{"sh", "-c", other_program() ? "exec env \"$@\"" : "ulimit -v 1200000; exec env \"$@\"",
                            "sh"};
        const process_result r = run_process(limited + ibtool(with_file(a, "/dev/zero")));
        CAPTURE(r.err);
        check_row(r);
        CHECK((r.status == 1 || r.status == 2));
        if (a.command == "doctor") CHECK_THAT(r.out, Contains("it is a binary file")); // a finding like other findings
        else CHECK(std::count(r.err.begin(), r.err.end(), '\n') == 1);
        CHECK(r.err.size() < 400);
        CHECK_THAT(r.err, !Contains("out of memory"));
    }
}

TEST_CASE("a text without line ends is refused after 1 MiB, and an error quotes at most 100 characters of a file") {
    const directory files;
    const std::string line(3 << 20, 'x'), endless = files.write("endless", line);
    const std::string long_word = files.write("long", std::string(1 << 19, 'y') + "\n");
    ::chmod(endless.c_str(), 0600);
    ::chmod(long_word.c_str(), 0600);
    sampled sample;
    for (const argument& a : arguments_used({"read", "read_regular", "read_again"})) {
        if (sample.skips()) continue;
        CAPTURE(a.command, a.name);
        if (a.file == "read_again" && a.name.find("name-map") != a.name.npos) continue; // ibtool warns and continues
        const bool is_text = a.command != "decode" && a.command != "ibcacheedit" && a.file != "read_regular";
        for (const std::string& file : {endless, long_word}) {
            if (a.name.find("-name-map") != a.name.npos && file == long_word) continue;
            if (a.name == "-z,--config" && file == long_word) continue; // lines without `=` are ignored
            const process_result r = run(with_file(a, file));
            CAPTURE(file, r.err.substr(0, 1000));
            CHECK((r.status == 1 || r.status == 2));
            CHECK(r.err.size() < 600);
            if (is_text && file == endless && a.command != "doctor" && a.name != "--key-file" && a.name != "--known")
                CHECK_THAT(r.err, Contains("line 1 is longer than the maximum of 1024 KiB") ||
                                      Contains("longer than 1023 bytes"));
        }
    }
}

/// An exporter with frequent sweeps, and its /health page.
class exporter {
public:
    explicit exporter(const words& arguments, const words& shell = {})
        : program(shell + ibtool(words{"sweep", "--listen", "127.0.0.1:0", "--every", "20ms", "--fabric", fabric} +
                                 arguments)) {
        program.await_error("/metrics, reachable only from this machine\n");
        const std::string printed = program.errors(), before = "http://127.0.0.1:";
        port_ = std::stoi(printed.substr(printed.find(before) + before.size()));
    }
    /// Returns the number of sweeps so far.
    int sweeps(const std::string& fields = {}) const {
        comad::test::http_client client(port_);
        const comad::test::http_answer a = client.get("/health", fields);
        REQUIRE((a.status == 200 || a.status == 503));
        return json::parse(a.body).value("sweep", 0);
    }
    void check_that_it_sweeps(const std::string& fields = {}) const {
        const int before = sweeps(fields);
        await([&] { return sweeps(fields) > before + 2; });
    }
    process program;

private:
    int port_ = 0;
};

TEST_CASE("an exporter sweeps and replies while any file that SIGHUP rereads is a FIFO or endless") {
    const directory files;
    std::vector<argument> read_again = arguments_used({"read_again"});
    CHECK(read_again.size() >= 4);
    const std::string known = files / "subnet";
    REQUIRE(run({"ibnetdiscover", "--fabric", fabric, "--cache", known}).status == 0);
    const std::map<std::string, std::string> texts{{"--known", read_file(known)},
                                                   {"--node-name-map", "0x1 \"nobody\"\n"},
                                                   {"--key-file", "default SM_Key 0x1\n"},
                                                   {"--auth", "bearer secret\n"},
                                                   {"--rules", ""}};
    words options;
    std::vector<std::string> names;
    for (const argument& a : read_again) {
        const std::string name = a.name.substr(a.name.rfind(',') + 1);
        CAPTURE(name);
        REQUIRE(texts.contains(name)); // a new option needs a row
        names.push_back(files.write(name.substr(2), texts.at(name)));
        ::chmod(names.back().c_str(), 0600);
        options = options + words{name, names.back()};
    }
    const std::string token = "Authorization: Bearer secret\r\n";
    exporter e(options);
    e.check_that_it_sweeps(token);
    for (const std::string& name : names) {
        CAPTURE(name);
        const std::string kept = name + ".kept";
        for (const char* instead : {"fifo", "/dev/zero", "/dev/full"}) {
            const std::string before = e.program.errors();
            std::filesystem::rename(name, kept);
            if (*instead == '/') std::filesystem::create_symlink(instead, name);
            else REQUIRE(::mkfifo(name.c_str(), 0600) == 0);
            e.program.signal(SIGHUP);
            await([&] {
                return e.program.errors().find("the previous contents remain in use", before.size()) !=
                       std::string::npos;
            });
            CHECK_THAT(e.program.errors().substr(before.size()), Contains("it is not a regular file"));
            e.check_that_it_sweeps(token);
            std::filesystem::remove(name);
            std::filesystem::rename(kept, name);
        }
    }
    e.program.signal(SIGHUP);
    e.program.await_error("SIGHUP: reloaded ");
    e.program.signal(SIGTERM);
    const int code = e.program.wait(5s).status;
    CHECK((code == 0 || code == 3)); // a slow machine may miss sweeps
}

/// Returns a shell command that runs its arguments with this redirection.
words redirected(const std::string& to) { return {"sh", "-c", "exec env \"$@\" " + to, "sh"}; }

TEST_CASE("an exporter sweeps and replies with a full or blocked stdout, and the first SIGTERM ends it") {
    const directory files;
    fifo stopped(files, "stopped");
    stopped.fill();
    for (const words& form : {words{"--json"}, {"--csv"}, {"--json", "-v"}}) {
        for (const std::string& to : {std::string("/dev/full"), stopped.name}) {
            CAPTURE(form, to);
            exporter e(form, redirected(">" + to));
            e.check_that_it_sweeps();
            e.program.signal(SIGTERM);
            const process_result r = e.program.wait(5s);
            CAPTURE(r.err);
            CHECK(r.status == 3);
            CHECK_THAT(r.err, Contains("of the output could not be written to stdout"));
        }
    }
}

TEST_CASE("an exporter sweeps and replies with full or blocked messages and traces, and one SIGTERM ends it") {
    const directory files;
    fifo stopped(files, "stopped");
    stopped.fill();
    const std::string socket = files / "socket";
    for (const char* trace : {"-v", "-d", "-dd"}) {
        for (const std::string& to : {std::string("/dev/full"), stopped.name}) {
            CAPTURE(trace, to);
            process p(redirected("2>" + to) +
                      ibtool({"sweep", "--listen", "unix:" + socket, "--every", "20ms", "--fabric", fabric, trace}));
            await([&] { return std::filesystem::exists(socket) || p.ended(); });
            REQUIRE_FALSE(p.ended());
            const auto sweeps = [&] {
                try {
                    comad::test::http_client client(socket);
                    return json::parse(client.get("/health").body).value("sweep", 0);
                } catch (const std::system_error&) {
                    return 0; // the socket is bound but not listening yet
                }
            };
            await([&] { return sweeps() > 5; });
            p.signal(SIGTERM);
            const int code = p.wait(5s).status;
            CHECK((code == 0 || code == 3)); // a slow machine may miss sweeps
            std::filesystem::remove(socket);
        }
    }
}

TEST_CASE("an exporter sweeps and replies with a full or blocked capture, and the first SIGTERM ends it") {
    const directory files;
    fifo stopped(files, "stopped");
    stopped.fill();
    const fifo unread(files, "unread");
    const std::vector<argument> streamed = arguments_used({"streamed"});
    CHECK(streamed.size() == 1);
    for (const argument& a : streamed) {
        REQUIRE(a.name == "--pcap"); // another argument needs its own rows
        for (const std::string& to : {stopped.name, unread.name, std::string("/dev/full")}) {
            CAPTURE(to);
            exporter e({a.name, to});
            e.check_that_it_sweeps();
            e.program.signal(SIGTERM);
            const process_result r = e.program.wait(5s);
            CHECK(r.status == 3);
            CHECK_THAT(r.err, Contains("the capture '" + to + "' is incomplete: "));
        }
    }
}

TEST_CASE("the first SIGTERM ends long-running commands while nothing reads their output") {
    const directory files;
    fifo stopped(files, "stopped");
    stopped.fill();
    const std::string flapping = fabric + ",flap=spine-0001/2@20ms:20ms:50ms";
    for (const words& command : {words{"sweep", "--every", "2ms", "--json"},
                                 {"watch", "--every", "10ms"},
                                 {"watch", "--every", "10ms", "--json"},
                                 {"ibswportwatch", "-p", "2ms", "1", "1"},
                                 {"ibping", "2"}}) {
        CAPTURE(command);
        process p(redirected(">" + stopped.name) + ibtool(command + words{"--fabric", flapping, "-d"}));
        // The command continues while no program reads its output, as its trace shows. ibping sends once per second.
        const std::size_t enough = command[0] == "ibping" ? 100 : 20'000;
        await([&] { return p.ended() || p.errors().size() > enough; });
        REQUIRE_FALSE(p.ended());
        p.signal(SIGTERM);
        const process_result r = p.wait(5s);
        CAPTURE(r.err);
        CHECK((r.status == 0 || r.status == 3));
    }
}

TEST_CASE("a command that ends by itself writes all its output to a slow reader") {
    const directory files;
    const fifo slow(files);
    const unique_fd reader(::open(slow.name.c_str(), O_RDWR | O_CLOEXEC));
    const process_result whole = run({"ibnetdiscover", "--fabric", "sim:fattree2,radix=32,sm=1,time=virtual", "-d"});
    REQUIRE(whole.out.size() > 100'000);
    process p(redirected(">" + slow.name + " 2>&1") +
              ibtool({"ibnetdiscover", "--fabric", "sim:fattree2,radix=32,sm=1,time=virtual", "-d"}));
    std::string all;
    char part[1024];
    while (all.size() < whole.out.size() + whole.err.size()) {
        const ssize_t got = ::read(reader.get(), part, sizeof part);
        REQUIRE(got > 0);
        all.append(part, static_cast<std::size_t>(got));
    }
    CHECK(p.wait().status == 0);
    CHECK(all.size() == whole.out.size() + whole.err.size());
}

TEST_CASE("every output file of a command may be a FIFO, a full disk or a pipe without a reader") {
    const directory files;
    fifo stopped(files, "stopped");
    stopped.fill();
    const fifo unread(files, "unread");
    const std::string cache = files / "cache";
    REQUIRE(run({"ibnetdiscover", "--fabric", fabric, "--cache", cache}).status == 0);
    for (const argument& a : arguments_used({"written", "replaced", "cached"})) {
        for (const std::string& to : {stopped.name, unread.name, std::string("/dev/full")}) {
            CAPTURE(a.command, a.name, to);
            words line = with_file(a, to);
            if (a.command == "ibcacheedit") line = {"ibcacheedit", cache, to};
            if (a.command == "ibdiscover") line = {"ibdiscover", some_topology(), a.name, to};
            if (a.name == "--prometheus") line = {"sweep", "--fabric", fabric, "--count", "1", a.name, to};
            process p(ibtool(line));
            if (a.file == "written" && to != "/dev/full") {
                // The command waits for the reader as any program does, and a signal ends the wait.
                await([&] { return p.ended() || is_ibtool(p); });
                CHECK_FALSE(p.ended());
                CHECK(end_by_signal(p).status != 0);
                continue;
            }
            const process_result r = p.wait(20s);
            CAPTURE(r.err);
            CHECK(r.status == 1);
            CHECK_THAT(r.err, Contains(a.file == "written" ? "No space left on device" : "it is not a regular file"));
        }
    }
}

} // namespace
} // namespace ibtool_blocking_test
