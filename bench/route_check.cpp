// SPDX-License-Identifier: MIT
// route_check.cpp - measures the check of all routes of a fat tree with generated tables: time, memory, and whether it finds errors that
// are put into the tables. The expected results are computed from the size of the tree.
#include <comad/coro/driver.hpp>
#include <comad/discovery/formats/exports.hpp>
#include <comad/discovery/routing/detail/credit_loops.hpp>
#include <comad/discovery/routing/routes.hpp>
#include <comad/discovery/walk/discover.hpp>
#include <comad/transports/sim/transport.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <chrono>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace comad::bench {
namespace {

namespace sim = transports::sim;
using discovery::not_forwarded;
using discovery::port_ref;
using discovery::subnet;

void require(bool holds, const char* what) {
    if (!holds) throw std::runtime_error(fmt::format("wrong: {}", what));
}

/// Returns the value of a line of /proc/self/status in MB; 0: there is no such line.
double resident(std::string_view name) {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
        if (line.starts_with(name)) return std::stod(line.substr(name.size() + 1)) * 1024 / 1e6;
    return 0;
}

/// Prints the time that `work` took, and the growth of the peak memory during this time.
template <class Work> auto measured(const char* what, Work&& work) {
    std::ofstream("/proc/self/clear_refs") << 5; // resets VmHWM (proc(5))
    const double before = resident("VmRSS");
    const auto begin = std::chrono::steady_clock::now();
    auto result = work();
    const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    fmt::print("{:<40} {:8.2f} s {:8.0f} MB more, {:.0f} MB in all\n", what, took, resident("VmHWM") - before,
               resident("VmHWM"));
    return result;
}

subnet discovered(const std::string& specification) {
    const sim::simulation made = sim::make_sim(specification, sim::time_mode::virtual_);
    coro::MADSchedule schedule(*made.transport);
    auto found = coro::sync_wait(schedule, discovery::discover(schedule));
    if (!found || !found.value().complete()) throw std::runtime_error("the discovery is not complete");
    return std::move(found).value();
}

/// A tree with three levels of switches, and its routes. Upward routes depend on the digits of the host's number; downward routes are
/// unique.
class tree {
public:
    explicit tree(subnet found) : net(std::move(found)), index(net), levels_(discovery::levels_above_edge(net)) {
        for (u32 n = 0; n < net.nodes.size(); ++n) {
            if (!net.nodes[n].is_switch()) continue;
            if (levels_[n] == 1) leaves_.push_back(n);
        }
        for (const u32 leaf : leaves_)
            for (const discovery::port& p : net.nodes[leaf].ports)
                if (p.peer && levels_[p.peer.node] == 0) hosts.push_back({p.peer, leaf, net.at(p.peer).info->LID});
        half = hosts.size() / leaves_.size();
        fill();
    }

    struct host {
        port_ref where;
        u32 leaf;
        iba::lid LID;
    };

    u8& entry(u32 sw, const host& to) { return tables.of_node[sw].unicast[value(to.LID)]; }
    /// Returns the switch that packets for a host reach from a leaf of another host after this number of links.
    u32 on_way(u32 leaf, const host& to, unsigned links) {
        u32 here = leaf;
        while (links-- > 0) here = net.nodes[here].ports[entry(here, to)].peer.node;
        return here;
    }
    u8 port_to(u32 sw, u32 other) const {
        for (unsigned p = 1; p < net.nodes[sw].ports.size(); ++p)
            if (net.nodes[sw].ports[p].peer && net.nodes[sw].ports[p].peer.node == other) return static_cast<u8>(p);
        throw std::runtime_error("two switches have no link");
    }

    const subnet net;
    const discovery::lid_index index;
    discovery::forwarding_tables tables;
    std::vector<host> hosts; ///< hosts, leaf by leaf
    u64 half = 0;            ///< number of hosts of a leaf, of its spines, and of leaves of a pod

private:
    void fill() {
        tables.of_node.resize(net.nodes.size());
        const unsigned top = [&] {
            unsigned most = 0;
            for (const discovery::lid_index::end& e : index.ends()) most = std::max(most, e.first + e.count - 1);
            return most;
        }();
        std::vector<std::vector<u8>> down(net.nodes.size()); // the port to each leaf; 0: up
        for (const unsigned level : {1u, 2u, 3u})
            for (u32 n = 0; n < net.nodes.size(); ++n)
                if (net.nodes[n].is_switch() && levels_[n] == level) down[n] = ports_down(n, down);
        for (u32 n = 0; n < net.nodes.size(); ++n) {
            if (!net.nodes[n].is_switch()) continue;
            discovery::switch_forwarding& t = tables.of_node[n];
            t.is_known = true;
            t.last_lid = top;
            t.unicast.assign(top + 1, not_forwarded);
            fill(n, down[n]);
        }
    }

    std::vector<u8> ports_down(u32 sw, const std::vector<std::vector<u8>>& down) const {
        std::vector<u8> to(leaves_.size());
        for (unsigned p = 1; p < net.nodes[sw].ports.size(); ++p) {
            const port_ref peer = net.nodes[sw].ports[p].peer;
            if (!peer || levels_[peer.node] == 0 || levels_[peer.node] > levels_[sw]) continue;
            for (std::size_t l = 0; l < leaves_.size(); ++l)
                if (leaves_[l] == peer.node || (levels_[peer.node] > 1 && down[peer.node][l]))
                    to[l] = static_cast<u8>(p);
        }
        return to;
    }

