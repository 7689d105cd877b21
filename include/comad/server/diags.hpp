// SPDX-License-Identifier: MIT
// diags.hpp - the servers for ibping and ibsysstat of infiniband-diags. They do not depend on a transport.
#pragma once
#include <comad/iba/vendor.hpp>
#include <comad/server/responder.hpp>

#include <iosfwd>
#include <string>

namespace comad::server {

inline constexpr iba::attribute_use sysstat_use = iba::attribute_of<iba::vend::OFASysStatPing>::uses[0];
inline constexpr u32 openfabrics_oui = sysstat_use.OUI;

/// ibping: the reply to a Get of attribute 0 contains the name of the host. The server of infiniband-diags sends the same reply for
/// every other attribute and method.
inline constexpr iba::MgmtClass ping_class{0x32};
inline constexpr u16 ping_attribute = 0x0000;

/// ibsysstat: the attributes of its Gets are in the namespace sysstat.
inline constexpr iba::MgmtClass sysstat_class = sysstat_use.mgmt_class;
/// The attributes of ibsysstat.
namespace sysstat {
inline constexpr u16 ping =
    iba::attribute_id<iba::vend::OFASysStatPing>; ///< the reply contains the data of the request
inline constexpr u16 host = iba::attribute_id<iba::vend::OFASysStatHostInfo>; ///< the name of the host
/// A line for each processor, by RMPP if they do not fit into one MAD.
inline constexpr u16 cpu = iba::attribute_id<iba::vend::OFASysStatCPUInfo>;
} // namespace sysstat

/// The data of the replies.
struct host_info {
    std::string name; ///< a reply contains at most 215 bytes of it
    std::string cpus; ///< lines
};
/// Returns the data of this machine as infiniband-diags does: `HOST.DOMAIN`, with Linux' `(none)` for a domain that is not set, and
/// read_cpus() of /proc/cpuinfo.
host_info this_host();
/// Returns a line `cpu N: model MODEL MHZ MHZ` for each of the first 256 processors in a text such as /proc/cpuinfo.
std::string read_cpus(std::istream& cpuinfo);

/// Returns the reply of each server to a request of its class, including ClassPortInfo.
response answer_ping(const request&, const host_info&);
response answer_sysstat(const request&, const host_info&);

/// Add the servers to a responder. `OUI`: the OUI that the clients use.
///
///     server::responder answers;
///     server::add_ping(answers, server::this_host());
void add_ping(responder& to, host_info, u32 OUI = openfabrics_oui);
void add_sysstat(responder& to, host_info, u32 OUI = openfabrics_oui);

} // namespace comad::server
