// SPDX-License-Identifier: MIT
// ibtracert.cpp - ibtracert: traces the route from one port to another in the forwarding tables of the switches.
#include "comad.hpp"
#include "command.hpp"
#include "session/node_name_map.hpp"
#include "session/report.hpp"
#include "session/target.hpp"
#include "session/tracer.hpp"
#include "text/error_text.hpp"
#include "text/json.hpp"
#include <comad/discovery/database/detail/node_type_names.hpp>
#include <comad/iba/detail/format.hpp>
#include <comad/iba/detail/text.hpp>
#include <comad/iba/detail/text_file.hpp>

#include <fmt/format.h>

#include <memory>
#include <sstream>

namespace ibtool {
namespace {

/// The command line of ibtracert.
struct ibtracert_settings {
    std::string from, to, name_map, multicast, ports_file;
    comad::discovery::node_names names;
    unsigned MLID = 0; ///< 0: unicast
    target_options kind;
    bool reverse = false, force = false, brief = false, json = false;
};

/// The two ends of a trace, and the name of this pair in messages.
struct trace_ends {
    command_target from, to;
    std::string route_port;
};

// ---- text -------------------------------------------------------------------------------------------------------------

std::string_view type_word(const route_port& p) { return discovery::names_of_type(p.node.nodeType).lower; }

std::string format_end(std::string_view which, const route_port& p, bool brief) {
    if (brief) return fmt::format("{} {{0x{:016x}}}[{}]\n", which, value(p.node.nodeGUID), p.end_number());
    return fmt::format("{} {} {{0x{:016x}}} portnum {} lid {}-{} \"{}\"\n", which, type_word(p), value(p.node.nodeGUID),
                       p.end_number(), p.first_lid(), p.last_lid(), p.called());
}

std::string format_hop(const hop& h, bool brief) {
    const route_port& p = h.at;
    if (brief) return fmt::format("[{}] -> {{0x{:016x}}}[{}]\n", h.out, value(p.node.portGUID), p.port_number);
    return fmt::format("[{}] -> {} port {{0x{:016x}}}[{}] lid {}-{} \"{}\"\n", h.out, type_word(p),
                       value(p.node.portGUID), p.port_number, p.first_lid(), p.last_lid(), p.called());
}

/// Formats the known part of a route.
std::string start_text_of(const route& way, bool brief) {
    std::string text = format_end("From", way.from, brief);
    for (const hop& h : way.hops) text += format_hop(h, brief);
    return text;
}
std::string text_of(const route& way, bool brief) {
    return start_text_of(way, brief) + format_end("To", way.to(), brief);
}

// For multicast, infiniband-diags prints the GUID of the node, and both ends with all details.

std::string format_group_end(std::string_view which, const route_port& p) {
    return fmt::format("{} {} 0x{:x} port {} lid {}-{} \"{}\"\n", which, type_word(p), value(p.node.nodeGUID),
                       p.port_number, p.first_lid(), p.last_lid(), p.called());
}

std::string format_group_hop(const hop& h, bool brief) {
    const route_port& p = h.at;
    if (brief)
        return fmt::format("[{}] -> {} {{0x{:016x}}}[{}]\n", h.out, type_word(p), value(p.node.nodeGUID),
                           p.port_number);
    return fmt::format("[{}] -> {} 0x{:x}[{}] lid {} \"{}\"\n", h.out, type_word(p), value(p.node.nodeGUID),
                       p.port_number, p.first_lid(), p.called());
}

std::string group_text_of(const route& way, bool brief) {
    std::string text = format_group_end("From", way.from);
    for (const hop& h : way.hops) text += format_group_hop(h, brief);
    return text + format_group_end("To", way.to());
}

nlohmann::ordered_json traced_end_json(const route_port& p, unsigned port) {
    return {{"nodeType", iba::name_or_number(p.node.nodeType)},
            {"nodeGUID", fmt::format("{}", p.node.nodeGUID)},
            {"portGUID", fmt::format("{}", p.node.portGUID)},
            {"port", port},
            {"LID", p.first_lid()},
            {"last_LID", p.last_lid()},
            {"description", json_string(p.name)}};
}

std::string route_json(const route& way, bool is_reached = true) {
    auto hops = nlohmann::ordered_json::array();
    for (const hop& h : way.hops) {
        nlohmann::ordered_json one{{"out", h.out}};
        one.update(traced_end_json(h.at, h.at.port_number));
        hops.push_back(std::move(one));
    }
    return json_line({{"schema", "comad.trace/1"},
                      {"from", traced_end_json(way.from, way.from.end_number())},
                      {"hops", std::move(hops)},
                      {"reached", is_reached}});
}

/// Queries the target of the trace. With -f, a target that does not reply is traced by its LID only.
query_task<route_port> query_end(session& in, tracer& t, mad::any_path path, const ibtracert_settings& s,
                                 report& result) {
    auto found = co_await t.query_place(path);
    const bool is_by_lid = !mad::directed(path);
    if (found || !s.force || !is_by_lid || found.error().code == mad::errc::cancelled) co_return found;
    route_port silent{};
    silent.port.LID = mad::headers_of(path).DLID;
    result.notes.push_back(fmt::format("tracing to lid {}, although its node could not be queried: {}",
                                       silent.first_lid(), format_error(found.error(), in.options())));
    co_return silent;
}

/// Returns the directed route to the start of the trace. If the start is given by a LID, follows the forwarding tables to it.
query_task<mad::IBDRPath> approach(session& in, tracer& t, mad::any_path from, const ibtracert_settings& s,
                                   report& result) {
    if (const mad::IBDRPath* given = mad::directed(from)) co_return *given;
    BOOST_OUTCOME_CO_TRY(const auto there, co_await t.query_place(from));
    const mad::IBDRPath here;
    BOOST_OUTCOME_CO_TRY(const auto way, co_await t.find(here, there, value(mad::headers_of(from).DLID), false));
    if (in.options().verbosity && !s.json)
        for (const hop& h : way.hops) result.text += format_hop(h, false);
    co_return way.end;
}

query_task<report> trace(session& in, const trace_ends& ends, const ibtracert_settings& s) {
    report result;
    tracer t(in, s.names);
    BOOST_OUTCOME_CO_TRY(const auto to_path, co_await resolve(in, ends.to));
    BOOST_OUTCOME_CO_TRY(const auto from_path, co_await resolve(in, ends.from));
    BOOST_OUTCOME_CO_TRY(const auto to, co_await query_end(in, t, to_path, s, result));
    BOOST_OUTCOME_CO_TRY(const auto begin, co_await approach(in, t, from_path, s, result));
    if (s.MLID) {
        BOOST_OUTCOME_CO_TRY(const auto way, co_await t.find_multicast(begin, to, s.MLID));
        result.text += s.json ? route_json(way) : group_text_of(way, s.brief);
        co_return result;
    }
    const unsigned LID = mad::directed(to_path) ? to.first_lid() : value(mad::headers_of(to_path).DLID);
    std::string problem;
    try {
        auto way = co_await t.find(begin, to, LID, s.force);
        if (way) {
            result.text += s.json ? route_json(way.value()) : text_of(way.value(), s.brief);
            co_return result;
        }
        problem = format_error(way.error(), in.options());
        if (!t.so_far()) co_return std::move(way.error());
    } catch (const std::runtime_error& e) {
        problem = e.what();
    }
    // Prints the hops up to the failure, as infiniband-diags does, because they show its location.
    result.text += s.json ? route_json(*t.so_far(), false) : start_text_of(*t.so_far(), s.brief);
    result.notes.push_back(std::move(problem));
    result.is_any_bad = true;
    co_return result;
}

/// Traces one of several pairs. Its failure is part of the report and does not stop the other pairs.
coro::task<report> try_trace(session& in, const trace_ends& ends, const ibtracert_settings& s) {
    report failed_one;
    try {
        auto done = co_await trace(in, ends, s);
        if (done && !done.value().is_any_bad) co_return std::move(done).value();
        if (done) { // the other pairs are still traced
            failed_one = std::move(done).value();
            failed_one.is_any_bad = false;
            failed_one.missing.push_back(failure_at(ends.route_port, failed_one.notes.back()));
            failed_one.notes.pop_back();
            co_return failed_one;
        }
        failed_one.missing.push_back(failure_at(ends.route_port, to_string(done.error()), plain_text(done.error())));
    } catch (const std::runtime_error& e) {
        failed_one.missing.push_back(failure_at(ends.route_port, e.what()));
    }
    co_return failed_one;
}

/// Traces all pairs one after the other. Stops after a signal.
query_task<report> trace_all(session& in, const std::vector<trace_ends>& pairs, const ibtracert_settings& s) {
    report all;
    for (const trace_ends& ends : pairs) {
        report one = co_await try_trace(in, ends, s);
        all.text += one.text;
        all.missing.insert(all.missing.end(), one.missing.begin(), one.missing.end());
        all.notes.insert(all.notes.end(), one.notes.begin(), one.notes.end());
        if (in.stopped()) break;
    }
    if (!s.json)
        all.text += fmt::format("{} lid/guid pairs processed from {}\n", pairs.size(), iba::escaped(s.ports_file));
    co_return all;
}

trace_ends read_ends(const std::string& from, const std::string& to, const ibtracert_settings& s) {
    trace_ends ends{from.empty() ? this_node() : read_target(from, s.kind), read_target(to, s.kind), {}};
    if (s.reverse) std::swap(ends.from, ends.to);
    if (ends.from.end_port && ends.to.end_port && *ends.from.end_port != *ends.to.end_port)
        throw usage_error("the two targets name different local ports; name the same one in both");
    return ends;
}

/// Reads pairs of targets, one pair on each line. A comment starts with `#`.
std::vector<trace_ends> read_ports_file(const ibtracert_settings& s) {
    std::istringstream file = iba::open_text_file(s.ports_file);
    std::vector<trace_ends> pairs;
    std::string line;
    for (unsigned number = 1; std::getline(file, line); ++number) {
        std::istringstream words(line);
        std::string from, to, more;
        words >> from >> to >> more;
        if (from.empty() || from.starts_with('#')) continue;
        const std::string route_port = fmt::format("{}, line {}", s.ports_file, number);
        if (to.empty() || !more.empty()) throw usage_error(fmt::format("{}: expected two targets", route_port));
        pairs.push_back(read_ends(from, to, s));
        pairs.back().route_port = route_port;
    }
    if (pairs.empty())
        throw usage_error(fmt::format("{} contains no targets; expected two on each line", s.ports_file));
    return pairs;
}

unsigned read_mlid(const std::string& text) {
    constexpr unsigned first = 0xc000, last = 0xfffe; // IBA 4.1.3
    const unsigned MLID = read_number(text, "the multicast LID", last);
    if (MLID < first)
        throw usage_error(fmt::format("{:#x} is not a multicast LID; it must be {:#x}..{:#x}", MLID, first, last));
    return MLID;
}

int run_ibtracert(ibtracert_settings s, const global_options& options) {
    if (!s.multicast.empty()) s.MLID = read_mlid(s.multicast);
    s.names = read_node_names(s.name_map); // reports an invalid map before anything is sent
    if (!s.ports_file.empty()) {
        if (!s.from.empty()) throw usage_error("--ports-file excludes targets on the command line");
        const std::vector<trace_ends> pairs = read_ports_file(s);
        return run_query(options, nullptr, [&](session& in) { return trace_all(in, pairs, s); });
    }
    if (s.from.empty()) throw usage_error("no destination given; give one target, or a source and a destination");
    const bool is_from_here = s.to.empty();
    const trace_ends ends = is_from_here ? read_ends({}, s.from, s) : read_ends(s.from, s.to, s);
    const command_target& chooses_port = ends.from.end_port ? ends.from : ends.to;
    return run_query(options, &chooses_port, [&](session& in) { return trace(in, ends, s); });
}

} // namespace

command ibtracert_command() {
    return {.name = "ibtracert", .group = command_group::queries, .declare = [](arguments& takes) -> action {
                auto s = std::make_shared<ibtracert_settings>();
                takes.option("from", s->from);
                takes.option("to", s->to);
                add_target_options(takes, s->kind);
                takes.flag("-r,--reverse", s->reverse);
                takes.flag("-f,--force", s->force);
                takes.option("--ports-file", s->ports_file).file(file_use::read);
                takes.option("-m,--mlid", s->multicast);
                takes.flag("-n,--no_info", s->brief);
                add_name_map_option(takes, s->name_map);
                takes.flag("--json", s->json);
                return [s](const global_options& options) { return run_ibtracert(*s, options); };
            }};
}

} // namespace ibtool
