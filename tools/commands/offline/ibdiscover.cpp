// SPDX-License-Identifier: MIT
// ibdiscover.cpp - ibdiscover: prints a topology with the location of each node, and the links that have changed since the last run.
#include "comad.hpp"
#include "command.hpp"
#include "input/link_files.hpp"
#include "session/run_on_subnet.hpp"
#include "text/json.hpp"
#include "text/output.hpp"
#include <comad/iba/detail/format.hpp>
#include <comad/iba/detail/text.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <iterator>
#include <memory>
#include <unistd.h>

namespace ibtool {
namespace {

/// The command line of ibdiscover.
struct ibdiscover_settings {
    std::string topology = "-", places = "ibdiscover.map", links = "ibdiscover.topo", new_links = "ibdiscover.topo.new";
    bool json = false;
};

const char* word_of(const discovery::node& n) {
    switch (n.info.nodeType) {
    case iba::NodeType::Switch: return "Switch";
    case iba::NodeType::Router: return "Router";
    default: return "Host";
    }
}

/// Adds locations to a topology, and compares its links with those of the last run.
class annotation {
public:
    annotation(const ibdiscover_settings& s, const global_options& options)
        : how_(s), subnet_(read_subnet(s.topology, options)) {
        // Both files are optional.
        if (::access(s.places.c_str(), F_OK) == 0) places_ = read_places(s.places);
        is_first_ = ::access(s.links.c_str(), F_OK) != 0;
        if (!is_first_) were_ = read_links(s.links);
        for (const discovery::node& n : subnet_.nodes)
            for (unsigned p = 1; p < n.ports.size(); ++p)
                if (const discovery::port_ref peer = n.ports[p].peer)
                    are_.insert({n.info.nodeGUID, p, peer.port, subnet_.nodes[peer.node].info.nodeGUID});
        std::ranges::set_symmetric_difference(were_, are_, std::back_inserter(changes_));
    }

    std::string text() const {
        std::string text;
        for (const discovery::node& n : subnet_.nodes) text += node_text(n);
        text += "\nDelta change in topo (change between successive runs)\n\n";
        for (const link_end& l : changes_)
            text += fmt::format("Link change:  Local/Remote Port {:2}/{:2} Local/Remote GUID: {:x}/{:x}\n"
                                "\tLocations: Local/Remote\n\t\t{}\n\t\t{}\n\n",
                                l.port, l.peer_port, value(l.nodeGUID), value(l.peer_nodeGUID), place_of(l.nodeGUID),
                                place_of(l.peer_nodeGUID));
        return text;
    }

    std::string json() const {
        auto changes = nlohmann::ordered_json::array();
        for (const link_end& l : changes_)
            changes.push_back({{"kind", are_.contains(l) ? "added" : "removed"},
                               {"nodeGUID", fmt::format("{}", l.nodeGUID)},
                               {"port", l.port},
                               {"location", json_string(raw_place_of(l.nodeGUID))},
                               {"peer",
                                {{"nodeGUID", fmt::format("{}", l.peer_nodeGUID)},
                                 {"port", l.peer_port},
                                 {"location", json_string(raw_place_of(l.peer_nodeGUID))}}}});
        return json_line({{"schema", "comad.link_changes/1"},
                          {"nodes", subnet_.nodes.size()},
                          {"link_ends", are_.size()},
                          {"is_first_run", is_first_},
                          {"changes", changes}});
    }

    int run() const {
        replace_file(format_links(are_), how_.new_links);
        write_output(how_.json ? json() : text());
        return is_first_ || changes_.empty() ? complete : failed;
    }

private:
    std::string node_text(const discovery::node& n) const {
        std::string text =
            fmt::format("\n{} GUID: {:x}  {}\n", word_of(n), value(n.info.nodeGUID), place_of(n.info.nodeGUID));
        for (unsigned p = 1; p < n.ports.size(); ++p) {
            const discovery::port_ref peer = n.ports[p].peer;
            if (!peer) continue;
            const discovery::node& other = subnet_.nodes[peer.node];
            const std::string place = place_of(other.info.nodeGUID);
            text += fmt::format("Local: {:2}  Remote: {:2}  {:>7}  GUID: {:x}  Location: {}\n", p, peer.port,
                                word_of(other), value(other.info.nodeGUID),
                                place.empty() ? fmt::format("{:x}", value(other.info.nodeGUID)) : place);
        }
        return text;
    }

    std::string place_of(iba::guid node) const { return iba::escaped(raw_place_of(node)); }
    /// Returns the location of a node as the file contains it; empty if the file does not contain the node.
    std::string raw_place_of(iba::guid node) const {
        const auto found = places_.find(node);
        return found == places_.end() ? std::string() : found->second;
    }

    const ibdiscover_settings& how_;
    const discovery::subnet subnet_;
    std::map<iba::guid, std::string> places_;
    std::set<link_end> were_, are_;
    bool is_first_ = false;
    std::vector<link_end> changes_;
};

} // namespace

command ibdiscover_command() {
    return {.name = "ibdiscover",
            .group = command_group::offline,
            .no_sa_reason = "it sends nothing",
            .declare = [](arguments& takes) -> action {
                auto s = std::make_shared<ibdiscover_settings>();
                takes.option("topology-file", s->topology).file(file_use::read);
                takes.option("--map", s->places).file(file_use::read);
                takes.option("--topo", s->links).file(file_use::read);
                takes.option("--new", s->new_links).file(file_use::replaced);
                takes.flag("--json", s->json);
                return [s](const global_options& options) { return annotation(*s, options).run(); };
            }};
}

} // namespace ibtool
