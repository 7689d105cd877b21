// SPDX-License-Identifier: MIT
// ask.cpp - a session around questions, and what is left on stderr.
#include "ask.hpp"

#include "output.hpp"

#include <fmt/format.h>

#include <cstdio>

namespace ibtool {

namespace mad = comad::mad;

namespace {

struct outcome {
    mad::result<std::string> text;
    std::string counts, capture_problem;
};

// The fabric is closed again when this returns, as slowly as somebody may read the output.
outcome ask_in_session(const global_options& options, const mad::address* target,
                       const std::function<answer(session&)>& question) {
    session in(options, target);
    auto text = in.run(question(in), [&] { return fmt::format("{} MADs sent", in.schedule().counters().sent); });
    return {std::move(text), in.counts(), in.finish_capture()};
}

} // namespace

int ask(const global_options& options, const mad::address* target, const std::function<answer(session&)>& question) {
    const outcome o = ask_in_session(options, target, question);
    if (o.text) write_output(o.text.value());
    fmt::print(stderr, "{}", o.counts);
    if (!o.text) fmt::print(stderr, "{}", mad::dump(o.text.error(), options.debug, "ibtool: "));
    if (!o.capture_problem.empty()) fmt::print(stderr, "ibtool: {}\n", o.capture_problem);
    if (!o.text) return failed;
    return o.capture_problem.empty() ? complete : partial;
}

std::string name_of(const comad::discovery::node_names& names, const comad::iba::smp::NodeInfo& info,
                    const comad::iba::smp::NodeDescription& description) {
    comad::discovery::node n;
    n.info = info;
    n.description = text(description);
    return names.of(n);
}

} // namespace ibtool
