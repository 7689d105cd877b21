// SPDX-License-Identifier: MIT
// scripts.hpp - what a test has nodes of a simulated subnet reply. Knows no path and no time.
#pragma once
#include <comad/iba/detail/enums.hpp>
#include <comad/transports/sim/fabric.hpp>

#include <compare>
#include <map>
#include <optional>
#include <span>
#include <vector>

namespace comad::transports::sim {

/// Scripted answers and changes of replies, by node and attribute.
class scripts {
public:
    struct key {
        u32 node;
        iba::MgmtClass mgmt_class; // SubnLID also of directed routes
        u16 attributeID;
        friend auto operator<=>(const key&, const key&) = default;
    };
    /// Of a MAD to a node. Precondition: it has a header.
    static key key_of(u32 node, std::span<const u8> mad) noexcept;

    /// An empty function takes back what was there.
    void answer(key, scripted_answer);
    void change_replies(key, reply_change);
    bool empty() const noexcept { return answers_.empty() && changes_.empty(); }

    /// The reply of the script; empty: the node does not reply; nothing: there is no script, or it leaves the reply to the agents.
    std::optional<std::vector<u8>> reply_to(key, std::span<const u8> request, const mad::source_address&) const;
    void change(key, std::span<u8> reply) const;

private:
    std::map<key, scripted_answer> answers_;
    std::map<key, reply_change> changes_;
};

} // namespace comad::transports::sim
