// SPDX-License-Identifier: MIT
// rpcs.hpp - the RPCs of the IBA by name, as a base of all classes that make RPCs: MADSchedule, blocking_transactor and SATransactor.
// It depends on none of these classes.
#pragma once
#include <comad/coro/detail/rpc.hpp>
#include <comad/iba/detail/attribute.hpp>
#include <comad/iba/detail/sa/paths.hpp>
#include <comad/iba/notice.hpp>
#include <comad/iba/query.hpp>

namespace comad::coro {

/// For the last template argument of an RPC: returns the reply's header, path and source with the payload.
inline constexpr bool with_header = true;

namespace detail {

/// The rpc_kind of an attribute, a class and a method.
template <class T, iba::MgmtClass Class, iba::Method M, u32 OUI = 0>
inline constexpr mad::rpc_kind kind_of{Class,
                                       iba::use_of<T>(Class).class_version,
                                       M,
                                       iba::attribute_of<T>::attributeID,
                                       M != iba::Method::Send&& M != iba::Method::TrapRepress&& M != iba::Method::Trap,
                                       OUI};

/// Returns the first vendor class that has the attribute.
template <class T> consteval iba::attribute_use vendor_use() {
    for (const iba::attribute_use& use : iba::attribute_of<T>::uses)
        if (iba::is_vendor(use.mgmt_class) || iba::is_vendor_oui(use.mgmt_class)) return use;
    return {iba::MgmtClass{}, 0, 0};
}

/// Returns the first class in which T has the method.
template <class T, iba::Method M> consteval iba::MgmtClass first_class() {
    for (const iba::attribute_use& use : iba::attribute_of<T>::uses)
        if (use.allows(M)) return use.mgmt_class;
    return {};
}

} // namespace detail

/// All RPCs by name. Each RPC takes a value, or a type for a request of zeros. It returns the payload of the reply as
/// mad::result<T>, or with `with_header` as mad::result<reply<T>>. Self decides how it returns the result:
/// MADSchedule returns an awaitable, blocking_transactor the result itself.
///
/// Paths are copied. GMPs need a LID-routed path. Requests to the SA go to sa_path() unless the caller passes a path.
/// Modifier: attributeModifier in host byte order (for PortInfo, the port number).
/// Errors:   timed_out after all attempts; status and class_status, after BUSY and REDIRECT were handled;
///           malformed_reply, send_failed, transport_failed, canceled. If a value in the request does not fit its
///           field, the error is out_of_range, and nothing is sent. RPCs never throw.
/// Legality: an RPC that the IBA does not define for an attribute does not compile.
///
/// Self must have call<T, Header>(request), call<T, Header>(request, payload), call_table<Request, Record,
/// Header>(request, payload) and sa_path().
template <class Self> class rpcs {
    using C = iba::MgmtClass;
    using M = iba::Method;

public:
    // ---- subnet management: LID-routed or directed ---------------------------------------------------------------------

    /// Reads an attribute of a node.
    template <iba::attribute T, bool Header = false>
        requires iba::allows<T, C::SubnLID, M::Get>
    auto SubnGet(const mad::any_path& path, u32 modifier = 0, rpc_options options = {}) {
        return request_rpc<T, C::SubnLID, M::Get, Header>(path, modifier, options);
    }
    template <iba::attribute T, bool Header = false>
        requires iba::allows<T, C::SubnLID, M::Get>
    auto SubnGet(const T& payload, const mad::any_path& path, u32 modifier = 0, rpc_options options = {}) {
        return request_rpc<T, C::SubnLID, M::Get, Header>(payload, path, modifier, options);
    }
    /// Writes to the fabric. Retried after a timeout like a Get. Returns the attribute as the node holds it after the
    /// write.
    template <iba::attribute T, bool Header = false>
        requires iba::allows<T, C::SubnLID, M::Set>
    auto SubnSet(const T& payload, const mad::any_path& path, u32 modifier = 0, rpc_options options = {}) {
        return request_rpc<T, C::SubnLID, M::Set, Header>(payload, path, modifier, options);
    }

    // ---- performance management ----------------------------------------------------------------------------------------

    /// Reads performance counters of a port.
    template <iba::attribute T, bool Header = false>
        requires iba::allows<T, C::Performance, M::Get>
    auto PerformanceGet(const mad::IBPath& path, u32 modifier = 0, rpc_options options = {}) {
        return request_rpc<T, C::Performance, M::Get, Header>(path, modifier, options);
    }
    template <iba::attribute T, bool Header = false>
        requires iba::allows<T, C::Performance, M::Get>
    auto PerformanceGet(const T& payload, const mad::IBPath& path, u32 modifier = 0, rpc_options options = {}) {
        return request_rpc<T, C::Performance, M::Get, Header>(payload, path, modifier, options);
    }
    /// Writes counters or sampling controls of a port.
    template <iba::attribute T, bool Header = false>
        requires iba::allows<T, C::Performance, M::Set>
    auto PerformanceSet(const T& payload, const mad::IBPath& path, u32 modifier = 0, rpc_options options = {}) {
        return request_rpc<T, C::Performance, M::Set, Header>(payload, path, modifier, options);
    }

    // ---- subnet administration -----------------------------------------------------------------------------------------

    /// Returns the one record that matches. The error is class_status ERR_NO_RECORDS if no record matches, and
    /// ERR_TOO_MANY_RECORDS if several match.
    template <iba::attribute R, bool Header = false>
        requires iba::allows<R, C::SubnAdm, M::Get>
    auto SubnAdmGet(const iba::query<R>& query, const mad::IBPath& path, rpc_options options = {}) {
        return query_sa<R, M::Get, Header>(query, path, options);
    }
    template <iba::attribute R, bool Header = false>
        requires iba::allows<R, C::SubnAdm, M::Get>
    auto SubnAdmGet(const iba::query<R>& query = {}, rpc_options options = {}) {
        return query_sa<R, M::Get, Header>(query, self().sa_path(), options);
    }
    /// Returns all records that match as a std::vector.
    template <iba::attribute R, bool Header = false>
        requires iba::allows<R, C::SubnAdm, M::GetTable>
    auto SubnAdmGetTable(const iba::query<R>& query, const mad::IBPath& path, rpc_options options = {}) {
        return query_sa_table<R, R, M::GetTable, Header>(query, path, options);
    }
    template <iba::attribute R, bool Header = false>
        requires iba::allows<R, C::SubnAdm, M::GetTable>
    auto SubnAdmGetTable(const iba::query<R>& query = {}, rpc_options options = {}) {
        return query_sa_table<R, R, M::GetTable, Header>(query, self().sa_path(), options);
    }
    /// Adds or changes a record in the tables of the SA.
    template <iba::attribute R, bool Header = false>
        requires iba::allows<R, C::SubnAdm, M::Set>
    auto SubnAdmSet(const iba::query<R>& record, rpc_options options = {}) {
        return query_sa<R, M::Set, Header>(record, self().sa_path(), options);
    }
    /// Removes a record from the tables of the SA.
    template <iba::attribute R, bool Header = false>
        requires iba::allows<R, C::SubnAdm, M::Delete>
    auto SubnAdmDelete(const iba::query<R>& record, rpc_options options = {}) {
        return query_sa<R, M::Delete, Header>(record, self().sa_path(), options);
    }
    /// Returns paths between groups of ports as a std::vector of PathRecord.
    template <bool Header = false>
    auto SubnAdmGetMulti(const iba::query<iba::sa::MultiPathRecord>& query, rpc_options options = {}) {
        using iba::sa::MultiPathRecord;
        return query_sa_table<MultiPathRecord, iba::sa::PathRecord, M::GetMulti, Header>(query, self().sa_path(),
                                                                                         options);
    }
    /// Returns the nodes along the path of a PathRecord as a std::vector of TraceRecord.
    template <bool Header = false>
    auto SubnAdmGetTraceTable(const iba::query<iba::sa::PathRecord>& query, rpc_options options = {}) {
        using iba::sa::TraceRecord;
        return query_sa_table<iba::sa::PathRecord, TraceRecord, M::GetTraceTable, Header, TraceRecord>(
            query, self().sa_path(), options);
    }

    // ---- vendors -------------------------------------------------------------------------------------------------------

    /// Reads a vendor attribute. The attribute determines the class and the OUI.
    template <iba::attribute T, bool Header = false>
        requires(detail::vendor_use<T>().allows(M::Get))
    auto VendGet(const mad::IBPath& path, u32 modifier = 0, rpc_options options = {}) {
        return query_vendor<T, M::Get, Header>(T{}, path, modifier, options);
    }
    template <iba::attribute T, bool Header = false>
        requires(detail::vendor_use<T>().allows(M::Get))
    auto VendGet(const T& payload, const mad::IBPath& path, u32 modifier = 0, rpc_options options = {}) {
        return query_vendor<T, M::Get, Header>(payload, path, modifier, options);
    }
    /// Writes a vendor attribute to the fabric.
    template <iba::attribute T, bool Header = false>
        requires(detail::vendor_use<T>().allows(M::Set))
    auto VendSet(const T& payload, const mad::IBPath& path, u32 modifier = 0, rpc_options options = {}) {
        return query_vendor<T, M::Set, Header>(payload, path, modifier, options);
    }

    // ---- baseboard and device management, SNMP tunneling, communication management ----------------------------------

    /// Reads a baseboard management attribute.
    template <iba::attribute T, bool Header = false>
        requires iba::allows<T, C::BM, M::Get>
    auto BMGet(const mad::IBPath& path, u32 modifier = 0, rpc_options options = {}) {
        return request_rpc<T, C::BM, M::Get, Header>(path, modifier, options);
    }
    /// Writes a baseboard management attribute to the fabric.
    template <iba::attribute T, bool Header = false>
        requires iba::allows<T, C::BM, M::Set>
    auto BMSet(const T& payload, const mad::IBPath& path, u32 modifier = 0, rpc_options options = {}) {
        return request_rpc<T, C::BM, M::Set, Header>(payload, path, modifier, options);
    }
    /// Reads a device management attribute.
    template <iba::attribute T, bool Header = false>
        requires iba::allows<T, C::DevMgt, M::Get>
    auto DevMgtGet(const mad::IBPath& path, u32 modifier = 0, rpc_options options = {}) {
        return request_rpc<T, C::DevMgt, M::Get, Header>(path, modifier, options);
    }
    /// Writes a device management attribute to the fabric.
    template <iba::attribute T, bool Header = false>
        requires iba::allows<T, C::DevMgt, M::Set>
    auto DevMgtSet(const T& payload, const mad::IBPath& path, u32 modifier = 0, rpc_options options = {}) {
        return request_rpc<T, C::DevMgt, M::Set, Header>(payload, path, modifier, options);
    }
    /// Reads an SNMP tunneling attribute.
    template <iba::attribute T, bool Header = false>
        requires iba::allows<T, C::SNMP, M::Get>
    auto SNMPGet(const mad::IBPath& path, u32 modifier = 0, rpc_options options = {}) {
        return request_rpc<T, C::SNMP, M::Get, Header>(path, modifier, options);
    }
    /// Sends without a reply. Returns the sent payload when the MAD has been sent.
    template <iba::attribute T, bool Header = false>
        requires iba::allows<T, C::SNMP, M::Send>
    auto SNMPSend(const T& payload, const mad::IBPath& path, u32 modifier = 0, rpc_options options = {}) {
        return request_rpc<T, C::SNMP, M::Send, Header>(payload, path, modifier, options);
    }
    /// Reads a communication management attribute.
    template <iba::attribute T, bool Header = false>
        requires iba::allows<T, C::CommMgt, M::Get>
    auto CommMgtGet(const mad::IBPath& path, u32 modifier = 0, rpc_options options = {}) {
        return request_rpc<T, C::CommMgt, M::Get, Header>(path, modifier, options);
    }
    /// Writes a communication management attribute to the fabric.
    template <iba::attribute T, bool Header = false>
        requires iba::allows<T, C::CommMgt, M::Set>
    auto CommMgtSet(const T& payload, const mad::IBPath& path, u32 modifier = 0, rpc_options options = {}) {
        return request_rpc<T, C::CommMgt, M::Set, Header>(payload, path, modifier, options);
    }
    /// Sends without a reply. Returns the sent payload when the MAD has been sent.
    template <iba::attribute T, bool Header = false>
        requires iba::allows<T, C::CommMgt, M::Send>
    auto CommMgtSend(const T& payload, const mad::IBPath& path, u32 modifier = 0, rpc_options options = {}) {
        return request_rpc<T, C::CommMgt, M::Send, Header>(payload, path, modifier, options);
    }

    // ---- congestion control: the path contains its key -------------------------------------------------------------

    /// Reads a congestion control attribute.
    template <iba::attribute T, bool Header = false>
        requires iba::allows<T, C::CongestionControl, M::Get>
    auto CongestionControlGet(const mad::IBPath& path, u32 modifier = 0, rpc_options options = {}) {
        return request_rpc<T, C::CongestionControl, M::Get, Header>(path, modifier, options);
    }
    /// Writes a congestion control attribute to the fabric.
    template <iba::attribute T, bool Header = false>
        requires iba::allows<T, C::CongestionControl, M::Set>
    auto CongestionControlSet(const T& payload, const mad::IBPath& path, u32 modifier = 0, rpc_options options = {}) {
        return request_rpc<T, C::CongestionControl, M::Set, Header>(payload, path, modifier, options);
    }

    // ---- notices -------------------------------------------------------------------------------------------------------

    /// Sends a trap without waiting for the TrapRepress. Returns the notice when it has been sent.
    template <iba::attribute N, C Class = detail::first_class<N, M::Trap>(), bool Header = false>
        requires iba::allows<N, Class, M::Trap>
    auto Trap(const N& notice, const mad::any_path& path, rpc_options options = {}) {
        return request_rpc<N, Class, M::Trap, Header>(notice, path, 0, options);
    }
    /// Sends a TrapRepress, which has no reply.
    template <iba::attribute N, C Class = detail::first_class<N, M::TrapRepress>(), bool Header = false>
        requires iba::allows<N, Class, M::TrapRepress>
    auto TrapRepress(const N& notice, const mad::any_path& path, rpc_options options = {}) {
        return request_rpc<N, Class, M::TrapRepress, Header>(notice, path, 0, options);
    }
    /// Sends a Report. Returns the payload of the ReportResp.
    template <bool Header = false>
    auto Report(const iba::Notice& notice, const mad::IBPath& path, rpc_options options = {}) {
        return request_rpc<iba::Notice, C::SubnAdm, M::Report, Header>(notice, path, 0, options);
    }

protected:
    rpcs() = default;
    ~rpcs() = default;

private:
    Self& self() noexcept { return static_cast<Self&>(*this); }

    template <class T, C Class, M Method, bool Header>
    auto request_rpc(const mad::any_path& path, u32 modifier, const rpc_options& options) {
        return self().template call<T, Header>(
            rpc_request{detail::kind_of<T, Class, Method>, path, modifier, 0, options});
    }
    template <class T, C Class, M Method, bool Header>
    auto request_rpc(const T& payload, const mad::any_path& path, u32 modifier, const rpc_options& options) {
        return self().template call<T, Header>(
            rpc_request{detail::kind_of<T, Class, Method>, path, modifier, 0, options}, payload);
    }
    template <class T, M Method, bool Header>
    auto query_vendor(const T& payload, const mad::any_path& path, u32 modifier, const rpc_options& options) {
        constexpr iba::attribute_use use = detail::vendor_use<T>();
        return self().template call<T, Header>(
            rpc_request{detail::kind_of<T, use.mgmt_class, Method, use.OUI>, path, modifier, 0, options}, payload);
    }
    template <class R, M Method, bool Header>
    auto query_sa(const iba::query<R>& query, const mad::any_path& path, const rpc_options& options) {
        return self().template call<R, Header>(
            rpc_request{detail::kind_of<R, C::SubnAdm, Method>, path, 0, query.component_mask(), options},
            query.value());
    }
    /// Named: the type whose attributeID the request has.
    template <class Request, class Record, M Method, bool Header, class Named = Request>
    auto query_sa_table(const iba::query<Request>& query, const mad::any_path& path, const rpc_options& options) {
        return self().template call_table<Request, Record, Header>(
            rpc_request{detail::kind_of<Named, C::SubnAdm, Method>, path, 0, query.component_mask(), options},
            query.value());
    }
};

} // namespace comad::coro
