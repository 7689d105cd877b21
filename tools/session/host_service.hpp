// SPDX-License-Identifier: MIT
// host_service.hpp - what ibping and ibsysstat share: options, a text that a host is asked for, a server that runs until a
// signal ends it. Knows no particular service.
#pragma once
#include "input/arguments.hpp"
#include "session/session.hpp"
#include "session/target.hpp"
#include <comad/server/responder.hpp>

#include <functional>
#include <string>
#include <vector>

namespace ibtool {

struct host_service_options {
    std::string target, oui_text;
    target_options kind;
    bool serves = false, json = false;

    /// Throws usage_error.
    comad::u32 OUI() const;
};
void add_host_service_options(arguments& takes, host_service_options&);

/// Where a host is to be asked. Throws usage_error: where there is no target, and for directed routes, which such MADs do
/// not take.
command_target read_host(const host_service_options&);
/// The path there, LID-routed.
comad::coro::task<comad::mad::result<comad::mad::IBPath>> resolve_host(session&, command_target);

struct host_query {
    comad::iba::MgmtClass mgmt_class;
    comad::u16 attributeID;
    comad::u32 OUI;
};
/// The attribute that the host answers.
comad::coro::task<comad::mad::result<std::vector<comad::u8>>> ask_host_raw(session&, comad::mad::IBPath to, host_query);
/// The same as text, up to the first NUL: anybody's bytes.
comad::coro::task<comad::mad::result<std::string>> ask_host(session&, comad::mad::IBPath to, host_query);

/// Answers requests that arrive until SIGINT or SIGTERM come; when the device was lost and is back, again. Returns an exit
/// code. Throws usage_error for a target, and where nobody could ask; std::runtime_error where another program answers.
int serve(const global_options&, const host_service_options&,
          const std::function<void(comad::server::responder&)>& add_handlers);
/// The same in a session.
int serve_in(session&, const comad::server::responder& answers);

} // namespace ibtool
