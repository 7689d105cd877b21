// SPDX-License-Identifier: MIT
// several_fabrics.cpp - finds the local ports, and runs a command for each of several fabrics.
#include "session/several_fabrics.hpp"

#include "comad.hpp"
#include "session/stop_signals.hpp"
#include "text/json.hpp"
#include <comad/iba/detail/text.hpp>
#include <comad/transports/sysfs.hpp>

#include <algorithm>
#include <optional>
#include <stdexcept>

namespace ibtool {
namespace {

std::string umad_place(const transports::end_port& port) { return "umad:" + port.name(); }

bool is_active(const transports::end_port& port) {
    return port.is_infiniband() && !port.is_gsi_only() && port.portState == iba::PortState::Active;
}

/// Returns the local port of a fabric; nullopt: it is not a local port.
std::optional<transports::end_port> local_port_of(const std::string& fabric, const std::filesystem::path& classes) {
    for (const transports::end_port& port : transports::end_ports(classes))
        if (fabric == umad_place(port) || fabric == "verbs:" + port.name()) return port;
    return std::nullopt;
}

/// Prints why the fabric of the label was not read. A reader of JSON also gets it as an object, to which the label adds the fabric.
void report_failure(fabric_format format, const std::string& why) {
    print_message("{}", why);
    if (format == fabric_format::json_lines) write_output(json_line({{"error", json_string(iba::escaped(why))}}));
}

} // namespace

std::vector<std::string> local_fabrics(const std::filesystem::path& classes) {
    std::vector<std::string> all;
    for (const transports::end_port& port : transports::end_ports(classes))
        if (is_active(port)) all.push_back(umad_place(port));
    if (all.empty())
        throw transports::no_device(
            "--all-fabrics: this machine has no Active InfiniBand port; name the fabrics with --fabric");
    return all;
}

std::vector<std::string> in_order_of_use(std::vector<std::string> fabrics, const std::filesystem::path& classes) {
    std::ranges::stable_partition(fabrics, [&](const std::string& fabric) {
        const auto port = local_port_of(fabric, classes);
        return !port || is_active(*port);
    });
    return fabrics;
}

int run_in_turn(const std::vector<global_options>& fabrics, fabric_format format,
                const std::function<int(const global_options&)>& run) {
    std::optional<int> code;
    bool is_first = true; // no text was written yet
    for (const global_options& o : fabrics) {
        const fabric_label label(name_of_fabric(o), format, is_first);
        if (code && has_stop_signal_come()) {
            report_failure(format, "not read: a signal ended the command");
            code = partial;
            continue;
        }
        if (o.found_ports) {
            const auto port = local_port_of(o.fabric, "/sys/class");
            if (port && o.found_ports->contains(port->portGUID)) {
                print_message("skipped: this port is in a subnet that was discovered through another port");
                continue;
            }
        }
        int ended = failed;
        try {
            ended = run(o);
        } catch (const usage_error&) {
            throw;
        } catch (const std::runtime_error& e) {
            report_failure(format, e.what());
        }
        is_first = is_first && !label.has_text();
        code = !code || *code == ended ? ended : static_cast<int>(partial);
    }
    return code.value_or(complete);
}

} // namespace ibtool
