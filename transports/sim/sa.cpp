// SPDX-License-Identifier: MIT
// sa.cpp - queries, and services.
#include "sa.hpp"

#include <comad/iba/class_port_info.hpp>
#include <comad/iba/registry.hpp>

namespace comad::transports::sim {
namespace {

using iba::Method;
using iba::SAStatus;
using iba::sa::ServiceRecord;
using server::response;
namespace status = server::status;

response class_port_info() {
    iba::ClassPortInfo info;
    info.baseVersion = 1;
    info.classVersion = 2;
    info.capabilityMask =
        value(iba::SACapability::IsSubnetOptionalRecordsSupported) | value(iba::SACapability::IsUDMulticastSupported);
    info.respTimeValue = 18;
    return response::of(info);
}

} // namespace

response administrator::answer(const server::request& r, mad::time_point now) {
    const iba::MADHeader& h = r.header;
    if (!iba::is_legal_request(h.mgmtClass, h.classVersion, h.method, h.attributeID))
        return response::error(status::unsupported_attribute);
    if (h.attributeID == iba::attribute_id<iba::ClassPortInfo>) return class_port_info();
    const iba::record_info* record = record_of(h.attributeID);
    if (!record) return response::error(status::unsupported_attribute);
    if ((r.component_mask() & ~iba::all_components(*record)) != 0) return response::error(SAStatus::ERR_REQ_INVALID);

    const bool is_service = h.attributeID == iba::attribute_id<ServiceRecord>;
    switch (h.method) {
    case Method::Get:
    case Method::GetTable: return answer_query(r, *record, now);
    case Method::Set: return is_service ? set_service(r, now) : response::error(status::unsupported_attribute);
    case Method::Delete: return is_service ? remove_service(r, now) : response::error(status::unsupported_attribute);
    default: return response::error(status::unsupported_attribute);
    }
}

response administrator::answer_query(const server::request& r, const iba::record_info& record, mad::time_point now) {
    collector found(record, r.component_mask(), r.data);
    if (find_records(of_, r.header.attributeID, found) == refusal::too_few_components)
        return response::error(SAStatus::ERR_REQ_INSUFFICIENT_COMPONENTS);
    if (r.header.attributeID == iba::attribute_id<ServiceRecord>) services_.find(found, now);
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

} // namespace comad::transports::sim
