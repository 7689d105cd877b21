// SPDX-License-Identifier: MIT
// host_service.cpp - queries texts from hosts by vendor MADs, and serves them.
#include "session/host_service.hpp"

#include "comad.hpp"
#include "session/reconnecting_session.hpp"
#include "session/report.hpp"
#include "text/output.hpp"
#include <comad/mad/detail/message.hpp>
#include <comad/server/agent.hpp>
#include <comad/server/diags.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

namespace ibtool {

u32 host_service_options::OUI() const {
    return oui_text.empty() ? server::openfabrics_oui : read_number(oui_text, "the OUI", 0xffffff);
}

void add_host_service_options(arguments& takes, host_service_options& o) {
    takes.option("target", o.target);
    add_target_options(takes, o.kind);
    takes.option("-o,--oui", o.oui_text);
    takes.flag("-S,--Server", o.serves);
    takes.flag("--json", o.json);
}

command_target read_host(const host_service_options& o) {
    if (o.target.empty())
        throw usage_error("no target given; give the LID, GUID, GID or name of a host, or -S to start a server");
    command_target target = read_target(o.target, o.kind);
    if (mad::directed(target.path))
        throw usage_error("vendor MADs cannot use directed routes; give a LID, a GUID, a GID or a name");
    return target;
}

coro::task<mad::result<mad::IBPath>> resolve_host(session& in, command_target target) {
    BOOST_OUTCOME_CO_TRY(const auto path, co_await resolve(in, target));
    co_return co_await lid_routed(in, path);
}

coro::task<mad::result<std::vector<u8>>> query_host_raw(session& in, mad::IBPath to, host_query q) {
    const mad::rpc_kind kind{q.mgmt_class, 1, iba::Method::Get, q.attributeID, true, q.OUI};
    const mad::any_path path = to;
    std::array<u8, mad::mad_size> request;
    mad::write_request(request.data(), kind, path, 0);
    const coro::rpc_request what{kind, path};
    auto reply = co_await in.schedule().call_raw(what, request, coro::reply_size::any_length);
    if (!reply) co_return std::move(reply.error());
    std::vector<u8>& bytes = reply.value().payload;
    const std::size_t begin = std::min(bytes.size(), mad::payload_offset(q.mgmt_class));
    bytes.erase(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(begin));
    co_return std::move(bytes);
}

coro::task<mad::result<std::string>> query_host(session& in, mad::IBPath to, host_query q) {
    BOOST_OUTCOME_CO_TRY(const auto bytes, co_await query_host_raw(in, to, q));
    co_return std::string(bytes.begin(), std::find(bytes.begin(), bytes.end(), u8{0}));
}

namespace {

/// Waits for a signal. Nullopt: the device was disconnected.
coro::task<std::optional<bool>> until_a_signal(session& in) {
    bool goes_on = true;
    while (goes_on) goes_on = co_await in.schedule().pause(std::chrono::hours(24));
    if (in.disconnect_error() != 0) co_return std::nullopt;
    co_return true;
}

} // namespace

int serve_in(session& in, const server::responder& answers) {
    const std::unique_ptr<lasting_output> lines = lasting_output_of(in); // so that its messages do not block
    server::agent_counters all;
    std::optional<server::agent> here;
    const auto begin = [&] {
        here.emplace(in.schedule().transport(), answers);
        in.schedule().set_server(&*here);
    };
    const auto end = [&] {
        if (!here) return;
        in.schedule().set_server(nullptr);
        all.requests += here->counters().requests;
        all.replies += here->counters().replies;
        all.unsent += here->counters().unsent + here->counters().overflowed;
        here.reset();
    };
    disconnect_listener listener;
    listener.on_disconnect = [&](const disconnect&) { end(); };
    listener.on_open = begin;
    if (in.is_open()) begin();
    if (in.is_open() && in.options().verbosity) print_error("serving at LID {}\n", value(in.local_port().LID));
    reconnecting_session(in, listener).run<bool>([&] { return until_a_signal(in); });
    end();
    if (in.options().verbosity)
        print_error("{} requests, {} replies, {} replies not sent\n", all.requests, all.replies, all.unsent);
    return end_capture(in, complete);
}

int serve(const global_options& options, const host_service_options& o,
          const std::function<void(server::responder&)>& add_handlers) {
    if (!o.target.empty()) throw usage_error("-S (server mode) takes no target");
    server::responder answers;
    add_handlers(answers);
    session in(options, nullptr, nullptr, opens::when_ready);
    if (in.is_virtual())
        throw usage_error("-S needs real time: no other program can send requests in virtual time; remove time=virtual "
                          "from --fabric");
    answers.set_trace(in.trace());
    return serve_in(in, answers);
}

} // namespace ibtool
