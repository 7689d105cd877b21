// SPDX-License-Identifier: MIT
// error.hpp - what a fabric can do to an RPC, as a value: who, what, why. Knows no schedule and no transport.
#pragma once
#include <comad/iba/detail/enums.hpp>
#include <comad/iba/detail/error.hpp>
#include <comad/iba/types.hpp>
#include <comad/mad/detail/time.hpp>
#include <comad/mad/path.hpp>

#include <boost/outcome/basic_result.hpp>
#include <boost/outcome/try.hpp>

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace comad::mad {

/// Why an operation failed.
enum class errc : u8 {
    timed_out, ///< no reply to any attempt
    status, ///< the reply's common status is not zero: busy, redirect, bad version, unsupported, bad attribute (IBA 13.4.7)
    class_status,      ///< the reply's class-specific status is not zero (SA: IBA 15.2.4)
    malformed_reply,   ///< a reply that is ours but cannot be decoded
    send_failed,       ///< the transport refused the MAD: sys_errno says why
    transport_failed,  ///< the transport is gone (device removed, server ended): sys_errno says why
    cancelled,         ///< its scope was cancelled
    path_not_found,    ///< the SA has no path to the target
    out_of_range,      ///< never sent: a value in the request has more bits than its field
    incomplete_path,   ///< never sent: the path has neither DLID, which an SM gives a port that it brings up, nor GRH
    not_in_port_table, ///< never sent: the local port does not have the path's P_Key or SGID (port_tables.hpp)
};

/// The rest of the story, allocated only when something failed.
struct error_detail {
    any_path path;                 ///< where the request went
    std::array<u8, 256> request{}; ///< the request as sent last, wire order; of out_of_range with values cut
    std::vector<u8> reply;         ///< the reply as received, empty if none
    /// Of out_of_range: `SMPPortInfo.LMC is 9, but has 3 bits`. Of not_in_port_table: what the port lacks, and what it has. Of malformed_reply what is wrong with the reply, if that is known.
    std::string misfit;
    std::vector<std::string> messages; ///< context, the lowest layer first
};

/// One failed operation. Move-only; small, so that results stay cheap.
struct mad_error {
    errc code = errc::cancelled;
    u16 attempts = 0;            ///< how often it was sent
    iba::MgmtClass mgmt_class{}; ///< of the request
    u8 class_version = 0;
    iba::Method method{}; ///< of the request
    u16 attributeID = 0;  ///< of the request
    u16 status = 0;       ///< of the reply, host order, without the D bit of directed routes
    u32 attributeModifier = 0;
    int sys_errno = 0; ///< of send_failed and transport_failed
    duration
        elapsed{}; ///< from its first attempt to its end, without the time in the retry queue; 0: unknown, or never sent
    std::unique_ptr<error_detail> detail;

    /// `MAD_METHOD_GET(1) SMPFormatDirected(129.1) SMPPortInfo(21)`
    std::string description() const;
    /// Adds context while the error travels up; the newest message is the most general.
    mad_error& message(std::string text);
};

/// Whoever was asked does not know what it was asked for: the code of its reply's status says so (IBA 13.4.7). Devices
/// say `invalid attribute or attribute modifier` of attributes that they do not know, too.
bool is_unsupported(const mad_error& e) noexcept;

/// One line in a user's words: `LID 999 did not reply to NodeInfo (3 attempts, 1.2 s)`, with the newest context in front. Less than
/// to_string() has: no numbers of class and method, and of the path the target alone.
std::string plain_text(const mad_error& e);

/// The same without what is of this target alone, so that it is equal wherever the cause is: `NodeInfo timed out`.
std::string cause_text(const mad_error& e);

/// One line with all that matters for a report of a bug, with the newest context in front:
/// `RPC MAD_METHOD_GET(1) SMPFormatDirected(129.1) SMPPortInfo(21) timed out to 'DR Path (0, 1, 4)'`.
std::string to_string(const mad_error& e);

/// The same for whoever wants to know more, in lines with `prefix` in front:
///   0: to_string()
///   1: each message, the newest first, then what happened, then the path as a specification
///   2: and the request and the reply, decoded (dump_mad() in iba/print.hpp)
std::string dump(const mad_error& e, unsigned level, std::string_view prefix = "E: ");

/// Prints the error on stderr, in one line, and calls std::terminate(): a program accessed the value of a failed RPC.
[[noreturn]] void bad_result_access(const mad_error&) noexcept;

/// A value or an error. It never throws. An access to the one that is absent ends the program, with a message on stderr.
template <class T> using result = boost::outcome_v2::basic_result<T, mad_error, iba::terminate_with_message>;
/// Of a result<void>: `co_return mad::success();`
using iba::success;

} // namespace comad::mad

/// plain_text(error); takes the format specification of a string.
template <> struct fmt::formatter<comad::mad::mad_error> : comad::iba::detail::text_formatter {
    format_context::iterator format(const comad::mad::mad_error& e, format_context& context) const {
        return format_text(plain_text(e), context);
    }
};
