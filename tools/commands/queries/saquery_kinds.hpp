// SPDX-License-Identifier: MIT
// saquery_kinds.hpp - the kinds of records that saquery knows: what they are called, what the words behind them mean, how they
// are asked for and printed. Knows no option.
#pragma once
#include "session/ask.hpp"
#include "text/structure_text.hpp"
#include <comad/iba/query.hpp>
#include <comad/iba/sa.hpp>
#include <comad/sa/detail/no_records.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ibtool {

/// A component that a record must have, by its name in the tables.
struct component {
    std::string name, text;
};
using components = std::vector<component>;

/// How records are asked for and shown.
struct record_style {
    comad::discovery::node_names names;
    keys which = keys::hidden;
    bool json = false;
    bool is_single = false; ///< by SubnAdmGet, which gives one
    bool fills_in = true;   ///< what a query of paths must have, and was not given
};

struct record_kind {
    std::string_view name, abbreviation;
    const comad::iba::record_info* info;
    query_task<std::string> (*ask)(session&, components, record_style);
    std::string_view arguments; ///< `fromLID/fromPort toLID/toPort`: which components its words are
};

/// The kind of that name, abbreviation or structure, in capitals or not. Null: there is none.
const record_kind* kind_named(std::string_view word);
/// The kind that has one of these names beginning so. Null: there is none. Throws usage_error if there are several.
const record_kind* kind_that_begins(std::string_view word);

/// Their names.
std::vector<std::string> kind_names();

/// Adds what a word behind the kind says, which is its `which`th from 0. Throws usage_error.
void add_argument(const record_kind&, std::size_t which, const std::string& text, components&);

/// The component that NodeRecords of a node have, by its name in the map or else its description.
component node_named(const comad::discovery::node_names&, const std::string& name);
/// Throws std::runtime_error: there is none.
[[noreturn]] void refuse_name(const std::string& name);
/// LIDs for the names of nodes, where LIDs belong. Throws std::runtime_error if there is no such node.
comad::coro::task<comad::mad::result<components>> with_lids(session&, components, comad::discovery::node_names);

/// Throws usage_error.
template <class R> comad::iba::query<R> query_of(const components& wanted) {
    comad::iba::query<R> q;
    for (const component& c : wanted)
        if (auto set = q.set(c.name, c.text); !set) throw usage_error(set.error().text);
    return q;
}

/// The records, all or the one that SubnAdmGet gives. No record is an empty answer, as infiniband-diags have it.
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

/// What a node is called: as the map has it, else its description; safe for a terminal.
inline std::string name_of(const comad::discovery::node_names& names, const comad::iba::sa::NodeRecord& r) {
    return name_of(names, r.nodeInfo, r.nodeDescription);
}

} // namespace ibtool