    void fill(u32 sw, const std::vector<u8>& down) {
        std::vector<u8> up;
        for (unsigned p = 1; p < net.nodes[sw].ports.size(); ++p) {
            const port_ref peer = net.nodes[sw].ports[p].peer;
            if (peer && levels_[peer.node] > levels_[sw]) up.push_back(static_cast<u8>(p));
        }
        for (std::size_t i = 0; i < hosts.size(); ++i) {
            const u64 digit = levels_[sw] == 1 ? i % half : i / half % half;
            u8& out = entry(sw, hosts[i]);
            if (hosts[i].leaf == sw) out = net.at(hosts[i].where).peer.port;
            else if (down[i / half]) out = down[i / half];
            else out = up[digit % up.size()];
        }
    }

    const std::vector<unsigned> levels_;
    std::vector<u32> leaves_;
};

discovery::route_check routes_of(const tree& t) { return check_routes(t.net, t.index, t.tables); }
discovery::credit_check credits_of(const tree& t) { return find_credit_loops(t.net, t.index, t.tables); }

/// Changes a table entry during its lifetime.
class mistake {
public:
    mistake(u8& entry, u8 wrong) : entry_(entry), right_(entry) { entry = wrong; }
    ~mistake() { entry_ = right_; }
    mistake(const mistake&) = delete;
    mistake& operator=(const mistake&) = delete;

private:
    u8& entry_;
    const u8 right_;
};

void check_whole(const tree& t) {
    const u64 H = t.hosts.size(), leaf = t.half, pod = t.half * t.half;
    const auto routes = measured("routes", [&] { return routes_of(t); });
    require(routes.is_good() && routes.unknown == 0 && routes.pairs == H * (H - 1), "every host reaches every other");
    require(routes.by_hops == std::vector<u64>{0, H * (leaf - 1), 0, H * (pod - leaf), 0, H * (H - pod)},
            "routes are as long as the tree is high");
    const auto credits = measured("credit loops", [&] { return credits_of(t); });
    require(credits.is_good() && credits.dependencies > 0, "up and down has no credit loop");
}

/// Makes a core switch send packets for a host to another pod, which sends them up again.
void check_loop(tree& t) {
    const tree::host& to = t.hosts.front();
    const tree::host& from = t.hosts.back();
    const u32 core = t.on_way(from.leaf, to, 2), spine = t.on_way(from.leaf, to, 1);
    const mistake wrong(t.entry(core, to), t.port_to(core, spine));
    const auto routes = measured("routes, one entry a loop", [&] { return routes_of(t); });
    require(routes.faults.size() == 1 && routes.faults[0].what == discovery::route_fault::kind::loop &&
                routes.faults[0].circle.size() == 2 && routes.unreachable == t.hosts.size() - t.half * t.half,
            "the loop is found, and cuts all hosts of other pods");
}

void check_dead_end(tree& t) {
    const tree::host& to = t.hosts.back();
    const mistake wrong(t.entry(to.leaf, to), not_forwarded);
    const auto routes = measured("routes, one entry none", [&] { return routes_of(t); });
    require(routes.faults.size() == 1 && routes.faults[0].what == discovery::route_fault::kind::no_entry &&
                routes.faults[0].where == port_ref{to.leaf, 0} && routes.unreachable == t.hosts.size() - 1,
            "the missing entry is found, and cuts all hosts");
}

/// Makes two leaves of a pod send packets for a host of the other leaf up again, each through a different spine.
void check_credit_loop(tree& t) {
    const tree::host &a = t.hosts[0], &b = t.hosts[t.half + 1];
    const u32 spine_of_a = t.on_way(b.leaf, a, 1), spine_of_b = t.on_way(a.leaf, b, 1);
    const mistake all[] = {{t.entry(spine_of_b, b), t.port_to(spine_of_b, a.leaf)},
                           {t.entry(a.leaf, b), t.port_to(a.leaf, spine_of_a)},
                           {t.entry(spine_of_a, a), t.port_to(spine_of_a, b.leaf)},
                           {t.entry(b.leaf, a), t.port_to(b.leaf, spine_of_b)}};
    require(routes_of(t).is_good(), "every host reaches every other by the valley");
    const auto credits = measured("credit loops, one put in", [&] { return credits_of(t); });
    require(credits.loops.size() == 1 && credits.loops[0].cycle.size() == 4, "the credit loop is found");
}

void run(const std::string& specification) {
    tree t(discovered(specification + ",sm=1"));
    fmt::print("{} nodes, {} hosts, {:.0f} MB of tables\n", t.net.nodes.size(), t.hosts.size(),
               static_cast<double>(t.tables.bytes()) / 1e6);
    check_whole(t);
    check_loop(t);
    check_dead_end(t);
    check_credit_loop(t);
}

} // namespace
} // namespace comad::bench

int main(int argc, char** argv) {
    std::string specification = "fattree3,radix=64,pods=43";
    CLI::App app{"Checks all routes of a fat tree of three levels, without mistakes and with some."};
    app.add_option("tree", specification, "of the simulator: fattree3,radix=...")->capture_default_str();
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& e) {
        return app.exit(e) == 0 ? 0 : 2;
    }
    try {
        comad::bench::run(specification);
        return 0;
    } catch (const std::exception& e) {
        fmt::print(stderr, "route_check: {}\n", e.what());
        return 1;
    }
}
