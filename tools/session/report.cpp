// SPDX-License-Identifier: MIT
// report.cpp - one end for all commands.
#include "session/report.hpp"

#include "text/output.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <stdexcept>
#include <utility>

namespace ibtool {

namespace coro = comad::coro;
namespace discovery = comad::discovery;
namespace mad = comad::mad;

session_end::session_end(session& in)
    : counts(in.counts()), capture_problem(in.finish_capture()), loss(in.loss_text()) {}

namespace {

void tell_end(const session_end& end) {
    if (!end.capture_problem.empty()) fmt::print(stderr, "ibtool: {}\n", end.capture_problem);
}

} // namespace

int finish(const report& r, const session_end& end, const std::string& file) {
    write_output(r.text, file);
    fmt::print(stderr, "{}", end.counts);
    tell_missing(r.missing, end.loss);
    tell_end(end);
    if (!r.missing.empty()) return partial;
    if (r.is_any_bad) return failed;
    return end.capture_problem.empty() ? complete : partial;
}

int run_query(const global_options& options, const mad::address* target,
              const std::function<reporting(session&)>& query) {
    const auto [said, end] = [&] {
        session in(options, target);
        auto result = in.run(query(in), [&] { return fmt::format("{} MADs sent", in.schedule().counters().sent); });
        return std::pair{std::move(result), session_end(in)};
    }();
    if (said) return finish(said.value(), end);
    fmt::print(stderr, "{}{}", end.counts, mad::dump(said.error(), options.debug, "ibtool: "));
    tell_end(end);
    return failed;
}

coro::task<mad::result<discovery::subnet>> discover_subnet(session& in, discovery::discovery_progress* progress) {
    discovery::discover_options how;
    how.keys = &in.options().keys;
    how.mlnx_ext_port_info = in.options().mlnx_ext_port_info;
    how.progress = progress;
    auto found = co_await discovery::discover(in.schedule(), how);
    co_return found;
}

coro::task<discovery::subnet> require_subnet(session& in) {
    auto found = co_await discover_subnet(in);
    if (!found) refuse_silent_port(found.error());
    co_return std::move(found).value();
}

void refuse_silent_port(const mad::mad_error& e) {
    throw std::runtime_error("the local port does not answer: " + to_string(e));
}

} // namespace ibtool
