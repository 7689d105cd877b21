// SPDX-License-Identifier: MIT
// flux_graph.cpp - writes a subnet as a resource graph of Flux: JGF, which the scheduler Fluxion loads.
#include "scheduler_tree.hpp"
#include <comad/discovery/formats/exports.hpp>
#include <comad/iba/detail/json.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <map>
#include <utility>

namespace comad::discovery {
namespace {

using graph_json = nlohmann::ordered_json;

/// Returns the number at the end of a host name, which Fluxion uses as its ID; otherwise the given number.
std::int64_t id_of_host(const std::string& name, std::int64_t otherwise) {
    constexpr std::size_t most_digits = 18;
    const std::size_t begin = name.find_last_not_of("0123456789") + 1;
    if (begin == name.size() || name.size() - begin > most_digits) return otherwise;
    std::int64_t number = 0;
    std::from_chars(name.data() + begin, name.data() + name.size(), number);
    return number;
}

/// Adds vertices and edges of the containment hierarchy.
class flux_writer {
public:
    explicit flux_writer(const scheduler_tree& tree) {
        for (const tree_switch& w : tree.switches) {
            switches_.emplace(w.name, &w);
            hosts_.insert(hosts_.end(), w.hosts.begin(), w.hosts.end());
        }
        std::ranges::sort(
            hosts_, [](const std::string& a, const std::string& b) { return ::strverscmp(a.c_str(), b.c_str()) < 0; });
        for (std::size_t rank = 0; rank < hosts_.size(); ++rank) ranks_.emplace(hosts_[rank], rank);
        const std::string root = "/cluster0";
        const std::int64_t cluster = add("cluster", "cluster0", 0, -1, root);
        for (const std::string& name : tree.roots) add_switch(name, cluster, root);
    }
    std::string text() const { return iba::detail::json_line({{"graph", {{"nodes", nodes_}, {"edges", edges_}}}}); }

private:
    std::int64_t add(const char* type, const std::string& name, std::int64_t id, std::int64_t rank,
                     const std::string& path) {
        const std::int64_t number = static_cast<std::int64_t>(nodes_.size());
        nodes_.push_back({{"id", fmt::format("{}", number)},
                          {"metadata",
                           {{"type", type},
                            {"basename", type},
                            {"name", name},
                            {"id", id},
                            {"uniq_id", number},
                            {"rank", rank},
                            {"exclusive", false},
                            {"unit", ""},
                            {"size", 1},
                            {"paths", {{"containment", path}}}}}});
        return number;
    }
    void connect(std::int64_t above, std::int64_t below) {
        edges_.push_back({{"source", fmt::format("{}", above)},
                          {"target", fmt::format("{}", below)},
                          {"metadata", {{"subsystem", "containment"}}}});
    }
    void add_switch(const std::string& name, std::int64_t above, const std::string& path_above) {
        const tree_switch& w = *switches_.at(name);
        const std::string path = fmt::format("{}/{}", path_above, name);
        const std::int64_t here = add("switch", name, static_cast<std::int64_t>(nodes_.size()), -1, path);
        connect(above, here);
        for (const std::string& below : w.switches) add_switch(below, here, path);
        for (const std::string& host : w.hosts) {
            const std::int64_t id = id_of_host(host, static_cast<std::int64_t>(nodes_.size()));
            connect(here, add("node", host, id, static_cast<std::int64_t>(ranks_.at(host)),
                              fmt::format("{}/{}", path, host)));
        }
    }

    std::map<std::string, const tree_switch*> switches_;
    std::map<std::string, std::size_t> ranks_;
    std::vector<std::string> hosts_;
    graph_json nodes_ = graph_json::array(), edges_ = graph_json::array();
};

} // namespace

export_text format_flux(const subnet& s, const node_names& names, const node_selection& selected) {
    scheduler_tree tree = scheduler_tree_of(s, names, selected);
    return {flux_writer(tree).text(), std::move(tree.notes), tree.hosts};
}

} // namespace comad::discovery
