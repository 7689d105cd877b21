// SPDX-License-Identifier: MIT
// made_verbs.hpp - a libibverbs with one fake device. A program that links made_verbs.cpp calls its functions instead of
// those of the real library. Queue pairs follow the IBA (states, attached objects) and not a specific driver.
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

/// The fake device, with everything that a test may set and check. Only one device may exist at a time. The constructor
/// adds the device to the machine.
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

    /// errno of the next calls of a function, by its name; 0: success.
    std::map<std::string, std::deque<int>> failures;
    /// Number of live objects of each kind: `qp`, `ah` and so on.
    std::map<std::string, int> alive;
    /// Calls that libibverbs forbids, such as the destruction of an object before its dependents or the use of an
    /// object in the wrong state.
    std::vector<std::string> misuses;

    std::vector<made_modification> modifications;
    std::vector<ibv_ah_attr> addresses; ///< address of each handle that was created
    std::vector<made_datagram> sent;
    /// Called with each datagram after it has been sent.
    std::function<void(const made_datagram&)> on_send;
    bool holds_sends = false; ///< whether sends complete only when complete_sends() is called
    void complete_sends();

    /// Delivers a datagram to a QP. Returns false if the QP drops it, for example without a posted receive. `grh`: 40
    /// bytes, or empty.
    bool deliver(u32 qpn, const std::vector<u8>& bytes, const std::vector<u8>& grh = {}, u32 sqpn = 1, u16 SLID = 0);
    /// Makes the QP fail: its receives and held sends complete with a flush error.
    void fail(u32 qpn);
    /// Raises an asynchronous event.
    void raise(ibv_event_type, int port_number = 1);

    std::size_t receives_posted(u32 qpn) const;
    u32 latest_qpn = 0;
    unsigned notifications_requested = 0, groups_joined = 0;
};

} // namespace comad::test
