// SPDX-License-Identifier: MIT
// error.hpp - why an RPC failed, as a value: the target, the request and the cause. It does not depend on schedules or
// transports.
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
    malformed_reply,   ///< the reply belongs to the request but cannot be decoded
    send_failed,       ///< the transport rejected the MAD: sys_errno is the cause
    transport_failed,  ///< the transport is disconnected (device removed, server ended): sys_errno is the cause
    cancelled,         ///< its scope was canceled
    path_not_found,    ///< the SA has no path to the target
    out_of_range,      ///< not sent: a value in the request has more bits than its field
    incomplete_path,   ///< not sent: the path has no GRH, and its DLID is 0 because no SM has configured the port
    not_in_port_table, ///< not sent: the local port does not have the path's P_Key or SGID (port_tables.hpp)
};

/// Details of a failed operation, allocated only after a failure.
struct error_detail {
    any_path path;                 ///< path of the request
    std::array<u8, 256> request{}; ///< the request as last sent, wire order; for out_of_range with truncated values
    std::vector<u8> reply;         ///< the reply as received, empty if none
    /// For out_of_range: `SMPPortInfo.LMC is 9, but has 3 bits`. For not_in_port_table: what the port lacks, and what
    /// it has. For malformed_reply: what is wrong with the reply, if known.
    std::string invalid_value;
    std::vector<std::string> messages; ///< context messages, the lowest layer first
};

/// One failed operation. Move-only; small, so that results stay cheap.
struct mad_error {
    errc code = errc::cancelled;
    u16 attempts = 0;            ///< number of attempts that were sent
    iba::MgmtClass mgmt_class{}; ///< management class of the request
    u8 class_version = 0;
    iba::Method method{}; ///< method of the request
    u16 attributeID = 0;  ///< attribute ID of the request
    u16 status = 0;       ///< status of the reply, host order, without the D bit of directed routes
    u32 attributeModifier = 0;
    int sys_errno = 0; ///< errno of send_failed and transport_failed
    duration
        elapsed{}; ///< time from the first attempt to the end, without the time in the retry queue; 0 if unknown or
                   ///< never sent
    std::unique_ptr<error_detail> detail;

    /// Returns `MAD_METHOD_GET(1) SMPFormatDirected(129.1) SMPPortInfo(21)`.
    std::string description() const;
    /// Adds context while the error passes to the callers. The latest message is the most general one.
    mad_error& message(std::string text);
};

/// Returns whether the node does not support the request, by the status of its reply (IBA 13.4.7). `invalid attribute
/// or attribute modifier` counts, because devices send it for attributes that they do not support.
bool is_unsupported(const mad_error& e) noexcept;

/// Returns one line for users, the latest context first: `LID 999 did not reply to NodeInfo (3 attempts, 1.2 s)`.
/// Unlike to_string(), it contains no class and method numbers, and only the target of the path.
std::string plain_text(const mad_error& e);

/// Returns the cause without the target, so that equal causes at different targets have equal text: `NodeInfo timed
/// out`.
std::string cause_text(const mad_error& e);

/// Returns one line with all details for a bug report, the latest context first:
/// `RPC MAD_METHOD_GET(1) SMPFormatDirected(129.1) SMPPortInfo(21) timed out to 'DR Path (0, 1, 4)'`.
std::string to_string(const mad_error& e);

/// Returns a text for debugging; every line starts with `prefix`. `level` selects the details:
///   0: to_string()
///   1: each message, the latest first, then the failure, then the path as a specification
///   2: level 1, and the decoded request and reply (dump_mad() in iba/print.hpp)
std::string dump(const mad_error& e, unsigned level, std::string_view prefix = "E: ");

/// Prints the error on stderr, in one line, and calls std::terminate(). Runs if a program accesses the value of a
/// failed RPC.
[[noreturn]] void bad_result_access(const mad_error&) noexcept;

/// A value or an error. It never throws. Accessing the absent one of the two ends the program with a message on
/// stderr.
template <class T> using result = boost::outcome_v2::basic_result<T, mad_error, iba::terminate_with_message>;
/// Returned by functions with a result<void>: `co_return mad::success();`
using iba::success;

} // namespace comad::mad

/// Formats plain_text(error); takes the format specification of a string.
template <> struct fmt::formatter<comad::mad::mad_error> : comad::iba::detail::text_formatter {
    format_context::iterator format(const comad::mad::mad_error& e, format_context& context) const {
        return format_text(plain_text(e), context);
    }
};
