// SPDX-License-Identifier: MIT
// virtual_device.hpp - programs beside a MAD device of `ibtool vumad`, which know nothing of it.
#pragma once
#include "ibtool_rig.hpp"

namespace ibtool_rig {

/// Where this machine gives a program no FUSE or no mount namespace, nothing is shown, and it says so.
inline bool has_devices() {
    static const process_result tried = run({"vumad", "--fabric", "sim:single", "--", "true"});
    if (tried.status == 0) return true;
    WARN("skipped: " << tried.err);
    CHECK_THAT(tried.err, Contains("/dev/fuse") || Contains("mount namespace") || Contains("libfuse3"));
    return false;
}

/// In a directory of its own, as OpenSM leaves files where it runs.
inline process_result beside_device(const std::string& fabric, const words& command, const words& options = {}) {
    const directory files;
    const words line = ibtool(words{"vumad", "--fabric", fabric} + options + words{"--"} + command);
    return process(words{"OSM_TMP_DIR=" + files / ".", "OSM_CACHE_DIR=" + files / ".", "IBTOOL=" + ibtool_program(),
                         "ASAN_OPTIONS=detect_leaks=0"} +
                   line)
        .wait();
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
