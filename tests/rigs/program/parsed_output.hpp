// SPDX-License-Identifier: MIT
// parsed_output.hpp - parses JSON that ibtool printed.
#pragma once
#include "program/ibtool_rig.hpp"

#include <nlohmann/json.hpp>

#include <sstream>
#include <string>
#include <vector>

namespace ibtool_rig {

/// Returns the MADs of a capture in order.
inline std::vector<nlohmann::json> captured_mads(const std::string& capture) {
    const process_result r = run({"decode", "--json", capture});
    check_success(r);
    std::vector<nlohmann::json> all;
    std::istringstream lines(r.out);
    for (std::string line; std::getline(lines, line);) all.push_back(nlohmann::json::parse(line));
    return all;
}

/// Returns the parsed output of a command. Fails the test if the command fails.
inline nlohmann::json parsed_output(const process_result& r) {
    check_success(r);
    CAPTURE(r.out);
    return nlohmann::json::parse(r.out);
}

} // namespace ibtool_rig
