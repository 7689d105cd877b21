// SPDX-License-Identifier: MIT
// made_verbs.hpp - a libibverbs with one made device: made_verbs.cpp has the C library's functions, which the program that it is
// linked into calls instead of the real ones. Its queue pairs are as the IBA says they are (states, what is attached to what),
// not as any driver is. Knows no MAD.
#pragma once
#include <comad/iba/types.hpp>

#include <infiniband/verbs.h>

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace comad::test {

/// A datagram that a UD QP has sent.
struct made_datagram {
    ibv_ah_attr to;
    u32 dqpn, qkey, sqpn;
    u16 pkey_index;
    std::vector<u8> bytes;
};

/// One call of ibv_modify_qp.
struct made_modification {
    ibv_qp_attr attributes;
    int what;
};

/// The device, and all that a test may want of it. There is one at a time: its constructor plugs it in.
class made_device {
public:
    made_device();
    ~made_device();
    made_device(const made_device&) = delete;
    made_device& operator=(const made_device&) = delete;

    std::string name = "made0";
    ibv_port_attr port{};
    std::vector<iba::gid> gids{iba::gid(iba::link_local_prefix, iba::guid{0x10}), iba::gid{}, iba::gid{}};
    std::vector<u16> PKeys{0xffff, 0x8001, 0};

    /// errno of the next calls of a function, by its name; 0: that one succeeds.
    std::map<std::string, std::deque<int>> failures;
    /// How many of each kind there are now: `qp`, `ah`...
    std::map<std::string, int> alive;
    /// What was done that the C library forbids: destroyed before what was made of it, or in the wrong state.
    std::vector<std::string> misuses;

    std::vector<made_modification> modifications;
    std::vector<ibv_ah_attr> addresses; ///< each that a handle was made for
    std::vector<made_datagram> sent;
    /// Hears of each datagram when it has been sent.
    std::function<void(const made_datagram&)> on_send;
    bool holds_sends = false; ///< they do not complete until complete_sends()
    void complete_sends();

    /// A datagram arrives at a QP: false if that drops it, as for want of a receive. `grh`: 40 bytes, or none.
    bool deliver(u32 qpn, const std::vector<u8>& bytes, const std::vector<u8>& grh = {}, u32 sqpn = 1, u16 SLID = 0);
    /// The QP fails: its receives, and sends that were held, come back flushed.
    void fail(u32 qpn);
    /// An asynchronous event.
    void raise(ibv_event_type, int port_number = 1);

    std::size_t receives_posted(u32 qpn) const;
    u32 latest_qpn = 0;
    unsigned notifications_requested = 0, groups_joined = 0;
};

} // namespace comad::test
