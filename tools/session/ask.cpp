// SPDX-License-Identifier: MIT
// ask.cpp - a session around queries, and what is left on stderr.
#include "session/ask.hpp"

#include <comad/iba/detail/text.hpp>

namespace ibtool {

namespace mad = comad::mad;

namespace {

query_task<report> in_one_part(answer whole) {
    auto text = co_await std::move(whole);
    if (!text) co_return std::move(text.error());
    report said;
    said.text = std::move(text).value();
    co_return said;
}

} // namespace

int ask(const global_options& options, const mad::address* target,
        const std::function<query_task<std::string>(session&)>& query) {
    return run_query(options, target, [&](session& in) { return in_one_part(query(in)); });
}

std::string raw_name_of(const comad::discovery::node_names& names, const comad::iba::smp::NodeInfo& info,
                        const comad::iba::smp::NodeDescription& description) {
    comad::discovery::node n;
    n.info = info;
    n.description = text(description);
    return names.raw(n);
}

std::string name_of(const comad::discovery::node_names& names, const comad::iba::smp::NodeInfo& info,
                    const comad::iba::smp::NodeDescription& description) {
    return comad::iba::escaped(raw_name_of(names, info, description));
}

} // namespace ibtool
