// SPDX-License-Identifier: MIT
// gmp.cpp - opens a port for GMPs, through verbs if they are available.
#include <comad/transports/gmp.hpp>
#include <comad/transports/smi_gsi.hpp>

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

#ifdef COMAD_HAS_VERBS
#include <comad/transports/verbs.hpp>
#endif

namespace comad::transports {

#ifdef COMAD_HAS_VERBS

bool has_verbs() noexcept { return true; }

std::unique_ptr<mad::transport> open_gmp_port(const end_port& port, const gmp_options& options) {
    verbs_options over;
    if (options.on_event)
        over.on_event = [notify = options.on_event](const verbs::event& e, const end_port& now) {
            notify(e.name(), now);
        };
    over.pkey_index = options.pkey_index;
    if (!port.is_infiniband()) return open_verbs_port(port, std::move(over));
    // The GSI device of a planarized port carries its GMPs.
    return open_verbs_port(smi_gsi_pair(port, end_ports(options.sys_class)).gsi.value(), std::move(over));
}

#else

bool has_verbs() noexcept { return false; }

std::unique_ptr<mad::transport> open_gmp_port(const end_port& port, const gmp_options&) {
    throw std::runtime_error(fmt::format("cannot open {} over verbs: comad was built without libibverbs", port.name()));
}

#endif

gmp_mad get_gmp_mad(const end_port& port, const gmp_options& options) {
    std::string refusal;
    try {
        return {open_gmp_port(port, options), {}};
    } catch (const std::runtime_error& e) {
        refusal = e.what();
    }
    if (port.umad.empty())
        throw std::runtime_error(
            fmt::format("{} has no umad device, and verbs cannot be used: {}", port.name(), refusal));
    try {
        return {open_end_port(port, options.sys_class), refusal};
    } catch (const std::runtime_error& e) {
        throw std::runtime_error(fmt::format("{}; verbs cannot be used either: {}", e.what(), refusal));
    }
}

} // namespace comad::transports
