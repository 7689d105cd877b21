// SPDX-License-Identifier: GPL-2.0
/*
 * fakeib: simulated InfiniBand adapters for tests of ib_umad in a throw-away guest. README.md describes them.
 *
 * Each end of a cable (0-1, 2-3, ...) has the state of a port. An end is one device with QP0 and QP1, or, as on planarized
 * hosts, two devices: one with only QP0, one with only QP1. There are no other queue pairs, and no user verbs.
 */
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/version.h>
#include <linux/workqueue.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_mad.h>
#include <rdma/ib_smi.h>
#include <rdma/ib_verbs.h>

static int nports = 2;
module_param(nports, int, 0444);
MODULE_PARM_DESC(nports, "ports, cabled in pairs");
static int presets;
module_param(presets, int, 0444);
MODULE_PARM_DESC(presets, "1: ports come up Active with LID index+1, no SM needed");
static int split;
module_param(split, int, 0444);
MODULE_PARM_DESC(split, "1: each port is two devices, smiN with QP0 and fibN with QP1");
static int drop;
module_param(drop, int, 0644);
MODULE_PARM_DESC(drop, "every so many-th packet is lost; 0: none");

#define MAXPORTS 16
struct fib_qp {
    struct ib_qp ib;
    spinlock_t lock;
    struct list_head rq;
};
struct fib_cq {
    struct ib_cq ib;
    spinlock_t lock;
    struct list_head wcs;
    bool armed;
};
struct fib_ah {
    struct ib_ah ib;
    struct rdma_ah_attr attr;
};
struct fib_pd {
    struct ib_pd ib;
};
struct fib_dev {
    struct ib_device ib;
    struct fib_end* end;
    struct fib_qp* sqp[2];
};
/* One end of a cable. */
struct fib_end {
    int idx;
    struct fib_dev* dev[2]; /* by queue pair number */
    struct mutex lock;
    u16 lid, sm_lid;
    u8 lmc, sm_sl, state, subnet_to;
    u32 capmask;
    __be64 prefix;
};
struct fib_rwqe {
    struct list_head list;
    struct ib_cqe* cqe;
    u64 addr;
    u32 len;
};
struct fib_wc {
    struct list_head list;
    struct ib_wc wc;
};
struct fib_pkt {
    struct work_struct work;
    struct fib_end* src;
    u32 dqpn, sqpn, qkey;
    u16 slid, dlid;
    u8 sl;
    bool grh;
    struct ib_grh g;
    u32 len;
    u8 data[2048];
};
static struct fib_end ends[MAXPORTS];
static struct workqueue_struct* wire; /* delivers packets in order, like cables */
static atomic_t npkt;

static struct fib_dev* todev(struct ib_device* d) { return container_of(d, struct fib_dev, ib); }
static struct fib_end* toend(struct ib_device* d) { return todev(d)->end; }
static __be64 guid(int idx) { return cpu_to_be64(0x0002c90000fab000ull + idx); }

static void cq_push(struct fib_cq* cq, const struct ib_wc* wc) {
    struct fib_wc* w = kmalloc(sizeof(*w), GFP_ATOMIC);
    unsigned long f;
    bool fire;

    if (!w) return;
    w->wc = *wc;
    spin_lock_irqsave(&cq->lock, f);
    list_add_tail(&w->list, &cq->wcs);
    fire = cq->armed;
    cq->armed = false;
    spin_unlock_irqrestore(&cq->lock, f);
    if (fire && cq->ib.comp_handler) cq->ib.comp_handler(&cq->ib, cq->ib.cq_context);
}

