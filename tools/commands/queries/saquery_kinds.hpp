// SPDX-License-Identifier: MIT
// saquery_kinds.hpp - the record types that saquery supports: their names, their arguments, and how to query and print them. Does not
// depend on options.
#pragma once
#include "session/queries.hpp"
#include "text/structure_text.hpp"
#include <comad/iba/query.hpp>
#include <comad/iba/sa.hpp>
#include <comad/sa/detail/no_records.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ibtool {

/// A condition for records: the name of a component in the field tables, and its value.
struct component {
    std::string name, text;
};
using components = std::vector<component>;

/// How records are queried and printed.
struct record_style {
    comad::discovery::node_names names;
    keys which = keys::hidden;
    bool json = false;
    bool is_single = false; ///< use SubnAdmGet, which returns one record
    bool fills_in = true;   ///< add components that a path query requires
};

/// A record type of saquery.
struct record_kind {
    std::string_view name, abbreviation;
    const comad::iba::record_info* info;
    /// Queries and formats the records.
    query_task<std::string> (*run)(session&, components, record_style);
    std::string_view arguments; ///< components that the arguments set: `fromLID/fromPort toLID/toPort`
};

/// Returns the record type with this name, abbreviation or structure name, ignoring case; null if the word matches none.
const record_kind* kind_named(std::string_view word);
/// Returns the record type with a name that starts with this word; null if the word matches none. Throws usage_error if several match.
const record_kind* kind_that_begins(std::string_view word);

/// Returns the names of all record types.
std::vector<std::string> kind_names();

/// Adds the components that an argument after the type sets. `which`: its position, from 0. Throws usage_error if it is invalid.
void add_argument(const record_kind&, std::size_t which, const std::string& text, components&);

/// Returns the component that selects the NodeRecords of a node, by its name in the map, else by its description.
component node_named(const comad::discovery::node_names&, const std::string& name);
/// Throws std::runtime_error: no node has this name.
[[noreturn]] void refuse_name(const std::string& name);
/// Replaces names of nodes by LIDs in all components that contain LIDs. Throws std::runtime_error if no node has the name.
comad::coro::task<comad::mad::result<components>> with_lids(session&, components, comad::discovery::node_names);

/// Returns the query with these components. Throws usage_error if a component is unknown or its value is invalid.
template <class R> comad::iba::query<R> query_of(const components& wanted) {
    comad::iba::query<R> q;
    for (const component& c : wanted)
        if (auto set = q.set(c.name, c.text); !set) throw usage_error(set.error().text);
    return q;
}

/// Returns all records, or the one that SubnAdmGet returns. The result is empty if no record matches, as in infiniband-diags.
template <class R>
comad::coro::task<comad::mad::result<std::vector<R>>> records(session& in, comad::iba::query<R> query,
                                                              bool is_single = false) {
    if (is_single) {
        auto one = co_await in.schedule().template SubnAdmGet<R>(query);
        if (one) co_return std::vector<R>{std::move(one).value()};
        if (comad::sa::is_no_records(one.error())) co_return std::vector<R>{};
        co_return std::move(one.error());
    }
    auto table = co_await in.schedule().template SubnAdmGetTable<R>(query);
    if (table) co_return std::move(table).value();
    if (comad::sa::is_no_records(table.error())) co_return std::vector<R>{};
    co_return std::move(table.error());
}

/// Returns the name of a node from the map, else its description. Safe to print on a terminal.
inline std::string name_of(const comad::discovery::node_names& names, const comad::iba::sa::NodeRecord& r) {
    return name_of(names, r.nodeInfo, r.nodeDescription);
}

} // namespace ibtool
