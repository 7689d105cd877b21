// SPDX-License-Identifier: MIT
// congestion_options.cpp - finds operations by name, and puts CC_Keys into paths.
#include "commands/queries/congestion_options.hpp"

#include "comad.hpp"
#include "input/split_text.hpp"
#include <comad/iba/detail/suggest_names.hpp>
#include <comad/iba/detail/text.hpp>
#include <comad/iba/parse.hpp>

#include <fmt/format.h>

namespace ibtool {

void add_cc_key_option(arguments& takes, std::optional<comad::u64>& key) {
    takes.option("-c", [&key](const std::string& text) {
        const auto number = iba::parse_number(text);
        if (!number || number->is_larger) throw usage_error("the CC_Key must be a 64-bit number");
        key = number->value;
    });
}

global_options with_cc_key(const global_options& options, const std::optional<comad::u64>& key) {
    global_options keyed = options;
    if (key) keyed.add_keys([key](mad::port_keys& keys) { keys.set_default(mad::key_kind::CCKey, *key); });
    return keyed;
}

std::size_t find_operation(std::span<const operation_name> all, const std::string& name) {
    const std::string lower = to_lower(name);
    for (std::size_t i = 0; i < all.size(); ++i)
        if (lower == to_lower(all[i].name) || lower == to_lower(all[i].alias)) return i;
    std::vector<std::string_view> known;
    for (const operation_name& o : all) known.push_back(o.name);
    throw usage_error(fmt::format("unknown operation {}; the nearest are {} (see --help for all)", iba::as_given(name),
                                  iba::most_similar(name, known)));
}

void hint_at_cc_key(mad::mad_error& e) {
    if (e.code == mad::errc::timed_out) e.message("no reply; if the node has another CC_Key, give it with -c");
}

query_task<mad::IBPath> resolve_port(session& in, command_target target) {
    BOOST_OUTCOME_CO_TRY(const auto path, co_await resolve(in, target));
    BOOST_OUTCOME_CO_TRY(const auto to, co_await lid_routed(in, path));
    BOOST_OUTCOME_CO_TRY(const auto keyed, co_await in.paths().with_keys(to));
    co_return *std::get_if<mad::IBPath>(&keyed);
}

} // namespace ibtool