static void deliver(struct work_struct* work) {
    struct fib_pkt* p = container_of(work, struct fib_pkt, work);
    struct fib_end* d = NULL;
    struct fib_qp* qp;
    struct fib_rwqe* r = NULL;
    struct ib_wc wc = {};
    unsigned long f;
    int i;

    if (drop && atomic_inc_return(&npkt) % drop == 0) goto out;
    if (p->dlid == be16_to_cpu(IB_LID_PERMISSIVE)) d = &ends[p->src->idx ^ 1];
    else
        for (i = 0; i < nports; i++)
            if (ends[i].lid && (p->dlid & ~((1 << ends[i].lmc) - 1)) == ends[i].lid) d = &ends[i];
    if (!d || p->dqpn > 1 || !d->dev[p->dqpn]) goto out;
    /* only SMPs cross a link that is not yet up */
    if (p->dqpn == 1 && (d->state != IB_PORT_ACTIVE || p->src->state != IB_PORT_ACTIVE)) goto out;
    qp = d->dev[p->dqpn]->sqp[p->dqpn];
    if (!qp) goto out;
    spin_lock_irqsave(&qp->lock, f);
    if (!list_empty(&qp->rq)) {
        r = list_first_entry(&qp->rq, struct fib_rwqe, list);
        list_del(&r->list);
    }
    spin_unlock_irqrestore(&qp->lock, f);
    if (!r || r->len < 40 + p->len) {
        kfree(r);
        goto out;
    }
    memcpy((void*)(uintptr_t)r->addr, &p->g, 40);
    memcpy((void*)(uintptr_t)r->addr + 40, p->data, p->len);
    wc.wr_cqe = r->cqe;
    wc.status = IB_WC_SUCCESS;
    wc.opcode = IB_WC_RECV;
    wc.byte_len = 40 + p->len;
    wc.qp = &qp->ib;
    wc.src_qp = p->sqpn;
    wc.slid = p->slid;
    wc.sl = p->sl;
    wc.port_num = 1;
    wc.dlid_path_bits = p->dlid & ((1 << d->lmc) - 1);
    wc.wc_flags = p->grh ? IB_WC_GRH : 0;
    cq_push(container_of(qp->ib.recv_cq, struct fib_cq, ib), &wc);
    kfree(r);
out:
    kfree(p);
}

static int fib_post_send(struct ib_qp* ibqp, const struct ib_send_wr* wr, const struct ib_send_wr** bad) {
    struct fib_end* d = toend(ibqp->device);

    for (; wr; wr = wr->next) {
        const struct ib_ud_wr* u = ud_wr(wr);
        struct fib_ah* ah = container_of(u->ah, struct fib_ah, ib);
        struct fib_pkt* p = kzalloc(sizeof(*p), GFP_ATOMIC);
        struct ib_wc wc = {.wr_cqe = wr->wr_cqe, .status = IB_WC_SUCCESS, .opcode = IB_WC_SEND, .qp = ibqp};
        int i;

        if (!p) {
            *bad = wr;
            return -ENOMEM;
        }
        INIT_WORK(&p->work, deliver);
        p->src = d;
        p->dqpn = u->remote_qpn;
        p->sqpn = ibqp->qp_num;
        p->qkey = u->remote_qkey;
        p->dlid = rdma_ah_get_dlid(&ah->attr);
        p->slid =
            d->lid ? d->lid | (rdma_ah_get_path_bits(&ah->attr) & ((1 << d->lmc) - 1)) : be16_to_cpu(IB_LID_PERMISSIVE);
        if (p->dlid == be16_to_cpu(IB_LID_PERMISSIVE)) p->slid = p->dlid; /* like mthca and mlx4 */
        p->sl = rdma_ah_get_sl(&ah->attr);
        if (rdma_ah_get_ah_flags(&ah->attr) & IB_AH_GRH) {
            const struct ib_global_route* g = rdma_ah_read_grh(&ah->attr);

            p->grh = true;
            p->g.version_tclass_flow = cpu_to_be32(6u << 28 | g->traffic_class << 20 | g->flow_label);
            p->g.next_hdr = 0x1b;
            p->g.hop_limit = g->hop_limit;
            p->g.dgid = g->dgid;
            p->g.sgid.global.subnet_prefix = d->prefix;
            p->g.sgid.global.interface_id = guid(d->idx);
        }
        for (i = 0; i < wr->num_sge && p->len + wr->sg_list[i].length <= sizeof(p->data); i++) {
            memcpy(p->data + p->len, (void*)(uintptr_t)wr->sg_list[i].addr, wr->sg_list[i].length);
            p->len += wr->sg_list[i].length;
        }
        queue_work(wire, &p->work);
        if (wr->send_flags & IB_SEND_SIGNALED) cq_push(container_of(ibqp->send_cq, struct fib_cq, ib), &wc);
    }
    return 0;
}

