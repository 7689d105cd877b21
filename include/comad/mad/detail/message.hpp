// SPDX-License-Identifier: MIT
// message.hpp - building a request MAD, recognising its reply, judging the reply's status. Bytes in, facts out: no I/O.
#pragma once
#include <comad/iba/detail/enums.hpp>
#include <comad/iba/types.hpp>
#include <comad/mad/error.hpp>
#include <comad/mad/path.hpp>

#include <optional>
#include <span>
#include <string_view>

namespace comad::mad {

/// What one kind of RPC puts into the MAD header; static storage, one per (method, attribute).
struct rpc_kind {
    iba::MgmtClass mgmt_class; ///< of a LID-routed path; SubnLID becomes SubnDirected on a directed route
    u8 class_version;
    iba::Method method;
    u16 attributeID;
    bool expects_reply;
    u32 OUI = 0; ///< of the vendor classes that tell it
};

/// True if the reply to this method may be a table: several MADs put together (IBA 13.6, 15.2.2).
constexpr bool is_table_method(iba::Method method) noexcept {
    return method == iba::Method::GetTable || method == iba::Method::GetTraceTable || method == iba::Method::GetMulti;
}

/// The name of a method in messages: `MAD_METHOD_GET`, ... (IBA 13.4.5).
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

/// The method that answers this one (IBA 13.4.5, 15.2.2); nothing of responses, Send and TrapRepress, which have no answer.
std::optional<iba::Method> response_method(iba::Method method) noexcept;
/// True of a MAD that answers another: the response bit, TrapRepress, and in baseboard management the bit of the
/// attribute modifier that says so. As Linux tells them apart (ib_response_mad()).
bool is_response(std::span<const u8> mad) noexcept;

/// The management class that `kind` has on `path`.
iba::MgmtClass class_on(const rpc_kind& kind, const any_path& path) noexcept;
/// Where the payload begins in a MAD of this management class, in bytes (IBA 13.4.2, 14.2.1, 15.2.1, 16.1.1, A10.4). The
/// attribute matters in congestion control alone.
constexpr std::size_t payload_offset(iba::MgmtClass mgmt_class, u16 attributeID = 0) noexcept {
    constexpr u16 congestion_log = 0x0013;
    if (mgmt_class == iba::MgmtClass::SubnAdm) return 56;
    if (mgmt_class == iba::MgmtClass::CommMgt || iba::is_vendor(mgmt_class)) return 24;
    if (mgmt_class == iba::MgmtClass::CongestionControl && attributeID == congestion_log) return 32;
    return iba::is_vendor_oui(mgmt_class) ? 40 : 64;
}

/// The classes whose MADs have an RMPP header: the SA's, device administration's, BIS' and those of vendors with OUI
/// (Linux, ib_is_mad_class_rmpp(), device management aside, of whose header the IBA has nothing of RMPP in it).
constexpr bool has_rmpp(iba::MgmtClass mgmt_class) noexcept {
    return mgmt_class == iba::MgmtClass::SubnAdm || mgmt_class == iba::MgmtClass::DevAdm ||
           mgmt_class == iba::MgmtClass::BIS || iba::is_vendor_oui(mgmt_class);
}
/// True of a MAD of a transfer (IBA 13.6), and of a message that was put together from one or will be sent by one: its
/// class has RMPP, RMPPFlags.Active is set, and all headers are there.
bool is_rmpp(std::span<const u8> message) noexcept;

/// Writes a request with a zero payload and a zero transaction ID into 256 bytes; returns where the payload goes.
/// `component_mask`: of a request to the SA.
u8* write_request(u8* mad, const rpc_kind& kind, const any_path& path, u32 attributeModifier,
                  u64 component_mask = 0) noexcept;

u32 low_tid(const u8* mad) noexcept;
/// Overwrites the low 32 bits of the transaction ID. The high 32 belong to the transport: kernels put an agent's number there.
void set_low_tid(u8* mad, u32 tid) noexcept;

/// What every reply to one request has in common, as words of the wire: three masked comparisons tell a reply from anything
/// else that carries our transaction ID.
struct reply_pattern {
    u64 header;    ///< the first eight bytes
    u64 attribute; ///< the eight from the attribute on
    u64 whence;    ///< of a directed route the first eight bytes of its initial path; else the LID that was asked
};
/// Precondition: a whole request, as it was sent on `path`, of a method that has a response.
reply_pattern pattern_of_reply(const u8* request, const any_path& path) noexcept;

/// How a received MAD relates to a request with the same low 32 TID bits (C13-19.1.1, and what else a reply repeats, so that
/// neither a request that carries our number nor an answer to another request of ours is taken for the reply).
enum class match : u8 {
    reply,
    wrong_size,
    not_a_response,
    wrong_version,
    wrong_class,
    wrong_method,
    wrong_attribute,
    wrong_modifier,
    wrong_direction, ///< a directed route that does not return
    wrong_route,     ///< it does not come back by the route, or from the LID, that was asked
};
/// `is_table`: the reply is one or more MADs put together (IBA 13.6), and may have any length that has a header. `SLID`: where
/// it comes from, 0 where the transport does not say; a reply comes from the LID that was asked (IBA 13.5.4).
match match_reply(const reply_pattern&, std::span<const u8> reply, iba::lid SLID = {}, bool is_table = false) noexcept;

/// Returns whether a reply returned by the whole directed route. The pattern contains only the first hops of the route.
bool return_path_matches(const IBDRPath& route, std::span<const u8> reply) noexcept;

/// What a successful reply with one of match::reply does not repeat of its request although it must, as one clause
/// (`its PortSelect is 2, not 1`); empty: nothing. The class version (IBA 13.4.2), the OUI of a vendor class (IBA 16.5), and
/// in performance management PortSelect (IBA 16.1.3). A PMA may return an empty attribute to a Set: PortSelect 0.
/// Precondition: a whole request, and a reply of status 0 with a MAD header at least; fields that it is too short for are not
/// compared.
std::string broken_echo(std::span<const u8> request, std::span<const u8> reply);

/// The 15 or 16 status bits of a reply: directed routes keep their D bit apart (IBA 14.2.1.2). Precondition: 24 bytes.
u16 status_of(const u8* mad) noexcept;

/// What a status means: nothing if it is 0, else status or class_status.
std::optional<errc> judge(u16 status) noexcept;
/// `busy`, `unsupported method`, ... for the common status bits (IBA 13.4.7).
std::string status_text(u16 status);

} // namespace comad::mad
