// SPDX-License-Identifier: MIT
// read_topology.cpp - builds a graph from a parsed topology file. It makes no other decisions about the subnet.
#include <comad/iba/detail/text.hpp>
#include <comad/topology_file/detail/read.hpp>
#include <comad/transports/sim/detail/topology.hpp>

#include <fmt/format.h>

#include <istream>
#include <iterator>
#include <stdexcept>
#include <utility>

namespace comad::transports::sim {
namespace {

namespace text = topology_file;

using speed_set = decltype(link_codes::speed);

void set_bits(link_codes& c, unsigned which, unsigned bits) noexcept {
    c.speed = static_cast<speed_set>((c.speed & ~which) | bits);
}
void set_legacy_speed(link_codes& c, unsigned bits) noexcept { set_bits(c, 0x07, bits); }
void set_extended_speed(link_codes& c, unsigned bits) noexcept {
    constexpr unsigned first = iba::lane_speed::first_extended_bit;
    set_bits(c, 0x0f << first, bits << first);
}

/// Returns the active codes for a text such as `4xEDR`; no codes unless both parts are known.
link_codes active_of(const text::port& p) noexcept {
    const auto speed = speed_code(iba::speed_name(p.speed));
    if (value(p.width) == 0 || !speed) return {};
    return {value(p.width), *speed};
}

/// Builds the graph of a topology file.
class graph_builder {
public:
    graph_builder(text::contents from, std::string_view name, std::string* skipped)
        : from_(std::move(from)), name_(name), skipped_(skipped) {}

    topology build() {
        for (const text::node& n : from_.nodes) {
            if (n.known == text::extent::links_only) break; // these nodes come last
            add_node(n);
        }
        for (u32 n = 0; n < graph_.nodes.size(); ++n)
            for (const text::port& p : from_.nodes[n].ports)
                if (is_first_end(n, p)) connect(n, p);
        activate_if_managed();
        if (skipped_) *skipped_ = summary();
        return std::move(graph_);
    }

private:
    void add_node(const text::node& n) {
        link_codes enabled{n.width_mask, 0};
        set_legacy_speed(enabled, n.speed_mask);
        set_extended_speed(enabled, n.extended_speed_mask);
        node& made = graph_.nodes[graph_.add_node(n.type, n.num_ports, n.nodeGUID, n.description, enabled)];
        made.id = n.id;
        made.vendorID = n.vendorID;
        made.deviceID = n.deviceID;
        made.enhanced_port0 = n.has_enhanced_port0;
        if (value(n.systemImageGUID) != 0) made.systemImageGUID = n.systemImageGUID;
        if (n.is_switch()) {
            made.ports[0].LID = n.LID.value_or(iba::lid{});
            made.ports[0].LMC = n.LMC.value_or(0);
        }
        for (const text::port& p : n.ports) describe_port(made.ports[p.number], p, n.is_switch());
    }

    /// Sets `active` to the values of the file, and to 0 if the file has none: connect() needs both ends to decide.
    static void describe_port(port& made, const text::port& p, bool is_of_switch) {
        if (!is_of_switch) {
            if (p.GUID) made.GUID = *p.GUID;
            made.LID = p.LID.value_or(iba::lid{});
            made.LMC = p.LMC.value_or(0);
        }
        made.active = active_of(p);
        if (made.active.width != 0) made.enabled = capable_of(made.active);
        if (p.width_mask) made.enabled.width = *p.width_mask;
        if (p.speed_mask) set_legacy_speed(made.enabled, *p.speed_mask);
        if (p.extended_speed_mask) set_extended_speed(made.enabled, *p.extended_speed_mask);
        using namespace iba::lane_speed;
        if (p.extended_speed2_mask) set_bits(made.enabled, XDR, *p.extended_speed2_mask ? XDR : 0);
        if (p.fdr10_mask) set_bits(made.enabled, FDR10, *p.fdr10_mask ? FDR10 : 0);
    }

