// SPDX-License-Identifier: MIT
// ibcheck_text.hpp - what is wrong with nodes and ports of which enough is known, and how that is said: in the lines of
// infiniband-diags' ibcheck scripts, or as JSON. Asks nobody.
#pragma once
#include "input/error_thresholds.hpp"
#include <comad/counters/port_counters.hpp>
#include <comad/discovery/database/subnet.hpp>

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace ibtool {

/// One thing that is wrong.
struct complaint {
    enum class severity : comad::u8 { warning, error };
    severity how_bad;
    std::string text;         ///< `Logical link state is Initialize `, up to the place
    std::string_view about;   ///< the field or counter: `portState`
    std::string is, expected; ///< of a counter `expected` is what it may be at most
};

/// What of a port is checked.
struct port_checks {
    bool state = false, width = false, speed = false, addresses = false;
};

/// A port that is down has only that complaint. Of a switch's port 0 addresses alone mean something; of its other ports
/// all else. Width and speed are compared with the best that both ends support; where the other end is not known, width
/// only with 1x. Precondition: the port's PortInfo is known.
std::vector<complaint> check_port(const comad::discovery::subnet&, comad::discovery::port_ref, port_checks);

/// Whether check_port() can compare with the other end, or need not.
bool is_comparable(const comad::discovery::subnet&, comad::discovery::port_ref);

/// Counters above their threshold, or at their end below it; a threshold of 0 allows everything.
std::vector<complaint> check_counters(const comad::counters::counter_values&, const error_thresholds&);

/// What the ibcheck scripts allow: 10, and 100 of what a remote end causes.
error_thresholds default_thresholds();
/// Lines `SymbolErrorCounter=10` as a thresholds file has them; of JSON one object.
std::string thresholds_text(const error_thresholds&, bool json);
/// default_thresholds() changed by a file; an empty name is none. Throws std::runtime_error with one line.
error_thresholds read_thresholds(const std::string& file);
/// Changes thresholds by a file, and returns the counters that it names. A line with an unknown counter is a message on stderr if
/// the program runs by a name of infiniband-diags, which ignore such lines; else it is an error, because a misspelled limit must not
/// pass. Throws std::runtime_error with one line.
std::vector<comad::counters::counter> read_thresholds(error_thresholds&, const std::string& file);

/// What came of one check.
struct check_result {
    enum class subject : comad::u8 { node, port, errors };
    subject of;
    unsigned LID;
    comad::u8 port;   ///< of errors 255: the sum of all; of nodes it means nothing
    std::string name; ///< the node's, as it is; empty: not known (never of errors, whose line has it)
    std::vector<complaint> complaints;
    comad::iba::guid nodeGUID{}; ///< 0: not known

    bool is_good() const noexcept { return complaints.empty(); }
};

struct text_style {
    bool with_good = false;      ///< also what is as it should be
    bool with_complaints = true; ///< each of them beside the result
    bool has_colours = false;
};

/// `#warn: Link configured as 1X  lid 7 port 1` and `Port check lid 7 port 1: FAILED`.
std::string text_of(const check_result&, const text_style&);
/// `check`, `nodeGUID` and `description` where they are known, `LID`, `port`, `ok`, `findings`.
nlohmann::ordered_json json_of(const check_result&);

} // namespace ibtool
