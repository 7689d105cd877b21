// SPDX-License-Identifier: MIT
// linked.hpp - ibtool under the names of infiniband-diags' programs, through links as install-links makes them.
#pragma once
#include "program/ibtool_rig.hpp"

#include <filesystem>
#include <string>

namespace ibtool_rig {

/// Four leaves with two hosts at ports 1 and 2, two spines at ports 3 and 4, whose ports 1 to 4 go to the leaves.
inline const std::string linked_fabric = "sim:fattree2,radix=4,sm=1,time=virtual";

/// A folder with the links.
struct linked {
    linked() {
        check_success(run({"install-links", files / "", "--target", std::filesystem::absolute(ibtool_program())}));
    }
    /// A program that knows of no ibtool: the fabric is the environment's.
    process_result call(const std::string& name, const words& arguments,
                        const std::string& fabric = linked_fabric) const {
        return run_process(words{"env", "IBTOOL_FABRIC=" + fabric, files / name} + arguments);
    }
    /// What a shell's script has to begin with, so that it finds them.
    std::string first_in_path() const { return "PATH=" + files / "" + ":$PATH\n"; }
    directory files;
};

} // namespace ibtool_rig
