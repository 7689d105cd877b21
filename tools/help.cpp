// SPDX-License-Identifier: MIT
// help.cpp - help: the commands, and what there is to know of one.
#include "help.hpp"

#include "commands.hpp"
#include "output.hpp"
#include <comad/iba/suggest.hpp>
#include <comad/iba/text.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <memory>

namespace ibtool {
namespace {

namespace iba = comad::iba;

/// What a command's own options do not say.
struct facts {
    std::string_view command, examples;
    std::string_view no_SA = {}; ///< why --sa means nothing; empty: it means something
};

constexpr std::string_view asks_nodes = "discovery asks every node itself";
constexpr std::string_view asks_nobody = "it sends nothing";
constexpr std::string_view local = "it shows this machine";

constexpr facts all_facts[] = {
    {"ibnetdiscover", "ibnetdiscover fabric.topo\nibnetdiscover --fabric sim:fattree2,radix=8,sm=1 --json", asks_nodes},
    {"ibhosts", "ibhosts\nibhosts fabric.topo", asks_nodes},
    {"ibswitches", "ibswitches\nibswitches fabric.topo", asks_nodes},
    {"ibnodes", "ibnodes\nibnodes fabric.topo", asks_nodes},
    {"iblinkinfo", "iblinkinfo\niblinkinfo -l --switches-only\niblinkinfo -d\niblinkinfo -G 0x0002c90300001491 --json",
     asks_nodes},
    {"smpquery", "smpquery NodeInfo 7\nsmpquery PortInfo 0,1,4 1\nsmpquery SwitchInfo --sa 3"},
    {"saquery", "saquery NR nodeInfo.nodeType=Switch\nsaquery PR --src-to-dst 1:2\nsaquery -m 0xc000"},
    {"query", "query SubnGet PortInfo 7 -a 1\nquery SubnAdmGetTable LinkRecord -f fromLID=3\n"
              "query PerformanceGet PortCounters 7 -f portSelect=1"},
    {"sminfo", "sminfo\nsminfo --json 1"},
    {"ibaddr", "ibaddr\nibaddr -L 0,1,4"},
    {"ibroute", "ibroute 3\nibroute -n 3 1 20\nibroute -M 3"},
    {"ibtracert", "ibtracert 1 2\nibtracert -m 0xc000 1 2"},
    {"smpdump", "smpdump 7 0x11\nsmpdump -D 0,1 0x15 1", "it shows SMPs"},
    {"perfquery", "perfquery 7 1\nperfquery -x -a 7\nperfquery -l 7 1-10\nperfquery -R 7 2 0x0fff"},
    {"ibqueryerrors",
     "ibqueryerrors\nibqueryerrors -r --details --skip-sl\nibqueryerrors --counters --switch --json\nibqueryerrors -k",
     asks_nodes},
    {"ibdatacounts", "ibdatacounts 7\nibdatacounts 7 2"},
    {"ibdatacounters", "ibdatacounters\nibdatacounters --ports --json", asks_nodes},
    {"ibclearcounters", "ibclearcounters\nibclearcounters -v", asks_nodes},
    {"ibclearerrors", "ibclearerrors\nibclearerrors --json", asks_nodes},
    {"ibswportwatch", "ibswportwatch 7 3\nibswportwatch -n 10 -p 0.5 7 3\nibswportwatch -t -T thresholds 7 3"},
    {"ibcheckerrors", "ibcheckerrors\nibcheckerrors -v -T thresholds", asks_nodes},
    {"ibcheckerrs", "ibcheckerrs 7\nibcheckerrs -T thresholds 7 3\nibcheckerrs -s"},
    {"ibchecknet", "ibchecknet\nibchecknet --json", asks_nodes},
    {"ibchecknode", "ibchecknode 7"},
    {"ibcheckport", "ibcheckport 7 3\nibcheckport -v 0,1 3"},
    {"ibcheckportstate", "ibcheckportstate 7 3"},
    {"ibcheckportwidth", "ibcheckportwidth 7 3"},
    {"ibcheckstate", "ibcheckstate\nibcheckstate --down", asks_nodes},
    {"ibcheckwidth", "ibcheckwidth\nibcheckwidth --json", asks_nodes},
    {"vendstat", "vendstat -N 7\nvendstat -N fe80::2:c903:0:1491"},
    {"ibping", "ibping 7\nibping -S"},
    {"ibsysstat", "ibsysstat 7 host\nibsysstat -S"},
    {"ibstat", "ibstat\nibstat mlx5_0 1", local},
    {"ibstatus", "ibstatus\nibstatus mlx5_0:1", local},
    {"ibv_devices", "ibv_devices", local},
    {"set_guid", "set_guid 7 1 0002:c903:0000:1491\nset_guid 7 1 0\nset_guid --delete 7 1"},
    {"ibsendtrap", "ibsendtrap\nibsendtrap local_link_integrity 2", "a trap is an SMP"},
    {"bench", "bench 7\nbench 0,1,4 --windows 1,4,16\nbench --switches --duration 1s --json\n"
              "bench 7 --rpc PerformanceGet --attribute PortCounters -f portSelect=1"},
    {"health", "health\nhealth --for 60s --rules rules.toml\nhealth --json", "it asks PMAs"},
    {"sweep",
     "sweep\nsweep --every 1s --count 10 --top 20 --by portXmitWait\nsweep --type switch --name 'leaf*' --json",
     "it asks PMAs"},
    {"decode", "decode capture.pcap\ndecode --struct SMPLedInfo --json 80000000", asks_nobody},
    {"encode", "encode --struct SANodeRecord LID=7", asks_nobody},
    {"describe", "describe\ndescribe SMPPortInfo", asks_nobody},
    {"help", "help smpquery", asks_nobody},
};

const facts* facts_of(const std::string& command) {
    const auto found = std::ranges::find(all_facts, command, &facts::command);
    return found == std::end(all_facts) ? nullptr : found;
}

constexpr std::string_view target_forms =
    "Targets: 7, 0x1f (LID); 0,1,4 (directed route); fe80::2:c903:0:1491, fe80::2:c903:0:1491%mlx5_0/1 (GID);\n"
    "  0002:c903:0000:1491 (port GUID); 'IBPath(DLID=7, SL=1)', 'IBDRPath(drPath=0:1:4:)' (path)";
constexpr std::string_view exit_codes =
    "Exit codes: 0 complete, 1 failed or could not start, 2 usage, 3 partial result.\n"
    "Options for all commands: ibtool --help";

bool has_targets(const CLI::App& command) {
    return command.get_option_no_throw("target") || command.get_option_no_throw("from");
}

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
    return app.get_subcommands([](const CLI::App*) { return true; });
}

struct settings {
    std::string command;
    bool json = false;
};

std::string list_of(const CLI::App& app, bool json) {
    std::string text;
    for (const CLI::App* c : commands_of(app))
        text += json ? fmt::format("{{\"command\":{},\"description\":{}}}\n", iba::json_quoted(c->get_name()),
                                   iba::json_quoted(c->get_description()))
                     : fmt::format("{:<15} {}\n", c->get_name(), c->get_description());
    return text;
}

int run_command(const CLI::App& app, const settings& s) {
    if (s.command.empty()) {
        write_output(list_of(app, s.json));
        return complete;
    }
    const CLI::App* command = nullptr;
    for (const CLI::App* c : commands_of(app))
        if (c->get_name() == s.command) command = c;
    if (!command)
        throw usage_error(fmt::format("there is no command {}; there are {}", iba::as_given(s.command),
                                      commands_like(app, s.command)));
    const std::string text = command->help(app.get_name());
    write_output(
        s.json ? fmt::format("{{\"command\":{},\"help\":{}}}\n", iba::json_quoted(s.command), iba::json_quoted(text))
               : text);
    return complete;
}

} // namespace

