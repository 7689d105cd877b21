// SPDX-License-Identifier: MIT
// scripts.hpp - scripted replies of nodes in a simulated subnet, for tests. They do not depend on paths or time.
#pragma once
#include <comad/iba/detail/enums.hpp>
#include <comad/mad/transport.hpp>
#include <comad/transports/sim/fabric.hpp>

#include <compare>
#include <map>
#include <optional>
#include <span>
#include <vector>

namespace comad::transports::sim {

/// Scripted replies and changes of replies, by node and attribute.
class scripts {
public:
    struct key {
        u32 node;
        iba::MgmtClass mgmt_class; // SubnLID also for directed routes
        u16 attributeID;
        friend auto operator<=>(const key&, const key&) = default;
    };
    /// Returns the key of a MAD to a node. Precondition: the MAD has a header.
    static key key_of(u32 node, std::span<const u8> mad) noexcept;

    /// Sets a scripted reply. An empty function removes it.
    void answer(key, scripted_answer);
    /// Sets a function that changes replies. An empty function removes it.
    void change_replies(key, reply_change);
    bool empty() const noexcept { return answers_.empty() && changes_.empty(); }

    /// Returns the scripted reply; empty: the node does not reply; nullopt: there is no script, or the script leaves
    /// the reply to the agents.
    std::optional<std::vector<u8>> reply_to(key, std::span<const u8> request, const mad::source_address&) const;
    /// Applies the change to a reply.
    void change(key, std::span<u8> reply) const;

private:
    std::map<key, scripted_answer> answers_;
    std::map<key, reply_change> changes_;
};

} // namespace comad::transports::sim
