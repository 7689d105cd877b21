// SPDX-License-Identifier: MIT
// host_service.hpp - the common part of ibping and ibsysstat: options, a query of text from a host, and a server that runs until a signal
// ends it. Does not depend on a particular service.
#pragma once
#include "input/arguments.hpp"
#include "session/session.hpp"
#include "session/target.hpp"
#include <comad/server/responder.hpp>

#include <functional>
#include <string>
#include <vector>

namespace ibtool {

/// The options that ibping and ibsysstat share.
struct host_service_options {
    std::string target, oui_text;
    target_options kind;
    bool serves = false, json = false;

    /// Returns the vendor's OUI. Throws usage_error.
    comad::u32 OUI() const;
};
/// Declares these options.
void add_host_service_options(arguments& takes, host_service_options&);

/// Returns the host to query. Throws usage_error if there is no target, and for directed routes, because vendor MADs are not sent by
/// directed routes.
command_target read_host(const host_service_options&);
/// Returns the LID-routed path to the host.
comad::coro::task<comad::mad::result<comad::mad::IBPath>> resolve_host(session&, command_target);

/// The attribute to query from a host.
struct host_query {
    comad::iba::MgmtClass mgmt_class;
    comad::u16 attributeID;
    comad::u32 OUI;
};
/// Queries an attribute of the host.
comad::coro::task<comad::mad::result<std::vector<comad::u8>>> query_host_raw(session&, comad::mad::IBPath to,
                                                                             host_query);
/// Queries an attribute as text, up to the first NUL. The bytes are not trusted.
comad::coro::task<comad::mad::result<std::string>> query_host(session&, comad::mad::IBPath to, host_query);

/// Replies to requests until SIGINT or SIGTERM arrives. Continues when a disconnected device is available again. Returns an exit code.
/// Throws usage_error if there is a target, or if no host could send requests; std::runtime_error if another program replies already.
int serve(const global_options&, const host_service_options&,
          const std::function<void(comad::server::responder&)>& add_handlers);
/// Replies to requests in an existing session.
int serve_in(session&, const comad::server::responder& answers);

} // namespace ibtool
