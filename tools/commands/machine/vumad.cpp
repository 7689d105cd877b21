// SPDX-License-Identifier: MIT
// vumad.cpp - vumad: runs a command that sees ports of a simulated fabric as MAD devices.
#include "command.hpp"
#include "vumad/run.hpp"

#include <memory>

namespace ibtool {

command vumad_command() {
    return {.name = "vumad",
            .group = command_group::device,
            .no_sa_reason = "it sends no queries itself",
            .declare = [](arguments& takes) -> action {
                auto s = std::make_shared<vumad_settings>();
                takes.option("command", s->command).program();
                takes.option("--port", s->places).one_each();
                takes.flag("--json", s->json);
                return [s](const global_options& o) {
                    s->fabric = o.strict && o.fabric.starts_with("sim:") ? o.fabric + ",strict" : o.fabric;
                    s->prints_counts = o.verbosity > 0;
                    return run_beside_devices(*s);
                };
            }};
}

} // namespace ibtool
