// SPDX-License-Identifier: MIT
// made_verbs.cpp - functions of libibverbs that act on the fake device.
#include "kernel/made_verbs.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <endian.h>
#include <memory>
#include <sys/eventfd.h>
#include <unistd.h>
#include <utility>

// The header defines these names as macros, but this file defines them as functions.
#undef ibv_query_port
#undef ibv_reg_mr

namespace comad::test {
namespace {

/// A posted receive.
struct receive {
    u64 id;
    ibv_sge piece;
};
/// An open device with its asynchronous events.
struct made_context : ibv_context {
    std::deque<ibv_async_event> events;
    int children = 0;
};
/// A protection domain. `children`: number of objects that use it.
struct made_pd : ibv_pd {
    int children = 0;
};
/// A completion channel with the queues that have notified it.
struct made_channel : ibv_comp_channel {
    std::deque<ibv_cq*> notified;
    int children = 0;
};
/// A completion queue. `is_requested`: whether the next completion notifies the channel.
struct made_cq : ibv_cq {
    std::deque<ibv_wc> completed;
    bool is_requested = false;
    int children = 0;
};
/// A shared receive queue.
struct made_srq : ibv_srq {
    std::deque<receive> receives;
    ibv_srq_attr attributes{};
    int children = 0;
};
/// An address handle.
struct made_ah : ibv_ah {
    ibv_ah_attr to{};
};
/// A queue pair. `held`: completions of sends that wait for complete_sends().
struct made_qp : ibv_qp {
    ibv_qp_init_attr made_with{};
    ibv_qp_attr attributes{};
    std::deque<receive> receives;
    std::deque<ibv_wc> held;
    int groups = 0;
};

made_device* device = nullptr;
std::unique_ptr<ibv_device> plugged;
std::vector<made_qp*> pairs;
std::vector<made_context*> contexts;
std::vector<ibv_mr*> regions;

/// Returns the errno with which this call fails; 0 if it succeeds.
int failure_of(const char* function) {
    auto& next = device->failures[function];
    if (next.empty()) return 0;
    const int error = next.front();
    next.pop_front();
    return error;
}
/// Records a forbidden call.
void misused(std::string how) { device->misuses.push_back(std::move(how)); }

/// Creates an object and counts it by its kind.
template <class Made> Made* make(const char* kind) {
    ++device->alive[kind];
    return new Made{};
}
/// Destroys an object. It is an error if other objects still use the object.
template <class Made> int end(Made* made, const char* kind, int children = 0) {
    if (children != 0) {
        misused(std::string(kind) + " destroyed before its children");
        return EBUSY;
    }
    --device->alive[kind];
    delete made;
    return 0;
}

/// Returns the fake object of a context.
made_context* context_of(ibv_context* c) { return static_cast<made_context*>(c); }
/// Returns the fake object of a completion queue.
made_cq* cq_of(ibv_cq* q) { return static_cast<made_cq*>(q); }
/// Returns the fake object of a queue pair.
made_qp* qp_of(ibv_qp* q) { return static_cast<made_qp*>(q); }
/// Returns the queue pair with this number; null if it does not exist.
made_qp* find_qp(u32 number) {
    const auto found = std::find_if(pairs.begin(), pairs.end(), [&](const made_qp* q) { return q->qp_num == number; });
    return found == pairs.end() ? nullptr : *found;
}

/// Adds a completion, and notifies the channel if the program has requested a notification.
void complete(ibv_cq* queue, const ibv_wc& wc) {
    made_cq* const q = cq_of(queue);
    q->completed.push_back(wc);
    if (q->completed.size() > static_cast<std::size_t>(q->cqe)) misused("a completion queue overran");
    if (!std::exchange(q->is_requested, false) || !q->channel) return;
    static_cast<made_channel*>(q->channel)->notified.push_back(q);
    ::eventfd_write(q->channel->fd, 1);
}

/// Delivers a datagram into the first posted receive of a queue pair.
void deliver_to(made_qp* q, const std::vector<u8>& grh, const std::vector<u8>& bytes, ibv_wc wc) {
    auto& receives = q->srq ? static_cast<made_srq*>(q->srq)->receives : q->receives;
    const receive into = receives.front();
    receives.pop_front();
    std::vector<u8> whole(40);
    std::copy(grh.begin(), grh.end(), whole.begin());
    whole.insert(whole.end(), bytes.begin(), bytes.end());
    wc.wr_id = into.id;
    wc.opcode = IBV_WC_RECV;
    wc.qp_num = q->qp_num;
    wc.byte_len = static_cast<u32>(whole.size());
    if (whole.size() > into.piece.length) wc.status = IBV_WC_LOC_LEN_ERR;
    else std::memcpy(reinterpret_cast<void*>(into.piece.addr), whole.data(), whole.size());
    complete(q->recv_cq, wc);
}

/// Implements ibv_poll_cq().
int poll_cq(ibv_cq* queue, int most, ibv_wc* into) {
    if (failure_of("ibv_poll_cq")) return -1;
    auto& completed = cq_of(queue)->completed;
    int count = 0;
    for (; count < most && !completed.empty(); ++count, completed.pop_front()) into[count] = completed.front();
    return count;
}
/// Implements ibv_req_notify_cq().
int req_notify_cq(ibv_cq* queue, int) {
    if (const int error = failure_of("ibv_req_notify_cq")) return error;
    ++device->notifications_requested;
    cq_of(queue)->is_requested = true;
    return 0;
}

/// Posts receives up to the capacity of a queue.
template <class Queue> int post_receives(Queue* q, ibv_recv_wr* wr, ibv_recv_wr** bad, std::size_t most) {
    for (; wr; wr = wr->next) {
        const int error = q->receives.size() == most ? ENOMEM : failure_of("ibv_post_recv");
        if (error) {
            *bad = wr;
            return error;
        }
        q->receives.push_back({wr->wr_id, wr->sg_list[0]});
    }
    return 0;
}
/// Implements ibv_post_recv().
int post_recv(ibv_qp* pair, ibv_recv_wr* wr, ibv_recv_wr** bad) {
    made_qp* const q = qp_of(pair);
    if (q->state == IBV_QPS_RESET) misused("a receive was posted in Reset");
    return post_receives(q, wr, bad, q->made_with.cap.max_recv_wr);
}
/// Implements ibv_post_srq_recv().
int post_srq_recv(ibv_srq* queue, ibv_recv_wr* wr, ibv_recv_wr** bad) {
    auto* const q = static_cast<made_srq*>(queue);
    return post_receives(q, wr, bad, q->attributes.max_wr);
}

/// Returns the bytes of all pieces of a send.
std::vector<u8> gathered(const ibv_send_wr& wr) {
    std::vector<u8> bytes;
    for (int i = 0; i < wr.num_sge; ++i) {
        const auto* p = reinterpret_cast<const u8*>(wr.sg_list[i].addr);
        bytes.insert(bytes.end(), p, p + wr.sg_list[i].length);
    }
    return bytes;
}

/// Writes into the memory of another QP, in the region with the given rkey.
ibv_wc_status write_remotely(const made_qp& from, const ibv_send_wr& wr) {
    const std::vector<u8> bytes = gathered(wr);
    const made_qp* const to = find_qp(from.attributes.dest_qp_num);
    if (!to || to->state < IBV_QPS_RTR || to->attributes.dest_qp_num != from.qp_num) return IBV_WC_RETRY_EXC_ERR;
    for (const ibv_mr* mr : regions) {
        const auto begin = reinterpret_cast<u64>(mr->addr);
        if (mr->rkey != wr.wr.rdma.rkey || wr.wr.rdma.remote_addr < begin ||
            wr.wr.rdma.remote_addr + bytes.size() > begin + mr->length)
            continue;
        if (!(to->attributes.qp_access_flags & IBV_ACCESS_REMOTE_WRITE)) return IBV_WC_REM_ACCESS_ERR;
        std::memcpy(reinterpret_cast<void*>(wr.wr.rdma.remote_addr), bytes.data(), bytes.size());
        return IBV_WC_SUCCESS;
    }
    return IBV_WC_REM_ACCESS_ERR;
}

/// Implements ibv_post_send().
int post_send(ibv_qp* pair, ibv_send_wr* wr, ibv_send_wr** bad) {
    made_qp* const q = qp_of(pair);
    for (; wr; wr = wr->next) {
        if (const int error = failure_of("ibv_post_send")) {
            *bad = wr;
            return error;
        }
        if (q->state != IBV_QPS_RTS && q->state != IBV_QPS_ERR) misused("a send was posted before RTS");
        ibv_wc wc{};
        wc.wr_id = wr->wr_id;
        wc.qp_num = q->qp_num;
        if (q->state == IBV_QPS_ERR) wc.status = IBV_WC_WR_FLUSH_ERR;
        else if (q->qp_type != IBV_QPT_UD) wc.status = write_remotely(*q, *wr);
        if (device->holds_sends) q->held.push_back(wc);
        else if (q->made_with.sq_sig_all || wr->send_flags & IBV_SEND_SIGNALED || wc.status) complete(q->send_cq, wc);
        if (q->qp_type != IBV_QPT_UD || wc.status) continue;
        const ibv_ah_attr to = static_cast<made_ah*>(wr->wr.ud.ah)->to;
        device->sent.push_back(
            {to, wr->wr.ud.remote_qpn, wr->wr.ud.remote_qkey, q->qp_num, q->attributes.pkey_index, gathered(*wr)});
        const made_datagram latest = device->sent.back();
        if (device->on_send) device->on_send(latest);
    }
    return 0;
}

} // namespace

made_device::made_device() {
    device = this;
    plugged = std::make_unique<ibv_device>();
    name.copy(plugged->name, sizeof plugged->name - 1);
    port.state = IBV_PORT_ACTIVE;
    port.phys_state = 5;
    port.lid = 3;
    port.sm_lid = 1;
    port.active_mtu = IBV_MTU_4096;
    port.link_layer = IBV_LINK_LAYER_INFINIBAND;
}
made_device::~made_device() {
    device = nullptr;
    plugged.reset();
}

void made_device::complete_sends() {
    holds_sends = false;
    for (made_qp* q : pairs)
        for (; !q->held.empty(); q->held.pop_front()) complete(q->send_cq, q->held.front());
}

bool made_device::deliver(u32 qpn, const std::vector<u8>& bytes, const std::vector<u8>& grh, u32 sqpn, u16 SLID) {
    made_qp* const q = find_qp(qpn);
    if (!q || q->state < IBV_QPS_RTR || q->state == IBV_QPS_ERR || receives_posted(qpn) == 0) return false;
    ibv_wc wc{};
    wc.src_qp = sqpn;
    wc.slid = SLID;
    wc.wc_flags = grh.empty() ? 0u : unsigned{IBV_WC_GRH};
    deliver_to(q, grh, bytes, wc);
    return true;
}

void made_device::fail(u32 qpn) {
    made_qp* const q = find_qp(qpn);
    q->state = IBV_QPS_ERR;
    ibv_wc flushed{};
    flushed.status = IBV_WC_WR_FLUSH_ERR;
    for (; !q->receives.empty(); q->receives.pop_front()) {
        flushed.wr_id = q->receives.front().id;
        complete(q->recv_cq, flushed);
    }
    for (; !q->held.empty(); q->held.pop_front()) {
        flushed.wr_id = q->held.front().wr_id;
        complete(q->send_cq, flushed);
    }
}

void made_device::raise(ibv_event_type type, int port_number) {
    ibv_async_event e{};
    e.event_type = type;
    e.element.port_num = port_number;
    for (made_context* c : contexts) {
        c->events.push_back(e);
        ::eventfd_write(c->async_fd, 1);
    }
}

std::size_t made_device::receives_posted(u32 qpn) const {
    const made_qp* const q = find_qp(qpn);
    if (!q) return 0;
    return q->srq ? static_cast<const made_srq*>(q->srq)->receives.size() : q->receives.size();
}

} // namespace comad::test

