// SPDX-License-Identifier: MIT
// diags.cpp - replies to ibping and ibsysstat, compatible with the servers of infiniband-diags (ibping.c, ibsysstat.c).
#include <comad/server/detail/class_port_info.hpp>
#include <comad/server/diags.hpp>

#include <algorithm>
#include <array>
#include <fstream>
#include <istream>
#include <string_view>
#include <unistd.h>
#include <utility>

namespace comad::server {
namespace {

using iba::Method;

constexpr std::size_t room = iba::wire_size<iba::vend::OUIFormat> - iba::offset_of<&iba::vend::OUIFormat::data>;

/// Returns the text with a trailing NUL, which clients expect.
std::vector<u8> terminated(std::string_view text) {
    std::vector<u8> bytes(text.begin(), text.end());
    bytes.push_back(0);
    return bytes;
}
response name_of(const host_info& host) {
    return response::data(terminated(std::string_view(host.name).substr(0, room - 1)));
}

/// Returns the result of gethostname() or getdomainname().
template <class Getter> std::string read_name(Getter get_name, const char* otherwise) {
    std::array<char, 256> text{};
    if (get_name(text.data(), text.size() - 1) != 0) return otherwise;
    return text.data();
}

} // namespace

host_info this_host() {
    host_info host;
    host.name = read_name(::gethostname, "?hostname?");
    const std::string domain = read_name(::getdomainname, "?domainname?");
    if (!domain.empty()) host.name += '.' + domain;
    std::ifstream cpuinfo("/proc/cpuinfo");
    host.cpus = read_cpus(cpuinfo);
    return host;
}

std::string read_cpus(std::istream& cpuinfo) {
    constexpr std::size_t most = 256;
    struct cpu {
        std::string model, MHz;
    };
    std::vector<cpu> all;
    for (std::string line; std::getline(cpuinfo, line);) {
        const std::size_t colon = std::min(line.find(':'), line.size());
        const std::string value = line.substr(std::min(colon + 1, line.size()));
        if (line.starts_with("processor\t")) {
            if (all.size() == most) break;
            all.emplace_back();
        }
        if (all.empty()) continue;
        if (line.starts_with("model name\t")) all.back().model = value;
        else if (line.starts_with("cpu MHz\t")) all.back().MHz = value;
    }
    std::string text;
    for (std::size_t i = 0; i < all.size(); ++i)
        text += "cpu " + std::to_string(i) + ": model " + all[i].model + " MHZ " + all[i].MHz + '\n';
    return text;
}

response answer_ping(const request& r, const host_info& host) {
    switch (r.header.attributeID) {
    case ping_attribute: return name_of(host);
    case iba::attribute_id<iba::ClassPortInfo>: return response::of(class_port_info(1));
    default: return response::error(status::unsupported_attribute);
    }
}

response answer_sysstat(const request& r, const host_info& host) {
    switch (r.header.attributeID) {
    case sysstat::ping: return response::echo();
    case sysstat::host: return name_of(host);
    case sysstat::cpu: return response::any_length(terminated(host.cpus));
    case iba::attribute_id<iba::ClassPortInfo>: return response::of(class_port_info(1));
    default: return response::error(status::unsupported_attribute);
    }
}

void add_ping(responder& to, host_info host, u32 OUI) {
    to.add({ping_class, 1, mad::methods(Method::Get), OUI},
           [host = std::move(host)](const request& r) { return answer_ping(r, host); });
}

void add_sysstat(responder& to, host_info host, u32 OUI) {
    to.add({sysstat_class, 1, mad::methods(Method::Get), OUI, true},
           [host = std::move(host)](const request& r) { return answer_sysstat(r, host); });
}

} // namespace comad::server