void complete_help(CLI::App& app) {
    for (CLI::App* c : app.get_subcommands([](CLI::App*) { return true; })) {
        std::string footer;
        if (has_targets(*c)) footer += fmt::format("{}\n", target_forms);
        if (const facts* known = facts_of(c->get_name())) {
            footer += "Examples:\n  ibtool ";
            for (const char letter : known->examples) footer += letter == '\n' ? "\n  ibtool " : std::string(1, letter);
            footer += '\n';
        }
        c->footer(footer + std::string(exit_codes));
    }
}

void check_SA(const CLI::App& app, const global_options& options) {
    if (!options.by_SA) return;
    const facts* known = facts_of(app.get_subcommands().front()->get_name());
    if (known && !known->no_SA.empty())
        throw usage_error(fmt::format("there is no --sa for {}: {}", known->command, known->no_SA));
}

std::string commands_like(const CLI::App& app, const std::string& wrong) {
    std::vector<std::string> names;
    for (const CLI::App* c : commands_of(app)) names.push_back(c->get_name());
    return iba::most_similar_first(wrong, {names.begin(), names.end()});
}

void add_help(CLI::App& app, action& run) {
    auto s = std::make_shared<settings>();
    CLI::App& command = *app.add_subcommand("help", "list the commands, or tell of one");
    command.add_option("command", s->command, "the command");
    command.add_flag("--json", s->json, "an object per line");
    command.callback([s, &app, &run] { run = [s, &app](const global_options&) { return run_command(app, *s); }; });
}

} // namespace ibtool