    /// Returns whether this is the first end of a cable between nodes of the graph.
    bool is_first_end(u32 n, const text::port& p) const noexcept {
        return p.peer_port != 0 && p.peer_node < graph_.nodes.size() &&
               std::pair(n, p.number) <= std::pair(p.peer_node, p.peer_port);
    }

    void connect(u32 n, const text::port& p) {
        port& here = graph_.nodes[n].ports[p.number];
        port& there = graph_.nodes[p.peer_node].ports[p.peer_port];
        if (&here == &there) {
            here.active = {};
            return drop(p.line, "a port is cabled to itself", "name the port at the other end");
        }
        // Keeps the codes that were active when the file was written. An end without codes takes them from the other
        // end.
        const link_codes codes_here = here.active, codes_there = there.active;
        if (codes_here.width == 0 && codes_there.width != 0) here.enabled = capable_of(codes_there);
        if (codes_there.width == 0 && codes_here.width != 0) there.enabled = capable_of(codes_here);
        if (!graph_.link(n, p.number, p.peer_node, p.peer_port))
            return drop(p.line, "the two ports have no width or speed in common", "change one end's w=, s= or e= mask");
        settle(here, codes_here.width != 0 ? codes_here : codes_there);
        settle(there, codes_there.width != 0 ? codes_there : codes_here);
    }

    static void settle(port& p, link_codes codes) noexcept {
        if (codes.width != 0) p.active = codes;
        p.enabled.width |= p.active.width;
        p.enabled.speed |= p.active.speed;
        p.supported = p.enabled;
    }

    void drop(unsigned line, std::string_view what, std::string_view remedy) {
        if (!skipped_) throw std::runtime_error(fmt::format("{}:{}: {}; {}", iba::escaped(name_), line, what, remedy));
        if (dropped_++ == 0) first_dropped_ = fmt::format("line {}: {}", line, what);
    }

    std::string summary() const {
        std::string all = from_.skipped.text();
        if (from_.skipped.lost_links != 0) all += "; the simulator leaves these links out";
        if (dropped_ != 0)
            fmt::format_to(std::back_inserter(all), "{}{} link{} left out, the first is in {}", all.empty() ? "" : "; ",
                           dropped_, dropped_ == 1 ? "" : "s", first_dropped_);
        return all;
    }

    /// Returns whether a port has no LID although the subnet has a subnet manager.
    bool is_unconfigured(u32 n, unsigned p) const noexcept {
        const node& x = graph_.nodes[n];
        return !x.ports[x.is_switch() ? 0 : p].has_lid();
    }

    void activate_if_managed() {
        bool managed = false;
        for (const node& n : graph_.nodes)
            for (const port& p : n.ports) managed |= p.has_lid();
        if (!managed) return;
        for (u32 n = 0; n < graph_.nodes.size(); ++n)
            for (unsigned number = 1; number <= graph_.nodes[n].num_ports(); ++number) {
                port& p = graph_.nodes[n].ports[number];
                if (p.linked() && !is_unconfigured(n, number) && !is_unconfigured(p.peer_node, p.peer_port))
                    p.state = iba::PortState::Active;
            }
        // The format does not contain the location of the subnet manager, so the default host gets it.
        for (const port& p : graph_.nodes[graph_.default_node()].ports)
            if (value(graph_.sm_lid) == 0 && p.has_lid()) graph_.sm_lid = p.LID;
    }

    text::contents from_;
    std::string_view name_;
    std::string* skipped_;
    topology graph_;
    std::size_t dropped_ = 0;
    std::string first_dropped_;
};

} // namespace

topology read_topology(std::istream& in, std::string_view name, std::string* skipped) {
    const std::string all(std::istreambuf_iterator<char>(in), {});
    const auto how = skipped ? text::reading::tolerant : text::reading::strict;
    return graph_builder(text::read(all, name, how), name, skipped).build();
}

} // namespace comad::transports::sim
