// SPDX-License-Identifier: MIT
// saquery.cpp - records of the subnet administrator; options and text as infiniband-diags' saquery, and any component by
// name. Sets nothing.
#include "command.hpp"
#include "session/ask.hpp"
#include "text/sa_text.hpp"
#include <comad/iba/format.hpp>
#include <comad/iba/print.hpp>
#include <comad/iba/suggest.hpp>
#include <comad/iba/text.hpp>
#include <comad/sa/no_records.hpp>

#include <fmt/format.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>

namespace ibtool {
namespace {

namespace iba = comad::iba;
namespace mad = comad::mad;
namespace sa = iba::sa;
using comad::u16;
using sa::NodeRecord;

/// A component that a record must have, by its name in the tables.
using components = std::vector<std::pair<std::string, std::string>>;

struct saquery_settings {
    std::vector<std::string> words; // type, its argument, NAME=VALUE
    bool paths = false, nodes = false, class_port_info = false, services = false, informs = false, links = false;
    bool lids_only = false, lid_only = false, guids_only = false, members = false, groups = false, list = false;
    bool managers = false;
    std::string lid_of_name, name_of_lid, name_of_guid, src_to_dst, sgid_to_dgid;
    std::map<std::string, std::string> filters; // by their option
    bool json = false;
};

// ---- what is asked -------------------------------------------------------------------------------------------------

/// A query about records of one kind, whose type is known no more.
using record_query = std::function<answer(session&, components, bool json)>;

template <class R> iba::result<iba::query<R>> query_of(const components& wanted) {
    iba::query<R> q;
    for (const auto& [name, text] : wanted)
        if (auto set = q.set(name, text); !set) return std::move(set).error();
    return q;
}

/// OpenSM leaves blockNum of this record in its host's order (osm_sa_pkey_record.c), which mostly is little-endian. A port
/// does not have the 8192 P_Keys before block 256, so that none of its blocks has a number that is one of these.
template <class R> R repaired(R record) {
    if constexpr (std::is_same_v<R, sa::PKeyTableRecord>)
        if (record.blockNum % 256 == 0) record.blockNum /= 256;
    return record;
}

/// No record is an empty answer, as infiniband-diags have it.
template <class R> comad::coro::task<mad::result<std::vector<R>>> records(session& in, iba::query<R> query) {
    auto table = co_await in.schedule().template SubnAdmGetTable<R>(query);
    if (table) co_return std::move(table).value();
    if (comad::sa::is_no_records(table.error())) co_return std::vector<R>{};
    co_return std::move(table.error());
}

template <class R> answer ask_for(session& in, components wanted, bool json) {
    require_SA(in);
    auto query = query_of<R>(wanted);
    if (!query) throw usage_error(query.error().text);
    if constexpr (std::is_same_v<R, sa::PathRecord>) // all paths, not one; infiniband-diags ask so, too
        if ((query.value().component_mask() & iba::mask_of<&sa::PathRecord::numbPath>) == 0)
            query.value().template where<&sa::PathRecord::numbPath>(comad::u8{127});
    auto found = co_await records<R>(in, query.value());
    if (!found) co_return std::move(found.error());
    std::string out;
    for (const R& given : found.value()) {
        const R record = repaired(given);
        out += json ? iba::json(record) + '\n' : saquery_text(record);
    }
    co_return out;
}

answer ask_class_port_info(session& in, components, bool json) {
    require_SA(in);
    auto info = co_await in.schedule().SubnAdmGet<iba::ClassPortInfo>();
    if (!info) co_return std::move(info.error());
    co_return json ? iba::json(info.value()) + '\n' : saquery_text(info.value());
}

/// A kind of record: its names, and the components that its argument is, `a/b/c`.
struct kind {
    std::string_view name, abbreviation;
    record_query ask;
    std::vector<std::string_view> argument;
};

const std::vector<kind>& kinds() {
    static const std::vector<kind> all{
        {"ClassPortInfo", "CPI", ask_class_port_info, {}},
        {"NodeRecord", "NR", ask_for<NodeRecord>, {"LID"}},
        {"PortInfoRecord", "PIR", ask_for<sa::PortInfoRecord>, {"endportLID", "portNum"}},
        {"SL2VLTableRecord", "SL2VL", ask_for<sa::SLToVLMappingTableRecord>, {"LID", "inputPortNum", "outputPortNum"}},
        {"PKeyTableRecord", "PKTR", ask_for<sa::PKeyTableRecord>, {"LID", "portNum", "blockNum"}},
        {"VLArbitrationTableRecord",
         "VLAR",
         ask_for<sa::VLArbitrationTableRecord>,
         {"LID", "outputPortNum", "blockNum"}},
        {"InformInfoRecord", "IIR", ask_for<sa::InformInfoRecord>, {}},
        {"LinkRecord", "LR", ask_for<sa::LinkRecord>, {"fromLID", "fromPort"}},
        {"ServiceRecord", "SR", ask_for<sa::ServiceRecord>, {}},
        {"PathRecord", "PR", ask_for<sa::PathRecord>, {}},
        {"MCMemberRecord", "MCMR", ask_for<sa::MCMemberRecord>, {"MLID"}},
        {"LFTRecord", "LFTR", ask_for<sa::LinearForwardingTableRecord>, {"LID", "blockNum"}},
        {"MFTRecord", "MFTR", ask_for<sa::MulticastForwardingTableRecord>, {"LID", "blockNum"}},
        {"GUIDInfoRecord", "GIR", ask_for<sa::GUIDInfoRecord>, {"LID", "blockNum"}},
        {"SwitchInfoRecord", "SWIR", ask_for<sa::SwitchInfoRecord>, {"LID"}},
        {"SMInfoRecord", "SMIR", ask_for<sa::SMInfoRecord>, {"LID"}},
    };
    return all;
}

const kind* find_kind(std::string_view word) {
    for (const kind& k : kinds())
        if (k.name == word || k.abbreviation == word) return &k;
    return nullptr;
}

// ---- other answers -------------------------------------------------------------------------------------------------

std::string description_of(const NodeRecord& r) { return iba::escaped(text(r.nodeDescription)); }

/// A record as a text of its own.
using node_line = std::function<std::string(const NodeRecord&)>;

std::string as_json(const NodeRecord& r) { return iba::json(r) + '\n'; }

/// The records of nodes, each as `line` says it.
answer list_nodes(session& in, components wanted, std::string heading, node_line line) {
    require_SA(in);
    auto query = query_of<NodeRecord>(wanted);
    if (!query) throw usage_error(query.error().text);
    auto found = co_await records<NodeRecord>(in, query.value());
    if (!found) co_return std::move(found.error());
    std::string out = std::move(heading);
    for (const NodeRecord& r : found.value()) out += line(r);
    co_return out;
}

/// The LIDs of a node by its description, which the SA compares.
answer find_node(session& in, std::string name, node_line line) {
    components wanted{{"nodeDescription.nodeString", name}};
    auto out = co_await list_nodes(in, std::move(wanted), {}, std::move(line));
    if (out && out.value().empty()) throw std::runtime_error(fmt::format("no node is called '{}'", iba::escaped(name)));
    co_return out;
}

answer list_groups(session& in, components wanted) {
    require_SA(in);
    auto query = query_of<sa::MCMemberRecord>(wanted);
    if (!query) throw usage_error(query.error().text);
    auto found = co_await records<sa::MCMemberRecord>(in, query.value());
    if (!found) co_return std::move(found.error());
    std::string out;
    for (const auto& r : found.value()) out += saquery_group_text(r);
    co_return out;
}

/// What the node of a port is called.
comad::coro::task<mad::result<std::string>> name_of_port(session& in, iba::gid port) {
    auto query =
        iba::query<NodeRecord>{}.where<&NodeRecord::nodeInfo, &iba::smp::NodeInfo::portGUID>(port.interface_id());
    auto found = co_await records<NodeRecord>(in, query);
    if (!found) co_return std::move(found.error());
    co_return found.value().empty() ? "<unknown>" : description_of(found.value().front());
}

/// The ports of multicast groups; of one group that was asked for only these.
answer list_members(session& in, components wanted) {
    require_SA(in);
    auto query = query_of<sa::MCMemberRecord>(wanted);
    if (!query) throw usage_error(query.error().text);
    auto found = co_await records<sa::MCMemberRecord>(in, query.value());
    if (!found) co_return std::move(found.error());
    std::vector<comad::coro::task<mad::result<std::string>>> asked;
    for (const auto& r : found.value()) asked.push_back(name_of_port(in, r.portGID));
    BOOST_OUTCOME_CO_TRY(const auto names, co_await all(std::move(asked)));
    const bool one_group = (query.value().component_mask() & iba::mask_of<&sa::MCMemberRecord::MLID>) != 0;
    std::string out;
    for (std::size_t i = 0; i < names.size(); ++i)
        out += one_group ? fmt::format("\t\tPortGid.................{} ({})\n", found.value()[i].portGID, names[i])
                         : saquery_member_text(found.value()[i], names[i]);
    co_return out;
}

/// Ports that have this capability: a Get whose modifier says that only bits that are 1 are compared (IBA 15.2.5.3).
comad::coro::task<mad::result<std::vector<sa::PortInfoRecord>>> ports_that(session& in, iba::CapabilityMask can) {
    using sa::PortInfoRecord;
    auto query = iba::query<PortInfoRecord>{}.where<&PortInfoRecord::portInfo, &iba::smp::PortInfo::capabilityMask>(
        static_cast<comad::u32>(can));
    constexpr mad::rpc_kind kind{iba::MgmtClass::SubnAdm,           2,    iba::Method::GetTable,
                                 iba::attribute_id<PortInfoRecord>, true, 0};
    const comad::coro::rpc_request request{kind, in.schedule().sa_path(), 1u << 31, query.component_mask()};
    auto found = co_await in.schedule().call_table<PortInfoRecord, PortInfoRecord, false>(request, query.value());
    if (found) co_return std::move(found).value();
    if (comad::sa::is_no_records(found.error())) co_return std::vector<PortInfoRecord>{};
    co_return std::move(found.error());
}

answer list_managers(session& in, bool json) {
    require_SA(in);
    BOOST_OUTCOME_CO_TRY(const auto managers, co_await ports_that(in, iba::CapabilityMask::IsSM));
    BOOST_OUTCOME_CO_TRY(const auto disabled, co_await ports_that(in, iba::CapabilityMask::IsSMdisabled));
    std::string out = json ? "" : "IsSM ports\n";
    for (const auto& r : managers) out += json ? iba::json(r) + '\n' : saquery_short_text(r);
    if (!json) out += "\nIsSMdisabled ports\n";
    for (const auto& r : disabled) out += json ? iba::json(r) + '\n' : saquery_short_text(r);
    co_return out;
}

// ---- the command line ----------------------------------------------------------------------------------------------

struct filter {
    const char* option;
    std::string_view component;
    const char* what;
};
constexpr filter filters[] = {
    {"--slid", "SLID", "source LID"},
    {"--dlid", "DLID", "destination LID"},
    {"--mlid", "MLID", "multicast LID"},
    {"--sgid", "SGID", "source GID"},
    {"--dgid", "DGID", "destination GID"},
    {"--gid", "portGID", "port GID"},
    {"--mgid", "MGID", "multicast GID"},
    {"-n,--numb_path", "numbPath", "paths at most"},
    {"--pkey", "PKey", "P_Key"},
    {"-Q,--qos_class", "QOSClass", "QoS class"},
    {"--sl", "SL", "service level"},
    {"-M,--mtu", "MTU", "MTU code"},
    {"-R,--rate", "rate", "rate code"},
    {"--pkt_lifetime", "packetLifeTime", "packet life time"},
    {"-q,--qkey", "QKey", "Q_Key"},
    {"-T,--tclass", "TClass", "traffic class"},
    {"-F,--flow_label", "flowLabel", "flow label"},
    {"-H,--hop_limit", "hopLimit", "hop limit"},
    {"--scope", "scope", "scope"},
    {"-J,--join_state", "joinState", "join state"},
    {"--service_id", "serviceID", "service ID"},
};

void add_argument(const kind& k, const std::string& text, components& wanted) {
    std::size_t begin = 0;
    for (const std::string_view component : k.argument) {
        const std::size_t end = std::min(text.find('/', begin), text.size());
        if (end > begin) wanted.emplace_back(component, text.substr(begin, end - begin));
        begin = end + 1;
        if (begin > text.size()) return;
    }
    throw usage_error(
        fmt::format("{} takes {} numbers at most, not '{}'", k.name, k.argument.size(), iba::escaped(text)));
}

/// Both ends of `a:b` or `a-b`.
void add_ends(const std::string& text, char between, std::string_view from, std::string_view to, components& wanted) {
    const std::size_t cut = text.find(between);
    if (cut == text.npos) throw usage_error(fmt::format("'{}' has no '{}' in it", iba::escaped(text), between));
    wanted.emplace_back(from, text.substr(0, cut));
    wanted.emplace_back(to, text.substr(cut + 1));
}

answer ask_as_told(session& in, const saquery_settings& s) {
    components wanted;
    const kind* chosen = nullptr;
    const auto is = [](bool option, std::string_view kind_name) { return option ? find_kind(kind_name) : nullptr; };
    for (const kind* k : {is(s.paths || !s.src_to_dst.empty() || !s.sgid_to_dgid.empty(), "PR"), is(s.nodes, "NR"),
                          is(s.class_port_info, "CPI"), is(s.services, "SR"), is(s.informs, "IIR"), is(s.links, "LR"),
                          is(s.members || s.groups, "MCMR")})
        if (k) chosen = k;
    const kind* by_word = nullptr;
    std::string name;
    for (const std::string& word : s.words) {
        if (const kind* k = by_word ? nullptr : find_kind(word)) {
            by_word = k;
            if (!chosen) chosen = k;
        } else if (word.find('=') != word.npos) {
            const auto parts = iba::parse_assignment(word);
            if (!parts) throw usage_error(parts.error().text);
            wanted.emplace_back(parts.value().name, parts.value().text);
        } else if (word.find_first_not_of("0123456789abcdefABCDEFx/") == word.npos) {
            add_argument(chosen ? *chosen : *find_kind("NR"), word, wanted);
        } else {
            name = word;
        }
    }
    for (const filter& f : filters)
        if (const auto given = s.filters.find(f.option); given != s.filters.end() && !given->second.empty())
            wanted.emplace_back(f.component, given->second);
    if (!s.src_to_dst.empty()) add_ends(s.src_to_dst, ':', "SLID", "DLID", wanted);
    if (!s.sgid_to_dgid.empty()) add_ends(s.sgid_to_dgid, '-', "SGID", "DGID", wanted);

    const auto as = [&](node_line text) { return s.json ? node_line(as_json) : std::move(text); };
    if (!name.empty()) {
        if (chosen && chosen->name != "NodeRecord")
            throw usage_error(fmt::format("'{}' is neither a number nor NAME=VALUE", iba::escaped(name)));
        if (s.lid_only || s.lids_only)
            return find_node(in, name, as([](const NodeRecord& r) { return fmt::format("{}\n", value(r.LID)); }));
        if (s.guids_only)
            return find_node(in, name, as([](const NodeRecord& r) {
                                 return fmt::format("{:#018x}\n", value(r.nodeInfo.portGUID));
                             }));
        return find_node(in, name, as([](const NodeRecord& r) { return saquery_text(r); }));
    }
    const auto named = [](const NodeRecord& r) { return description_of(r) + '\n'; };
    if (!s.name_of_lid.empty()) return list_nodes(in, {{"LID", s.name_of_lid}}, {}, as(named));
    if (!s.name_of_guid.empty()) return list_nodes(in, {{"nodeInfo.portGUID", s.name_of_guid}}, {}, as(named));
    if (s.list) {
        wanted.emplace_back("nodeInfo.nodeType", "CA");
        return list_nodes(
            in, std::move(wanted), s.json ? "" : "   LID \"name\"\n================\n",
            as([](const NodeRecord& r) { return fmt::format("{:6}  \"{}\"\n", value(r.LID), description_of(r)); }));
    }
    if (s.managers) return list_managers(in, s.json);
    if (s.groups && !s.json) return list_groups(in, std::move(wanted));
    if (s.members && !s.json) return list_members(in, std::move(wanted));
    return (chosen ? chosen : find_kind("NR"))->ask(in, std::move(wanted), s.json);
}

} // namespace

command saquery_command() {
    return {.name = "saquery",
            .group = command_group::queries,
            .summary = "ask the subnet administrator for records",
            .examples = "saquery NR nodeInfo.nodeType=Switch\nsaquery PR --src-to-dst 1:2\nsaquery -m 0xc000",
            .declare = [](arguments& takes) -> action {
                auto s = std::make_shared<saquery_settings>();
                takes.option(
                    "words", s->words,
                    "a kind of record (NodeRecord or NR, PathRecord or PR, ...), LID/PORT/BLOCK as far as it has "
                    "them, NAME=VALUE for any component; or the description of a node");
                takes.flag("-p", s->paths, "PathRecords");
                takes.flag("-N", s->nodes, "NodeRecords");
                takes.flag("-c", s->class_port_info, "the SA's ClassPortInfo");
                takes.flag("-S", s->services, "ServiceRecords");
                takes.flag("-I", s->informs, "InformInfoRecords");
                takes.flag("-x", s->links, "LinkRecords");
                takes.flag("-s", s->managers, "ports that are or could be a subnet manager's");
                takes.flag("-m", s->members, "ports of multicast groups; behind it a MLID: of that group");
                takes.flag("-g", s->groups, "multicast groups");
                takes.flag("-D,--list", s->list, "LIDs and descriptions of the CAs");
                takes.flag("-L", s->lids_only, "LIDs of the node with this description");
                takes.flag("-l", s->lid_only, "likewise");
                takes.flag("-G", s->guids_only, "its port GUIDs");
                takes.option("-O", s->name_of_lid, "the description of the node with this LID");
                takes.option("-U", s->name_of_guid, "the description of the node with this port GUID");
                takes.option("--src-to-dst", s->src_to_dst, "LID:LID, the path between them");
                takes.option("--sgid-to-dgid", s->sgid_to_dgid, "GID-GID, likewise");
                for (const filter& f : filters)
                    takes.option(f.option, s->filters[f.option], f.what).group("Components");
                takes.flag("--json", s->json, "one JSON object per line");
                return [s](const global_options& options) {
                    return ask(options, nullptr, [&](session& in) { return ask_as_told(in, *s); });
                };
            }};
}

} // namespace ibtool