static int fib_post_recv(struct ib_qp* ibqp, const struct ib_recv_wr* wr, const struct ib_recv_wr** bad) {
    struct fib_qp* qp = container_of(ibqp, struct fib_qp, ib);
    unsigned long f;

    for (; wr; wr = wr->next) {
        struct fib_rwqe* r = kmalloc(sizeof(*r), GFP_ATOMIC);

        if (!r) {
            *bad = wr;
            return -ENOMEM;
        }
        r->cqe = wr->wr_cqe;
        r->addr = wr->sg_list[0].addr;
        r->len = wr->sg_list[0].length;
        spin_lock_irqsave(&qp->lock, f);
        list_add_tail(&r->list, &qp->rq);
        spin_unlock_irqrestore(&qp->lock, f);
    }
    return 0;
}

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 11, 0)
static int fib_create_cq(struct ib_cq* ibcq, const struct ib_cq_init_attr* a, struct uverbs_attr_bundle* u)
#else
static int fib_create_cq(struct ib_cq* ibcq, const struct ib_cq_init_attr* a, struct ib_udata* u)
#endif
{
    struct fib_cq* cq = container_of(ibcq, struct fib_cq, ib);

    spin_lock_init(&cq->lock);
    INIT_LIST_HEAD(&cq->wcs);
    ibcq->cqe = a->cqe;
    return 0;
}
static int fib_poll_cq(struct ib_cq* ibcq, int n, struct ib_wc* wc) {
    struct fib_cq* cq = container_of(ibcq, struct fib_cq, ib);
    struct fib_wc* w;
    unsigned long f;
    int i;

    for (i = 0; i < n; i++) {
        spin_lock_irqsave(&cq->lock, f);
        w = list_first_entry_or_null(&cq->wcs, struct fib_wc, list);
        if (w) list_del(&w->list);
        spin_unlock_irqrestore(&cq->lock, f);
        if (!w) break;
        wc[i] = w->wc;
        kfree(w);
    }
    return i;
}
static int fib_req_notify(struct ib_cq* ibcq, enum ib_cq_notify_flags fl) {
    struct fib_cq* cq = container_of(ibcq, struct fib_cq, ib);
    unsigned long f;
    int ret;

    spin_lock_irqsave(&cq->lock, f);
    cq->armed = true;
    ret = (fl & IB_CQ_REPORT_MISSED_EVENTS) && !list_empty(&cq->wcs);
    spin_unlock_irqrestore(&cq->lock, f);
    return ret;
}
static int fib_destroy_cq(struct ib_cq* ibcq, struct ib_udata* u) {
    struct ib_wc wc;

    while (fib_poll_cq(ibcq, 1, &wc))
        ;
    return 0;
}

