// SPDX-License-Identifier: MIT
// message.hpp - builds request MADs, recognizes their replies, and evaluates the status of replies. It does no I/O.
#pragma once
#include <comad/iba/detail/enums.hpp>
#include <comad/iba/types.hpp>
#include <comad/mad/error.hpp>
#include <comad/mad/path.hpp>

#include <optional>
#include <span>
#include <string_view>

namespace comad::mad {

/// The values of the MAD header for one kind of RPC. In static storage, one object per method and attribute.
struct rpc_kind {
    iba::MgmtClass mgmt_class; ///< management class on a LID-routed path; SubnLID becomes SubnDirected on a directed
                               ///< route
    u8 class_version;
    iba::Method method;
    u16 attributeID;
    bool expects_reply;
    u32 OUI = 0; ///< OUI, for the vendor classes with OUI
};

/// Returns true if the reply to this method may be a table: a message of several MADs (IBA 13.6, 15.2.2).
constexpr bool is_table_method(iba::Method method) noexcept {
    return method == iba::Method::GetTable || method == iba::Method::GetTraceTable || method == iba::Method::GetMulti;
}

/// Returns the name of a method in messages: `MAD_METHOD_GET`, ... (IBA 13.4.5).
constexpr std::string_view method_constant(iba::Method method) noexcept {
    switch (method) {
    case iba::Method::Get: return "MAD_METHOD_GET";
    case iba::Method::Set: return "MAD_METHOD_SET";
    case iba::Method::Send: return "MAD_METHOD_SEND";
    case iba::Method::Trap: return "MAD_METHOD_TRAP";
    case iba::Method::Report: return "MAD_METHOD_REPORT";
    case iba::Method::TrapRepress: return "MAD_METHOD_TRAP_REPRESS";
    case iba::Method::GetTable: return "MAD_METHOD_GET_TABLE";
    case iba::Method::GetTraceTable: return "MAD_METHOD_GET_TRACE_TABLE";
    case iba::Method::GetMulti: return "MAD_METHOD_GET_MULTI";
    case iba::Method::Delete: return "MAD_METHOD_DELETE";
    case iba::Method::GetResp: return "MAD_METHOD_GET_RESP";
    case iba::Method::ReportResp: return "MAD_METHOD_REPORT_RESP";
    case iba::Method::GetTableResp: return "MAD_METHOD_GET_TABLE_RESP";
    case iba::Method::GetMultiResp: return "MAD_METHOD_GET_MULTI_RESP";
    case iba::Method::DeleteResp: return "MAD_METHOD_DELETE_RESP";
    default: return "MAD_METHOD_??";
    }
}

/// Returns the method of the reply to this one (IBA 13.4.5, 15.2.2); nullopt for responses, Send and TrapRepress,
/// which have no reply.
std::optional<iba::Method> response_method(iba::Method method) noexcept;
/// Returns true if the MAD is a reply: it has the response bit, is a TrapRepress, or, in baseboard management, has the
/// response bit of the attribute modifier. The same rule as in Linux (ib_response_mad()).
bool is_response(std::span<const u8> mad) noexcept;

/// Returns the management class of `kind` on `path`.
iba::MgmtClass class_on(const rpc_kind& kind, const any_path& path) noexcept;
/// Returns the offset of the payload, in bytes, in a MAD of this management class (IBA 13.4.2, 14.2.1, 15.2.1, 16.1.1,
/// A10.4). The attribute matters only in congestion control.
constexpr std::size_t payload_offset(iba::MgmtClass mgmt_class, u16 attributeID = 0) noexcept {
    constexpr u16 congestion_log = 0x0013;
    if (mgmt_class == iba::MgmtClass::SubnAdm) return 56;
    if (mgmt_class == iba::MgmtClass::CommMgt || iba::is_vendor(mgmt_class)) return 24;
    if (mgmt_class == iba::MgmtClass::CongestionControl && attributeID == congestion_log) return 32;
    return iba::is_vendor_oui(mgmt_class) ? 40 : 64;
}

/// Returns whether MADs of this class have an RMPP header: SA, device administration, BIS, and vendor classes with
/// OUI. As ib_is_mad_class_rmpp() of Linux, but without device management, whose header has no RMPP in the IBA.
constexpr bool has_rmpp(iba::MgmtClass mgmt_class) noexcept {
    return mgmt_class == iba::MgmtClass::SubnAdm || mgmt_class == iba::MgmtClass::DevAdm ||
           mgmt_class == iba::MgmtClass::BIS || iba::is_vendor_oui(mgmt_class);
}
/// Returns true for a MAD of an RMPP transfer (IBA 13.6), and for a complete message that was received or will be sent
/// as one: its class has RMPP, RMPPFlags.Active is set, and all headers are present.
bool is_rmpp(std::span<const u8> message) noexcept;

/// Writes a request with a zero payload and a zero transaction ID into 256 bytes. Returns the address of the payload.
/// `component_mask`: for requests to the SA.
u8* write_request(u8* mad, const rpc_kind& kind, const any_path& path, u32 attributeModifier,
                  u64 component_mask = 0) noexcept;

/// Returns the low 32 bits of the transaction ID.
u32 low_tid(const u8* mad) noexcept;
/// Overwrites the low 32 bits of the transaction ID. The high 32 bits belong to the transport: kernels store an agent
/// number there.
void set_low_tid(u8* mad, u32 tid) noexcept;

/// The values that every reply to one request has in common, as words of the MAD. Three masked comparisons distinguish
/// a reply from any other MAD with our transaction ID.
struct reply_pattern {
    u64 header;    ///< the first eight bytes
    u64 attribute; ///< the eight bytes that start with the attribute ID
    u64 whence;    ///< for a directed route the first eight bytes of its initial path; else the LID of the target
};
/// Returns the pattern of the replies to a request. Precondition: a whole request, as sent on `path`, of a method that
/// has a reply.
reply_pattern pattern_of_reply(const u8* request, const any_path& path) noexcept;

/// The result of comparing a received MAD with a request that has the same low 32 TID bits (C13-19.1.1). A reply
/// repeats further fields of its request. They exclude requests with our number, and replies to other requests of
/// ours.
enum class match : u8 {
    reply,
    wrong_size,
    not_a_response,
    wrong_version,
    wrong_class,
    wrong_method,
    wrong_attribute,
    wrong_modifier,
    wrong_direction, ///< the directed route does not return
    wrong_route,     ///< the MAD did not come back on the route of the request, or came from another LID than the
                     ///< target
};
/// Compares a MAD with the pattern of a reply. `is_table`: the reply is a message of one or more MADs (IBA 13.6), and
/// may have any length that includes a header. `SLID`: source of the MAD, 0 if the transport does not know it. A reply
/// comes from the LID of the target (IBA 13.5.4).
match match_reply(const reply_pattern&, std::span<const u8> reply, iba::lid SLID = {}, bool is_table = false) noexcept;

/// Returns whether a reply returned by the whole directed route. The pattern contains only the first hops of the route.
bool return_path_matches(const IBDRPath& route, std::span<const u8> reply) noexcept;

/// Returns which field of a successful reply with match::reply does not repeat the request although it must, as one
/// clause (`its PortSelect is 2, not 1`); empty if all fields do. It compares the class version (IBA 13.4.2), the OUI
/// of a vendor class (IBA 16.5), and PortSelect in performance management (IBA 16.1.3). A PMA may reply to a Set with
/// an empty attribute, PortSelect 0. Precondition: a whole request, and a reply with status 0 and at least a MAD
/// header. Fields beyond the end of the reply are not compared.
std::string broken_echo(std::span<const u8> request, std::span<const u8> reply);

/// Returns the 15 or 16 status bits of a reply. The D bit of directed routes is not included (IBA 14.2.1.2).
/// Precondition: 24 bytes.
u16 status_of(const u8* mad) noexcept;

/// Returns the error for a status: nullopt if it is 0, else status or class_status.
std::optional<errc> evaluate(u16 status) noexcept;
/// Returns `busy`, `unsupported method`, ... for the common status bits (IBA 13.4.7).
std::string status_text(u16 status);

} // namespace comad::mad
