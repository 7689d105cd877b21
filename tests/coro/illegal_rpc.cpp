// SPDX-License-Identifier: MIT
// illegal_rpc.cpp - RPCs that the IBA does not define; they must not compile. COMAD_WRONG selects one.
#include <comad/coro/schedule.hpp>
#include <comad/iba/detail/mad_header.hpp>
#include <comad/iba/smp.hpp>

#ifndef COMAD_WRONG
#define COMAD_WRONG 0
#endif

namespace smp = comad::iba::smp;

inline void rpcs(comad::coro::MADSchedule& schedule) {
    const comad::mad::IBDRPath path;
    (void)schedule.SubnGet<smp::NodeInfo>(path);
    (void)schedule.SubnSet<smp::PortInfo>({}, path);
#if COMAD_WRONG == 1 // the IBA defines no Set of NodeInfo
    (void)schedule.SubnSet<smp::NodeInfo>({}, path);
#elif COMAD_WRONG == 2 // a header is not an attribute
    (void)schedule.SubnGet<comad::iba::MADHeader>(path);
#endif
}