static int fib_create_qp(struct ib_qp* ibqp, struct ib_qp_init_attr* a, struct ib_udata* u) {
    struct fib_qp* qp = container_of(ibqp, struct fib_qp, ib);

    if (a->qp_type != IB_QPT_SMI && a->qp_type != IB_QPT_GSI) return -EOPNOTSUPP;
    spin_lock_init(&qp->lock);
    INIT_LIST_HEAD(&qp->rq);
    ibqp->qp_num = a->qp_type == IB_QPT_GSI;
    todev(ibqp->device)->sqp[ibqp->qp_num] = qp;
    return 0;
}
static int fib_modify_qp(struct ib_qp* ibqp, struct ib_qp_attr* a, int mask, struct ib_udata* u) {
    struct fib_qp* qp = container_of(ibqp, struct fib_qp, ib);
    struct ib_wc wc = {.status = IB_WC_WR_FLUSH_ERR, .qp = ibqp};
    struct fib_rwqe *r, *t;
    unsigned long f;
    LIST_HEAD(l);

    if (!(mask & IB_QP_STATE) || a->qp_state != IB_QPS_ERR) return 0;
    spin_lock_irqsave(&qp->lock, f);
    list_splice_init(&qp->rq, &l);
    spin_unlock_irqrestore(&qp->lock, f);
    list_for_each_entry_safe(r, t, &l, list) {
        wc.wr_cqe = r->cqe;
        cq_push(container_of(ibqp->recv_cq, struct fib_cq, ib), &wc);
        kfree(r);
    }
    return 0;
}
static int fib_destroy_qp(struct ib_qp* ibqp, struct ib_udata* u) {
    struct fib_qp* qp = container_of(ibqp, struct fib_qp, ib);
    struct fib_rwqe *r, *t;

    todev(ibqp->device)->sqp[ibqp->qp_num] = NULL;
    flush_workqueue(wire);
    list_for_each_entry_safe(r, t, &qp->rq, list) kfree(r);
    return 0;
}

static int fib_create_ah(struct ib_ah* ibah, struct rdma_ah_init_attr* a, struct ib_udata* u) {
    container_of(ibah, struct fib_ah, ib)->attr = *a->ah_attr;
    return 0;
}
static int fib_query_ah(struct ib_ah* ibah, struct rdma_ah_attr* a) {
    *a = container_of(ibah, struct fib_ah, ib)->attr;
    return 0;
}
static int fib_destroy_ah(struct ib_ah* a, u32 f) { return 0; }
static int fib_alloc_pd(struct ib_pd* p, struct ib_udata* u) { return 0; }
static int fib_dealloc_pd(struct ib_pd* p, struct ib_udata* u) { return 0; }
static struct ib_mr* fib_get_dma_mr(struct ib_pd* p, int acc) { return ERR_PTR(-EOPNOTSUPP); }
static struct ib_mr* fib_reg_user_mr(struct ib_pd* p, u64 a, u64 b, u64 c, int d, struct ib_udata* u) {
    return ERR_PTR(-EOPNOTSUPP);
}
static int fib_dereg_mr(struct ib_mr* m, struct ib_udata* u) { return 0; }

static bool is_smi(struct ib_device* d) { return toend(d)->dev[0] == todev(d); }

