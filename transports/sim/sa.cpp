// SPDX-License-Identifier: MIT
// sa.cpp - replies to queries, and processes the records that users create: services, memberships, GUIDs, subscriptions.
#include "sa.hpp"

#include "addressed_ports.hpp"
#include "paths.hpp"
#include <comad/iba/detail/registry.hpp>
#include <comad/server/detail/class_port_info.hpp>

namespace comad::transports::sim {
namespace {

using iba::Method;
using iba::SAStatus;
using iba::sa::ServiceRecord;
using server::response;
namespace status = server::status;

response class_port_info() {
    iba::ClassPortInfo info = server::class_port_info(2);
    info.capabilityMask = value(iba::SACapability::IsSubnetOptionalRecordsSupported) |
                          value(iba::SACapability::IsUDMulticastSupported) |
                          value(iba::SACapability::IsMultiPathSupported);
    return response::of(info);
}

} // namespace

response administrator::answer(const server::request& r, mad::time_point now) {
    const iba::MADHeader& h = r.header;
    if (!iba::is_legal_request(h.mgmtClass, h.classVersion, h.method, h.attributeID))
        return response::error(status::unsupported_attribute);
    if (h.attributeID == iba::attribute_id<iba::ClassPortInfo>) return class_port_info();
    if (h.attributeID == iba::attribute_id<iba::InformInfo>) return subscribe(r);
    if (h.method == Method::GetMulti) return answer_multi(r);
    if (h.method == Method::GetTraceTable) return answer_trace(r);
    const iba::record_info* record = record_of(h.attributeID);
    if (!record) return response::error(status::unsupported_attribute);
    if ((r.component_mask() & ~iba::all_components(*record)) != 0) return response::error(SAStatus::ERR_REQ_INVALID);

    const bool is_query = h.method == Method::Get || h.method == Method::GetTable;
    return is_query ? answer_query(r, *record, now) : change(r, now);
}

response administrator::change(const server::request& r, mad::time_point now) {
    const bool is_set = r.header.method == Method::Set;
    switch (r.header.attributeID) {
    case iba::attribute_id<ServiceRecord>: return is_set ? set_service(r, now) : remove_service(r, now);
    case iba::attribute_id<iba::sa::MCMemberRecord>: return change_membership(r);
    case iba::attribute_id<iba::sa::GUIDInfoRecord>: return change_guids(r);
    default: return response::error(status::unsupported_attribute);
    }
}

response administrator::answer_query(const server::request& r, const iba::record_info& record, mad::time_point now) {
    collector found(record, r.component_mask(), r.data);
    if (find_records(of_, r.header.attributeID, found) == refusal::too_few_components)
        return response::error(SAStatus::ERR_REQ_INSUFFICIENT_COMPONENTS);
    if (r.header.attributeID == iba::attribute_id<ServiceRecord>) services_.find(found, now);
    if (r.header.attributeID == iba::attribute_id<iba::sa::MCMemberRecord>) groups_.find(found);
    if (r.header.attributeID == iba::attribute_id<iba::sa::InformInfoRecord>) subscriptions_.find(found);
    if (r.header.method == Method::GetTable) return response::table(found.take(), record.bytes);
    if (found.count() == 0) return response::error(SAStatus::ERR_NO_RECORDS);
    if (found.count() > 1) return response::error(SAStatus::ERR_TOO_MANY_RECORDS);
    return response::data(found.take());
}

response administrator::set_service(const server::request& r, mad::time_point now) {
    const auto wanted = r.payload<ServiceRecord>();
    if (services_.set(wanted, now) == services::outcome::denied) return response::error(SAStatus::ERR_REQ_DENIED);
    return response::of(wanted);
}

response administrator::remove_service(const server::request& r, mad::time_point now) {
    auto record = r.payload<ServiceRecord>();
    switch (services_.remove(record, now)) {
    case services::outcome::done: return response::of(record);
    case services::outcome::unknown: return response::error(SAStatus::ERR_NO_RECORDS);
    case services::outcome::denied: break;
    }
    return response::error(SAStatus::ERR_REQ_DENIED);
}

response administrator::change_membership(const server::request& r) {
    auto record = r.payload<iba::sa::MCMemberRecord>();
    const bool is_join = r.header.method == Method::Set;
    const groups::outcome done =
        is_join ? groups_.join(record, r.component_mask()) : groups_.leave(record, r.component_mask());
    if (done.status != SAStatus::None) return response::error(done.status);
    if (done.event) notify(*done.event, record.MGID);
    return response::of(record);
}

/// Changes GUIDs as OpenSM does (osm_sa_guidinfo_record.c). The reply contains the port's resulting GUIDs. A GUID is
/// not set if another port, or another entry of this port, has it.
response administrator::change_guids(const server::request& r) {
    using iba::sa::GUIDInfoRecord;
    constexpr u64 needed = iba::mask_of<&GUIDInfoRecord::LID> | iba::mask_of<&GUIDInfoRecord::blockNum>;
    if ((r.component_mask() & needed) != needed) return response::error(SAStatus::ERR_REQ_INSUFFICIENT_COMPONENTS);
    auto record = r.payload<GUIDInfoRecord>();
    const auto ports = addressed_ports(of_, &record.LID, nullptr);
    if (ports.empty()) return response::error(SAStatus::ERR_NO_RECORDS);
    const addressed_port& end = ports.front();
    constexpr u16 id = iba::attribute_id<iba::smp::GUIDInfo>;
    std::array<u8, 64> block;
    if (of_.get(end.at.node, end.at.port, id, record.blockNum, block) != 0)
        return response::error(SAStatus::ERR_NO_RECORDS);

    constexpr u64 first = iba::mask_of<&GUIDInfoRecord::blockNum> << 3; // after two reserved rows
    if (record.blockNum == 0 && (r.component_mask() & first) != 0) return response::error(SAStatus::ERR_REQ_INVALID);
    const bool is_set = r.header.method == Method::Set;
    for (unsigned i = 0; i < 8; ++i) {
        if ((r.component_mask() & first << i) == 0) continue;
        const u64 wanted = is_set ? value(record.GUIDInfo.GUIDBlock[i]) : 0;
        iba::gid GID;
        iba::store_be<u64>(GID.bytes.data(), of_.gid_prefix(end.at.node, end.at.port));
        iba::store_be<u64>(GID.bytes.data() + 8, wanted);
        if (!is_set || (wanted != 0 && !find_addressed_port(of_, GID)))
            iba::store_be<u64>(block.data() + i * 8, wanted);
    }
    of_.set(end.at.node, end.at.port, id, record.blockNum, block);
    of_.get(end.at.node, end.at.port, id, record.blockNum, block);
    iba::decode(record.GUIDInfo, block.data());
    return response::of(record);
}

response administrator::subscribe(const server::request& r) {
    const auto wanted = r.payload<iba::InformInfo>();
    const auto here = addressed_ports(of_, &r.source.SLID, nullptr);
    if (here.empty() || !subscriptions_.set(wanted, here.front().GID, r.source.SLID))
        return response::error(SAStatus::ERR_REQ_INVALID);
    return response::of(wanted);
}

response administrator::answer_multi(const server::request& r) {
    std::vector<u8> paths;
    const SAStatus refused = multi_path_records(of_, r.data, r.component_mask(), paths);
    if (refused != SAStatus::None) return response::error(refused);
    return response::table(std::move(paths), iba::wire_size<iba::sa::PathRecord>);
}

/// Replies to a request for TraceRecords, which contains a PathRecord and its component mask, as Intel's fabric manager expects.
response administrator::answer_trace(const server::request& r) {
    if (r.data.size() < iba::wire_size<iba::sa::PathRecord>) return response::error(status::invalid_value);
    std::vector<u8> hops;
    const SAStatus refused = trace_records(of_, r.data, r.component_mask(), hops);
    if (refused != SAStatus::None) return response::error(refused);
    return response::table(std::move(hops), iba::wire_size<iba::sa::TraceRecord>);
}

void administrator::notify(iba::TrapNumber what, const iba::gid& about) {
    const auto manager = of_.tables().manager();
    if (manager.node == topology::no_node) return;
    iba::Notice notice;
    notice.isGeneric = true;
    notice.noticeType = iba::NoticeType::SubnetManagement;
    notice.nodeType = iba::ProducerType::ClassManager;
    notice.trapNumber = what;
    notice.issuerLID = of_.graph().sm_lid;
    notice.issuerGID = gid_of(of_, manager);
    iba::NoticeTrap64 details;
    details.gidAddr = about;
    iba::encode(details, notice.dataDetails.data());
    notify(notice);
}

void administrator::notify(const iba::Notice& notice) {
    std::vector<report> more = subscriptions_.reports_of(notice);
    reports_.insert(reports_.end(), more.begin(), more.end());
}

} // namespace comad::transports::sim
