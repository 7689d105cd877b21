// SPDX-License-Identifier: MIT
// bring_up.hpp - queue pairs into the states in which they receive and send (IBA 10.3.1), from paths. Knows no work request.
#pragma once
#include <comad/mad/path.hpp>
#include <comad/verbs/queue_pair.hpp>

#include <optional>

namespace comad::verbs {

/// What a connection takes beside its path. The path says address, P_Key index, MTU, and in IBPath::dqpn the other end's QP;
/// of UD its qkey is that of datagrams that are received. Each end has a path of its own. Indices that are to be looked up
/// are found in the port's tables (mad::port_tables); a P_Key or SGID that the port does not have fails with EADDRNOTAVAIL.
struct connection {
    u8 port = 1;
    u32 sq_psn = 0, rq_psn = 0;    ///< 24 bits: of the first packet that leaves, and of the one that is expected
    unsigned remote_access = 0;    ///< IBV_ACCESS_REMOTE_...: what the other end may do here; RC, UC
    u8 max_rd_atomic = 1;          ///< RDMA reads and atomics of ours in flight; RC
    u8 max_dest_rd_atomic = 1;     ///< those of the other end
    u8 min_rnr_timer = 12;         ///< 0.64 ms: how long a sender waits when no receive was posted (IBA 9.7.5.2.8); RC
    u8 ack_delay = 0;              ///< 4.096 us * 2^n: how long the other end may take to acknowledge; 0: unknown; RC
    std::optional<u8> ack_timeout; ///< 4.096 us * 2^n; nothing: twice the path's packet_life_time, and ack_delay; RC
    u8 retries = 7, rnr_retries = 7; ///< 7 RNR retries are without end; RC
};

/// What each end of a connection has to tell the other.
struct connection_end {
    u32 QPN = 0, PSN = 0;      ///< 24 bits
    u8 ack_delay = 0;          ///< of its adapter, as connection::ack_delay
    u8 max_rd_atomic = 1;      ///< that it can have in flight
    u8 max_dest_rd_atomic = 1; ///< that it can answer at a time
};
/// Of this end. `PSN`: better a random one, so that packets of a connection before are not taken for those of this one.
/// `most`: RDMA reads and atomics, either way; no more than the device can have.
connection_end end_of(const queue_pair&, const ibv_device_attr&, u32 PSN, u8 most = 255);
/// What both have told, put into the path to the other end and into the rest. Depths are the least of what both can.
connection connect(mad::IBPath&, const connection_end& here, const connection_end& there, connection rest = {});

/// Reset to Init: the receive queue takes work requests.
result<void> to_init(const queue_pair&, const mad::IBPath&, const connection&);
/// Init to Ready To Receive.
result<void> to_rtr(const queue_pair&, const mad::IBPath&, const connection&);
/// Ready To Receive to Ready To Send.
result<void> to_rts(const queue_pair&, const mad::IBPath&, const connection&);
/// All three. UD, UC and RC. Receives should be posted before anything can arrive: after to_init().
result<void> establish(const queue_pair&, const mad::IBPath&, const connection& = {});

} // namespace comad::verbs
