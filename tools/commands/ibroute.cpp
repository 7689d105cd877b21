// SPDX-License-Identifier: MIT
// ibroute.cpp - ibroute: the forwarding table of a switch, unicast or (-M) multicast.
#include "command.hpp"
#include "session/ask.hpp"
#include "session/subnet_command.hpp"
#include "text/diags_text.hpp"
#include "text/output.hpp"
#include <comad/iba/format.hpp>
#include <comad/iba/text.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>

namespace ibtool {
namespace {

namespace coro = comad::coro;
namespace discovery = comad::discovery;
namespace iba = comad::iba;
namespace mad = comad::mad;
namespace smp = comad::iba::smp;
using comad::u16;
using comad::u8;

constexpr unsigned LIDs_per_block = 64, MLIDs_per_block = 32, ports_per_mask = 16;
constexpr unsigned first_MLID = 0xc000, last_MLID = 0xfffe, last_unicast_LID = 0xbfff;

struct ibroute_settings {
    std::string target, first, last, name_map;
    discovery::node_names names;
    target_options kind;
    bool everything = false, brief = false, multicast = false, json = false;
    unsigned first_LID = 0, last_LID = 0; // 0: the table's
};

/// A switch, and what its table is about.
struct switch_facts {
    smp::NodeInfo node;
    smp::SwitchInfo info;
    std::string name;
};

coro::task<mad::result<switch_facts>> ask_switch(session& in, mad::any_path path, discovery::node_names names) {
    BOOST_OUTCOME_CO_TRY(const auto node, co_await in.SubnGet<smp::NodeInfo>(path));
    if (node.nodeType != iba::NodeType::Switch)
        throw std::runtime_error(
            fmt::format("{} is not a switch, but a {}", place_text(path), node_type_text(node.nodeType)));
    BOOST_OUTCOME_CO_TRY(const auto description, co_await in.SubnGet<smp::NodeDescription>(path));
    BOOST_OUTCOME_CO_TRY(const auto info, co_await in.SubnGet<smp::SwitchInfo>(path));
    co_return switch_facts{node, info, name_of(names, node, description)};
}

std::string heading(const char* what, unsigned first, unsigned last, const mad::any_path& path, const switch_facts& s) {
    return fmt::format("{} [{:#x}-{:#x}] of switch {} guid 0x{:016x} ({}):\n", what, first, last, place_text(path),
                       value(s.node.nodeGUID), s.name);
}

std::string tail(std::size_t count, const ibroute_settings& s, const char* what) {
    return fmt::format("{} {}{} dumped \n", count, s.everything ? "" : "valid ", what);
}

// ---- unicast ----------------------------------------------------------------------------------------------------------

/// What is at a LID.
struct destination {
    bool known = false;
    smp::NodeInfo node;
    unsigned base_LID = 0, LMC = 0;
    std::string name;
};

/// Never an error: what does not answer is not known.
coro::task<mad::result<destination>> ask_destination(session& in, mad::any_path path,
                                                     const discovery::node_names& names) {
    const auto description = co_await in.SubnGet<smp::NodeDescription>(path);
    if (!description) co_return destination{};
    const auto port = co_await in.SubnGet<smp::PortInfo>(path);
    if (!port) co_return destination{};
    const auto node = co_await in.SubnGet<smp::NodeInfo>(path);
    if (!node) co_return destination{};
    co_return destination{true, node.value(), value(port.value().LID), port.value().LMC,
                          name_of(names, node.value(), description.value())};
}

/// A row of the table.
struct entry {
    unsigned LID;
    u8 port;
    bool valid;
    destination to; // not asked for in brief
};

/// The words behind a row. The LIDs of one port after its first are numbered, as `path #2 out of 4`.
class destination_words {
public:
    std::string of(const entry& e) {
        if (e.LID <= last_) {
            if (!e.valid) return fmt::format(": (path #{} - illegal port)", e.LID - base_);
            const std::string path = fmt::format("path #{} out of {}", e.LID - base_ + 1, last_ - base_ + 1);
            return GUID_ ? fmt::format(": ({}: portguid 0x{:016x})", path, GUID_) : fmt::format(": ({})", path);
        }
        if (!e.valid) return ": (illegal port)";
        GUID_ = 0;
        if (!e.to.known) return ": (unknown node and type)";
        GUID_ = value(e.to.node.portGUID);
        if (e.to.LMC > 0) {
            base_ = e.to.base_LID;
            last_ = base_ + (1u << e.to.LMC) - 1;
        }
        return fmt::format(": ({} portguid 0x{:016x}: '{}')", node_type_text(e.to.node.nodeType), GUID_, e.to.name);
    }

private:
    unsigned base_ = 0, last_ = 0;
    comad::u64 GUID_ = 0;
};

std::string json_of(const entry& e, bool brief) {
    std::string text = fmt::format("{{\"LID\":{},\"port\":{}", e.LID, e.port);
    if (!brief && e.to.known)
        text += fmt::format(",\"nodeType\":{},\"portGUID\":\"{}\",\"name\":{}",
                            static_cast<unsigned>(e.to.node.nodeType), e.to.node.portGUID, iba::json_quoted(e.to.name));
    return text + '}';
}

/// The rows of one block; their destinations are asked at the same time.
coro::task<mad::result<std::vector<entry>>> ask_block(session& in, mad::any_path path, unsigned block, unsigned first,
                                                      unsigned last, unsigned num_ports, const ibroute_settings& s,
                                                      const discovery::node_names& names) {
    BOOST_OUTCOME_CO_TRY(const auto table, co_await in.SubnGet<smp::LinearForwardingTable>(path, block));
    std::vector<entry> rows;
    std::vector<coro::task<mad::result<destination>>> asked;
    const unsigned begin = block * LIDs_per_block;
    for (unsigned LID = std::max(first, begin); LID <= std::min(last, begin + LIDs_per_block - 1); ++LID) {
        const u8 port = table.portBlock[LID - begin];
        const bool valid = port <= num_ports;
        if (!valid && !s.everything) continue;
        rows.push_back({LID, port, valid, {}});
        if (s.brief || !valid || LID == 0) continue;
        mad::IBPath to;
        to.DLID = iba::lid(LID);
        asked.push_back(ask_destination(in, to, names));
    }
    BOOST_OUTCOME_CO_TRY(auto found, co_await all(std::move(asked)));
    auto next = found.begin();
    for (entry& row : rows)
        if (!s.brief && row.valid && row.LID != 0) row.to = std::move(*next++);
    co_return rows;
}

answer ask_unicast(session& in, mad::address target, const ibroute_settings& s) {
    BOOST_OUTCOME_CO_TRY(const auto path, co_await resolve(in, target));
    BOOST_OUTCOME_CO_TRY(const auto sw, co_await ask_switch(in, path, s.names));
    const unsigned top = std::min<unsigned>(sw.info.linearFDBTop, last_unicast_LID);
    const unsigned last = s.last_LID ? std::min(s.last_LID, top) : top;

    std::vector<entry> rows;
    for (unsigned block = s.first_LID / LIDs_per_block; block <= last / LIDs_per_block; ++block) {
        BOOST_OUTCOME_CO_TRY(auto part,
                             co_await ask_block(in, path, block, s.first_LID, last, sw.node.numPorts, s, s.names));
        std::ranges::move(part, std::back_inserter(rows));
    }
    if (s.json) {
        std::vector<std::string> objects;
        for (const entry& e : rows) objects.push_back(json_of(e, s.brief));
        co_return fmt::format("{{\"nodeGUID\":\"{}\",\"name\":{},\"linearFDBTop\":{},\"entries\":[{}]}}\n",
                              sw.node.nodeGUID, iba::json_quoted(sw.name), sw.info.linearFDBTop,
                              fmt::join(objects, ","));
    }
    std::string text = heading("Unicast lids", s.first_LID, last, path, sw);
    text += "  Lid  Out   Destination\n       Port     Info \n";
    destination_words words;
    for (const entry& e : rows) text += fmt::format("0x{:04x} {:03} {}\n", e.LID, e.port, s.brief ? "" : words.of(e));
    co_return text + tail(rows.size(), s, "lids");
}

// ---- multicast --------------------------------------------------------------------------------------------------------

/// The masks of a multicast LID, 16 ports each.
using port_masks = std::vector<u16>;

bool has_port(const port_masks& masks, unsigned port) {
    return masks[port / ports_per_mask] >> port % ports_per_mask & 1;
}

std::string port_heading(unsigned num_ports) {
    std::string tens, ones;
    for (unsigned port = 0; port <= num_ports; ++port) {
        tens += fmt::format("{} ", port % 10 ? " " : fmt::to_string(port / 10));
        ones += fmt::format("{} ", port % 10);
    }
    return (num_ports > 9 ? fmt::format("            {}\n", tens) : "") + fmt::format("     Ports: {}\n MLid\n", ones);
}

std::string row_text(unsigned MLID, const port_masks& masks, unsigned num_ports, bool brief) {
    std::string ports;
    if (brief) ports = fmt::format("{:04x}", fmt::join(masks, ""));
    for (unsigned port = 0; !brief && port <= num_ports; ++port) ports += has_port(masks, port) ? "x " : "  ";
    return fmt::format("0x{:04x}      {}\n", MLID, ports);
}

std::string row_json(unsigned MLID, const port_masks& masks, unsigned num_ports) {
    std::vector<unsigned> ports;
    for (unsigned port = 0; port <= num_ports; ++port)
        if (has_port(masks, port)) ports.push_back(port);
    return fmt::format("{{\"MLID\":{},\"ports\":[{}]}}", MLID, fmt::join(ports, ","));
}

answer ask_multicast(session& in, mad::address target, const ibroute_settings& s) {
    BOOST_OUTCOME_CO_TRY(const auto path, co_await resolve(in, target));
    BOOST_OUTCOME_CO_TRY(const auto sw, co_await ask_switch(in, path, s.names));
    const unsigned capacity = sw.info.multicastFDBCap, top = sw.info.multicastFDBTop, num_ports = sw.node.numPorts;
    if (capacity == 0) throw std::runtime_error(fmt::format("{} has no multicast forwarding table", place_text(path)));
    const unsigned first = s.first_LID ? s.first_LID : first_MLID;
    unsigned last = std::min(first_MLID + capacity - 1, last_MLID);
    if (s.last_LID) last = std::min(s.last_LID, last);
    if (!s.everything && top >= first_MLID - 1) last = std::min(last, top);

    const unsigned chunks = num_ports / ports_per_mask + 1;
    std::vector<std::string> rows;
    for (unsigned block = (first - first_MLID) / MLIDs_per_block; first_MLID + block * MLIDs_per_block <= last;
         ++block) {
        std::vector<coro::task<mad::result<smp::MulticastForwardingTable>>> asked;
        for (unsigned chunk = 0; chunk < chunks; ++chunk)
            asked.push_back(in.SubnGet<smp::MulticastForwardingTable>(path, block | chunk << 28));
        BOOST_OUTCOME_CO_TRY(const auto tables, co_await all(std::move(asked)));
        for (unsigned i = 0; i < MLIDs_per_block; ++i) {
            const unsigned MLID = first_MLID + block * MLIDs_per_block + i;
            if (MLID < first || MLID > last) continue;
            port_masks masks;
            for (const auto& table : tables) masks.push_back(table.portMaskBlock[i]);
            if (!s.everything && std::ranges::count(masks, 0) == static_cast<int>(chunks)) continue;
            rows.push_back(s.json ? row_json(MLID, masks, num_ports) : row_text(MLID, masks, num_ports, s.brief));
        }
    }
    if (s.json)
        co_return fmt::format("{{\"nodeGUID\":\"{}\",\"name\":{},\"multicastFDBTop\":{},\"entries\":[{}]}}\n",
                              sw.node.nodeGUID, iba::json_quoted(sw.name), top, fmt::join(rows, ","));
    co_return heading("Multicast mlids", first, last, path, sw) +
        (s.brief ? " MLid       Port Mask\n" : port_heading(num_ports)) + fmt::to_string(fmt::join(rows, "")) +
        tail(rows.size(), s, "mlids");
}

/// What is outside of the table's range is told, and left out.
void clamp_to_multicast(ibroute_settings& s) {
    const auto clamp = [](unsigned& LID, unsigned bound) {
        print_error("ibtool: {:#x} is no multicast LID: shown {} {:#x}\n", LID, bound == first_MLID ? "from" : "up to",
                    bound);
        LID = bound;
    };
    if (s.first_LID && s.first_LID < first_MLID) clamp(s.first_LID, first_MLID);
    if (s.last_LID > last_MLID) clamp(s.last_LID, last_MLID);
}

int run_ibroute(ibroute_settings s, const global_options& options) {
    const mad::address target = read_target(s.target, s.kind);
    const unsigned highest = s.multicast ? last_MLID : last_unicast_LID;
    if (!s.first.empty()) s.first_LID = read_number(s.first, "the first LID", highest);
    if (!s.last.empty()) s.last_LID = read_number(s.last, "the last LID", s.multicast ? 0xffff : highest);
    if (s.multicast) clamp_to_multicast(s);
    s.names = read_node_names(s.name_map); // a wrong map is told before anything is sent
    return ask(options, &target,
               [&](session& in) { return s.multicast ? ask_multicast(in, target, s) : ask_unicast(in, target, s); });
}

} // namespace

command ibroute_command() {
    return {.name = "ibroute",
            .group = command_group::queries,
            .summary = "print a switch's forwarding table",
            .examples = "ibroute 3\nibroute -n 3 1 20\nibroute -M 3",
            .declare = [](arguments& takes) -> action {
                auto s = std::make_shared<ibroute_settings>();
                takes.option("target", s->target, "the switch").required();
                takes.option("first", s->first, "the first LID to show");
                takes.option("last", s->last, "the last LID to show");
                add_target_options(takes, s->kind);
                takes.flag("-a,--all", s->everything, "also LIDs that lead nowhere");
                takes.flag("-n,--no_dests", s->brief, "do not resolve the LIDs to nodes");
                takes.flag("-M,--Multicast", s->multicast, "the multicast table");
                add_name_map_option(takes, s->name_map);
                takes.flag("--json", s->json, "one JSON object, on one line");
                return [s](const global_options& options) { return run_ibroute(*s, options); };
            }};
}

} // namespace ibtool
