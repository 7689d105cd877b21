// SPDX-License-Identifier: MIT
// hidden_speeds.cpp - probes one port of each kind of device for hidden extended speeds.
#include "hidden_speeds.hpp"

#include <comad/discovery/database/detail/link.hpp>

#include <algorithm>

namespace comad::discovery {
namespace {

/// Several nodes of one kind may be unresponsive. If all of these probes fail, the kind has a cause of its own.
constexpr unsigned most_probes = 3;

bool seems_to_hide(const subnet& found, port_ref at) {
    const auto &here = found.at(at).info, &end = found.end_port(at).info;
    const bool is_up = here && here->portPhysicalState == iba::PortPhysicalState::LinkUp;
    return is_up && end && hides_extended_speeds(*end, *here);
}

} // namespace

bool hidden_speeds::kind::needs_probe() const noexcept { return state == answer::unknown && timeouts < most_probes; }

hidden_speeds::kind& hidden_speeds::kind_of(const node& n) {
    const auto is_it = [&](const kind& k) {
        return k.vendorID == n.info.vendorID && k.deviceID == n.info.deviceID && k.revision == n.info.revision;
    };
    const auto known = std::ranges::find_if(kinds_, is_it);
    if (known != kinds_.end()) return *known;
    return kinds_.emplace_back(kind{n.info.vendorID, n.info.deviceID, n.info.revision});
}

std::vector<u8> hidden_speeds::note_reply(const subnet& found, port_ref read, bool has_bit) {
    std::vector<u8> to_query;
    const node& n = found.nodes[read.node];
    if (has_bit) {
        kind& k = kind_of(n);
        if (!seems_to_hide(found, read)) k.state = answer::hides;
        else if (k.state != answer::hides) k.state = answer::hides_nothing;
        if (k.state == answer::hides_nothing) k.waiting.clear();
        return to_query;
    }
    // Nearly all ports show their extended speeds. Port 0 of a switch decides for ports that were read before it.
    const bool is_port_0 = n.is_switch() && read.port == 0;
    if (!is_port_0) {
        if (seems_to_hide(found, read)) add_port(kind_of(n), n, read.port, to_query);
        return to_query;
    }
    for (unsigned number = 1; number < n.ports.size(); ++number) {
        const auto port = static_cast<u8>(number);
        if (seems_to_hide(found, {read.node, port})) add_port(kind_of(n), n, port, to_query);
    }
    return to_query;
}

void hidden_speeds::add_port(kind& k, const node& n, u8 port, std::vector<u8>& to_query) {
    if (k.state == answer::hides_nothing || !noted_.emplace(value(n.info.nodeGUID), port).second) return;
    if (k.state == answer::hides || k.needs_probe()) to_query.push_back(port);
    else k.waiting.push_back({n.info.nodeGUID, port});
    if (k.needs_probe()) k.state = answer::pending;
}

void hidden_speeds::note_rejection(const node& n) {
    kind& k = kind_of(n);
    if (k.state == answer::hides) return;
    k.state = answer::hides_nothing;
    k.waiting.clear();
}

void hidden_speeds::note_timeout(const node& n) {
    kind& k = kind_of(n);
    if (k.state != answer::pending) return;
    k.state = answer::unknown;
    ++k.timeouts;
}

std::vector<hidden_speeds::waiting_port> hidden_speeds::take_waiting() {
    std::vector<waiting_port> ports;
    for (kind& k : kinds_) {
        if (k.waiting.empty()) continue;
        if (k.state == answer::hides) {
            ports.insert(ports.end(), k.waiting.begin(), k.waiting.end());
            k.waiting.clear();
        } else if (k.needs_probe()) {
            ports.push_back(k.waiting.back()); // probably a different node than that of the first probe
            k.waiting.pop_back();
            k.state = answer::pending;
        }
    }
    return ports;
}

} // namespace comad::discovery
