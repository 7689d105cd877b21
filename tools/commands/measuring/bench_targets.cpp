// SPDX-License-Identifier: MIT
// bench_targets.cpp - discovers or resolves the targets of bench, and queries each of them once.
#include "commands/measuring/bench_targets.hpp"

#include "comad.hpp"
#include "input/field_changes.hpp"
#include "session/node_name_map.hpp"
#include "session/report.hpp"
#include "text/subnet_missing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace ibtool {
namespace {

/// Returns the LID of a node as a target.
command_target lid_of(const discovery::subnet& subnet, u32 node) {
    const discovery::node& n = subnet.nodes[node];
    const discovery::port& port = subnet.end_port({node, n.info.localPortNum});
    mad::IBPath path;
    if (port.info) path.DLID = port.info->LID;
    return command_target({path, std::nullopt});
}

coro::task<std::vector<bench_target>> discover_targets(session& in, const target_choice& which, bool by_lid,
                                                       std::vector<discovery::failure>& problems) {
    const auto found = co_await discover_subnet(in);
    if (!found) refuse_silent_port(found.error(), in.options());
    const discovery::subnet& subnet = found.value();
    problems = all_missing(subnet);
    const discovery::node_names names = read_node_names(which.name_map);
    const selected_parts parts(which.selected, subnet, names);
    parts.require_nodes();
    for (const std::string& line : parts.notes()) print_message("{}", line);
    std::vector<bench_target> targets;
    for (u32 i = 0; i < subnet.nodes.size(); ++i) {
        const discovery::node& n = subnet.nodes[i];
        if (!parts.node(i)) continue;
        if (which.has_kind() && !which.all && !(which.switches && n.is_switch()) &&
            !(which.cas && n.info.nodeType == iba::NodeType::CA))
            continue;
        const command_target target = by_lid ? lid_of(subnet, i) : command_target({n.route, std::nullopt});
        if (by_lid && mad::headers_of(target.path).DLID == iba::lid{})
            problems.push_back(missing_at(subnet, {i, 0}, "not measured: no LID"));
        else targets.push_back({target, fmt::format("{} \"{}\"", discovery::topology_id(n), names.of(n))});
    }
    if (targets.empty() && problems.empty()) refuse_empty_selection({});
    co_return targets;
}

/// A target that replied: its path, and its payload of each RPC.
struct probed {
    mad::any_path path;
    std::vector<request_payload> payloads;
};

/// Reads an attribute that a Set will write, and returns the payload of the Set: the attribute with the fields of the request.
query_task<request_payload> payload_to_write(session& in, const load_rpc& rpc, const request& r, mad::any_path path) {
    const mad::rpc_kind get = reading(r);
    const coro::rpc_request reads{get, path, rpc.attributeModifier};
    std::array<u8, mad::mad_size> bytes{};
    mad::write_request(bytes.data(), get, path, rpc.attributeModifier);
    auto reply = co_await in.schedule().call_raw(reads, bytes);
    if (!reply) co_return std::move(reply.error());
    const std::span<const u8> now =
        std::span<const u8>(reply.value().payload)
            .subspan(mad::payload_offset(get.mgmt_class, get.attributeID), r.payload.size());
    const std::vector<u8> wanted = changed(*r.attribute->info, now, r.fields);
    request_payload payload{};
    std::copy_n(wanted.begin(), std::min(wanted.size(), payload.size()), payload.begin());
    co_return payload;
}

/// Sends each RPC to a target once. Returns its path and payloads if the replies are correct.
query_task<probed> probe(session& in, const bench_report& report, const std::vector<request>& requests,
                         command_target target) {
    probed found;
    BOOST_OUTCOME_CO_TRY(found.path, co_await resolve(in, target));
    if (!std::ranges::all_of(report.what.rpcs, sends_smp)) {
        BOOST_OUTCOME_CO_TRY(const mad::IBPath by_lid, co_await lid_routed(in, found.path));
        found.path = by_lid;
    }
    for (std::size_t i = 0; i < requests.size(); ++i) {
        const load_rpc& rpc = report.what.rpcs[i];
        request_payload payload = rpc.payload;
        if (writes_all_fields(requests[i])) {
            BOOST_OUTCOME_CO_TRY(const request_payload now,
                                 co_await payload_to_write(in, rpc, requests[i], found.path));
            payload = now;
        }
        BOOST_OUTCOME_CO_TRYV(co_await query_once(in.schedule(), rpc, payload, found.path));
        found.payloads.push_back(payload);
    }
    co_return found;
}

/// What find_targets() collects.
struct target_search {
    session& in;
    bench_report& report;
    const std::vector<request>& requests;
    std::vector<bench_target> targets;
    std::vector<std::optional<probed>> found{}; // for each target
};

/// Queries a target once. Stores it if the replies are correct, else adds a problem to the report.
coro::task<void> probe_one(target_search& s, std::size_t index) {
    try {
        auto found = co_await probe(s.in, s.report, s.requests, s.targets[index].target);
        if (found) s.found[index] = std::move(found.value());
        else s.report.problems.push_back(failure_at({}, to_string(found.error()), plain_text(found.error())));
    } catch (const std::runtime_error& e) { // no node or several nodes have this name
        s.report.problems.push_back(failure_at({}, e.what()));
    }
}

coro::generator<coro::task<void>> probes(target_search& s) {
    for (std::size_t i = 0; i < s.targets.size(); ++i) co_yield probe_one(s, i);
}

} // namespace

coro::task<bool> find_targets(session& in, const target_choice& which, const std::vector<request>& requests,
                              bench_report& r, std::vector<bench_target> targets) {
    if (which.discovers()) {
        const bool by_lid = which.by_lid || !std::ranges::all_of(r.what.rpcs, sends_smp);
        targets = co_await discover_targets(in, which, by_lid, r.problems);
    }
    target_search s{in, r, requests, std::move(targets)};
    s.found.resize(s.targets.size());
    co_await in.schedule().mqueue(probes(s));
    for (std::size_t i = 0; i < s.found.size(); ++i) {
        if (!s.found[i]) continue;
        r.what.targets.push_back(s.found[i]->path);
        r.target_names.push_back(s.targets[i].name);
        for (std::size_t rpc = 0; rpc < requests.size(); ++rpc)
            if (writes_all_fields(requests[rpc])) r.what.rpcs[rpc].of_target.push_back(s.found[i]->payloads[rpc]);
    }
    co_return !r.what.targets.empty();
}

} // namespace ibtool
