// SPDX-License-Identifier: MIT
// commands.hpp - what a command is, and the list of them. Knows none in detail.
#pragma once
#include "options.hpp"

#include <functional>
#include <string>

namespace ibtool {

/// Runs the command that the command line named; returns its exit code.
using action = std::function<int(const global_options&)>;

/// Adds a command to the program; if the command line names it, `run` becomes its action.
using add_command = void (*)(CLI::App& app, action& run);

void add_bench(CLI::App& app, action& run);
void add_decode(CLI::App& app, action& run);
void add_describe(CLI::App& app, action& run);
void add_encode(CLI::App& app, action& run);
void add_ibnetdiscover(CLI::App& app, action& run);
void add_iblinkinfo(CLI::App& app, action& run);
void add_ibcheckerrors(CLI::App& app, action& run);
void add_ibcheckerrs(CLI::App& app, action& run);
void add_ibchecknet(CLI::App& app, action& run);
void add_ibchecknode(CLI::App& app, action& run);
void add_ibcheckport(CLI::App& app, action& run);
void add_ibcheckportstate(CLI::App& app, action& run);
void add_ibcheckportwidth(CLI::App& app, action& run);
void add_ibcheckstate(CLI::App& app, action& run);
void add_ibcheckwidth(CLI::App& app, action& run);
void add_ibclearcounters(CLI::App& app, action& run);
void add_ibclearerrors(CLI::App& app, action& run);
void add_ibdatacounters(CLI::App& app, action& run);
void add_ibdatacounts(CLI::App& app, action& run);
void add_ibhosts(CLI::App& app, action& run);
void add_ibswitches(CLI::App& app, action& run);
void add_ibnodes(CLI::App& app, action& run);
void add_health(CLI::App& app, action& run);
void add_help(CLI::App& app, action& run);
void add_ibaddr(CLI::App& app, action& run);
void add_ibping(CLI::App& app, action& run);
void add_ibqueryerrors(CLI::App& app, action& run);
void add_ibroute(CLI::App& app, action& run);
void add_ibsendtrap(CLI::App& app, action& run);
void add_ibstat(CLI::App& app, action& run);
void add_ibstatus(CLI::App& app, action& run);
void add_ibswportwatch(CLI::App& app, action& run);
void add_ibsysstat(CLI::App& app, action& run);
void add_ibtracert(CLI::App& app, action& run);
void add_ibv_devices(CLI::App& app, action& run);
void add_perfquery(CLI::App& app, action& run);
void add_query(CLI::App& app, action& run);
void add_saquery(CLI::App& app, action& run);
void add_set_guid(CLI::App& app, action& run);
void add_sminfo(CLI::App& app, action& run);
void add_smpdump(CLI::App& app, action& run);
void add_smpquery(CLI::App& app, action& run);
void add_sweep(CLI::App& app, action& run);
void add_vendstat(CLI::App& app, action& run);

inline constexpr add_command all_commands[] = {
    add_ibnetdiscover,    add_ibhosts,          add_ibswitches,      add_ibnodes,       add_iblinkinfo,
    add_smpquery,         add_saquery,          add_query,           add_sminfo,        add_ibaddr,
    add_ibroute,          add_ibtracert,        add_smpdump,         add_perfquery,     add_ibqueryerrors,
    add_ibdatacounts,     add_ibdatacounters,   add_ibclearcounters, add_ibclearerrors, add_ibswportwatch,
    add_ibcheckerrors,    add_ibcheckerrs,      add_ibchecknet,      add_ibchecknode,   add_ibcheckport,
    add_ibcheckportstate, add_ibcheckportwidth, add_ibcheckstate,    add_ibcheckwidth,  add_vendstat,
    add_ibping,           add_ibsysstat,        add_ibstat,          add_ibstatus,      add_ibv_devices,
    add_set_guid,         add_ibsendtrap,       add_bench,           add_health,        add_sweep,
    add_decode,           add_encode,           add_describe,        add_help};

} // namespace ibtool
