// SPDX-License-Identifier: MIT
// hidden_speeds.hpp - decides which ports a discovery reads again because they may hide their extended speeds.
#pragma once
#include <comad/discovery/database/subnet.hpp>

#include <set>
#include <utility>
#include <vector>

namespace comad::discovery {

/// Decides which ports are read again with the bit UnderstandsExtendedSpeeds, as OpenSM does since 2026.
///
/// Whether a device hides its extended speeds from other queries depends on its vendor, device ID and revision: its kind. The first port
/// of a kind that seems to hide them is read again. This query is the probe of the kind, and its reply decides for all ports of the
/// kind. Ports that are read before this reply wait for it. If the probe times out, another port becomes the probe.
class hidden_speeds {
public:
    /// A port that waits for the probe of its kind. It contains the GUID of its node, because node indices change between rounds.
    struct waiting_port {
        iba::guid nodeGUID;
        u8 port;
    };

    /// Records the PortInfo of a port, which the subnet contains. `has_bit`: it was queried with the bit. Returns the ports of this node
    /// that must be queried with the bit now. If port 0 of a switch was read, these can be several ports.
    std::vector<u8> note_reply(const subnet&, port_ref, bool has_bit);
    /// Records that a node rejected a query with the bit. It then hides nothing.
    void note_rejection(const node&);
    /// Records that the first query of a port with the bit had no reply.
    void note_timeout(const node&);

    /// Called at the end of a round. Returns ports that waited, and must be queried with the bit in the next round.
    std::vector<waiting_port> take_waiting();

private:
    enum class answer : u8 {
        unknown, ///< no probe was sent, or it had no reply
        pending, ///< the probe is in flight
        hides,
        hides_nothing,
    };
    struct kind {
        u32 vendorID;
        u16 deviceID;
        u32 revision;
        answer state = answer::unknown;
        unsigned timeouts = 0; // probes without a reply
        std::vector<waiting_port> waiting{};

        bool needs_probe() const noexcept;
    };

    kind& kind_of(const node&);
    void add_port(kind&, const node&, u8 port, std::vector<u8>& to_query);

    std::vector<kind> kinds_;            // few
    std::set<std::pair<u64, u8>> noted_; // ports that wait, or were returned: node GUID and port
};

} // namespace comad::discovery
