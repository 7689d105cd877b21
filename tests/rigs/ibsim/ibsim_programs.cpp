// SPDX-License-Identifier: MIT
// ibsim_programs.cpp - runs programs of infiniband-diags and OpenSM on an ibsim subnet and compares their output with ours.
#include "ibsim/ibsim_programs.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <set>
#include <sstream>
#include <stdlib.h>
#include <vector>

namespace comad::test {

using iba::NodeType;

std::string topology_file_of(std::string_view specification) {
    std::ostringstream out;
    write_topology(out, transports::sim::make_topology(specification));
    return out.str();
}

transports::ibsim_options at(const ibsim_server& server) {
    transports::ibsim_options options;
    options.sockname = server.sockname();
    options.node.clear();
    return options;
}

subnet discover(const ibsim_server& server, unsigned outstanding, mad::duration timeout) {
    transports::ibsim_transport port(at(server));
    coro::schedule_options options = window(outstanding);
    options.timeout = timeout;
    coro::MADSchedule schedule(port, options);
    auto found = coro::sync_wait(schedule, discovery::discover(schedule));
    REQUIRE(found);
    return std::move(found).value();
}

std::string run_beside(const ibsim_server& server, const std::string& command) {
    return run_beside(server.sockname(), command);
}

std::string run_beside(const std::string& sockname, const std::string& command) {
    // Runs in a temporary directory, because ibsim's preloaded library and OpenSM leave files in their working directory.
    std::string directory = std::filesystem::temp_directory_path() / "comad-ibsim-XXXXXX";
    REQUIRE(::mkdtemp(directory.data()));
    const std::string line = fmt::format(
        "cd {} && OSM_TMP_DIR=. OSM_CACHE_DIR=. IBSIM_SOCKNAME={} ibsim-run {} 2>stderr", directory, sockname, command);
    FILE* pipe = ::popen(line.c_str(), "r");
    REQUIRE(pipe);
    std::string text;
    char part[65536];
    while (const auto n = std::fread(part, 1, sizeof part, pipe)) text.append(part, n);
    const int status = ::pclose(pipe);
    std::filesystem::remove_all(directory);
    CAPTURE(command, text);
    REQUIRE(status == 0);
    return text;
}

void configure(const ibsim_server& server) { run_beside(server, "opensm --once --log_file osm.log"); }

namespace {

using pieces = std::set<std::string>;

/// Splits a text at the separators. Drops the comments with times and counts before the first stanza. Keeps only the
/// comment with the start of the discovery.
pieces split(const std::string& text, std::string_view separator) {
    pieces all;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find(separator, begin), text.size());
        std::string piece = text.substr(begin, end - begin);
        if (piece.starts_with("#\n")) {
            const std::size_t origin = piece.find("# Initiated");
            REQUIRE(origin != std::string::npos);
            piece.erase(0, origin);
        }
        all.insert(piece.substr(0, piece.find_last_not_of('\n') + 1));
        begin = end + separator.size();
    }
    return all;
}

/// Checks that two texts have the same pieces in any order.
void check_same(const std::string& ours, const std::string& theirs, std::string_view separator) {
    const pieces a = split(ours, separator), b = split(theirs, separator);
    CHECK(a.size() > 0);
    std::vector<std::string> only_ours, only_theirs;
    std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(only_ours));
    std::set_difference(b.begin(), b.end(), a.begin(), a.end(), std::back_inserter(only_theirs));
    CHECK(only_ours == std::vector<std::string>{});
    CHECK(only_theirs == std::vector<std::string>{});
}

} // namespace

void check_same_topology(const std::string& one, const std::string& other) { check_same(one, other, "\n\n"); }

void compare_topology(const ibsim_server& server, const subnet& found) {
    CHECK(found.complete());
    CHECK(inconsistencies(found) == std::vector<std::string>{});
    check_same_topology(format_topology(found, {}, {}), run_beside(server, "ibnetdiscover"));
    check_same_topology(format_topology(found, {}, {.full = true, .mads_used = {}}),
                        run_beside(server, "ibnetdiscover -f"));
}

void compare_reports(const ibsim_server& server, const subnet& found) {
    compare_topology(server, found);
    check_same(node_list(found, {}, {NodeType::CA, NodeType::Switch, NodeType::Router}),
               run_beside(server, "ibnetdiscover -l"), "\n");
    check_same(ports_report(found, {}), run_beside(server, "ibnetdiscover -p"), "\n");
    if (found.count(NodeType::CA) > 0) check_same(format_hosts(found, {}), run_beside(server, "ibhosts"), "\n");
    if (found.count(NodeType::Switch) > 0)
        check_same(format_switches(found, {}), run_beside(server, "ibswitches"), "\n");
}

bool has_lids(const subnet& found) {
    for (const discovery::node& n : found.nodes) {
        for (std::size_t p = 0; p < n.ports.size(); ++p) {
            if (!n.ports[p].info || (n.is_switch() && p != 0)) continue;
            if (value(n.ports[p].info->LID) == 0) return false;
        }
    }
    return true;
}

} // namespace comad::test
