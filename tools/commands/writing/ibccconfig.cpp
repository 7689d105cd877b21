// SPDX-License-Identifier: MIT
// ibccconfig.cpp - ibccconfig: writes settings of congestion control and reads them back, for one node or all nodes of a subnet.
// Arguments as in infiniband-diags.
#include "comad.hpp"
#include "command.hpp"
#include "commands/queries/congestion_options.hpp"
#include "commands/writing/congestion_sets.hpp"
#include "session/node_name_map.hpp"
#include "session/queries.hpp"
#include "session/run_on_subnet.hpp"
#include "session/subnet_queries.hpp"
#include "text/diags_text.hpp"
#include "text/json.hpp"

#include <fmt/format.h>

#include <memory>

namespace ibtool {
namespace {

/// The command line of ibccconfig.
struct ibccconfig_settings {
    std::string operation, name_map;
    std::vector<std::string> arguments;
    std::optional<comad::u64> CC_Key;
    target_options kind;
    bool everywhere = false, dry_run = false, json = false;
};

constexpr operation_name ibccconfig_operations[] = {{"CongestionKeyInfo", "CK"},
                                                    {"SwitchCongestionSetting", "SS"},
                                                    {"SwitchPortCongestionSetting", "SP"},
                                                    {"CACongestionSetting", "CS"},
                                                    {"CongestionControlTable", "CT"}};

/// Returns whether nodes of this type have the attribute.
bool is_meant(const congestion_set& what, iba::NodeType type) {
    if (what.is_of_switches) return type == iba::NodeType::Switch;
    return !what.is_of_cas || type != iba::NodeType::Switch;
}

/// Sets the attribute of one port. Prints nothing on success, as in infiniband-diags, unless options request output.
query_task<report> set_one(session& in, const congestion_set& what, command_target target,
                           const ibccconfig_settings& s) {
    BOOST_OUTCOME_CO_TRY(const auto to, co_await resolve_port(in, target));
    auto set = co_await what.set(in, to, s.dry_run);
    if (!set) {
        hint_at_cc_key(set.error());
        co_return std::move(set.error());
    }
    const congestion_outcome& done = set.value();
    const std::string place = format_place(to);
    report result;
    if (s.json) {
        nlohmann::ordered_json line{{"LID", value(to.DLID)}};
        line.update(json_of(what, done, s.dry_run));
        result.text = json_line(line);
    } else if (s.dry_run || in.options().verbosity > 0) {
        result.text = text_of(place, what, done, s.dry_run);
    }
    for (discovery::failure m : done.not_taken) {
        m.where.name = place;
        result.missing.push_back(std::move(m));
    }
    co_return result;
}

coro::task<mad::result<report>> set_at(session& in, const discovery::subnet& subnet, const discovery::end_port_ref& e,
                                       const congestion_set& what, const ibccconfig_settings& s,
                                       const discovery::node_names& names) {
    report result;
    if (!e.has_lid()) {
        result.missing.push_back(of_write(missing_at(subnet, e.where, "not changed: no LID")));
        co_return result;
    }
    const mad::any_path keyed = in.options().keys.put_into(e.path, subnet.at(e.where).portGUID);
    auto done = co_await what.set(in, *std::get_if<mad::IBPath>(&keyed), s.dry_run);
    if (!done) {
        result.missing.push_back(of_write(missing_at(subnet, e.where, "not changed: " + to_string(done.error()),
                                                     "not changed: " + cause_text(done.error()))));
        co_return result;
    }
    const discovery::node& n = subnet.nodes[e.where.node];
    if (s.json) {
        nlohmann::ordered_json line = place_json(subnet, e, e.where.port);
        line.update(json_of(what, done.value(), s.dry_run));
        result.text = json_line(line);
    } else {
        const std::string place = fmt::format("lid {} 0x{:016x} \"{}\" port {}", value(e.path.DLID),
                                              value(n.info.nodeGUID), names.of(n), e.where.port);
        result.text = text_of(place, what, done.value(), s.dry_run);
    }
    for (const discovery::failure& m : done.value().not_taken)
        result.missing.push_back(of_write(missing_at(subnet, e.where, m.text, m.cause)));
    co_return result;
}

/// Sets the attribute at all nodes that have it, in parallel.
coro::task<report> set_all(session& in, const discovery::subnet& subnet, const congestion_set& what,
                           const ibccconfig_settings& s, const discovery::node_names& names) {
    const std::vector<discovery::end_port_ref> ends = discovery::end_ports(subnet);
    std::vector<coro::task<mad::result<report>>> running;
    for (const discovery::end_port_ref& e : ends)
        if (is_meant(what, subnet.nodes[e.where.node].info.nodeType))
            running.push_back(set_at(in, subnet, e, what, s, names));
    auto outcomes = co_await all(std::move(running));
    report together;
    for (report& one : outcomes.value()) {
        together.text += one.text;
        together.missing.insert(together.missing.end(), one.missing.begin(), one.missing.end());
    }
    co_return together;
}

int run_ibccconfig(const ibccconfig_settings& s, const global_options& options) {
    const std::size_t which = find_operation(ibccconfig_operations, s.operation);
    const std::size_t targets = s.everywhere ? 0 : 1;
    if (s.arguments.size() < targets) throw usage_error("no target given; name a port, or give --all");
    const congestion_set what =
        read_congestion_set(ibccconfig_operations[which].name,
                            {s.arguments.begin() + static_cast<std::ptrdiff_t>(targets), s.arguments.end()});
    const global_options keyed = with_cc_key(options, s.CC_Key);
    if (!s.everywhere) {
        const command_target target = read_target(s.arguments.front(), s.kind);
        return run_query(keyed, &target, [&](session& in) { return set_one(in, what, target, s); });
    }
    const discovery::node_names names = read_node_names(s.name_map);
    return run_on_subnet(
        keyed, [&](session& in, const discovery::subnet& found) { return set_all(in, found, what, s, names); });
}

} // namespace

command ibccconfig_command() {
    return {.name = "ibccconfig",
            .group = command_group::writing,
            .writes = true,
            .declare = [](arguments& takes) -> action {
                auto s = std::make_shared<ibccconfig_settings>();
                takes.option("operation", s->operation).required();
                takes.option("target", s->arguments);
                takes.flag("--all", s->everywhere);
                takes.flag("--dry-run", s->dry_run);
                add_cc_key_option(takes, s->CC_Key);
                add_target_options(takes, s->kind);
                add_name_map_option(takes, s->name_map);
                takes.flag("--json", s->json);
                return [s](const global_options& options) { return run_ibccconfig(*s, options); };
            }};
}

} // namespace ibtool