static int fib_query_device(struct ib_device* d, struct ib_device_attr* a, struct ib_udata* u) {
    memset(a, 0, sizeof(*a));
    a->sys_image_guid = guid(toend(d)->idx);
    a->vendor_id = 0x02c9;
    a->vendor_part_id = 0xfab;
    a->max_qp = 64;
    a->max_qp_wr = 4096;
    a->max_cq = 64;
    a->max_cqe = 65536;
    a->max_pd = 64;
    a->max_ah = 4096;
    a->max_send_sge = 4;
    a->max_recv_sge = 1;
    a->max_pkeys = 1;
    a->kernel_cap_flags = IBK_LOCAL_DMA_LKEY;
    return 0;
}
static int fib_query_port(struct ib_device* ibd, u32 port, struct ib_port_attr* a) {
    struct fib_end* d = toend(ibd);

    a->state = d->state;
    a->phys_state = IB_PORT_PHYS_STATE_LINK_UP;
    a->lid = d->lid;
    a->lmc = d->lmc;
    a->sm_lid = d->sm_lid;
    a->sm_sl = d->sm_sl;
    a->subnet_timeout = d->subnet_to;
    a->max_mtu = IB_MTU_4096;
    a->active_mtu = IB_MTU_4096;
    a->gid_tbl_len = 1;
    a->pkey_tbl_len = 1;
    a->port_cap_flags = d->capmask;
    if (split && !is_smi(ibd)) a->port_cap_flags |= IB_PORT_SM_DISABLED;
    a->active_width = IB_WIDTH_4X;
    a->active_speed = IB_SPEED_FDR;
    a->max_vl_num = 1;
    a->max_msg_sz = 0x40000000;
    return 0;
}
static int fib_immutable(struct ib_device* d, u32 port, struct ib_port_immutable* im) {
    im->pkey_tbl_len = 1;
    im->gid_tbl_len = 1;
    im->core_cap_flags = RDMA_CORE_PORT_IBA_IB;
    if (split && is_smi(d)) /* before 6.12, ib_agent needs a QP1, too, and IB_CM creates one */
        im->core_cap_flags = RDMA_CORE_CAP_PROT_IB | RDMA_CORE_CAP_IB_MAD | RDMA_CORE_CAP_IB_SMI | RDMA_CORE_CAP_IB_CM;
    else if (split) im->core_cap_flags &= ~RDMA_CORE_CAP_IB_SMI; /* leaves IB link layer, IB_MAD, CM and SA */
    im->max_mad_size = IB_MGMT_MAD_SIZE;
    return 0;
}
static enum rdma_link_layer fib_ll(struct ib_device* d, u32 port) { return IB_LINK_LAYER_INFINIBAND; }
static int fib_query_pkey(struct ib_device* d, u32 port, u16 i, u16* pkey) {
    *pkey = i ? 0 : 0xffff;
    return 0;
}
static int fib_query_gid(struct ib_device* d, u32 port, int i, union ib_gid* g) {
    g->global.subnet_prefix = toend(d)->prefix;
    g->global.interface_id = guid(toend(d)->idx);
    return 0;
}
static void event(struct fib_end* d, enum ib_event_type t) {
    int i;

    for (i = 0; i < 1 + !!split; i++) {
        struct ib_event e = {.device = &d->dev[i]->ib, .element.port_num = 1, .event = t};

        ib_dispatch_event(&e);
    }
}
static int fib_modify_port(struct ib_device* ibd, u32 port, int mask, struct ib_port_modify* m) {
    struct fib_end* d = toend(ibd);

    d->capmask = (d->capmask | m->set_port_cap_mask) & ~m->clr_port_cap_mask;
    return 0;
}
static int fib_modify_device(struct ib_device* ibd, int mask, struct ib_device_modify* m) { return 0; }

static void portinfo_get(struct fib_end* d, struct ib_port_info* pi) {
    memset(pi, 0, sizeof(*pi));
    pi->gid_prefix = d->prefix;
    pi->lid = cpu_to_be16(d->lid);
    pi->sm_lid = cpu_to_be16(d->sm_lid);
    pi->cap_mask = cpu_to_be32(d->capmask);
    pi->local_port_num = 1;
    pi->link_width_enabled = pi->link_width_supported = 3;
    pi->link_width_active = 2;
    pi->linkspeed_portstate = 7 << 4 | d->state;
    pi->portphysstate_linkdown = 5 << 4 | 2;
    pi->mkeyprot_resv_lmc = d->lmc;
    pi->linkspeedactive_enabled = 4 << 4 | 7;
    pi->neighbormtu_mastersmsl = 5 << 4 | d->sm_sl;
    pi->vlcap_inittype = 1 << 4;
    pi->inittypereply_mtucap = 5;
    pi->operationalvl_pei_peo_fpi_fpo = 1 << 4;
    pi->guid_cap = 1;
    pi->clientrereg_resv_subnetto = d->subnet_to;
    pi->resv_resptimevalue = 16;
}
static int portinfo_set(struct fib_end* d, const struct ib_port_info* pi) {
    u8 st = pi->linkspeed_portstate & 15, old = d->state;
    u16 lid = be16_to_cpu(pi->lid);
    bool lidchg = lid != d->lid, smchg = be16_to_cpu(pi->sm_lid) != d->sm_lid;

    if (!lid || lid >= 0xc000 || st > IB_PORT_ACTIVE) return -1;
    d->lid = lid;
    d->lmc = pi->mkeyprot_resv_lmc & 7;
    d->sm_lid = be16_to_cpu(pi->sm_lid);
    d->sm_sl = pi->neighbormtu_mastersmsl & 15;
    d->prefix = pi->gid_prefix;
    d->subnet_to = pi->clientrereg_resv_subnetto & 31;
    if (st == IB_PORT_ARMED || st == IB_PORT_ACTIVE || st == IB_PORT_INIT) d->state = st;
    else if (st == IB_PORT_DOWN) d->state = IB_PORT_INIT;
    if (d->state != old) event(d, d->state == IB_PORT_ACTIVE ? IB_EVENT_PORT_ACTIVE : IB_EVENT_PORT_ERR);
    if (lidchg) event(d, IB_EVENT_LID_CHANGE);
    if (smchg) event(d, IB_EVENT_SM_CHANGE);
    if (pi->clientrereg_resv_subnetto & 0x80) event(d, IB_EVENT_CLIENT_REREGISTER);
    return 0;
}

