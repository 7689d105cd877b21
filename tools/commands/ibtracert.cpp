// SPDX-License-Identifier: MIT
// ibtracert.cpp - ibtracert: the way from one port to another as the switches' forwarding tables have it.
#include "command.hpp"
#include "session/ask.hpp"
#include "session/subnet_command.hpp"
#include "session/tracer.hpp"
#include <comad/discovery/node_words.hpp>
#include <comad/iba/format.hpp>
#include <comad/iba/text.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>

namespace ibtool {
namespace {

namespace discovery = comad::discovery;
namespace iba = comad::iba;
namespace mad = comad::mad;

struct ibtracert_settings {
    std::string from, to, name_map, multicast;
    comad::discovery::node_names names;
    unsigned MLID = 0; ///< 0: unicast
    target_options kind;
    bool brief = false, json = false;
};

// ---- text -------------------------------------------------------------------------------------------------------------

std::string_view type_word(const place& p) { return discovery::words_of(p.node.nodeType).lower; }

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

// infiniband-diags' words for multicast are others: the GUID is the node's, and both ends are told in full.

std::string group_end_text(std::string_view which, const place& p) {
    return fmt::format("{} {} 0x{:x} port {} lid {}-{} \"{}\"\n", which, type_word(p), value(p.node.nodeGUID),
                       p.port_number, p.first_LID(), p.last_LID(), p.name);
}

std::string group_hop_text(const hop& h, bool brief) {
    const place& p = h.at;
    if (brief)
        return fmt::format("[{}] -> {} {{0x{:016x}}}[{}]\n", h.out, type_word(p), value(p.node.nodeGUID),
                           p.port_number);
    return fmt::format("[{}] -> {} 0x{:x}[{}] lid {} \"{}\"\n", h.out, type_word(p), value(p.node.nodeGUID),
                       p.port_number, p.first_LID(), p.name);
}

std::string group_text_of(const route& way, bool brief) {
    std::string text = group_end_text("From", way.from);
    for (const hop& h : way.hops) text += group_hop_text(h, brief);
    return text + group_end_text("To", way.to());
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

answer trace(session& in, mad::address from, mad::address to, const ibtracert_settings& s) {
    tracer t(in, s.names);
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
    if (s.MLID) {
        BOOST_OUTCOME_CO_TRY(const auto way, co_await t.find_multicast(begin, to_place, s.MLID));
        co_return s.json ? json_of(way) : group_text_of(way, s.brief);
    }
    BOOST_OUTCOME_CO_TRY(const auto way, co_await t.find(begin, to_place, LID));
    co_return s.json ? json_of(way) : text_of(way, s.brief);
}

unsigned read_MLID(const std::string& text) {
    constexpr unsigned first = 0xc000, last = 0xfffe; // IBA 4.1.3
    const unsigned MLID = read_number(text, "the multicast LID", last);
    if (MLID < first) throw usage_error(fmt::format("{:#x} is no multicast LID: these begin with {:#x}", MLID, first));
    return MLID;
}

int run_ibtracert(ibtracert_settings s, const global_options& options) {
    if (!s.multicast.empty()) s.MLID = read_MLID(s.multicast);
    const mad::address from = read_target(s.from, s.kind), to = read_target(s.to, s.kind);
    if (from.end_port && to.end_port && *from.end_port != *to.end_port)
        throw usage_error("the two targets name different local ports");
    s.names = read_node_names(s.name_map);
    const mad::address& chooses_port = from.end_port ? from : to;
    return ask(options, &chooses_port, [&](session& in) { return trace(in, from, to, s); });
}

} // namespace

command ibtracert_command() {
    return {.name = "ibtracert",
            .group = command_group::queries,
            .summary = "print the route from one port to another",
            .examples = "ibtracert 1 2\nibtracert -m 0xc000 1 2",
            .declare = [](arguments& takes) -> action {
                auto s = std::make_shared<ibtracert_settings>();
                takes.option("from", s->from, "the source port").required();
                takes.option("to", s->to, "the destination port").required();
                add_target_options(takes, s->kind);
                takes.option("-m,--mlid", s->multicast, "trace packets to this multicast LID");
                takes.flag("-n,--no_info", s->brief, "GUIDs and ports only");
                add_name_map_option(takes, s->name_map);
                takes.flag("--json", s->json, "one JSON object, on one line");
                return [s](const global_options& options) { return run_ibtracert(*s, options); };
            }};
}

} // namespace ibtool
