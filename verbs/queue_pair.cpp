// SPDX-License-Identifier: MIT
// queue_pair.cpp - implements queue pairs, shared receive queues and multicast memberships.
#include <comad/iba/detail/format.hpp>
#include <comad/verbs/detail/address.hpp>
#include <comad/verbs/queue_pair.hpp>

#include <fmt/format.h>

#include <cerrno>

namespace comad::verbs {

namespace {

/// Posts a list of requests with `post(first, &bad)`.
template <class Request, class Post> result<void> post_list(std::span<Request> requests, const char* what, Post post) {
    if (requests.empty()) return success();
    for (std::size_t i = 0; i < requests.size(); ++i)
        requests[i].next = i + 1 < requests.size() ? &requests[i + 1] : nullptr;
    Request* bad = nullptr;
    const int error = post(requests.data(), &bad);
    if (error == 0) return success();
    auto failure = failed(fmt::format("cannot post {}", what), error > 0 ? error : errno); // old providers return -1
    failure.bad_index = bad ? static_cast<std::size_t>(bad - requests.data()) : 0;
    return failure;
}

const char* type_name(ibv_qp_type type) noexcept {
    switch (type) {
    case IBV_QPT_RC: return "RC";
    case IBV_QPT_UC: return "UC";
    case IBV_QPT_UD: return "UD";
    default: return "special";
    }
}

} // namespace

// ---- shared receive queues -------------------------------------------------------------------------------------------

result<shared_receive_queue> shared_receive_queue::create(const pd& domain, unsigned max_receives,
                                                          unsigned max_pieces) {
    ibv_srq_init_attr wanted{};
    wanted.attr.max_wr = max_receives;
    wanted.attr.max_sge = max_pieces;
    errno = 0;
    ibv_srq* const raw = ::ibv_create_srq(domain.get(), &wanted);
    if (!raw)
        return failed(fmt::format("cannot create a shared receive queue of {} entries on {}", max_receives,
                                  domain.device().name()),
                      errno);
    return shared_receive_queue(own(raw, ::ibv_destroy_srq, domain));
}

result<void> shared_receive_queue::post_receives(std::span<ibv_recv_wr> requests) const {
    return post_list(requests, "receives to a shared queue",
                     [&](ibv_recv_wr* first, ibv_recv_wr** bad) { return ::ibv_post_srq_recv(get(), first, bad); });
}

result<void> shared_receive_queue::set_limit(unsigned limit) const {
    ibv_srq_attr attributes{};
    attributes.srq_limit = limit;
    if (const int error = ::ibv_modify_srq(get(), &attributes, IBV_SRQ_LIMIT))
        return failed(fmt::format("cannot set the limit of a shared receive queue to {}", limit), error);
    return success();
}

result<void> shared_receive_queue::resize(unsigned max_receives) const {
    ibv_srq_attr attributes{};
    attributes.max_wr = max_receives;
    if (const int error = ::ibv_modify_srq(get(), &attributes, IBV_SRQ_MAX_WR))
        return failed(fmt::format("cannot resize a shared receive queue to {} entries", max_receives), error);
    return success();
}

result<ibv_srq_attr> shared_receive_queue::attributes() const {
    ibv_srq_attr attributes{};
    if (const int error = ::ibv_query_srq(get(), &attributes))
        return failed("cannot query the attributes of a shared receive queue", error);
    return attributes;
}

// ---- queue pairs -----------------------------------------------------------------------------------------------------

result<queue_pair> queue_pair::create(const pd& domain, const completion_queue& sends, const completion_queue& receives,
                                      const queue_pair_options& options) {
    ibv_qp_init_attr wanted{};
    wanted.qp_type = options.type;
    wanted.send_cq = sends.get();
    wanted.recv_cq = receives.get();
    wanted.srq = options.receives ? options.receives->get() : nullptr;
    wanted.cap = {options.max_sends, options.receives ? 0 : options.max_receives, options.max_send_pieces,
                  options.max_receive_pieces, options.max_inline};
    wanted.sq_sig_all = options.all_signalled;
    errno = 0;
    ibv_qp* const raw = ::ibv_create_qp(domain.get(), &wanted);
    if (!raw)
        return failed(fmt::format("cannot create a {} queue pair on {} ({} sends, {} receives)",
                                  type_name(options.type), domain.device().name(), options.max_sends,
                                  options.max_receives),
                      errno);
    return queue_pair(own(raw, ::ibv_destroy_qp, domain, sends, receives, options.receives), domain);
}

result<void> queue_pair::modify(const ibv_qp_attr& attributes, int what) const {
    ibv_qp_attr wanted = attributes;
    const int error = ::ibv_modify_qp(get(), &wanted, what);
    if (error == 0) return success();
    // Kernels since 6.5, and stable kernels with a backport, allow a Q_Key like that of QP1 only for privileged
    // users.
    const bool has_controlled_qkey = what & IBV_QP_QKEY && wanted.qkey & 0x80000000u;
    const char* advice = error == EPERM && has_controlled_qkey
                             ? " (a controlled Q_Key needs CAP_NET_RAW; or run rdma system set privileged-qkey on)"
                             : "";
    return failed(fmt::format("cannot modify the {} queue pair {}{}", type_name(type()), number(), advice), error);
}

result<void> queue_pair::modify(ibv_qp_state state) const {
    ibv_qp_attr attributes{};
    attributes.qp_state = state;
    return modify(attributes, IBV_QP_STATE);
}

result<queue_pair_attributes> queue_pair::attributes(int what) const {
    queue_pair_attributes found{};
    if (const int error = ::ibv_query_qp(get(), &found.now, what, &found.made_with))
        return failed(fmt::format("cannot query the attributes of queue pair {}", number()), error);
    return found;
}

result<void> queue_pair::post_sends(std::span<ibv_send_wr> requests) const {
    return post_list(requests, "sends",
                     [&](ibv_send_wr* first, ibv_send_wr** bad) { return ::ibv_post_send(get(), first, bad); });
}

result<void> queue_pair::post_receives(std::span<ibv_recv_wr> requests) const {
    return post_list(requests, "receives",
                     [&](ibv_recv_wr* first, ibv_recv_wr** bad) { return ::ibv_post_recv(get(), first, bad); });
}

// ---- multicast -------------------------------------------------------------------------------------------------------

result<multicast_membership> multicast_membership::create(const queue_pair& member, const iba::gid& group,
                                                          iba::lid LID) {
    const ibv_gid raw = raw_gid(group);
    if (const int error = ::ibv_attach_mcast(member.get(), &raw, value(LID)))
        return failed(fmt::format("cannot attach queue pair {} to multicast group {}", member.number(), group), error);
    return multicast_membership(std::shared_ptr<void>(
        nullptr, [member, raw, LID](void*) { ::ibv_detach_mcast(member.get(), &raw, value(LID)); }));
}

// ---- work requests ---------------------------------------------------------------------------------------------------

ibv_send_wr send_request(u64 id, ibv_wr_opcode opcode, std::span<ibv_sge> pieces) noexcept {
    ibv_send_wr request{};
    request.wr_id = id;
    request.opcode = opcode;
    request.sg_list = pieces.data();
    request.num_sge = static_cast<int>(pieces.size());
    return request;
}

ibv_recv_wr receive_request(u64 id, std::span<ibv_sge> pieces) noexcept {
    ibv_recv_wr request{};
    request.wr_id = id;
    request.sg_list = pieces.data();
    request.num_sge = static_cast<int>(pieces.size());
    return request;
}

} // namespace comad::verbs