static int fib_process_mad(struct ib_device* ibd, int flags, u32 port, const struct ib_wc* wc, const struct ib_grh* grh,
                           const struct ib_mad* in, struct ib_mad* out, size_t* outsz, u16* pkey) {
    struct fib_end* d = toend(ibd);
    const struct ib_smp* s = (const void*)in;
    struct ib_smp* o = (void*)out;
    u8 method = in->mad_hdr.method, cls = in->mad_hdr.mgmt_class;
    u16 status = 0;

    if (cls != IB_MGMT_CLASS_SUBN_LID_ROUTED && cls != IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE)
        return IB_MAD_RESULT_SUCCESS; /* agents handle every GMP */
    if (method != IB_MGMT_METHOD_GET && method != IB_MGMT_METHOD_SET) return IB_MAD_RESULT_SUCCESS;
    if (s->attr_id == IB_SMP_ATTR_SM_INFO) return IB_MAD_RESULT_SUCCESS; /* for an SM in user space */
    *out = *in;
    o->method = IB_MGMT_METHOD_GET_RESP;
    mutex_lock(&d->lock);
    switch (be16_to_cpu(s->attr_id)) {
    case 0x10:
        memset(o->data, 0, 64);
        memcpy(o->data, ibd->node_desc, 64);
        break;
    case 0x11: {
        struct ib_node_info* n = (void*)o->data;

        memset(o->data, 0, 64);
        n->base_version = 1;
        n->class_version = 1;
        n->node_type = 1;
        n->num_ports = 1;
        n->sys_guid = n->node_guid = n->port_guid = guid(d->idx);
        n->partition_cap = cpu_to_be16(1);
        n->device_id = cpu_to_be16(0xfab);
        n->revision = cpu_to_be32(1);
        n->local_port_num = 1;
        n->vendor_id[1] = 0x02;
        n->vendor_id[2] = 0xc9;
        if (method == IB_MGMT_METHOD_SET) status = 0x0c;
        break;
    }
    case 0x14:
        memset(o->data, 0, 64);
        *(__be64*)o->data = guid(d->idx);
        break;
    case 0x15:
        if (method == IB_MGMT_METHOD_SET && portinfo_set(d, (const void*)s->data)) status = 0x1c;
        portinfo_get(d, (void*)o->data);
        break;
    case 0x16:
        memset(o->data, 0, 64);
        *(__be16*)o->data = cpu_to_be16(0xffff);
        break;
    default: status = 0x0c;
    }
    mutex_unlock(&d->lock);
    o->status = cpu_to_be16(status);
    if (cls == IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE) o->status |= IB_SMP_DIRECTION;
    return IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_REPLY;
}

