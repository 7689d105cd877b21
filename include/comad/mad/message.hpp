// SPDX-License-Identifier: MIT
// message.hpp - building a request MAD, recognising its reply, judging the reply's status. Bytes in, facts out: no I/O.
#pragma once
#include <comad/iba/enums.hpp>
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
};

/// The name of a method in messages: `MAD_METHOD_GET`, ... (IBA 13.4.5).
constexpr std::string_view method_constant(iba::Method method) noexcept {
    switch (method) {
    case iba::Method::Get: return "MAD_METHOD_GET";
    case iba::Method::Set: return "MAD_METHOD_SET";
    case iba::Method::Send: return "MAD_METHOD_SEND";
    case iba::Method::Trap: return "MAD_METHOD_TRAP";
    case iba::Method::Report: return "MAD_METHOD_REPORT";
    case iba::Method::TrapRepress: return "MAD_METHOD_TRAP_REPRESS";
    default: return "MAD_METHOD_??";
    }
}

/// The management class that `kind` has on `path`.
iba::MgmtClass class_on(const rpc_kind& kind, const any_path& path) noexcept;
/// Where the payload begins in a MAD of this management class, in bytes (IBA 13.4.2, 14.2.1, 15.2.1, 16.1.1).
std::size_t payload_offset(iba::MgmtClass) noexcept;

/// Writes a request with a zero payload and a zero transaction ID into 256 bytes; returns where the payload goes.
u8* write_request(u8* mad, const rpc_kind& kind, const any_path& path, u32 attributeModifier) noexcept;

u32 low_tid(const u8* mad) noexcept;
/// Overwrites the low 32 bits of the transaction ID. The high 32 belong to the transport: kernels put an agent's number there.
void set_low_tid(u8* mad, u32 tid) noexcept;

/// How a received MAD relates to a request with the same low 32 TID bits (C13-19.1.1; the response bit, method and
/// attribute are checked too, so that a request that carries our number is never taken for a reply).
enum class match : u8 { reply, wrong_size, not_a_response, wrong_version, wrong_class, wrong_method, wrong_attribute };
match match_reply(const u8* request, std::span<const u8> reply) noexcept;

/// The 15 or 16 status bits of a reply: directed routes keep their D bit apart (IBA 14.2.1.2). Precondition: 24 bytes.
u16 status_of(const u8* mad) noexcept;

/// What a status means: nothing if it is 0, else status or class_status.
std::optional<errc> judge(u16 status) noexcept;
/// `busy`, `unsupported method`, ... for the common status bits (IBA 13.4.7).
std::string status_text(u16 status);

} // namespace comad::mad
