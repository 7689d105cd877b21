// SPDX-License-Identifier: MIT
// run_on_subnet.cpp - opens a session, discovers the subnet, and runs the command on it.
#include "session/run_on_subnet.hpp"

#include "session/subnet_file.hpp"
#include "text/failure_text.hpp"
#include "text/output.hpp"
#include "text/subnet_missing.hpp"
#include <comad/coro/combinators.hpp>
#include <comad/discovery/database/detail/lid_index.hpp>
#include <comad/discovery/walk/discover.hpp>
#include <comad/discovery/walk/node_sequence.hpp>
#include <comad/iba/detail/text_file.hpp>

#include <fmt/format.h>

#include <memory>
#include <stdexcept>
#include <tuple>
#include <utility>

namespace ibtool {

using discovery::subnet;

// ---- checks and queries ----------------------------------------------------------------------------------------------

namespace {

/// Adds the failures of the discovery at the start of the report.
report about(const subnet& known, report all) {
    const std::vector<discovery::failure> of_discovery = all_missing(known);
    all.missing.insert(all.missing.begin(), of_discovery.begin(), of_discovery.end());
    return all;
}

query_task<report> discover_and_query(session& in, const subnet_query& query) {
    const auto found = co_await discover_subnet(in);
    if (!found) refuse_silent_port(found.error(), in.options());
    report made = co_await query(in, found.value());
    co_return about(found.value(), std::move(made));
}

} // namespace

int run_on_subnet(const global_options& options, const subnet_query& query) {
    return run_query(options, nullptr, [&](session& in) { return discover_and_query(in, query); });
}

int run_on_subnet(const global_options& options, const subnet_check& check) {
    if (const auto known = subnet_without_device(options))
        return finish(about(*known, check(*known)), session_end(options));
    const subnet_query query = [&](session&, const subnet& known) -> coro::task<report> { co_return check(known); };
    return run_on_subnet(options, query);
}

// ---- printers --------------------------------------------------------------------------------------------------------

namespace {

/// The result of printing a subnet, after its session has ended.
struct printed_subnet {
    std::size_t failures;
    report output;
    session_end end;
    bool is_written = true; ///< the lines of new nodes
};

/// Returns the report of the printer. If the printer throws, first prints the failures, because they may be the cause.
report made_by(const subnet_printer& printer, const subnet& s, u64 mads) {
    try {
        return printer.make(s, mads);
    } catch (const usage_error&) {
        throw;
    } catch (const std::runtime_error&) {
        print_missing(all_missing(s), false);
        throw;
    }
}

printed_subnet print_of(const subnet& s, const subnet_printer& printer, u64 mads, auto& ended) {
    printed_subnet result{s.failures.size(), about(s, made_by(printer, s, mads)), session_end(ended)};
    const discovery::lid_index lids(s);
    for (const auto& doubled : lids.duplicates()) result.output.notes.push_back(discovery::describe(s, doubled));
    result.output.missing_is_success = true;
    return result;
}

using new_node_text = std::function<std::string(const discovery::node&)>;

coro::task<mad::result<subnet>> discover_into(session& in, discovery::discovery_progress* progress,
                                              discovery::node_sequence& nodes) {
    auto found = co_await discover_subnet(in, progress, subnet_source::cache_or_fabric, &nodes);
    nodes.end(); // a subnet from a cache or the SA adds no nodes
    co_return found;
}

coro::task<void> print_nodes(discovery::node_sequence& nodes, const new_node_text& text) {
    while (const auto node = co_await nodes.next()) write_output(text(*node));
}

/// Discovers the subnet, and prints the text of each node as soon as it was read.
coro::task<mad::result<subnet>> discover_and_print_nodes(session& in, discovery::discovery_progress* progress,
                                                         const new_node_text& text) {
    discovery::node_sequence nodes(in.schedule());
    auto both = coro::when_all(discover_into(in, progress, nodes), print_nodes(nodes, text));
    auto results = co_await std::move(both);
    co_return std::move(std::get<0>(results));
}

// Discovers and prints the subnet. Closes the fabric before it returns, so that a slow reader of the output does not occupy a client slot
// of the server.
printed_subnet discover_and_print(const global_options& options, const subnet_printer& printer) {
    if (const auto known = subnet_without_device(options)) return print_of(*known, printer, 0, options);
    session in(options);
    discovery::discovery_progress progress;
    const std::unique_ptr<lasting_output> lines = printer.text_of_new_node ? lasting_output_of(in) : nullptr;
    auto search = printer.text_of_new_node ? discover_and_print_nodes(in, &progress, printer.text_of_new_node)
                                           : discover_subnet(in, &progress);
    auto found = in.run(std::move(search), [&] {
        return fmt::format("discovering: {} nodes, {} links, {} failures", progress.nodes.load(), progress.links.load(),
                           progress.failures.load());
    });
    const bool is_written = finish(in, lines.get());
    if (!found) refuse_silent_port(found.error(), options);
    const u64 mads = in.sent();
    if (printer.read_more && !in.stopped()) {
        const std::vector<discovery::failure> missing = in.run(printer.read_more(in, found.value()));
        found.value().failures.insert(found.value().failures.end(), missing.begin(), missing.end());
    }
    printed_subnet printed = print_of(found.value(), printer, mads, in);
    printed.is_written = is_written;
    return printed;
}

} // namespace

int run_on_subnet(const global_options& options, const subnet_printer& printer) {
    const printed_subnet p = discover_and_print(options, printer);
    const int code = finish(p.output, p.end, printer.file);
    if (p.failures) print_message("partial result: {} failure{}", p.failures, p.failures == 1 ? "" : "s");
    return code == complete && !p.is_written ? static_cast<int>(partial) : code;
}

subnet read_subnet(const std::string& file, const global_options& options, discovery::described_order order) {
    // Reads stdin with the limits and messages of a file.
    const std::string name = file == "-" ? "/dev/stdin" : file;
    const std::string text = iba::open_text_file(name).str();
    return read_described(text, name, options, order);
}

} // namespace ibtool