static const struct ib_device_ops ops = {
    .owner = THIS_MODULE,
    .driver_id = RDMA_DRIVER_UNKNOWN,
    .uverbs_abi_ver = 1,
    .query_device = fib_query_device,
    .query_port = fib_query_port,
    .get_port_immutable = fib_immutable,
    .get_link_layer = fib_ll,
    .query_pkey = fib_query_pkey,
    .query_gid = fib_query_gid,
    .modify_port = fib_modify_port,
    .modify_device = fib_modify_device,
    .process_mad = fib_process_mad,
    .alloc_pd = fib_alloc_pd,
    .dealloc_pd = fib_dealloc_pd,
    .create_ah = fib_create_ah,
    .query_ah = fib_query_ah,
    .destroy_ah = fib_destroy_ah,
    .create_cq = fib_create_cq,
    .destroy_cq = fib_destroy_cq,
    .poll_cq = fib_poll_cq,
    .req_notify_cq = fib_req_notify,
    .create_qp = fib_create_qp,
    .modify_qp = fib_modify_qp,
    .destroy_qp = fib_destroy_qp,
    .post_send = fib_post_send,
    .post_recv = fib_post_recv,
    .get_dma_mr = fib_get_dma_mr,
    .reg_user_mr = fib_reg_user_mr,
    .dereg_mr = fib_dereg_mr,
    INIT_RDMA_OBJ_SIZE(ib_pd, fib_pd, ib),
    INIT_RDMA_OBJ_SIZE(ib_ah, fib_ah, ib),
    INIT_RDMA_OBJ_SIZE(ib_cq, fib_cq, ib),
    INIT_RDMA_OBJ_SIZE(ib_qp, fib_qp, ib),
};

static void fib_del(void) {
    int i, k;

    for (i = 0; i < MAXPORTS; i++)
        for (k = 0; k < 1 + !!split; k++)
            if (ends[i].dev[k]) ib_unregister_device(&ends[i].dev[k]->ib);
    flush_workqueue(wire);
    for (i = 0; i < MAXPORTS; i++)
        for (k = 0; k < 1 + !!split; k++)
            if (ends[i].dev[k]) ib_dealloc_device(&ends[i].dev[k]->ib);
    destroy_workqueue(wire);
}

/* Creates the device with queue pair `qpn` of an end, or with both queue pairs. */
static int fib_add(struct fib_end* e, int qpn) {
    struct fib_dev* d = ib_alloc_device(fib_dev, ib);
    int ret;

    if (!d) return -ENOMEM;
    d->end = e;
    d->ib.node_type = RDMA_NODE_IB_CA;
    d->ib.node_guid = guid(e->idx);
    d->ib.phys_port_cnt = 1;
    d->ib.num_comp_vectors = 1;
    snprintf(d->ib.node_desc, sizeof(d->ib.node_desc), "fakeib%d", e->idx);
    ib_set_device_ops(&d->ib, &ops);
    e->dev[qpn] = d;
    if (!split) e->dev[1] = d;
    ret =
        ib_register_device(&d->ib, split && !qpn ? "smi%d" : "fib%d", NULL); /* no DMA: addresses are kernel pointers */
    if (!ret) return 0;
    ib_dealloc_device(&d->ib);
    e->dev[qpn] = NULL;
    if (!split) e->dev[1] = NULL;
    return ret;
}

static int __init fib_init(void) {
    int i, ret = 0;

    nports = clamp(nports, 1, MAXPORTS);
    wire = alloc_ordered_workqueue("fakeib_wire", 0);
    if (!wire) return -ENOMEM;
    for (i = 0; i < nports && !ret; i++) {
        struct fib_end* e = &ends[i];

        e->idx = i;
        mutex_init(&e->lock);
        e->prefix = cpu_to_be64(0xfe80000000000000ull);
        e->capmask = 0x00000800;
        e->state = presets ? IB_PORT_ACTIVE : IB_PORT_INIT;
        e->lid = presets ? i + 1 : 0;
        e->sm_lid = presets ? 1 : 0;
        e->subnet_to = 18;
        ret = fib_add(e, 0);
        if (!ret && split) ret = fib_add(e, 1);
    }
    if (ret) fib_del();
    return ret;
}
module_init(fib_init);
module_exit(fib_del);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("pretended InfiniBand adapters with QP0 and QP1");
