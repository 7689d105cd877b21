// SPDX-License-Identifier: MIT
// virtual_device.hpp - commands beside the virtual MAD device of a simulated fabric, and OpenSM there.
#pragma once
#include "program/ibtool_rig.hpp"

#include <string>

namespace ibtool_rig {

/// Where this machine gives a program no FUSE or no mount namespace, nothing is shown, and it says so.
inline bool has_devices() {
    static const process_result tried = run({"vumad", "--fabric", "sim:single", "--", "true"});
    if (tried.status == 0) return true;
    WARN("skipped: " << tried.err);
    CHECK_THAT(tried.err, Contains("/dev/fuse") || Contains("mount namespace") || Contains("libfuse3"));
    return false;
}

/// The words that run a command there, with $IBTOOL; `files`: where OpenSM leaves its own, which are left where it runs otherwise.
inline words words_beside_device(const directory& files, const std::string& fabric, const words& command,
                                 const words& options = {}) {
    const words line = ibtool(words{"vumad", "--fabric", fabric} + options + words{"--"} + command);
    return words{"OSM_TMP_DIR=" + files / ".", "OSM_CACHE_DIR=" + files / ".", "IBTOOL=" + ibtool_program(),
                 "ASAN_OPTIONS=detect_leaks=0"} +
           line;
}
inline process_result beside_device(const std::string& fabric, const words& command, const words& options = {}) {
    const directory files;
    return process(words_beside_device(files, fabric, command, options)).wait();
}
inline process_result in_shell(const std::string& fabric, const std::string& script, const words& options = {}) {
    return beside_device(fabric, {"sh", "-ec", script}, options);
}

/// A manager in the background, and what comes after it has configured the subnet.
inline const std::string with_manager = "d=$(mktemp -d); trap 'kill -KILL $m; rm -rf $d' EXIT; mkfifo $d/log\n"
                                        "opensm --qos --log_file stderr >/dev/null 2>$d/log & m=$!\n"
                                        "exec 3<$d/log; grep -qm1 'SUBNET UP' <&3; cat <&3 >/dev/null &\n";

/// What lies before each `=====`.
inline words parts_of(const std::string& text) {
    words all;
    for (std::size_t at = 0, end; (end = text.find("=====\n", at)) != text.npos; at = end + 6)
        all.push_back(text.substr(at, end - at));
    return all;
}

} // namespace ibtool_rig
