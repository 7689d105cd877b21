// SPDX-License-Identifier: MIT
// ibtracert.cpp - ibtracert: the way from one port to another as the switches' linear forwarding tables have it.
#include "ask.hpp"
#include "commands.hpp"
#include "diags_text.hpp"
#include "subnet_command.hpp"
#include <comad/iba/format.hpp>
#include <comad/iba/text.hpp>

#include <CLI/CLI.hpp>
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

struct settings {
    std::string from, to, name_map;
    target_options kind;
    bool brief = false, json = false;
};

/// A port where the way passes, and its node.
struct place {
    smp::NodeInfo node;
    smp::PortInfo port;
    unsigned port_number; // by which the way comes in; where it begins or ends, of a switch 0
    std::string name;

    bool is_switch() const { return node.nodeType == iba::NodeType::Switch; }
    unsigned first_LID() const { return value(port.LID); }
    unsigned last_LID() const { return first_LID() + (1u << port.LMC) - 1; }
    unsigned end_number() const { return is_switch() ? 0 : port_number; }
};

/// A place, and the port by which the one before it was left.
struct hop {
    unsigned out;
    place at;
};

struct route {
    place from;
    std::vector<hop> hops;
    mad::IBDRPath end; // from our own port to where it ends

    const place& to() const { return hops.empty() ? from : hops.back().at; }
};

/// Looks for ways.
class tracer {
public:
    tracer(session& in, const discovery::node_names& names) : in_(in), names_(names) {}

    coro::task<mad::result<place>> ask_place(mad::any_path path) {
        BOOST_OUTCOME_CO_TRY(const auto node, co_await in_.SubnGet<smp::NodeInfo>(path));
        BOOST_OUTCOME_CO_TRY(const auto description, co_await in_.SubnGet<smp::NodeDescription>(path));
        BOOST_OUTCOME_CO_TRY(const auto port, co_await in_.SubnGet<smp::PortInfo>(path));
        co_return place{node, port, node.localPortNum, name_of(names_, node, description)};
    }

    /// From the port at the end of a directed route to the port `to`, which has the LID `LID`.
    coro::task<mad::result<route>> find(mad::IBDRPath path, place to, unsigned LID) {
        BOOST_OUTCOME_CO_TRY(auto from, co_await ask_place(path));
        route way{std::move(from), {}, path};
        while (way.to().node.portGUID != to.node.portGUID) {
            if (way.hops.size() == mad::IBDRPath::max_hops)
                throw std::runtime_error(fmt::format("no end after {} hops", way.hops.size()));
            BOOST_OUTCOME_CO_TRY(auto next, co_await next_hop(way, LID));
            require_active(next.at);
            way.hops.push_back(std::move(next));
        }
        require_active(way.to());
        co_return way;
    }

private:
    coro::task<mad::result<hop>> next_hop(route& way, unsigned LID) {
        const place& here = way.to();
        if (here.is_switch()) co_return co_await through_switch(way, LID);
        if (!way.hops.empty())
            throw std::runtime_error(
                fmt::format("the way ends at \"{}\", lid {}, which does not forward", here.name, here.first_LID()));
        co_return co_await out_of_end_port(way);
    }

    /// Our own port is left through its cable; another one's switch is a hop nearer to us.
    coro::task<mad::result<hop>> out_of_end_port(route& way) {
        const place& here = way.from;
        mad::IBDRPath& path = way.end;
        if (path.hopCount == 0) {
            path = path.extended(static_cast<comad::u8>(here.port_number));
            BOOST_OUTCOME_CO_TRY(auto next, co_await ask_place(path));
            BOOST_OUTCOME_CO_TRY(next.port_number, co_await entry_port(here, here.port_number, next));
            co_return hop{here.port_number, std::move(next)};
        }
        const unsigned entry = path.drPath[path.hopCount];
        path.drPath[path.hopCount--] = 0;
        BOOST_OUTCOME_CO_TRY(auto next, co_await ask_place(path));
        next.port_number = entry;
        co_return hop{here.port_number, std::move(next)};
    }

    coro::task<mad::result<hop>> through_switch(route& way, unsigned LID) {
        const place& here = way.to();
        constexpr unsigned block = 64;
        BOOST_OUTCOME_CO_TRY(const auto info, co_await in_.SubnGet<smp::SwitchInfo>(way.end));
        if (LID > info.linearFDBTop)
            throw std::runtime_error(bad_entry(here, LID, fmt::format("beyond the top {}", info.linearFDBTop)));
        BOOST_OUTCOME_CO_TRY(const auto table, co_await in_.SubnGet<smp::LinearForwardingTable>(way.end, LID / block));
        const comad::u8 out = table.portBlock[LID % block];
        if (out == 0 || out > here.node.numPorts)
            throw std::runtime_error(bad_entry(here, LID, fmt::format("port {}", out)));
        way.end = way.end.extended(out);
        BOOST_OUTCOME_CO_TRY(auto next, co_await ask_place(way.end));
        BOOST_OUTCOME_CO_TRY(next.port_number, co_await entry_port(here, out, next));
        co_return hop{out, std::move(next)};
    }

    /// The port by which a cable comes in. A node says that itself; the SA knows it of the cable.
    coro::task<mad::result<unsigned>> entry_port(const place& here, unsigned out, const place& next) {
        if (!in_.options().by_SA) co_return next.node.localPortNum;
        using iba::sa::LinkRecord;
        auto query = iba::query<LinkRecord>{}.where<&LinkRecord::fromLID>(here.port.LID);
        query.where<&LinkRecord::fromPort>(static_cast<comad::u8>(out));
        BOOST_OUTCOME_CO_TRY(const auto link, co_await in_.schedule().SubnAdmGet(query));
        co_return link.toPort;
    }

