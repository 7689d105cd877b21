// SPDX-License-Identifier: MIT
// fabric_text.hpp - texts that name a fabric, as users write them (`umad:mlx5_0/1`), and the errors of opening one. Opens nothing.
#pragma once
#include <comad/iba/detail/error.hpp>
#include <comad/iba/detail/text_formatter.hpp>

#include <boost/outcome/basic_result.hpp>

#include <string>
#include <string_view>

namespace comad {

/// The kind of a fabric.
enum class fabric_kind : u8 {
    automatic, ///< a local port: its umad device; libibverbs if this machine has no umad device
    umad,      ///< a MAD device of the kernel
    verbs,     ///< a queue pair of libibverbs: GMPs only
    ibsim,     ///< an ibsim server
    sim,       ///< a simulated fabric in this process
};

/// Why a fabric was not opened.
enum class fabric_errc : u8 {
    invalid_text,   ///< the text does not name a fabric
    invalid_option, ///< a fabric of this kind does not have the option
    no_device,      ///< this machine has no InfiniBand device
    no_pkey,        ///< the local port does not have the P_Key
    not_opened,     ///< the device, server or simulation cannot be opened now
};

/// An error of open_fabric().
struct fabric_error {
    fabric_errc code;
    std::string text; ///< one line without a full stop: what failed, why, and what to do
};

/// Prints the text on stderr and calls std::terminate(): the program accessed the value of a failed result.
[[noreturn]] void bad_result_access(const fabric_error&) noexcept;

/// A value or a fabric_error. It never throws. Access to a missing value prints the error and terminates the program.
template <class T> using fabric_result = boost::outcome_v2::basic_result<T, fabric_error, iba::terminate_with_message>;

/// A text that names a fabric, divided at its first colon.
struct fabric_text {
    fabric_kind kind = fabric_kind::automatic;
    std::string place; ///< what the kind opens: `mlx5_0/1`, or the name of a server, or a simulation

    /// The text that parse_fabric() reads as this value: `umad:mlx5_0/1`.
    std::string to_string() const;
};

/// Reads a text that names a fabric; docs/reference/fabrics.md has the details:
///
///   (empty)                       the local port that is up
///   umad[:DEVICE[/PORT]]          the MAD device of a local port
///   verbs[:DEVICE[/PORT]]         a local port through libibverbs
///   ibsim[:SOCKNAME[,NODE]]       an ibsim server
///   sim:FILE, sim:KIND,key=value  a simulated fabric (transports::sim::make_sim)
///
/// Errors: invalid_text. Places are not checked: that needs the device, server or file.
fabric_result<fabric_text> parse_fabric(std::string_view text);

} // namespace comad

/// The text of the error; takes the format specification of a string.
template <> struct fmt::formatter<comad::fabric_error> : comad::iba::detail::text_formatter {
    format_context::iterator format(const comad::fabric_error& e, format_context& context) const {
        return format_text(e.text, context);
    }
};
