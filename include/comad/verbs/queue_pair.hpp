// SPDX-License-Identifier: MIT
// queue_pair.hpp - queue pairs, shared receive queues, and memberships in multicast groups. establish() in detail/bring_up.hpp
// brings a queue pair into the state in which it can send.
#pragma once
#include <comad/verbs/detail/completion.hpp>
#include <comad/verbs/detail/memory.hpp>

#include <optional>
#include <span>

namespace comad::verbs {

/// A receive queue that several queue pairs share.
class shared_receive_queue : public owned<ibv_srq> {
public:
    static result<shared_receive_queue> create(const pd&, unsigned max_receives, unsigned max_pieces = 1);
    /// Links the work requests, and posts them in order, up to the first one that fails (error::bad_index).
    result<void> post_receives(std::span<ibv_recv_wr>) const;
    /// Requests one event (IBV_EVENT_SRQ_LIMIT_REACHED) when fewer receives than this are posted.
    result<void> set_limit(unsigned) const;
    result<void> resize(unsigned max_receives) const;
    result<ibv_srq_attr> attributes() const;

private:
    using owned::owned;
};

/// How a queue pair is made.
struct queue_pair_options {
    ibv_qp_type type = IBV_QPT_UD;
    unsigned max_sends = 64, max_receives = 64;
    unsigned max_send_pieces = 1, max_receive_pieces = 1;
    unsigned max_inline = 0;   ///< bytes of a send with IBV_SEND_INLINE
    bool all_signalled = true; ///< each send makes a completion; else only failures, and sends with IBV_SEND_SIGNALED
    std::optional<shared_receive_queue> receives; ///< instead of its own
};

/// The attributes of a queue pair, as libibverbs returns them.
struct queue_pair_attributes {
    ibv_qp_attr now;
    ibv_qp_init_attr made_with;
};

/// A queue pair (UD, UC or RC).
///
///     auto pair = verbs::queue_pair::create(domain, sends.queue(), receives.queue(), {.type = IBV_QPT_RC});
///     if (!pair) return fail(pair.error().text);
///
/// Errors:   verbs::error, with one line of text.
/// Lifetime: Copies share the queue pair. It keeps its protection domain and completion queues alive.
/// Threads:  As libibverbs: several threads can post.
class queue_pair : public owned<ibv_qp> {
public:
    /// Both completion queues may be the same.
    static result<queue_pair> create(const pd&, const completion_queue& sends, const completion_queue& receives,
                                     const queue_pair_options& = {});

    u32 number() const noexcept { return get()->qp_num; } ///< 24 bits
    ibv_qp_type type() const noexcept { return get()->qp_type; }
    const pd& domain() const noexcept { return domain_; }

    /// `what`: IBV_QP_..., the members of `attributes` to set.
    result<void> modify(const ibv_qp_attr& attributes, int what) const;
    result<void> modify(ibv_qp_state) const; ///< to reset or error, which need no other attribute
    result<queue_pair_attributes> attributes(int what = IBV_QP_STATE) const;

    /// Links the work requests, and posts them in order, up to the first one that fails (error::bad_index).
    result<void> post_sends(std::span<ibv_send_wr>) const;
    result<void> post_receives(std::span<ibv_recv_wr>) const;
    result<void> post_send(ibv_send_wr one) const { return post_sends({&one, 1}); }
    result<void> post_receive(ibv_recv_wr one) const { return post_receives({&one, 1}); }

private:
    queue_pair(std::shared_ptr<ibv_qp> handle, pd domain) : owned(std::move(handle)), domain_(std::move(domain)) {}
    pd domain_;
};

/// A membership of a UD queue pair in a multicast group: while it exists, the queue pair receives the datagrams of the group. The port
/// must also join the group at the SA (MCMemberRecord), so that switches forward the datagrams to it.
class multicast_membership {
public:
    static result<multicast_membership> create(const queue_pair&, const iba::gid& group, iba::lid LID);

private:
    explicit multicast_membership(std::shared_ptr<void> attached) noexcept : attached_(std::move(attached)) {}
    std::shared_ptr<void> attached_; // keeps the QP: one that is attached cannot be destroyed
};

/// Makes a send request with these pieces, and no other member set.
ibv_send_wr send_request(u64 id, ibv_wr_opcode, std::span<ibv_sge> pieces) noexcept;
/// Makes a receive request into these pieces.
ibv_recv_wr receive_request(u64 id, std::span<ibv_sge> pieces) noexcept;

} // namespace comad::verbs
