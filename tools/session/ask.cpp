// SPDX-License-Identifier: MIT
// ask.cpp - a session around questions, and what is left on stderr.
#include "session/ask.hpp"

#include "text/output.hpp"

#include <fmt/format.h>

#include <cstdio>

namespace ibtool {

namespace mad = comad::mad;

namespace {

struct outcome {
    mad::result<told> said;
    std::string counts, capture_problem, loss;
};

// The fabric is closed again when this returns, as slowly as somebody may read the output.
outcome ask_in_session(const global_options& options, const mad::address* target,
                       const std::function<answer_in_parts(session&)>& question) {
    session in(options, target);
    auto said = in.run(question(in), [&] { return fmt::format("{} MADs sent", in.schedule().counters().sent); });
    return {std::move(said), in.counts(), in.finish_capture(), in.loss_text()};
}

answer_in_parts in_one_part(answer whole) {
    auto text = co_await std::move(whole);
    if (!text) co_return std::move(text.error());
    told said;
    said.text = std::move(text).value();
    co_return said;
}

} // namespace

int ask_in_parts(const global_options& options, const mad::address* target,
                 const std::function<answer_in_parts(session&)>& question) {
    const outcome o = ask_in_session(options, target, question);
    if (o.said) write_output(o.said.value().text);
    fmt::print(stderr, "{}", o.counts);
    if (!o.said) fmt::print(stderr, "{}", mad::dump(o.said.error(), options.debug, "ibtool: "));
    else tell_missing(o.said.value().missing, o.loss);
    if (!o.capture_problem.empty()) fmt::print(stderr, "ibtool: {}\n", o.capture_problem);
    if (!o.said) return failed;
    return o.capture_problem.empty() && o.said.value().missing.empty() ? complete : partial;
}

int ask(const global_options& options, const mad::address* target, const std::function<answer(session&)>& question) {
    return ask_in_parts(options, target, [&](session& in) { return in_one_part(question(in)); });
}

std::string name_of(const comad::discovery::node_names& names, const comad::iba::smp::NodeInfo& info,
                    const comad::iba::smp::NodeDescription& description) {
    comad::discovery::node n;
    n.info = info;
    n.description = text(description);
    return names.of(n);
}

} // namespace ibtool
