// SPDX-License-Identifier: MIT
// linked_names.hpp - runs ibtool under the names of infiniband-diags' programs, through links that install-links creates.
#pragma once
#include "program/ibtool_rig.hpp"

#include <filesystem>
#include <string>

namespace ibtool_rig {

/// A fabric with four leaves and two spines. Ports 1 and 2 of a leaf lead to hosts, and ports 3 and 4 lead to the
/// spines. Ports 1 to 4 of a spine lead to the leaves.
inline const std::string linked_fabric = "sim:fattree2,radix=4,sm=1,time=virtual";

/// A temporary directory with the links.
struct linked {
    linked() {
        check_success(run({"install-links", files / "", "--target", std::filesystem::absolute(ibtool_program())}));
    }
    /// Runs ibtool through the link NAME; the variable IBTOOL_FABRIC names the fabric.
    process_result call(const std::string& name, const words& arguments,
                        const std::string& fabric = linked_fabric) const {
        return run_process(words{"env", "IBTOOL_FABRIC=" + fabric, files / name} + arguments);
    }
    /// Returns the first line of a shell script, which makes the shell find the links in PATH.
    std::string first_in_path() const { return "PATH=" + files / "" + ":$PATH\n"; }
    directory files;
};

} // namespace ibtool_rig
