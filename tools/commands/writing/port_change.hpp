// SPDX-License-Identifier: MIT
// port_change.hpp - the operations of ibportstate: reads them from the command line, and judges their result. Sends nothing.
#pragma once
#include <comad/iba/smp.hpp>

#include <optional>
#include <string>
#include <vector>

namespace ibtool {

/// The change of a port that a command line requests.
struct port_change {
    std::string state = "query";     ///< the operation without a value: enable, disable, ...
    std::vector<std::string> fields; ///< fields of PortInfo, `NAME=VALUE`
    std::optional<unsigned> FDR10;   ///< LinkSpeedEnabled of MlnxExtPortInfo
    bool cuts_link = false;          ///< takes the link down, at least for a short time
    bool moves = false;              ///< changes LIDs
    bool is_of_end_port = false;     ///< contains LIDs or keys, which external ports of a switch do not have

    bool writes() const { return !fields.empty() || FDR10; }
    /// Removes the fields that change the state.
    void keep_state();
};

/// Parses operations, such as `disable` or `speed 1 width 2`. If the value of `mkey` is not a number, asks for it on the terminal.
/// Errors: usage_error; its message never contains a key.
port_change read_port_change(const std::vector<std::string>& words);

/// Returns the names of all operations.
std::vector<std::string> port_operation_names();

/// What was read from a port before and after its change.
struct port_evidence {
    comad::iba::smp::PortInfo before;
    std::optional<comad::iba::smp::PortInfo> reply; ///< reply to the Set; nullopt: no reply
    comad::iba::smp::PortInfo after;                ///< read back after the Set
    /// LinkDownedCounter before and after the Set; nullopt: saturated, or not readable.
    std::optional<comad::u8> downs_before, downs_after;
};

/// Whether a port has made a change.
struct change_verdict {
    std::vector<std::string>
        differences;         ///< one line for each field with another value: `LID is 7, but 9 was requested`
    std::string uncertainty; ///< why the result is unknown; empty: it is known
    std::string note;        ///< evidence of a change that is over already; empty: none
};

/// Compares a port with the requested change. Transient values, such as training, and values that stand for a set of others, are not
/// differences. If a link was to go down and is up again, a subnet manager may have configured it at once. LinkDownedCounter and the
/// reply to the Set then show whether the link was down.
change_verdict evaluate(const port_change&, const port_evidence&);

} // namespace ibtool
