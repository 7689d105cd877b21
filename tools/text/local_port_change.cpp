// SPDX-License-Identifier: MIT
// local_port_change.cpp - describes changes of the local port, with one phrase for each member of local_port.
#include "text/local_port_change.hpp"

#include "comad.hpp"
#include <comad/iba/detail/format.hpp>

#include <fmt/format.h>

#include <vector>

namespace ibtool {

std::string text_of_change(const comad::sa::local_port& was, const comad::sa::local_port& now) {
    std::vector<std::string> parts;
    const iba::lid sm_was = was.sa_path.DLID, sm_now = now.sa_path.DLID;
    if (sm_was == iba::lid{} && sm_now != sm_was)
        parts.push_back(fmt::format("the subnet manager is at LID {}", sm_now));
    else if (sm_was != sm_now)
        parts.push_back(fmt::format("the subnet manager moved from LID {} to LID {}", sm_was, sm_now));
    if (was.sa_path.SL != now.sa_path.SL)
        parts.push_back(
            fmt::format("the SL to the subnet manager changed from {} to {}", was.sa_path.SL, now.sa_path.SL));
    if (was.LID != now.LID) parts.push_back(fmt::format("the local LID changed from {} to {}", was.LID, now.LID));
    if (was.LMC != now.LMC) parts.push_back(fmt::format("the local LMC changed from {} to {}", was.LMC, now.LMC));
    if (was.GID != now.GID) parts.push_back(fmt::format("the local GID changed from {} to {}", was.GID, now.GID));
    return fmt::format("{}", fmt::join(parts, "; "));
}

} // namespace ibtool
