// SPDX-License-Identifier: MIT
// port_change.hpp - the operations of ibportstate: reads them from the command line, and judges their result. Sends nothing.
#pragma once
#include <comad/iba/smp.hpp>

#include <optional>
#include <string>
#include <vector>

namespace ibtool {

/// The change that a command line requests for a port.
struct port_change {
    std::string state = "query";     ///< the only operation without a value: enable, disable, ...
    std::vector<std::string> fields; ///< of PortInfo, `NAME=VALUE`
    std::optional<unsigned> FDR10;   ///< LinkSpeedEnabled of MlnxExtPortInfo
    bool cuts_link = false;          ///< takes the link down, at least for a short time
    bool moves = false;              ///< changes LIDs
    bool is_of_end_port = false;     ///< contains LIDs or keys, which external ports of a switch do not have

    bool writes() const { return !fields.empty() || FDR10; }
    /// Removes what `state` does not write.
    void keep_state();
};

/// Reads `disable`, `speed 1 width 2`. If the value of `mkey` is not a number, asks for it on the terminal.
/// Throws usage_error; its message never contains a key.
port_change read_port_change(const std::vector<std::string>& words);

/// Returns the words for the operations.
std::vector<std::string> port_operation_names();

/// The observations of a port that was to be changed.
struct port_evidence {
    comad::iba::smp::PortInfo before;
    std::optional<comad::iba::smp::PortInfo> reply; ///< reply to the Set; nullopt: there was none
    comad::iba::smp::PortInfo after;                ///< as it was read back
    /// LinkDownedCounter before and after the Set; nullopt: it could not be read, or was saturated.
    std::optional<comad::u8> downs_before, downs_after;
};

/// Whether the port has made the change.
struct change_verdict {
    std::vector<std::string>
        differences;   ///< `LID is 7, not 9`: one line for each field with another value; without the values of keys
    std::string doubt; ///< why the result is unknown; empty: it is known
    std::string note;  ///< evidence of a change that was reverted since; empty: it was not
};

/// Compares the port with the requested change. Transient values, such as training, and values that stand for a set of others are not
/// differences. If a link was to go down and is up again, LinkDownedCounter and the reply to the Set show whether it was down: a subnet
/// manager may have configured it at once.
change_verdict judge(const port_change&, const port_evidence&);

} // namespace ibtool
