// SPDX-License-Identifier: MIT
// port_change.hpp - the operations of ibportstate: words of a command line, and the fields of a port that they write. Asks nobody.
#pragma once
#include <comad/iba/smp.hpp>

#include <optional>
#include <string>
#include <vector>

namespace ibtool {

/// What a command line asks of a port.
struct port_change {
    std::string state = "query";     ///< the operation without a value, of which there is one: enable, disable, ...
    std::vector<std::string> fields; ///< of PortInfo, `NAME=VALUE`
    std::optional<unsigned> FDR10;   ///< LinkSpeedEnabled of MlnxExtPortInfo
    bool cuts_link = false;          ///< takes the link down, at least for a moment
    bool moves = false;              ///< changes LIDs
    bool is_of_end_port = false;     ///< LIDs and keys, which external ports of a switch do not have

    bool writes() const { return !fields.empty() || FDR10; }
    /// Without what `state` writes.
    void keep_state();
};

/// `disable`, `speed 1 width 2`. An `mkey` that is no number is asked for at the terminal.
/// Throws usage_error; of a key it does not say what it is.
port_change read_port_change(const std::vector<std::string>& words);

/// The words for them.
std::vector<std::string> port_operation_names();

/// What is known of a port that was to be changed.
struct port_evidence {
    comad::iba::smp::PortInfo before;
    std::optional<comad::iba::smp::PortInfo> reply; ///< to the Set; nothing: there was none
    comad::iba::smp::PortInfo after;                ///< as it was read back
    /// LinkDownedCounter before the Set and after it; nothing: it could not be read, or stood at its end.
    std::optional<comad::u8> downs_before, downs_after;
};

/// Whether the port did what it was to do.
struct change_verdict {
    std::vector<std::string>
        differences;   ///< `LID is 7, not 9`: a line for each field that has another value. Of a key not its value
    std::string doubt; ///< why it is not known; empty: it is
    std::string note;  ///< how a change is known that something has reverted since; empty: nothing has
};

/// Values that a port goes on from by itself, such as training, and values that mean a set of others are no differences. A link that
/// was to go down and is up again shows by LinkDownedCounter and by the reply to the Set whether it was down: a subnet manager may
/// have configured it at once.
change_verdict judge(const port_change&, const port_evidence&);

} // namespace ibtool
