// SPDX-License-Identifier: MIT
// vumad.cpp - runs a command where simulated end ports are MAD devices.
#include "command.hpp"
#include "vumad/run.hpp"

#include <memory>

namespace ibtool {

command vumad_command() {
    return {.name = "vumad",
            .group = command_group::device,
            .summary = "run a command where a simulated fabric is /dev/infiniband/umadN",
            .examples = "vumad --fabric sim:fattree3,radix=16 -- opensm\n"
                        "vumad --fabric sim:fattree2,radix=8,sm=1,loss=0.01 -- ibnetdiscover\n"
                        "vumad --fabric ibsim",
            .no_SA = "it asks for nothing itself",
            .declare = [](arguments& takes) -> action {
                auto s = std::make_shared<vumad_settings>();
                takes
                    .option("command", s->command, "after --: a program and its arguments; your shell if there is none")
                    .value_name("COMMAND")
                    .program();
                takes
                    .option("--port", s->places,
                            "make a device of the port of this node, by id, description or GUID; the first is umad0; "
                            "repeatable; otherwise where the fabric's text says")
                    .value_name("NODE[/PORT]")
                    .one_each();
                takes.flag("--json", s->json, "at the end a JSON object on stderr for each device: what -v counts");
                return [s](const global_options& o) {
                    s->fabric = o.strict && o.fabric.starts_with("sim:") ? o.fabric + ",strict" : o.fabric;
                    s->tells_counts = o.verbosity > 0;
                    return run_beside_devices(*s);
                };
            }};
}

} // namespace ibtool
