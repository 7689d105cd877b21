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

/// All of them in a line, those with a value as `speed N`.
std::string port_operations();

/// Of what was to be written, a line for each field that was read back otherwise. What a port does by itself, such as training,
/// does not count, nor do values that mean a set of others. Of a key it does not say what it is.
std::vector<std::string> differences(const port_change&, const comad::iba::smp::PortInfo& read_back);

} // namespace ibtool
