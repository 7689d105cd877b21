// SPDX-License-Identifier: MIT
// bring_up.hpp - moves queue pairs to the states in which they receive and send (IBA 10.3.1), with the attributes of a path. It depends
// on no work requests.
#pragma once
#include <comad/mad/path_text.hpp>
#include <comad/verbs/queue_pair.hpp>

#include <optional>

namespace comad::verbs {

/// The parameters of a connection, in addition to its path. The path contains the address, P_Key index, MTU, and in
/// IBPath::dqpn the remote QP. For UD, its qkey is the Q_Key of the datagrams that the QP receives. Each peer has its own
/// path. Indices that must be looked up are searched for in the port's tables (mad::port_tables). If the port lacks
/// the P_Key or SGID, the error is EADDRNOTAVAIL.
struct connection {
    u8 port = 1;
    u32 sq_psn = 0, rq_psn = 0;      ///< 24 bits: PSN of the first packet to send, and of the first expected packet
    unsigned remote_access = 0;      ///< IBV_ACCESS_REMOTE_...: the remote operations that the peer may perform; RC, UC
    u8 max_rd_atomic = 1;            ///< RDMA reads and atomics that this QP can have in flight; RC
    u8 max_dest_rd_atomic = 1;       ///< RDMA reads and atomics that the peer can have in flight; RC
    u8 min_rnr_timer = 12;           ///< 0.64 ms: time that a sender waits if no receive was posted (IBA 9.7.5.2.8); RC
    u8 ack_delay = 0;                ///< 4.096 us * 2^n: the longest time until the peer acknowledges; 0: unknown; RC
    std::optional<u8> ack_timeout;   ///< 4.096 us * 2^n; nullopt: from path and ack_delay; RC
    u8 retries = 7, rnr_retries = 7; ///< RNR retries of 7 mean unlimited; RC
};

/// The values that each peer of a connection must send to the other.
struct connection_end {
    u32 QPN = 0, PSN = 0;      ///< QP number and first packet sequence number, 24 bits each
    u8 ack_delay = 0;          ///< acknowledgement delay of its adapter, as connection::ack_delay
    u8 max_rd_atomic = 1;      ///< RDMA reads and atomics that it can have in flight
    u8 max_dest_rd_atomic = 1; ///< RDMA reads and atomics that it can process at a time
};
/// Returns the values of the local QP. `PSN`: use a random one, so that packets of an earlier connection are not
/// accepted. `most`: limits the RDMA reads and atomics in both directions; the device limits them too.
connection_end end_of(const queue_pair&, const ibv_device_attr&, u32 PSN, u8 most = 255);
/// Adds the values of both peers to the path and to `rest`, and returns the connection. Each depth is the smaller
/// value of both peers.
connection connect(mad::IBPath&, const connection_end& here, const connection_end& there, connection rest = {});

/// Returns the connection that a path specification describes, for the QP of its source. The device limits of both ends
/// are not known here: compare max_rd_atomic and max_dest_rd_atomic with those of end_of().
connection connection_of(const mad::qp_values&) noexcept;

/// Changes the state from Reset to Init. The receive queue accepts work requests from then on.
result<void> to_init(const queue_pair&, const mad::IBPath&, const connection&);
/// Changes the state from Init to Ready To Receive.
result<void> to_rtr(const queue_pair&, const mad::IBPath&, const connection&);
/// Changes the state from Ready To Receive to Ready To Send.
result<void> to_rts(const queue_pair&, const mad::IBPath&, const connection&);
/// Makes all three changes, for UD, UC and RC. If messages can arrive at once, use the three functions instead and post
/// receives after to_init().
result<void> establish(const queue_pair&, const mad::IBPath&, const connection& = {});

} // namespace comad::verbs
