// SPDX-License-Identifier: MIT
// subnet_command.cpp - discover, report, tell what is missing.
#include "session/subnet_command.hpp"

#include "session/subnet_file.hpp"
#include "text/output.hpp"
#include "text/subnet_missing.hpp"
#include <comad/discovery/database/detail/lid_index.hpp>
#include <comad/discovery/walk/discover.hpp>
#include <comad/iba/detail/text_file.hpp>

#include <fmt/format.h>

namespace ibtool {

namespace discovery = comad::discovery;

namespace {

struct outcome {
    std::size_t problems;
    report said;
    session_end end;
};

outcome outcome_of(const discovery::subnet& s, const subnet_report& made, comad::u64 mads, auto& ended) {
    outcome result{s.failures.size(), made(s, mads), session_end(ended)};
    const discovery::lid_index lids(s);
    for (const auto& doubled : lids.duplicates()) result.said.notes.push_back(discovery::describe(s, doubled));
    auto missing = all_missing(s);
    result.said.missing.insert(result.said.missing.begin(), missing.begin(), missing.end());
    result.said.missing_is_success = true;
    return result;
}

// The fabric is closed again when this returns: who reads the output slowly, or stops reading, holds no server's slot.
outcome discover_in_session(const global_options& options, const subnet_report& made, const subnet_reading& more) {
    if (const auto known = subnet_without_device(options)) return outcome_of(*known, made, 0, options);
    session in(options);
    discovery::discovery_progress progress;
    auto found = in.run(discover_subnet(in, &progress), [&] {
        return fmt::format("discovering: {} nodes, {} links, {} failures", progress.nodes.load(), progress.links.load(),
                           progress.failures.load());
    });
    if (!found) refuse_silent_port(found.error(), options);
    const comad::u64 mads = in.schedule().counters().sent;
    if (more && !in.stopped()) {
        const std::vector<discovery::failure> missing = in.run(more(in, found.value()));
        found.value().failures.insert(found.value().failures.end(), missing.begin(), missing.end());
    }
    return outcome_of(found.value(), made, mads, in);
}

int discover_and_report_to(const global_options& options, const subnet_report& made, const std::string& file,
                           const subnet_reading& more = {}) {
    const outcome o = discover_in_session(options, made, more);
    const int code = finish(o.said, o.end, file);
    if (o.problems) print_message("partial result: {} failure{}", o.problems, o.problems == 1 ? "" : "s");
    return code;
}

} // namespace

int discover_and_report(const global_options& options, const subnet_text& text, const std::string& file,
                        const subnet_reading& more) {
    const auto made = [&](const discovery::subnet& s, comad::u64 mads) { return report{text(s, mads), {}, {}, false}; };
    return discover_and_report_to(options, made, file, more);
}

int discover_and_report(const global_options& options, const subnet_report& made) {
    return discover_and_report_to(options, made, {});
}

discovery::subnet read_subnet(const std::string& file, const global_options& options,
                              discovery::described_order order) {
    // As a file it has the same bounds, and the same words for what is wrong.
    const std::string name = file == "-" ? "/dev/stdin" : file;
    const std::string text = comad::iba::open_text_file(name).str();
    return read_described(text, name, options, order);
}

} // namespace ibtool
