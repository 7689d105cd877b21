// SPDX-License-Identifier: MIT
// queries.hpp - helpers for commands that send a few queries and print the replies. Does not depend on a particular query.
#pragma once
#include "session/report.hpp"
#include "session/target.hpp"
#include <comad/coro/scope.hpp>
#include <comad/discovery/database/node_names.hpp>

#include <functional>
#include <string>
#include <vector>

namespace ibtool {

/// Runs tasks in parallel. Returns their results in order, or the first error.
template <class T>
comad::coro::task<comad::mad::result<std::vector<T>>> all(std::vector<comad::coro::task<comad::mad::result<T>>> tasks) {
    comad::coro::scope together(co_await comad::coro::current_scope{});
    std::vector<comad::coro::job<comad::mad::result<T>>> running;
    for (auto& task : tasks) running.push_back(together.queue(std::move(task)));
    std::vector<T> values;
    for (auto& job : running) {
        auto value = co_await job;
        if (!value) co_return std::move(value.error());
        values.push_back(std::move(value).value());
    }
    co_return values;
}

/// Return the name of a node: from the node name map, or else its description. name_of() is safe for a terminal; raw_name_of() can
/// contain any bytes.
std::string name_of(const comad::discovery::node_names&, const comad::iba::smp::NodeInfo&,
                    const comad::iba::smp::NodeDescription&);
std::string raw_name_of(const comad::discovery::node_names&, const comad::iba::smp::NodeInfo&,
                        const comad::iba::smp::NodeDescription&);

} // namespace ibtool
