// SPDX-License-Identifier: MIT
// virtual_device.hpp - runs commands and OpenSM on the virtual MAD device of a simulated fabric.
#pragma once
#include "program/ibtool_rig.hpp"

#include <string>

namespace ibtool_rig {

/// Returns true if this machine permits virtual devices. If FUSE or mount namespaces are missing, it prints a warning
/// that the test is skipped.
inline bool has_devices() {
    static const process_result tried = run({"vumad", "--fabric", "sim:single", "--", "true"});
    if (tried.status == 0) return true;
    WARN("skipped: " << tried.err);
    CHECK_THAT(tried.err, Contains("/dev/fuse") || Contains("mount namespace") || Contains("libfuse3"));
    return false;
}

/// Returns the command line that runs a command on the virtual device, with the path of ibtool in $IBTOOL. `files`:
/// directory for the files of OpenSM, which would otherwise be in the working directory.
inline words words_beside_device(const directory& files, const std::string& fabric, const words& command,
                                 const words& options = {}) {
    const words line = ibtool(words{"vumad", "--fabric", fabric} + options + words{"--"} + command);
    return words{"OSM_TMP_DIR=" + files / ".", "OSM_CACHE_DIR=" + files / ".", "IBTOOL=" + ibtool_program(),
                 "ASAN_OPTIONS=detect_leaks=0"} +
           line;
}
/// Runs a command on the virtual device to its end.
inline process_result beside_device(const std::string& fabric, const words& command, const words& options = {}) {
    const directory files;
    return process(words_beside_device(files, fabric, command, options)).wait();
}
/// Runs a shell script on the virtual device to its end. The script stops at the first error.
inline process_result in_shell(const std::string& fabric, const std::string& script, const words& options = {}) {
    return beside_device(fabric, {"sh", "-ec", script}, options);
}

/// Start of a shell script that runs OpenSM in the background and waits until it has configured the subnet.
inline const std::string with_manager = "d=$(mktemp -d); trap 'kill -KILL $m; rm -rf $d' EXIT; mkfifo $d/log\n"
                                        "opensm --qos --log_file stderr >/dev/null 2>$d/log & m=$!\n"
                                        "exec 3<$d/log; grep -qm1 'SUBNET UP' <&3; cat <&3 >/dev/null &\n";

/// Returns the parts of a text before each `=====`.
inline words parts_of(const std::string& text) {
    words all;
    for (std::size_t at = 0, end; (end = text.find("=====\n", at)) != text.npos; at = end + 6)
        all.push_back(text.substr(at, end - at));
    return all;
}

} // namespace ibtool_rig
