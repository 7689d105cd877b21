// SPDX-License-Identifier: MIT
// saquery.cpp - saquery: queries records of the SA by any component. Options and text as in infiniband-diags. Writes nothing.
#include "comad.hpp"
#include "command.hpp"
#include "commands/queries/saquery_kinds.hpp"
#include "session/manager_survey.hpp"
#include "session/node_name_map.hpp"
#include "session/report.hpp"
#include "text/json.hpp"
#include "text/sa_text.hpp"
#include <comad/iba/detail/format.hpp>
#include <comad/iba/detail/text.hpp>
#include <comad/iba/parse.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>

namespace ibtool {
namespace {

namespace sa = iba::sa;
using sa::NodeRecord;

/// The command line of saquery.
struct saquery_settings {
    std::vector<std::string> words; // type, its arguments, NAME=VALUE
    bool paths = false, nodes = false, class_port_info = false, services = false, informs = false, links = false;
    bool lids_only = false, lid_only = false, guids_only = false, name_of_lid = false, name_of_guid = false;
    bool members = false, groups = false, list = false, managers = false;
    std::string src_to_dst, sgid_to_dgid, name_map;
    std::map<std::string, std::string> filters; // by option
    bool show_keys = false, single = false, no_defaults = false, json = false;
};

// ---- special outputs -----------------------------------------------------------------------------------------------

/// Formats a record in a way that an option selects.
using record_formatter = std::function<std::string(const NodeRecord&)>;

/// Returns NodeRecords as `line` formats them. `only_first`: only the first record.
query_task<std::string> list_nodes(session& in, components wanted, std::string heading, record_formatter line,
                                   bool only_first) {
    require_sa(in);
    const auto query = query_of<NodeRecord>(wanted);
    auto found = co_await records<NodeRecord>(in, query);
    if (!found) co_return std::move(found.error());
    if (only_first) found.value().resize(std::min<std::size_t>(1, found.value().size()));
    std::string out = std::move(heading);
    for (const NodeRecord& r : found.value()) out += line(r);
    co_return out;
}

query_task<std::string> list_groups(session& in, components wanted) {
    require_sa(in);
    const auto query = query_of<sa::MCMemberRecord>(wanted);
    auto found = co_await records<sa::MCMemberRecord>(in, query);
    if (!found) co_return std::move(found.error());
    std::string out;
    for (const auto& r : found.value()) out += format_saquery_group(r);
    co_return out;
}

/// Returns the name of the node that has this port.
comad::coro::task<mad::result<std::string>> name_of_port(session& in, iba::gid port,
                                                         const discovery::node_names& names) {
    auto query =
        iba::query<NodeRecord>{}.where<&NodeRecord::nodeInfo, &iba::smp::NodeInfo::portGUID>(port.interface_id());
    auto found = co_await records<NodeRecord>(in, query);
    if (!found) co_return std::move(found.error());
    co_return found.value().empty() ? "<unknown>" : name_of(names, found.value().front());
}

/// Lists the members of multicast groups. If the query selects one group by its MLID, prints only the ports.
query_task<std::string> list_members(session& in, components wanted, discovery::node_names names) {
    require_sa(in);
    const auto query = query_of<sa::MCMemberRecord>(wanted);
    auto found = co_await records<sa::MCMemberRecord>(in, query);
    if (!found) co_return std::move(found.error());
    std::vector<comad::coro::task<mad::result<std::string>>> queries;
    for (const auto& r : found.value()) queries.push_back(name_of_port(in, r.portGID, names));
    BOOST_OUTCOME_CO_TRY(const auto called, co_await all(std::move(queries)));
    const bool one_group = (query.component_mask() & iba::mask_of<&sa::MCMemberRecord::MLID>) != 0;
    std::string out;
    for (std::size_t i = 0; i < called.size(); ++i)
        out += one_group ? fmt::format("\t\tPortGid.................{} ({})\n", found.value()[i].portGID, called[i])
                         : format_saquery_member(found.value()[i], called[i]);
    co_return out;
}

query_task<std::string> list_managers(session& in, record_style how) {
    require_sa(in);
    BOOST_OUTCOME_CO_TRY(const auto managers, co_await ports_that(in, iba::CapabilityMask::IsSM));
    BOOST_OUTCOME_CO_TRY(const auto disabled, co_await ports_that(in, iba::CapabilityMask::IsSMdisabled));
    const auto text = [&](const sa::PortInfoRecord& r) {
        return how.json ? json_line(structure_json(r, how.which)) : format_saquery_short(r);
    };
    std::string out = how.json ? "" : "IsSM ports\n";
    for (const auto& r : managers) out += text(r);
    if (!how.json) out += "\nIsSMdisabled ports\n";
    for (const auto& r : disabled) out += text(r);
    co_return out;
}

// ---- the command line ----------------------------------------------------------------------------------------------

/// An option that sets a component of the query.
struct filter {
    const char* option;
    std::string_view component;
    std::string_view selector = {}; ///< component for the upper two bits of an 8-bit value
};
constexpr filter filters[] = {
    {"--slid", "SLID"},
    {"--dlid", "DLID"},
    {"--mlid", "MLID"},
    {"--sgid", "SGID"},
    {"--dgid", "DGID"},
    {"--gid", "portGID"},
    {"--mgid", "MGID"},
    {"-r,--reversible", "reversible"},
    {"-n,--numb_path", "numbPath"},
    {"--pkey", "PKey"},
    {"-Q,--qos_class", "QOSClass"},
    {"--sl", "SL"},
    {"-M,--mtu", "MTU", "MTUSelector"},
    {"-R,--rate", "rate", "rateSelector"},
    {"--pkt_lifetime", "packetLifeTime", "packetLifeTimeSelector"},
    {"-q,--qkey", "QKey"},
    {"-T,--tclass", "TClass"},
    {"-F,-f,--flow_label", "flowLabel"},
    {"-H,--hop_limit", "hopLimit"},
    {"--scope", "scope"},
    {"-J,--join_state", "joinState"},
    {"-X,--proxy_join", "proxyJoin"},
    {"--service_id", "serviceID"},
};

void add_filter(const filter& f, const std::string& text, components& wanted) {
    if (f.selector.empty()) {
        wanted.push_back({std::string(f.component), text});
        return;
    }
    const unsigned both = read_number(text, f.option, 255);
    wanted.push_back({std::string(f.selector), std::to_string(both >> 6)});
    wanted.push_back({std::string(f.component), std::to_string(both & 0x3f)});
}

/// Adds the two ends of `a:b` or `a-b` as components. One of them can be empty.
void add_ends(const std::string& text, char between, std::string_view from, std::string_view to, components& wanted) {
    const std::size_t cut = text.find(between);
    if (cut == text.npos)
        throw usage_error(fmt::format("invalid value {}; expected FROM{}TO", iba::as_given(text), between));
    const std::string ends[] = {text.substr(0, cut), text.substr(cut + 1)};
    if (!ends[0].empty()) wanted.push_back({std::string(from), ends[0]});
    if (!ends[1].empty()) wanted.push_back({std::string(to), ends[1]});
}

/// Returns the record type that the options select; null if they select none. Throws usage_error if they select several.
const record_kind* kind_of_options(const saquery_settings& s) {
    const bool is_path = s.paths || !s.src_to_dst.empty() || !s.sgid_to_dgid.empty();
    const bool is_node =
        s.nodes || s.lids_only || s.lid_only || s.guids_only || s.name_of_lid || s.name_of_guid || s.list;
    const std::pair<bool, std::string_view> all[] = {
        {is_path, "PR"},    {is_node, "NR"}, {s.class_port_info, "CPI"},      {s.services, "SR"},
        {s.informs, "IIR"}, {s.links, "LR"}, {s.members || s.groups, "MCMR"}, {s.managers, "PIR"}};
    const record_kind* found = nullptr;
    for (const auto& [is_chosen, name] : all) {
        if (!is_chosen) continue;
        const record_kind* const one = kind_named(name);
        if (found)
            throw usage_error(
                fmt::format("the options select both {} and {}; give only one of them", found->name, one->name));
        found = one;
    }
    return found;
}

/// The query that a command line describes.
struct saquery_request {
    const record_kind* kind;
    components wanted;
    std::string name; ///< name of a node, from the argument after the type
};

/// Returns whether an argument is `LID` or starts with `LID/`, in which the LID can be empty. Descriptions of nodes can contain `/`, too.
bool begins_with_lid(const std::string& word) {
    return word.starts_with('/') || iba::parse_number(word.substr(0, word.find('/')));
}

saquery_request read_request(const saquery_settings& s) {
    saquery_request r{kind_of_options(s), {}, {}};
    const bool names_node = s.lids_only || s.lid_only || s.guids_only;
    std::size_t arguments = 0;
    bool may_be_kind = !names_node;
    for (const std::string& word : s.words) {
        const record_kind* kind = std::exchange(may_be_kind, false) ? kind_named(word) : nullptr;
        if (&word == &s.words.front() && !names_node && !r.kind && !kind) kind = kind_that_begins(word);
        if (kind && (!r.kind || r.kind == kind)) {
            r.kind = kind;
        } else if (word.find('=') != word.npos) {
            const auto parts = iba::parse_assignment(word);
            if (!parts) throw usage_error(parts.error().text);
            r.wanted.push_back({std::string(parts.value().name), std::string(parts.value().text)});
        } else {
            const record_kind* const nodes = kind_named("NR");
            if (!r.kind) r.kind = nodes;
            if (s.name_of_guid && arguments == 0) r.wanted.push_back({"nodeInfo.portGUID", word});
            else if (r.kind == nodes && arguments == 0 && (names_node || !begins_with_lid(word))) r.name = word;
            else add_argument(*r.kind, arguments, word, r.wanted);
            ++arguments;
        }
    }
    if (!r.kind) r.kind = kind_named("NR");
    if (arguments == 0 && (names_node || s.name_of_lid || s.name_of_guid))
        throw usage_error("no node given; -L, -l and -G require its description, -O a LID, -U a GUID");
    for (const filter& f : filters)
        if (const auto given = s.filters.find(f.option); given != s.filters.end() && !given->second.empty())
            add_filter(f, given->second, r.wanted);
    if (!s.src_to_dst.empty()) add_ends(s.src_to_dst, ':', "SLID", "DLID", r.wanted);
    if (!s.sgid_to_dgid.empty()) add_ends(s.sgid_to_dgid, '-', "SGID", "DGID", r.wanted);
    if (s.managers && !r.wanted.empty()) throw usage_error("-s takes no NAME=VALUE");
    return r;
}

/// Returns the formatter of NodeRecords that the options select; empty: print all fields.
record_formatter node_line_of(const saquery_settings& s, const record_style& how) {
    if (s.lid_only || s.lids_only) return [](const NodeRecord& r) { return fmt::format("{}\n", value(r.LID)); };
    if (s.guids_only) return [](const NodeRecord& r) { return fmt::format("{:#018x}\n", value(r.nodeInfo.portGUID)); };
    if (s.name_of_lid || s.name_of_guid) return [&how](const NodeRecord& r) { return name_of(how.names, r) + '\n'; };
    if (s.list)
        return
            [&how](const NodeRecord& r) { return fmt::format("{:6}  \"{}\"\n", value(r.LID), name_of(how.names, r)); };
    return {};
}

/// Runs the query and formats its records as the options request.
query_task<std::string> query_as_requested(session& in, saquery_request r, const saquery_settings& s,
                                           const record_style& how) {
    BOOST_OUTCOME_CO_TRY(auto wanted, co_await with_lids(in, r.wanted, how.names));
    if (!r.name.empty()) wanted.push_back(node_named(how.names, r.name));
    if (s.list) wanted.push_back({"nodeInfo.nodeType", "CA"});
    const record_formatter line = s.json ? record_formatter() : node_line_of(s, how);
    const std::string heading = s.list ? "   LID \"name\"\n================\n" : "";
    query_task<std::string> query = line                  ? list_nodes(in, std::move(wanted), heading, line, s.lid_only)
                                    : s.managers          ? list_managers(in, how)
                                    : s.groups && !s.json ? list_groups(in, std::move(wanted))
                                    : s.members && !s.json ? list_members(in, std::move(wanted), how.names)
                                                           : r.kind->run(in, std::move(wanted), how);
    auto out = co_await std::move(query);
    if (out && out.value().empty() && !r.name.empty()) refuse_name(r.name);
    co_return out;
}

/// Runs the query. If it concerns subnet managers, adds their problems as notes for stderr.
query_task<report> answer_request(session& in, saquery_request r, const saquery_settings& s, const record_style& how) {
    const bool is_about_managers = s.managers || (r.kind == kind_named("SMIR") && r.wanted.empty());
    report result;
    BOOST_OUTCOME_CO_TRY(result.text, co_await query_as_requested(in, std::move(r), s, how));
    if (is_about_managers) result.notes = co_await manager_notes(in);
    co_return result;
}

int run_saquery(const saquery_settings& s, const global_options& options) {
    const saquery_request request = read_request(s);
    const record_style how{read_node_names(s.name_map), s.show_keys ? keys::shown : keys::hidden, s.json, s.single,
                           !s.no_defaults};
    return run_query(options, nullptr, [&](session& in) { return answer_request(in, request, s, how); });
}

} // namespace

command saquery_command() {
    return {.name = "saquery", .group = command_group::queries, .declare = [](arguments& takes) -> action {
                auto s = std::make_shared<saquery_settings>();
                takes.option("words", s->words).such_as(kind_names());
                takes.flag("-p", s->paths);
                takes.flag("-N", s->nodes);
                takes.flag("-c", s->class_port_info);
                takes.flag("-S", s->services);
                takes.flag("-I", s->informs);
                takes.flag("-x", s->links);
                takes.flag("-s", s->managers);
                const argument& members = takes.flag("-m", s->members);
                takes.flag("-g", s->groups).excludes(members);
                takes.flag("-D,--list", s->list);
                takes.flag("-L", s->lids_only);
                takes.flag("-l", s->lid_only);
                takes.flag("-G", s->guids_only);
                takes.flag("-O", s->name_of_lid);
                takes.flag("-U", s->name_of_guid);
                takes.option("--src-to-dst", s->src_to_dst);
                takes.option("--sgid-to-dgid", s->sgid_to_dgid);
                for (const filter& f : filters) takes.option(f.option, s->filters[f.option]);
                takes.flag("--get", s->single);
                takes.flag("--no-defaults", s->no_defaults);
                takes.flag("-K,--show_keys", s->show_keys);
                takes.option("--node-name-map", s->name_map).file(file_use::read);
                takes.flag("--json", s->json);
                return [s](const global_options& options) {
                    return run_saquery(*s, options.with_trace_keys(s->show_keys));
                };
            }};
}

} // namespace ibtool
