// SPDX-License-Identifier: MIT
// queue_pair.hpp - queue pairs, receive queues that several share, and memberships in multicast groups. How a QP comes into
// the state in which it sends is in bring_up.hpp.
#pragma once
#include <comad/verbs/completion.hpp>
#include <comad/verbs/memory.hpp>

#include <optional>
#include <span>

namespace comad::verbs {

/// Receives of all queue pairs that were made with it.
class shared_receive_queue : public owned<ibv_srq> {
public:
    static result<shared_receive_queue> create(const pd&, unsigned max_receives, unsigned max_pieces = 1);
    /// Links the work requests and posts them: in order, up to the first that is refused (error::bad_index).
    result<void> post_receives(std::span<ibv_recv_wr>) const;
    /// An event when fewer than so many are posted (IBV_EVENT_SRQ_LIMIT_REACHED), once.
    result<void> set_limit(unsigned) const;
    result<void> resize(unsigned max_receives) const;
    result<ibv_srq_attr> attributes() const;

private:
    using owned::owned;
};

struct queue_pair_options {
    ibv_qp_type type = IBV_QPT_UD;
    unsigned max_sends = 64, max_receives = 64;
    unsigned max_send_pieces = 1, max_receive_pieces = 1;
    unsigned max_inline = 0;   ///< bytes of a send with IBV_SEND_INLINE
    bool all_signalled = true; ///< each send makes a completion; else those with IBV_SEND_SIGNALED, and failures
    std::optional<shared_receive_queue> receives; ///< instead of its own
};

struct queue_pair_attributes {
    ibv_qp_attr now;
    ibv_qp_init_attr made_with;
};

class queue_pair : public owned<ibv_qp> {
public:
    /// Both completion queues may be the same.
    static result<queue_pair> create(const pd&, const completion_queue& sends, const completion_queue& receives,
                                     const queue_pair_options& = {});

    u32 number() const noexcept { return get()->qp_num; } ///< 24 bits
    ibv_qp_type type() const noexcept { return get()->qp_type; }
    const pd& domain() const noexcept { return domain_; }

    /// `what`: IBV_QP_..., the members of `attributes` that count.
    result<void> modify(const ibv_qp_attr& attributes, int what) const;
    result<void> modify(ibv_qp_state) const; ///< reset, error: states that take no other attribute
    result<queue_pair_attributes> attributes(int what = IBV_QP_STATE) const;

    /// Links the work requests and posts them: in order, up to the first that is refused (error::bad_index).
    result<void> post_sends(std::span<ibv_send_wr>) const;
    result<void> post_receives(std::span<ibv_recv_wr>) const;
    result<void> post_send(ibv_send_wr one) const { return post_sends({&one, 1}); }
    result<void> post_receive(ibv_recv_wr one) const { return post_receives({&one, 1}); }

private:
    queue_pair(std::shared_ptr<ibv_qp> handle, pd domain) : owned(std::move(handle)), domain_(std::move(domain)) {}
    pd domain_;
};

/// While it lives, a UD QP receives what is sent to a multicast group. The port must have joined the group by the SA
/// (MCMemberRecord), or no switch sends it here.
class multicast_membership {
public:
    static result<multicast_membership> create(const queue_pair&, const iba::gid& group, iba::lid LID);

private:
    explicit multicast_membership(std::shared_ptr<void> attached) noexcept : attached_(std::move(attached)) {}
    std::shared_ptr<void> attached_; // keeps the QP: one that is attached cannot be destroyed
};

/// A send of these pieces, with nothing else set.
ibv_send_wr send_request(u64 id, ibv_wr_opcode, std::span<ibv_sge> pieces) noexcept;
/// A receive into these pieces.
ibv_recv_wr receive_request(u64 id, std::span<ibv_sge> pieces) noexcept;

} // namespace comad::verbs
