// SPDX-License-Identifier: MIT
// commands.cpp - the list of all commands, in the order of the help. Each command is described in its own file.
#include "command.hpp"
#include <comad/iba/detail/suggest_names.hpp>

#include <algorithm>

// To add a command, add it here and add its file to the directory of its group.
#define IBTOOL_COMMANDS(X)                                                                                             \
    X(ibnetdiscover)                                                                                                   \
    X(ibhosts)                                                                                                         \
    X(ibswitches)                                                                                                      \
    X(ibrouters)                                                                                                       \
    X(ibnodes)                                                                                                         \
    X(ibprintca)                                                                                                       \
    X(ibprintswitch)                                                                                                   \
    X(ibprintrt)                                                                                                       \
    X(iblinkinfo)                                                                                                      \
    X(summary)                                                                                                         \
    X(export)                                                                                                          \
    X(subnet_diff)                                                                                                     \
    X(watch)                                                                                                           \
    X(smpquery)                                                                                                        \
    X(saquery)                                                                                                         \
    X(query)                                                                                                           \
    X(sminfo)                                                                                                          \
    X(ibaddr)                                                                                                          \
    X(ibroute)                                                                                                         \
    X(ibtracert)                                                                                                       \
    X(ibfindnodesusing)                                                                                                \
    X(dump_lfts)                                                                                                       \
    X(dump_mfts)                                                                                                       \
    X(smpdump)                                                                                                         \
    X(perfquery)                                                                                                       \
    X(ibqueryerrors)                                                                                                   \
    X(ibdatacounts)                                                                                                    \
    X(ibdatacounters)                                                                                                  \
    X(ibclearcounters)                                                                                                 \
    X(ibclearerrors)                                                                                                   \
    X(ibswportwatch)                                                                                                   \
    X(sample)                                                                                                          \
    X(ibcheckerrors)                                                                                                   \
    X(ibcheckerrs)                                                                                                     \
    X(ibchecknet)                                                                                                      \
    X(ibcheckroutes)                                                                                                   \
    X(ibchecknode)                                                                                                     \
    X(ibcheckport)                                                                                                     \
    X(ibcheckportstate)                                                                                                \
    X(ibcheckportwidth)                                                                                                \
    X(ibcheckstate)                                                                                                    \
    X(ibcheckwidth)                                                                                                    \
    X(ibidsverify)                                                                                                     \
    X(check_lft_balance)                                                                                               \
    X(check_cabling)                                                                                                   \
    X(vendstat)                                                                                                        \
    X(ibccquery)                                                                                                       \
    X(ibping)                                                                                                          \
    X(ibsysstat)                                                                                                       \
    X(ibstat)                                                                                                          \
    X(ibstatus)                                                                                                        \
    X(ibv_devices)                                                                                                     \
    X(doctor)                                                                                                          \
    X(set_nodedesc)                                                                                                    \
    X(install_links)                                                                                                   \
    X(vumad)                                                                                                           \
    X(ibportstate)                                                                                                     \
    X(set_port_state)                                                                                                  \
    X(init_all_ports)                                                                                                  \
    X(set_guid)                                                                                                        \
    X(set_sminfo)                                                                                                      \
    X(ibccconfig)                                                                                                      \
    X(mcm_rereg_test)                                                                                                  \
    X(ibsendtrap)                                                                                                      \
    X(bench)                                                                                                           \
    X(rdma_bw)                                                                                                         \
    X(health)                                                                                                          \
    X(sweep)                                                                                                           \
    X(decode)                                                                                                          \
    X(encode)                                                                                                          \
    X(ibcacheedit)                                                                                                     \
    X(ibdiscover)                                                                                                      \
    X(describe)                                                                                                        \
    X(help)

