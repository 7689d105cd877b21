// SPDX-License-Identifier: MIT
// bring_up.cpp - the attributes that each state transition of each QP type needs (IBA table 96, ibv_modify_qp(3)).
#include <comad/mad/detail/port_tables.hpp>
#include <comad/verbs/detail/address.hpp>
#include <comad/verbs/detail/bring_up.hpp>

#include <boost/outcome/try.hpp>

#include <algorithm>
#include <cerrno>
#include <utility>
#include <vector>

namespace comad::verbs {

namespace {

bool is_connected(const queue_pair& q) noexcept { return q.type() == IBV_QPT_RC || q.type() == IBV_QPT_UC; }

/// Returns the acknowledgement timeout: both directions of the path and the delay of the peer, 4.096 us * (2^(life +
/// 1) + 2^delay), rounded up to a power of two (IBA 12.7.34).
u8 ack_timeout_of(const mad::IBPath& path, const connection& c) noexcept {
    constexpr unsigned most = 31; // the largest value of 5 bits
    const unsigned both_ways = path.packet_life_time + 1u;
    const unsigned sum = c.ack_delay == 0 ? both_ways : std::max<unsigned>(both_ways, c.ack_delay) + 1;
    return c.ack_timeout.value_or(static_cast<u8>(std::min(most, sum)));
}

/// Returns the entries of the port's tables that the path needs. It reads the tables only if the path has no explicit
/// indices.
result<mad::table_entries> entries_of(const queue_pair& q, const mad::IBPath& path, u8 port) {
    const context& device = q.domain().device();
    std::vector<u16> PKeys;
    std::vector<iba::gid> gids;
    if (path.pkey_index == path.look_up) {
        BOOST_OUTCOME_TRY(PKeys, device.pkeys(port));
    }
    if (path.has_grh && path.SGID_index == path.look_up) {
        BOOST_OUTCOME_TRY(gids, device.gids(port));
    }
    const mad::port_tables tables(std::move(PKeys), std::move(gids));
    const mad::table_entries entries = tables.find(path);
    if (entries.miss != mad::table_miss::none)
        return failed("cannot bring up a queue pair of " + device.name() + ": " + tables.text_of_miss(path),
                      EADDRNOTAVAIL);
    return entries;
}

u8 bounded(int of_device, u8 most) noexcept { return static_cast<u8>(std::clamp<int>(of_device, 0, most)); }

} // namespace

connection_end end_of(const queue_pair& q, const ibv_device_attr& device, u32 PSN, u8 most) {
    return {q.number(), PSN & 0xffffff, device.local_ca_ack_delay, bounded(device.max_qp_init_rd_atom, most),
            bounded(device.max_qp_rd_atom, most)};
}

connection connect(mad::IBPath& path, const connection_end& here, const connection_end& there, connection rest) {
    path.sqpn = here.QPN;
    path.dqpn = there.QPN;
    rest.sq_psn = here.PSN;
    rest.rq_psn = there.PSN;
    rest.ack_delay = there.ack_delay;
    rest.max_rd_atomic = std::min(here.max_rd_atomic, there.max_dest_rd_atomic);
    rest.max_dest_rd_atomic = std::min(here.max_dest_rd_atomic, there.max_rd_atomic);
    return rest;
}

connection connection_of(const mad::qp_values& of) noexcept {
    connection c;
    c.sq_psn = of.sqpsn;
    c.rq_psn = of.dqpsn;
    c.max_rd_atomic = of.srdatomic;
    c.max_dest_rd_atomic = of.drdatomic;
    c.min_rnr_timer = of.min_rnr_timer;
    c.ack_delay = of.dack_resp_time;
    return c;
}

result<void> to_init(const queue_pair& q, const mad::IBPath& path, const connection& c) {
    BOOST_OUTCOME_TRY(const mad::table_entries entries, entries_of(q, path, c.port));
    ibv_qp_attr attributes{};
    attributes.qp_state = IBV_QPS_INIT;
    attributes.pkey_index = entries.pkey_index;
    attributes.port_num = c.port;
    attributes.qkey = path.qkey;
    attributes.qp_access_flags = c.remote_access;
    return q.modify(attributes, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
                                    (is_connected(q) ? IBV_QP_ACCESS_FLAGS : IBV_QP_QKEY));
}

result<void> to_rtr(const queue_pair& q, const mad::IBPath& path, const connection& c) {
    ibv_qp_attr attributes{};
    attributes.qp_state = IBV_QPS_RTR;
    int what = IBV_QP_STATE;
    if (is_connected(q)) {
        BOOST_OUTCOME_TRY(const mad::table_entries entries, entries_of(q, path, c.port));
        attributes.ah_attr = address_of(path, c.port);
        attributes.ah_attr.grh.sgid_index = entries.SGID_index;
        attributes.path_mtu = static_cast<ibv_mtu>(path.MTU);
        attributes.dest_qp_num = path.dqpn;
        attributes.rq_psn = c.rq_psn;
        what |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
    }
    if (q.type() == IBV_QPT_RC) {
        attributes.max_dest_rd_atomic = c.max_dest_rd_atomic;
        attributes.min_rnr_timer = c.min_rnr_timer;
        what |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
    }
    return q.modify(attributes, what);
}

result<void> to_rts(const queue_pair& q, const mad::IBPath& path, const connection& c) {
    ibv_qp_attr attributes{};
    attributes.qp_state = IBV_QPS_RTS;
    attributes.sq_psn = c.sq_psn;
    int what = IBV_QP_STATE | IBV_QP_SQ_PSN;
    if (q.type() == IBV_QPT_RC) {
        attributes.timeout = ack_timeout_of(path, c);
        attributes.retry_cnt = c.retries;
        attributes.rnr_retry = c.rnr_retries;
        attributes.max_rd_atomic = c.max_rd_atomic;
        what |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
    }
    return q.modify(attributes, what);
}

result<void> establish(const queue_pair& q, const mad::IBPath& path, const connection& c) {
    for (const auto step : {to_init, to_rtr, to_rts})
        if (auto done = step(q, path, c); !done) return done;
    return success();
}

} // namespace comad::verbs
