// SPDX-License-Identifier: MIT
// report.cpp - prints the results of all commands, and determines their exit codes.
#include "session/report.hpp"

#include "comad.hpp"
#include "input/queued_writer.hpp"
#include "session/memory_reserve.hpp"
#include "session/missing_neighbors.hpp"
#include "session/multi_port.hpp"
#include "session/stop_signals.hpp"
#include "session/subnet_file.hpp"
#include "session/target.hpp"
#include "text/error_text.hpp"
#include "text/output.hpp"
#include <comad/discovery/walk/discover.hpp>
#include <comad/iba/detail/class_port_info.hpp>
#include <comad/iba/smp.hpp>
#include <comad/mad/detail/message.hpp>

#include <boost/asio/post.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>

namespace ibtool {

session_end::session_end(session& in)
    : counts(in.counts()), capture_problem(in.finish_capture()), disconnect(in.disconnect_text()),
      shows_all(in.options().shows_all()), was_stopped(in.stopped()) {}

namespace {

void print_capture_problem(const std::string& problem) {
    if (!problem.empty()) print_message("{}", problem);
}

bool lacks_something(const report& r, const session_end& end) {
    const bool is_forgiven = r.missing_is_success && is_called_by_link() && !end.was_stopped &&
                             std::ranges::none_of(r.missing, &discovery::failure::is_write);
    return !r.missing.empty() && !is_forgiven;
}

} // namespace

int finish(const report& r, const session_end& end, const std::string& file) {
    write_output(r.text, file);
    print_error(end.counts);
    print_missing(r.missing, end.shows_all, end.disconnect);
    for (const std::string& note : r.notes) print_message("{}", note);
    print_capture_problem(end.capture_problem);
    if (lacks_something(r, end)) return partial;
    if (r.is_any_bad) return failed;
    return end.capture_problem.empty() ? complete : partial;
}

int end_capture(session& in, int code) {
    const std::string problem = in.finish_capture();
    print_capture_problem(problem);
    return code == complete && !problem.empty() ? static_cast<int>(partial) : code;
}

int finish(session& in, int code) {
    print_error(in.counts());
    return end_capture(in, code);
}

std::unique_ptr<lasting_output> lasting_output_of(session& in) {
    if (in.is_virtual()) return nullptr;
    in.never_wait_for_readers();
    return std::make_unique<lasting_output>([&in] { boost::asio::post(in.executor(), [&in] { in.stop(); }); });
}

bool finish(session& in, lasting_output* lines) {
    constexpr std::chrono::milliseconds brief{500};
    return !lines || lines->finish(in.stopped() ? after(brief) : soon_after_stop_signal());
}

namespace {

/// Returns the port in the attribute modifier or portSelect of a request; nullopt for requests that do not concern a port.
std::optional<unsigned> requested_port(const mad::mad_error& e) {
    constexpr unsigned all_ports = 255;
    if (!e.detail || e.code != mad::errc::status) return std::nullopt;
    const std::span<const comad::u8> request = e.detail->request;
    unsigned port = 0;
    if (e.mgmt_class == iba::MgmtClass::Performance) {
        if (e.attributeID == iba::attribute_id<iba::ClassPortInfo>) return std::nullopt;
        port = request[mad::payload_offset(e.mgmt_class, e.attributeID) + 1];
    } else if (e.attributeID == iba::attribute_id<smp::PortInfo> ||
               e.attributeID == iba::attribute_id<smp::PortInfoExtended> ||
               e.attributeID == iba::attribute_id<smp::MlnxExtPortInfo>) {
        port = e.attributeModifier & 0xff;
    }
    if (port == 0 || port == all_ports) return std::nullopt;
    return port;
}

/// Runs a query. If a node rejects a port that does not exist, adds the existing ports to the message.
query_task<report> with_port_numbers(session& in, query_task<report> query) {
    auto reply = co_await std::move(query);
    const auto port = reply ? std::nullopt : requested_port(reply.error());
    if (!port) co_return reply;
    const mad::any_path path = reply.error().detail->path;
    const auto node = co_await in.SubnGet<smp::NodeInfo>(path);
    if (node && *port > node.value().numPorts)
        reply.error().message(fmt::format("port {} is out of range: the node has {} port{}", *port,
                                          node.value().numPorts, node.value().numPorts == 1 ? "" : "s"));
    co_return reply;
}

} // namespace

int run_query(const global_options& options, const mad::address* target,
              const std::function<query_task<report>(session&)>& query, std::function<std::string()> progress) {
    const auto [outcome, end] = [&] {
        session in(options, target);
        if (!progress) progress = [&] { return fmt::format("{} MADs sent", in.schedule().counters().sent); };
        auto result = in.run(with_port_numbers(in, query(in)), std::move(progress));
        return std::pair{std::move(result), session_end(in)};
    }();
    if (outcome) return finish(outcome.value(), end);
    print_error(end.counts);
    print_error(outcome.error(), options);
    print_capture_problem(end.capture_problem);
    return failed;
}

namespace {

query_task<report> as_report(query_task<std::string> query) {
    auto text = co_await std::move(query);
    if (!text) co_return std::move(text.error());
    report made;
    made.text = std::move(text).value();
    co_return made;
}

} // namespace

int run_query(const global_options& options, const mad::address* target,
              const std::function<query_task<std::string>(session&)>& query) {
    return run_query(options, target, [&](session& in) { return as_report(query(in)); });
}

namespace {

void note_found_ports(const global_options& options, const discovery::subnet& found) {
    if (!options.found_ports) return;
    for (const discovery::node& n : found.nodes)
        for (const discovery::port& p : n.ports) options.found_ports->insert(p.portGUID);
}

// Returns the local LID for LID-routed SMPs; 0: use directed routes.
iba::lid lid_to_begin_at(session& in) {
    const iba::lid LID = in.local_port().LID;
    switch (in.options().discovery) {
    case discovery_mode::automatic: return in.schedule().transport().limits().smi_by_lid ? LID : iba::lid{};
    case discovery_mode::LID:
        if (LID == iba::lid{})
            throw usage_error("--discovery LID needs a LID, but the local port has none; use --discovery DR");
        return LID;
    default: return {};
    }
}

} // namespace

discovery::discover_options discover_options_of(session& in, discovery::discovery_progress* progress) {
    discovery::discover_options how;
    how.max_nodes = in.options().max_nodes;
    how.max_time = in.options().max_time;
    how.max_ports = std::max(how.max_ports, 20 * how.max_nodes);
    how.memory_is_short = &is_memory_short;
    how.keys = &in.options().keys;
    how.from_lid = lid_to_begin_at(in);
    how.start_portGUID = iba::guid{in.local_port().GID.interface_id()};
    how.mlnx_ext_port_info = in.options().mlnx_ext_port_info;
    how.progress = progress;
    return how;
}

coro::task<mad::result<discovery::subnet>> discover_subnet(session& in, discovery::discovery_progress* progress,
                                                           subnet_source source,
                                                           discovery::node_sequence* found_nodes) {
    reserve_memory();
    discovery::discover_options how = discover_options_of(in, progress);
    how.found = found_nodes;
    if (source == subnet_source::cache_or_fabric) {
        auto known = known_subnet(in.options(), in.place(), how.start_portGUID);
        if (known) {
            note_found_ports(in.options(), *known);
            co_return std::move(*known);
        }
    }
    if (in.options().discovers_by_sa()) require_sa(in);
    auto search = in.options().discovers_by_sa()  ? discovery::discover_by_sa(in.schedule(), in.local_port().LID, how)
                  : in.options().ports.size() > 1 ? discover_through_ports(in, how)
                                                  : discovery::discover(in.schedule(), how);
    auto found = co_await std::move(search);
    if (found) {
        note_found_ports(in.options(), found.value());
        for (discovery::failure& p : found.value().failures)
            if (p.kind == discovery::failure_kind::limit && !is_memory_short)
                p.text += "; see --max-nodes and --max-time";
        if (source != subnet_source::fabric_without_cache && !in.options().discovers_by_sa())
            co_await name_missing_neighbors(in, found.value());
        if (source != subnet_source::fabric_without_cache) keep_subnet(found.value(), in.options(), in.place());
    }
    co_return found;
}

std::string why_no_subnet(const mad::mad_error& e, const global_options& options) {
    const std::string words = format_error(e, options);
    if (e.code == mad::errc::cancelled) return words;
    const bool is_of_sa = e.code == mad::errc::path_not_found || e.mgmt_class == iba::MgmtClass::SubnAdm;
    return (is_of_sa ? "cannot read the subnet from the SA: " : "the local port does not reply: ") + words;
}

void refuse_silent_port(const mad::mad_error& e, const global_options& options) {
    throw std::runtime_error(why_no_subnet(e, options));
}

} // namespace ibtool
