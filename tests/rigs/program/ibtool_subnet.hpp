// SPDX-License-Identifier: MIT
// ibtool_subnet.hpp - an ibsim subnet that a real OpenSM has configured, for programs of infiniband-diags and for ibtool.
#pragma once
#include "ibsim/ibsim_server.hpp"
#include "program/ibtool_rig.hpp"
#include <comad/transports/ibsim.hpp>

#include <nlohmann/json.hpp>

#include <optional>

namespace ibtool_rig {

/// Topology file of the default subnet. OpenSM assigns the LIDs, so tests know only the GUIDs in advance.
inline constexpr std::string_view topology = R"(
vendid=0x101
devid=0x201
sysimgguid=0x13000
switchguid=0x5000
Switch	20 "S1"	# "first switch"
[1]	"A"[1]
[2]	"B"[1]
[17]	"S2"[3]
[20]	"S2"[4]

vendid=0x102
devid=0x202
sysimgguid=0x23000
switchguid=0x6000
Switch	4 "S2"	# "second switch"
[1]	"C"[2]
[3]	"S1"[17]
[4]	"S1"[20]

vendid=0x103
devid=0x203
sysimgguid=0x33000
caguid=0xa000
Hca	2 "A"	# "host A"
[1]	"S1"[1]

vendid=0x104
devid=0x204
sysimgguid=0x43000
caguid=0xb000
Hca	1 "B"	# "host B"
[1]	"S1"[2]

vendid=0x105
devid=0x205
sysimgguid=0x53000
caguid=0xc000
Hca	2 "C"	# "host C, with a name of more than 32 letters"
[2]	"S2"[1]
)";

/// Whether OpenSM continues to run after it has configured the subnet. If it does, its SA replies and its SMPs change
/// the counters.
enum class manager { stays, leaves };

/// An ibsim subnet that OpenSM has configured.
class subnet {
public:
    /// Starts ibsim and OpenSM. `options`: further options of OpenSM.
    explicit subnet(std::string_view described = topology, manager kind = manager::stays, words options = {})
        : kind_(kind), options_(std::move(options)), server_(described) {
        configure();
    }

    /// Ends ibsim and its OpenSM.
    void kill() {
        manager_.reset();
        server_.kill();
    }
    /// Starts ibsim and OpenSM again after kill().
    void start() {
        server_.start();
        configure();
    }

    /// Runs a program of infiniband-diags at the port that ibtool uses. With SIM_HOST=NODE in `environment` it runs at
    /// NODE.
    process_result peer(const words& command, const words& environment = {}) const {
        return process(beside(environment, command)).wait();
    }
    process_result ours(const words& command) const { return run(command + words{"--fabric", fabric()}); }
    /// Runs a command on ibsim's console. Fails the test if ibsim reports an error.
    void console(const std::string& command) {
        const std::string printed = server_.console(command);
        CAPTURE(command, printed);
        REQUIRE_THAT(printed, !StartsWith("#"));
    }
    std::string fabric() const { return "ibsim:" + server_.sockname(); }
    comad::transports::ibsim_options at(const char* node) const {
        comad::transports::ibsim_options options;
        options.sockname = server_.sockname();
        options.node = node;
        return options;
    }
    /// Waits until OpenSM's log contains this text.
    void await_manager(std::string_view printed) { manager_->await_error(printed); }
    std::string manager_log() const { return manager_->errors(); }
    const directory& files() const { return files_; }

    /// Returns the LID of the port at the end of a directed route.
    std::string lid_at(const std::string& route) const {
        const auto answer = nlohmann::json::parse(ours({"ibaddr", "-D", route, "--json"}).out);
        return std::to_string(answer.at("LID").get<unsigned>());
    }

private:
    void configure() {
        words command{"opensm", "--qos", "--log_file", "stderr"};
        if (kind_ == manager::leaves) command.push_back("--once");
        command.insert(command.end(), options_.begin(), options_.end());
        manager_.emplace(beside({"OSM_TMP_DIR=.", "OSM_CACHE_DIR=."}, command));
        if (kind_ == manager::stays) manager_->await_error("SUBNET UP");
        else REQUIRE_THAT(manager_->wait().err, Contains("SUBNET UP"));
    }
    // Changes the working directory, because ibsim's preloaded library leaves a directory there.
    words beside(const words& environment, const words& command) const {
        return words{"IBSIM_SOCKNAME=" + server_.sockname()} + environment +
               words{"sh", "-c", "cd '" + (files_ / "") + "' && exec ibsim-run \"$@\"", "sh"} + command;
    }

    manager kind_;
    words options_;
    directory files_;
    ibsim_server server_;
    std::optional<process> manager_;
};

/// Topology file in which the programs are at the first switch. Their local queries cross no cable, so no counter
/// changes.
inline constexpr std::string_view quiet_topology = R"(
switchguid=0x5000
Switch	6 "S1"	# "first switch" enhanced port 0 lid 0 lmc 0
[1]	"A"[1]
[2]	"B"[1]
[5]	"S2"[3]

switchguid=0x6000
Switch	4 "S2"	# "second switch" base port 0 lid 0 lmc 0
[3]	"S1"[5]

caguid=0xa000
Hca	2 "A"	# "host A"
[1]	"S1"[1]

caguid=0xb000
Hca	1 "B"	# "host B"
[1]	"S1"[2]
)";

/// A subnet whose OpenSM has exited. Counters change only if a test sets them.
struct counted_subnet : subnet {
    explicit counted_subnet(std::string_view described = quiet_topology) : subnet(described, manager::leaves) {}

    void set(const std::string& port, const std::string& field, std::uint64_t value) {
        console("PerformanceSet " + port + " " + field + "=" + std::to_string(value));
    }
};

/// Returns the JSON objects of a text with one object per line, in order.
inline std::vector<nlohmann::json> objects_of(const std::string& text) {
    std::vector<nlohmann::json> all;
    for (const std::string& line : lines_in_order(text)) all.push_back(nlohmann::json::parse(line));
    return all;
}

/// Checks that ibtool and the program of infiniband-diags print equal text.
inline void compare(const subnet& s, const words& command) {
    CAPTURE(command);
    const process_result theirs = s.peer(command);
    CAPTURE(theirs.out);
    REQUIRE(theirs.status == 0);
    REQUIRE_FALSE(theirs.out.empty());
    const process_result r = s.ours(command);
    check_success(r);
    CHECK(r.out == theirs.out);
}

} // namespace ibtool_rig
