// SPDX-License-Identifier: MIT
// diags.hpp - the servers of infiniband-diags' ibping and ibsysstat: what a host says of itself to those clients. Knows no
// transport.
#pragma once
#include <comad/iba/vendor.hpp>
#include <comad/server/responder.hpp>

#include <iosfwd>
#include <string>

namespace comad::server {

inline constexpr iba::attribute_use sysstat_use = iba::attribute_of<iba::vend::OFASysStatPing>::uses[0];
inline constexpr u32 openfabrics_oui = sysstat_use.OUI;

/// ibping: a Get of attribute 0 is answered with the host's name. infiniband-diags' server says it to every other attribute
/// and method, too.
inline constexpr iba::MgmtClass ping_class{0x32};
inline constexpr u16 ping_attribute = 0x0000;

/// ibsysstat: Gets, too. Its attributes:
inline constexpr iba::MgmtClass sysstat_class = sysstat_use.mgmt_class;
namespace sysstat {
inline constexpr u16 ping = iba::attribute_id<iba::vend::OFASysStatPing>;     ///< answered with what was asked
inline constexpr u16 host = iba::attribute_id<iba::vend::OFASysStatHostInfo>; ///< the host's name
/// A line for each processor, by RMPP where a MAD is too short for them.
inline constexpr u16 cpu = iba::attribute_id<iba::vend::OFASysStatCPUInfo>;
} // namespace sysstat

/// What the servers tell.
struct host_info {
    std::string name; ///< a MAD has room for the first 215 bytes
    std::string cpus; ///< lines
};
/// The machine that this runs on, in the words of infiniband-diags: `HOST.DOMAIN`, where Linux says `(none)` of a domain
/// that is not set, and read_cpus() of its /proc/cpuinfo.
host_info this_host();
/// A line `cpu N: model MODEL MHZ MHZ` for each of the first 256 processors that a text like /proc/cpuinfo lists.
std::string read_cpus(std::istream& cpuinfo);

/// What either of them says to a request of its class, ClassPortInfo included.
response answer_ping(const request&, const host_info&);
response answer_sysstat(const request&, const host_info&);

/// As handlers. `OUI`: others multiplex the classes.
void add_ping(responder& to, host_info, u32 OUI = openfabrics_oui);
void add_sysstat(responder& to, host_info, u32 OUI = openfabrics_oui);

} // namespace comad::server
