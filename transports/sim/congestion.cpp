// SPDX-License-Identifier: MIT
// congestion.cpp - keys, settings, tables and logs of congestion control, one function per attribute (IBA A10.4).
#include "congestion.hpp"

#include <comad/iba/detail/class_port_info.hpp>
#include <comad/server/detail/class_port_info.hpp>

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

namespace comad::transports::sim {
namespace {

using iba::attribute_id;
using namespace iba::cc;
using server::response;
namespace status = server::status;

constexpr u16 credit_starvation = 1; // bit in CongestionInfo
constexpr u8 table_blocks = 4;       // blocks of a CA's table
constexpr unsigned entries_per_block = std::tuple_size_v<decltype(CongestionControlTable::entry)>;

/// The bits of controlMap, which select the members of a SwitchCongestionSetting that a Set changes (as in OpenSM).
namespace means {
constexpr u32 victim_mask = 1 << 0, credit_mask = 1 << 1, threshold = 1 << 2, starvation = 1 << 3,
              marking_rate = 1 << 4;
}

/// Returns the time in units of 1.024 us.
u32 timestamp(mad::time_point now) noexcept {
    using units = std::chrono::duration<u64, std::ratio<1024, 1'000'000'000>>;
    return static_cast<u32>(std::chrono::duration_cast<units>(now.time_since_epoch()).count());
}

template <class Number> void count_up(Number& n) noexcept {
    if (n != std::numeric_limits<Number>::max()) ++n;
}

/// Inserts the newest event at the front.
template <class List> void put_first(List& events, const typename List::value_type& e) {
    std::shift_right(events.begin(), events.end(), 1);
    events.front() = e;
}

bool is_set(const server::request& r) noexcept { return r.header.method == iba::Method::Set; }

/// Replies to a read-only attribute.
template <class F> response only_get(const server::request& r, F&& answer) {
    return is_set(r) ? response::error(status::unsupported_attribute) : answer();
}

void set(SwitchCongestionSetting& now, const SwitchCongestionSetting& wanted) {
    now.controlMap = wanted.controlMap;
    if (wanted.controlMap & means::victim_mask) now.victimMask = wanted.victimMask;
    if (wanted.controlMap & means::credit_mask) now.creditMask = wanted.creditMask;
    if (wanted.controlMap & means::threshold) {
        now.threshold = wanted.threshold;
        now.packetSize = wanted.packetSize;
    }
    if (wanted.controlMap & means::starvation) {
        now.CSThreshold = wanted.CSThreshold;
        now.CSReturnDelay = wanted.CSReturnDelay;
    }
    if (wanted.controlMap & means::marking_rate) now.markingRate = wanted.markingRate;
}

void set(CACongestionSetting& now, const CACongestionSetting& wanted) {
    now.portControl = wanted.portControl;
    now.controlMap = wanted.controlMap;
    for (std::size_t SL = 0; SL < now.congestionEntry.size(); ++SL)
        if (wanted.controlMap >> SL & 1) now.congestionEntry[SL] = wanted.congestionEntry[SL];
}

/// Writes a block of a list if the request is a Set, then returns the block. The last block can be partial.
template <auto Member, class Block> response answer_block(auto& list, Block wanted, const server::request& r) {
    auto& block = wanted.*Member;
    const u64 first = u64{r.header.attributeModifier} * block.size();
    if (first >= list.size()) return response::error(status::invalid_value);
    const auto begin = list.begin() + static_cast<std::ptrdiff_t>(first);
    const auto count = static_cast<std::ptrdiff_t>(std::min<u64>(block.size(), list.size() - first));
    if (is_set(r)) std::copy_n(block.begin(), count, begin);
    block = {};
    std::copy_n(begin, count, block.begin());
    return response::of(wanted);
}

} // namespace

congestion_agent::congestion_agent(const node& n, u64 CCKey) {
    key_.CCKey = CCKey;
    if (n.is_switch()) {
        switch_part s;
        s.ports.resize(n.num_ports() + 1);
        s.log.logType = 1;
        of_kind_ = std::move(s);
    } else {
        ca_part c;
        c.table.resize(table_blocks * entries_per_block);
        c.log.logType = 2;
        of_kind_ = std::move(c);
    }
}

/// Returns whether the request has the key. A request with a wrong key is counted and starts the lease period. When
/// the period ends, the key is no longer protected: its owner had time to send a request with the key.
bool congestion_agent::take_key(const server::request& r, mad::time_point now) {
    if (lease_end_ && now >= *lease_end_) {
        key_.CCKeyProtectBit = false;
        lease_end_.reset();
    }
    if (key_.CCKey == 0 || iba::get<&Format::CCKey>(r.mad.data()) == key_.CCKey) {
        lease_end_.reset();
        return true;
    }
    const bool requests_key = !is_set(r) && r.header.attributeID == attribute_id<CongestionKeyInfo>;
    if (requests_key) return false;
    count_up(key_.CCKeyViolations);
    if (!lease_end_ && key_.CCKeyProtectBit && key_.CCKeyLeasePeriod != 0)
        lease_end_ = now + std::chrono::seconds(key_.CCKeyLeasePeriod);
    return false;
}

response congestion_agent::answer_key(const server::request& r, bool has_key) {
    if (is_set(r)) {
        const auto wanted = r.payload<CongestionKeyInfo>();
        const u16 violations = wanted.CCKeyViolations == 0 ? u16{0} : key_.CCKeyViolations;
        key_ = wanted;
        key_.CCKeyViolations = violations;
    }
    CongestionKeyInfo shown = key_;
    if (!has_key && key_.CCKeyProtectBit) shown.CCKey = 0;
    return response::of(shown);
}

template <class Log> response congestion_agent::read_log(Log& log, mad::time_point now) const {
    Log shown = log;
    shown.congestionFlags = lease_end_ ? 1 : 0;
    shown.currentTimeStamp = timestamp(now);
    if constexpr (std::is_same_v<Log, CongestionLogSwitch>) {
        log.logEventsCounter = 0;
        log.portMap = {};
    } else {
        log.thresholdEventCounter = 0;
        log.thresholdCongestionEventMap = 0;
    }
    return response::of(shown);
}

response congestion_agent::answer_for(switch_part& s, const server::request& r, mad::time_point now) const {
    switch (r.header.attributeID) {
    case attribute_id<CongestionInfo>:
        return only_get(r, [] { return response::of(CongestionInfo{.congestionInfo = credit_starvation}); });
    case attribute_id<CongestionLogSwitch>: return only_get(r, [&] { return read_log(s.log, now); });
    case attribute_id<SwitchCongestionSetting>:
        if (is_set(r)) set(s.setting, r.payload<SwitchCongestionSetting>());
        return response::of(s.setting);
    case attribute_id<SwitchPortCongestionSetting>:
        return answer_block<&SwitchPortCongestionSetting::element>(s.ports, r.payload<SwitchPortCongestionSetting>(),
                                                                   r);
    default: return response::error(status::unsupported_attribute);
    }
}

response congestion_agent::answer_for(ca_part& c, const server::request& r, mad::time_point now) const {
    switch (r.header.attributeID) {
    case attribute_id<CongestionInfo>:
        return only_get(r, [] { return response::of(CongestionInfo{.controlTableCap = table_blocks}); });
    case attribute_id<CongestionLogCA>: return only_get(r, [&] { return read_log(c.log, now); });
    case attribute_id<CACongestionSetting>:
        if (is_set(r)) set(c.setting, r.payload<CACongestionSetting>());
        return response::of(c.setting);
    case attribute_id<CongestionControlTable>: {
        auto wanted = r.payload<CongestionControlTable>();
        if (is_set(r)) {
            if (wanted.CCTILimit >= c.table.size() || r.header.attributeModifier >= table_blocks)
                return response::error(status::invalid_value);
            c.limit = wanted.CCTILimit;
        }
        wanted.CCTILimit = c.limit;
        return answer_block<&CongestionControlTable::entry>(c.table, wanted, r);
    }
    default: return response::error(status::unsupported_attribute);
    }
}

response congestion_agent::answer(const server::request& r, mad::time_point now) {
    const bool has_key = take_key(r, now);
    const u16 attributeID = r.header.attributeID;
    if (attributeID == attribute_id<CongestionKeyInfo> && (has_key || !is_set(r))) return answer_key(r, has_key);
    if (!has_key) return response::nothing();
    if (attributeID == attribute_id<iba::ClassPortInfo>)
        return only_get(r, [] { return response::of(server::class_port_info(2)); });
    if (attributeID == attribute_id<TimeStamp>)
        return only_get(r, [&] { return response::of(TimeStamp{timestamp(now)}); });
    return std::visit([&](auto& part) { return answer_for(part, r, now); }, of_kind_);
}

void congestion_agent::log(unsigned port, CongestionLogEventSwitch e, mad::time_point now) {
    auto* const s = std::get_if<switch_part>(&of_kind_);
    if (!s) return;
    e.timestamp = timestamp(now);
    put_first(s->log.congestionLogEvent, e);
    count_up(s->log.logEventsCounter);
    s->log.portMap[s->log.portMap.size() - 1 - port / 8] |= static_cast<u8>(1u << port % 8);
}

void congestion_agent::log(CongestionLogEventCA e, mad::time_point now) {
    auto* const c = std::get_if<ca_part>(&of_kind_);
    if (!c) return;
    e.timestamp = timestamp(now);
    put_first(c->log.congestionLogEvent, e);
    count_up(c->log.thresholdEventCounter);
    c->log.thresholdCongestionEventMap |= static_cast<u16>(1u << e.SL);
}

response congestion_agents::answer(u32 node, unsigned port, const server::request& r, mad::time_point now) {
    if (is_absent_[node]) return response::error(status::unsupported_method);
    return at(node, port).answer(r, now);
}

congestion_agent& congestion_agents::at(u32 node, unsigned port) {
    const sim::node& n = topology_.nodes[node];
    const u64 key = u64{node} << 8 | (n.is_switch() ? 0 : port);
    return agents_.try_emplace(key, n, CCKey_).first->second;
}

} // namespace comad::transports::sim