using namespace comad::test;

extern "C" {

// ---- devices ---------------------------------------------------------------------------------------------------------

ibv_device** ibv_get_device_list(int* count) {
    errno = device ? failure_of("ibv_get_device_list") : ENOSYS;
    if (errno) return nullptr;
    *count = 1;
    return new ibv_device* [2] { plugged.get(), nullptr };
}
void ibv_free_device_list(ibv_device** list) { delete[] list; }
const char* ibv_get_device_name(ibv_device* d) { return d->name; }

ibv_context* ibv_open_device(ibv_device* d) {
    errno = failure_of("ibv_open_device");
    if (errno) return nullptr;
    auto* const c = make<made_context>("context");
    c->device = d;
    c->async_fd = ::eventfd(0, EFD_SEMAPHORE);
    c->ops.poll_cq = poll_cq;
    c->ops.req_notify_cq = req_notify_cq;
    c->ops.post_send = post_send;
    c->ops.post_recv = post_recv;
    c->ops.post_srq_recv = post_srq_recv;
    contexts.push_back(c);
    return c;
}
int ibv_close_device(ibv_context* c) {
    std::erase(contexts, context_of(c));
    ::close(c->async_fd);
    return end(context_of(c), "context", context_of(c)->children);
}
int ibv_query_device(ibv_context*, ibv_device_attr* attributes) {
    if (const int error = failure_of("ibv_query_device")) return error;
    *attributes = {};
    attributes->phys_port_cnt = 1;
    attributes->max_qp = 16;
    return 0;
}
int ibv_query_port(ibv_context*, uint8_t, struct _compat_ibv_port_attr* attributes) {
    if (const int error = failure_of("ibv_query_port")) return error;
    device->port.gid_tbl_len = static_cast<int>(device->gids.size());
    device->port.pkey_tbl_len = static_cast<uint16_t>(device->PKeys.size());
    *reinterpret_cast<ibv_port_attr*>(attributes) = device->port; // the header passes an ibv_port_attr
    return 0;
}
// Debian 12's libibverbs does not have this function. Programs find it by its name.
int ibv_query_port_speed(ibv_context*, uint32_t port, uint64_t* speed);
int ibv_query_port_speed(ibv_context*, uint32_t port, uint64_t* speed) {
    if (const int error = failure_of("ibv_query_port_speed")) return error;
    if (port != 1) return EINVAL;
    *speed = 8000; // 800 Gb/s
    return 0;
}
int ibv_query_gid(ibv_context*, uint8_t, int index, ibv_gid* gid) {
    if (index >= static_cast<int>(device->gids.size())) {
        errno = ENOENT;
        return -1;
    }
    std::memcpy(gid->raw, device->gids[static_cast<std::size_t>(index)].bytes.data(), 16);
    return 0;
}
ssize_t _ibv_query_gid_table(ibv_context*, ibv_gid_entry* entries, size_t most, uint32_t, size_t) {
    size_t count = 0;
    for (size_t i = 0; i < device->gids.size(); ++i) {
        if (device->gids[i] == comad::iba::gid{}) continue;
        if (count == most) return -EINVAL;
        entries[count] = {};
        std::memcpy(entries[count].gid.raw, device->gids[i].bytes.data(), 16);
        entries[count].gid_index = static_cast<uint32_t>(i);
        entries[count++].port_num = 1;
    }
    return static_cast<ssize_t>(count);
}
int ibv_query_pkey(ibv_context*, uint8_t, int index, __be16* pkey) {
    if (index >= static_cast<int>(device->PKeys.size())) {
        errno = ENOENT;
        return -1;
    }
    *pkey = htobe16(device->PKeys[static_cast<std::size_t>(index)]);
    return 0;
}

int ibv_get_async_event(ibv_context* c, ibv_async_event* e) {
    eventfd_t one = 0;
    if (::eventfd_read(c->async_fd, &one) != 0) return -1;
    *e = context_of(c)->events.front();
    context_of(c)->events.pop_front();
    ++device->alive["event"]; // until the program acknowledges the event
    return 0;
}
void ibv_ack_async_event(ibv_async_event*) { --device->alive["event"]; }
const char* ibv_event_type_str(ibv_event_type type) {
    switch (type) {
    case IBV_EVENT_LID_CHANGE: return "LID changed";
    case IBV_EVENT_PKEY_CHANGE: return "P_Key table changed";
    case IBV_EVENT_DEVICE_FATAL: return "local catastrophic error";
    default: return "another event";
    }
}
const char* ibv_wc_status_str(ibv_wc_status status) {
    return status == IBV_WC_WR_FLUSH_ERR ? "Work Request Flushed Error" : "another error";
}

// ---- memory ----------------------------------------------------------------------------------------------------------

ibv_pd* ibv_alloc_pd(ibv_context* c) {
    errno = failure_of("ibv_alloc_pd");
    if (errno) return nullptr;
    auto* const d = make<made_pd>("pd");
    d->context = c;
    ++context_of(c)->children;
    return d;
}
int ibv_dealloc_pd(ibv_pd* d) {
    --context_of(d->context)->children;
    return end(static_cast<made_pd*>(d), "pd", static_cast<made_pd*>(d)->children);
}
ibv_mr* ibv_reg_mr_iova2(ibv_pd* d, void* address, size_t length, uint64_t, unsigned) {
    errno = failure_of("ibv_reg_mr");
    if (errno) return nullptr;
    static uint32_t keys = 0x100;
    auto* const r = make<ibv_mr>("mr");
    r->context = d->context;
    r->pd = d;
    r->addr = address;
    r->length = length;
    r->lkey = ++keys;
    r->rkey = ++keys;
    regions.push_back(r);
    ++static_cast<made_pd*>(d)->children;
    return r;
}
ibv_mr* ibv_reg_mr(ibv_pd* d, void* address, size_t length, int access) {
    return ibv_reg_mr_iova2(d, address, length, 0, static_cast<unsigned>(access));
}
int ibv_dereg_mr(ibv_mr* r) {
    std::erase(regions, r);
    --static_cast<made_pd*>(r->pd)->children;
    return end(r, "mr");
}

// ---- completions -----------------------------------------------------------------------------------------------------

ibv_comp_channel* ibv_create_comp_channel(ibv_context* c) {
    errno = failure_of("ibv_create_comp_channel");
    if (errno) return nullptr;
    auto* const made = make<made_channel>("channel");
    made->context = c;
    made->fd = ::eventfd(0, EFD_SEMAPHORE);
    ++context_of(c)->children;
    return made;
}
int ibv_destroy_comp_channel(ibv_comp_channel* c) {
    ::close(c->fd);
    --context_of(c->context)->children;
    return end(static_cast<made_channel*>(c), "channel", static_cast<made_channel*>(c)->children);
}
ibv_cq* ibv_create_cq(ibv_context* c, int entries, void*, ibv_comp_channel* channel, int) {
    errno = failure_of("ibv_create_cq");
    if (errno) return nullptr;
    auto* const q = make<made_cq>("cq");
    q->context = c;
    q->cqe = entries;
    q->channel = channel;
    if (channel) ++static_cast<made_channel*>(channel)->children;
    ++context_of(c)->children;
    return q;
}
int ibv_resize_cq(ibv_cq* q, int entries) {
    if (const int error = failure_of("ibv_resize_cq")) return error;
    q->cqe = entries;
    return 0;
}
int ibv_destroy_cq(ibv_cq* q) {
    --context_of(q->context)->children;
    if (q->channel) {
        auto* const channel = static_cast<made_channel*>(q->channel);
        --channel->children;
        std::erase(channel->notified, q);
    }
    return end(cq_of(q), "cq", cq_of(q)->children);
}
int ibv_get_cq_event(ibv_comp_channel* c, ibv_cq** q, void** context) {
    eventfd_t one = 0;
    if (::eventfd_read(c->fd, &one) != 0) return -1;
    auto* const channel = static_cast<made_channel*>(c);
    *q = channel->notified.front();
    *context = nullptr;
    channel->notified.pop_front();
    ++device->alive["notification"];
    return 0;
}
void ibv_ack_cq_events(ibv_cq*, unsigned count) { device->alive["notification"] -= static_cast<int>(count); }

// ---- queue pairs -----------------------------------------------------------------------------------------------------

ibv_srq* ibv_create_srq(ibv_pd* d, ibv_srq_init_attr* wanted) {
    errno = failure_of("ibv_create_srq");
    if (errno) return nullptr;
    auto* const q = make<made_srq>("srq");
    q->context = d->context;
    q->pd = d;
    q->attributes = wanted->attr;
    ++static_cast<made_pd*>(d)->children;
    return q;
}
int ibv_modify_srq(ibv_srq* q, ibv_srq_attr* wanted, int what) {
    if (const int error = failure_of("ibv_modify_srq")) return error;
    auto& attributes = static_cast<made_srq*>(q)->attributes;
    if (what & IBV_SRQ_MAX_WR) attributes.max_wr = wanted->max_wr;
    if (what & IBV_SRQ_LIMIT) attributes.srq_limit = wanted->srq_limit;
    return 0;
}
int ibv_query_srq(ibv_srq* q, ibv_srq_attr* attributes) {
    *attributes = static_cast<made_srq*>(q)->attributes;
    return 0;
}
int ibv_destroy_srq(ibv_srq* q) {
    --static_cast<made_pd*>(q->pd)->children;
    return end(static_cast<made_srq*>(q), "srq", static_cast<made_srq*>(q)->children);
}

ibv_qp* ibv_create_qp(ibv_pd* d, ibv_qp_init_attr* wanted) {
    errno = failure_of("ibv_create_qp");
    if (errno) return nullptr;
    static uint32_t numbers = 0x20;
    auto* const q = make<made_qp>("qp");
    q->context = d->context;
    q->pd = d;
    q->qp_num = device->latest_qpn = ++numbers;
    q->qp_type = wanted->qp_type;
    q->send_cq = wanted->send_cq;
    q->recv_cq = wanted->recv_cq;
    q->srq = wanted->srq;
    q->made_with = *wanted;
    ++static_cast<made_pd*>(d)->children;
    ++cq_of(q->send_cq)->children;
    ++cq_of(q->recv_cq)->children;
    if (q->srq) ++static_cast<made_srq*>(q->srq)->children;
    pairs.push_back(q);
    return q;
}
int ibv_modify_qp(ibv_qp* pair, ibv_qp_attr* wanted, int what) {
    if (const int error = failure_of("ibv_modify_qp")) return error;
    auto* const q = qp_of(pair);
    device->modifications.push_back({*wanted, what});
    if (what & IBV_QP_STATE) {
        const bool is_next = wanted->qp_state == q->state + 1;
        if (!is_next && wanted->qp_state != IBV_QPS_RESET && wanted->qp_state != IBV_QPS_ERR) return EINVAL;
        q->state = wanted->qp_state;
    }
    if (what & IBV_QP_PKEY_INDEX) q->attributes.pkey_index = wanted->pkey_index;
    if (what & IBV_QP_DEST_QPN) q->attributes.dest_qp_num = wanted->dest_qp_num;
    if (what & IBV_QP_ACCESS_FLAGS) q->attributes.qp_access_flags = wanted->qp_access_flags;
    return 0;
}
int ibv_query_qp(ibv_qp* q, ibv_qp_attr* attributes, int, ibv_qp_init_attr* made_with) {
    if (const int error = failure_of("ibv_query_qp")) return error;
    *attributes = qp_of(q)->attributes;
    attributes->qp_state = q->state;
    *made_with = qp_of(q)->made_with;
    return 0;
}
int ibv_destroy_qp(ibv_qp* pair) {
    auto* const q = qp_of(pair);
    if (q->groups != 0) misused("a QP was destroyed in a multicast group");
    --static_cast<made_pd*>(q->pd)->children;
    --cq_of(q->send_cq)->children;
    --cq_of(q->recv_cq)->children;
    if (q->srq) --static_cast<made_srq*>(q->srq)->children;
    std::erase(pairs, q);
    return end(q, "qp");
}
int ibv_attach_mcast(ibv_qp* q, const ibv_gid*, uint16_t) {
    if (const int error = failure_of("ibv_attach_mcast")) return error;
    ++qp_of(q)->groups;
    ++device->groups_joined;
    return 0;
}
int ibv_detach_mcast(ibv_qp* q, const ibv_gid*, uint16_t) {
    --qp_of(q)->groups;
    --device->groups_joined;
    return 0;
}

ibv_ah* ibv_create_ah(ibv_pd* d, ibv_ah_attr* to) {
    errno = failure_of("ibv_create_ah");
    if (errno) return nullptr;
    auto* const a = make<made_ah>("ah");
    a->context = d->context;
    a->pd = d;
    a->to = *to;
    device->addresses.push_back(*to);
    ++static_cast<made_pd*>(d)->children;
    return a;
}
int ibv_destroy_ah(ibv_ah* a) {
    --static_cast<made_pd*>(a->pd)->children;
    return end(static_cast<made_ah*>(a), "ah");
}

} // extern "C"