    static std::string bad_entry(const place& at, unsigned LID, const std::string& what) {
        return fmt::format("\"{}\" forwards lid {} nowhere: {}", at.name, LID, what);
    }
    static void require_active(const place& at) {
        if (!at.is_switch() && at.port.portState != iba::PortState::Active)
            throw std::runtime_error(fmt::format("port {} of \"{}\" is not Active", at.port_number, at.name));
    }

    session& in_;
    const discovery::node_names& names_;
};

// ---- text -------------------------------------------------------------------------------------------------------------

std::string_view type_word(const place& p) {
    constexpr std::string_view words[] = {"???", "ca", "switch", "router"};
    const auto type = static_cast<std::size_t>(p.node.nodeType);
    return words[type < std::size(words) ? type : 0];
}

std::string end_text(std::string_view which, const place& p, bool brief) {
    if (brief) return fmt::format("{} {{0x{:016x}}}[{}]\n", which, value(p.node.nodeGUID), p.end_number());
    return fmt::format("{} {} {{0x{:016x}}} portnum {} lid {}-{} \"{}\"\n", which, type_word(p), value(p.node.nodeGUID),
                       p.end_number(), p.first_LID(), p.last_LID(), p.name);
}

std::string hop_text(const hop& h, bool brief) {
    const place& p = h.at;
    if (brief) return fmt::format("[{}] -> {{0x{:016x}}}[{}]\n", h.out, value(p.node.portGUID), p.port_number);
    return fmt::format("[{}] -> {} port {{0x{:016x}}}[{}] lid {}-{} \"{}\"\n", h.out, type_word(p),
                       value(p.node.portGUID), p.port_number, p.first_LID(), p.last_LID(), p.name);
}

std::string text_of(const route& way, bool brief) {
    std::string text = end_text("From", way.from, brief);
    for (const hop& h : way.hops) text += hop_text(h, brief);
    return text + end_text("To", way.to(), brief);
}

std::string json_of(const place& p, unsigned port) {
    return fmt::format("\"nodeType\":{},\"nodeGUID\":\"{}\",\"portGUID\":\"{}\",\"port\":{},\"LID\":{},\"last_LID\":{},"
                       "\"name\":{}",
                       static_cast<unsigned>(p.node.nodeType), p.node.nodeGUID, p.node.portGUID, port, p.first_LID(),
                       p.last_LID(), iba::json_quoted(p.name));
}

std::string json_of(const route& way) {
    std::vector<std::string> hops;
    for (const hop& h : way.hops)
        hops.push_back(fmt::format("{{\"out\":{},{}}}", h.out, json_of(h.at, h.at.port_number)));
    return fmt::format("{{\"from\":{{{}}},\"hops\":[{}]}}\n", json_of(way.from, way.from.end_number()),
                       fmt::join(hops, ","));
}

answer trace(session& in, mad::address from, mad::address to, const settings& s) {
    const discovery::node_names names = read_node_names(s.name_map);
    tracer t(in, names);
    BOOST_OUTCOME_CO_TRY(const auto to_path, co_await resolve(in, to));
    BOOST_OUTCOME_CO_TRY(const auto from_path, co_await resolve(in, from));
    BOOST_OUTCOME_CO_TRY(const auto to_place, co_await t.ask_place(to_path));
    const unsigned LID = mad::directed(to_path) ? to_place.first_LID() : value(mad::headers_of(to_path).DLID);

    mad::IBDRPath begin;
    if (const mad::IBDRPath* given = mad::directed(from_path)) {
        begin = *given;
    } else { // a directed route there is needed, and the forwarding tables say which one works
        BOOST_OUTCOME_CO_TRY(const auto from_place, co_await t.ask_place(from_path));
        BOOST_OUTCOME_CO_TRY(const auto approach,
                             co_await t.find(begin, from_place, value(mad::headers_of(from_path).DLID)));
        begin = approach.end;
    }
    BOOST_OUTCOME_CO_TRY(const auto way, co_await t.find(begin, to_place, LID));
    co_return s.json ? json_of(way) : text_of(way, s.brief);
}

int run_command(const settings& s, const global_options& options) {
    const mad::address from = read_target(s.from, s.kind), to = read_target(s.to, s.kind);
    if (from.end_port && to.end_port && *from.end_port != *to.end_port)
        throw usage_error("the two targets name different local ports");
    read_node_names(s.name_map); // a wrong map is told before anything is sent
    const mad::address& chooses_port = from.end_port ? from : to;
    return ask(options, &chooses_port, [&](session& in) { return trace(in, from, to, s); });
}

} // namespace

void add_ibtracert(CLI::App& app, action& run) {
    auto s = std::make_shared<settings>();
    CLI::App& command = *app.add_subcommand("ibtracert", "print the way from one port to another");
    command.add_option("from", s->from, "the port where it begins")->required();
    command.add_option("to", s->to, "the port where it ends")->required();
    add_target_options(command, s->kind);
    command.add_flag("-n,--no_info", s->brief, "GUIDs and ports only");
    command.add_option("--node-name-map", s->name_map, "file of lines 0xGUID \"name\"");
    command.add_flag("--json", s->json, "as JSON, one line");
    command.callback([s, &run] { run = [s](const global_options& options) { return run_command(*s, options); }; });
}

} // namespace ibtool
