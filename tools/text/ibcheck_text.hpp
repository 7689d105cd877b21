// SPDX-License-Identifier: MIT
// ibcheck_text.hpp - checks nodes and ports of a subnet, and formats the results: in the lines of infiniband-diags' ibcheck scripts, or as
// JSON. Sends nothing.
#pragma once
#include "input/error_thresholds.hpp"
#include <comad/counters/port_counters.hpp>
#include <comad/discovery/database/subnet.hpp>

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace ibtool {

/// One problem.
struct complaint {
    enum class severity : comad::u8 { warning, error };
    severity how_bad;
    std::string text;         ///< `Logical link state is Initialize `, without the location
    std::string_view about;   ///< the field or counter: `portState`
    std::string is, expected; ///< for a counter, `expected` is the largest allowed value
};

/// Selects the properties of a port to check.
struct port_checks {
    bool state = false, width = false, speed = false, addresses = false;
};

/// Checks a port. A port that is down has only this complaint. For port 0 of a switch only the addresses are checked, for its other ports
/// everything else. Width and speed are compared with the best that both ends support; if the neighbor is unknown, only the width is
/// compared, with 1x. Precondition: the port's PortInfo is known.
std::vector<complaint> check_port(const comad::discovery::subnet&, comad::discovery::port_ref, port_checks);

/// Returns whether check_port() can compare with the neighbor, or needs no neighbor.
bool is_comparable(const comad::discovery::subnet&, comad::discovery::port_ref);

/// Returns counters above their threshold, or saturated below it; a threshold of 0 disables the check.
std::vector<complaint> check_counters(const comad::counters::counter_values&, const error_thresholds&);

/// Returns the thresholds of the ibcheck scripts: 10, and 100 for errors that the remote end causes.
error_thresholds default_thresholds();
/// Returns lines `SymbolErrorCounter=10` as in a thresholds file, or one JSON object.
std::string format_thresholds(const error_thresholds&, bool json);
/// Returns default_thresholds(), changed by a file; an empty name: no file. Throws std::runtime_error with one line.
error_thresholds read_thresholds(const std::string& file);
/// Changes thresholds by a file, and returns the counters that it names. Under a name of infiniband-diags, which ignore unknown counters,
/// such a line is a message on stderr. Otherwise it is an error, because a misspelled limit must not be ignored.
/// Errors: throws std::runtime_error with one line.
std::vector<comad::counters::counter> read_thresholds(error_thresholds&, const std::string& file);

/// The result of one check.
struct check_result {
    enum class subject : comad::u8 { node, port, errors };
    subject of;
    unsigned LID;
    comad::u8 port;   ///< for errors 255: the sum of all ports; for nodes it has no meaning
    std::string name; ///< name of the node, raw bytes; empty: unknown (never for errors)
    std::vector<complaint> complaints;
    comad::iba::guid nodeGUID{}; ///< 0: unknown

    bool is_good() const noexcept { return complaints.empty(); }
};

/// The layout of the results.
struct text_style {
    bool with_good = false;      ///< include checks without problems
    bool with_complaints = true; ///< print each problem next to the result
    bool has_colours = false;
};

/// Returns `#warn: Link configured as 1X  lid 7 port 1` and `Port check lid 7 port 1: FAILED`.
std::string text_of(const check_result&, const text_style&);
/// Returns `check`, `nodeGUID` and `description` if they are known, `LID`, `port`, `ok`, `findings`.
nlohmann::ordered_json json_of(const check_result&);

} // namespace ibtool