namespace ibtool {

#define IBTOOL_DECLARE(name) command name##_command();
IBTOOL_COMMANDS(IBTOOL_DECLARE)

const std::vector<command>& all_commands() {
#define IBTOOL_CALL(name) name##_command(),
    static const std::vector<command> all{IBTOOL_COMMANDS(IBTOOL_CALL)};
    return all;
}

std::vector<grouped_commands> commands_by_group() {
    std::vector<grouped_commands> groups;
    for (const command& c : all_commands()) {
        auto group = std::ranges::find(groups, title_of(c.group), &grouped_commands::title);
        if (group == groups.end()) group = groups.insert(groups.end(), {title_of(c.group), {}});
        group->members.push_back(&c);
    }
    return groups;
}

std::span<const command_alias> command_aliases() {
    static constexpr command_alias all[] = {
        {"check_lft_balance.pl", "check_lft_balance"},
        {"decode_mad", "decode"},
        {"dump_fts", "dump_lfts"},
        {"dump_lfts.sh", "dump_lfts"},
        {"dump_mfts.sh", "dump_mfts"},
        {"ibdiscover.pl", "ibdiscover"},
        {"ibfindnodesusing.pl", "ibfindnodesusing"},
        {"ibidsverify.pl", "ibidsverify"},
        {"iblinkinfo.pl", "iblinkinfo"},
        {"ibprintca.pl", "ibprintca"},
        {"ibprintrt.pl", "ibprintrt"},
        {"ibprintswitch.pl", "ibprintswitch"},
        {"ibqueryerrors.pl", "ibqueryerrors"},
        {"ibswportwatch.pl", "ibswportwatch"},
        {"set_nodedesc.sh", "set_nodedesc"},
    };
    return all;
}

std::span<const std::string_view> names_of_diags() {
    static constexpr std::string_view all[] = {
        "check_lft_balance",
        "check_lft_balance.pl",
        "dump_fts",
        "dump_lfts",
        "dump_lfts.sh",
        "dump_mfts",
        "dump_mfts.sh",
        "ibaddr",
        "ibcacheedit",
        "ibccconfig",
        "ibccquery",
        "ibcheckerrors",
        "ibcheckerrs",
        "ibchecknet",
        "ibchecknode",
        "ibcheckport",
        "ibcheckportstate",
        "ibcheckportwidth",
        "ibcheckstate",
        "ibcheckwidth",
        "ibclearcounters",
        "ibclearerrors",
        "ibdatacounters",
        "ibdatacounts",
        "ibdiscover.pl",
        "ibfindnodesusing",
        "ibfindnodesusing.pl",
        "ibhosts",
        "ibidsverify",
        "ibidsverify.pl",
        "iblinkinfo",
        "iblinkinfo.pl",
        "ibnetdiscover",
        "ibnodes",
        "ibping",
        "ibportstate",
        "ibprintca",
        "ibprintca.pl",
        "ibprintrt",
        "ibprintrt.pl",
        "ibprintswitch",
        "ibprintswitch.pl",
        "ibqueryerrors",
        "ibqueryerrors.pl",
        "ibroute",
        "ibrouters",
        "ibsendtrap",
        "ibstat",
        "ibstatus",
        "ibswitches",
        "ibswportwatch",
        "ibswportwatch.pl",
        "ibsysstat",
        "ibtracert",
        "mcm_rereg_test",
        "perfquery",
        "saquery",
        "set_nodedesc.sh",
        "sminfo",
        "smpdump",
        "smpquery",
        "vendstat",
    };
    return all;
}

const command* find_command(std::string_view name) {
    for (const command_alias& other : command_aliases())
        if (other.name == name) name = other.command;
    const auto found = std::ranges::find(all_commands(), name, &command::name);
    return found == all_commands().end() ? nullptr : &*found;
}

std::string commands_like(std::string_view wrong) {
    std::vector<std::string_view> names;
    for (const command& c : all_commands()) names.push_back(c.name);
    return comad::iba::most_similar(wrong, names, 3);
}

std::string_view title_of(command_group g) {
    switch (g) {
    case command_group::subnet: return "The subnet";
    case command_group::queries: return "Queries to nodes and to the SA";
    case command_group::counters: return "Counters";
    case command_group::checks: return "Checks";
    case command_group::hosts: return "Hosts";
    case command_group::device: return "This machine";
    case command_group::writing: return "Writing to the subnet";
    case command_group::measuring: return "Measuring";
    case command_group::offline: return "Without a subnet";
    }
    return {};
}

} // namespace ibtool
