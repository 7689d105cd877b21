// SPDX-License-Identifier: MIT
// sysfs.cpp - reads infiniband_mad/umadN/{ibdev,port} and infiniband/DEVICE/ports/PORT (Linux,
// Documentation/ABI/stable/sysfs-class-infiniband).
#include <comad/transports/sysfs.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <type_traits>

namespace comad::transports {

namespace fs = std::filesystem;

namespace {

/// The first line of a file, empty if it cannot be read.
std::string first_line(const fs::path& file) {
    std::string line;
    std::ifstream stream(file);
    std::getline(stream, line);
    return line;
}

/// The number at the start of `text`, decimal or 0x...; `4: ACTIVE` is 4. Nothing if there is none or T cannot hold it.
template <class T = unsigned> std::optional<T> leading_number(std::string_view text) {
    const bool hex = text.starts_with("0x");
    if (hex) text.remove_prefix(2);
    T number{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, hex ? 16 : 10);
    if (error != std::errc{}) return std::nullopt;
    return number;
}

/// Sets `member` to the number that the file starts with.
template <class T> void read_number(const fs::path& file, T& member) {
    using number_type =
        typename std::conditional_t<std::is_enum_v<T>, std::underlying_type<T>, std::type_identity<T>>::type;
    if (const auto number = leading_number<number_type>(first_line(file))) member = T{*number};
}

/// `0002:c903:0000:1491`, else no GUID.
iba::guid parse_guid(std::string text) {
    std::erase(text, ':');
    return iba::guid{leading_number<u64>("0x" + text).value_or(0)};
}

/// What sysfs says of the port behind a MAD device; nothing if the device has just gone.
std::optional<end_port> read_end_port(const fs::path& sys_class, const std::string& umad) {
    const fs::path mad_device = sys_class / "infiniband_mad" / umad;
    end_port ep;
    ep.umad = umad;
    ep.device = first_line(mad_device / "ibdev");
    const auto number = leading_number(first_line(mad_device / "port"));
    if (ep.device.empty() || !number) return std::nullopt;
    ep.port = *number;

    const fs::path device = sys_class / "infiniband" / ep.device;
    const fs::path port = device / "ports" / std::to_string(ep.port);
    if (const std::string layer = first_line(port / "link_layer"); !layer.empty()) ep.link_layer = layer;
    read_number(device / "node_type", ep.nodeType);
    ep.nodeGUID = parse_guid(first_line(device / "node_guid"));
    read_number(port / "state", ep.portState);
    read_number(port / "phys_state", ep.portPhysicalState);
    read_number(port / "lid", ep.LID);
    read_number(port / "lid_mask_count", ep.LMC);
    read_number(port / "sm_lid", ep.masterSMLID);
    read_number(port / "sm_sl", ep.masterSMSL);
    return ep;
}

std::string describe(const end_port& ep) {
    return ep.is_infiniband() ? fmt::format("{} ({})", ep.name(), iba::name_or_number(ep.portState))
                              : fmt::format("{} ({})", ep.name(), ep.link_layer);
}
std::string describe(const std::vector<end_port>& ports) {
    std::vector<std::string> words;
    for (const end_port& ep : ports) words.push_back(describe(ep));
    return fmt::format("{}", fmt::join(words, ", "));
}

void require_abi(const fs::path& sys_class) {
    constexpr unsigned needed = 5; // the first with P_Key indices in the header (rdma/ib_user_mad.h)
    const fs::path file = sys_class / "infiniband_mad" / "abi_version";
    const auto version = leading_number(first_line(file));
    if (!version) throw std::runtime_error(fmt::format("{} does not say the ABI version of ib_umad", file.string()));
    if (*version < needed)
        throw std::runtime_error(fmt::format("ib_umad of this kernel has ABI version {} ({}); at least {} is needed",
                                             *version, file.string(), needed));
}

} // namespace

std::vector<end_port> end_ports(const fs::path& sys_class) {
    std::vector<end_port> found;
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(sys_class / "infiniband_mad", none)) {
        const std::string name = entry.path().filename();
        if (!name.starts_with("umad")) continue;
        if (auto ep = read_end_port(sys_class, name)) found.push_back(std::move(*ep));
    }
    std::sort(found.begin(), found.end(), [](const end_port& a, const end_port& b) {
        const int order = ::strverscmp(a.device.c_str(), b.device.c_str());
        return order != 0 ? order < 0 : a.port < b.port;
    });
    return found;
}

end_port select_end_port(std::string_view name, const fs::path& sys_class) {
    std::vector<end_port> candidates = end_ports(sys_class);
    if (candidates.empty())
        throw std::runtime_error(
            fmt::format("no InfiniBand device: there is none in {} (is the module ib_umad loaded?); "
                        "--fabric sim:... simulates a fabric",
                        (sys_class / "infiniband_mad").string()));
    require_abi(sys_class);

    const std::size_t slash = name.find('/');
    if (!name.empty()) {
        const std::string all = describe(candidates);
        std::erase_if(candidates, [&](const end_port& ep) {
            if (slash == 0) return '/' + std::to_string(ep.port) != name;
            return slash == name.npos ? ep.device != name : ep.name() != name;
        });
        if (candidates.empty())
            throw std::runtime_error(fmt::format("no InfiniBand end port '{}'; there are {}", name, all));
    }

    const std::string named = describe(candidates);
    std::erase_if(candidates, [](const end_port& ep) { return !ep.is_infiniband(); });
    if (candidates.empty())
        throw std::runtime_error(
            fmt::format("no port with link layer InfiniBand: {}; MADs of a subnet need one", named));
    if (slash != name.npos && slash != 0) return candidates.front();

    const auto first_where = [&](auto&& holds) { return std::find_if(candidates.begin(), candidates.end(), holds); };
    auto chosen = first_where([](const end_port& ep) { return ep.portState == iba::PortState::Active; });
    if (chosen == candidates.end())
        chosen = first_where([](const end_port& ep) { return ep.portPhysicalState == iba::PortPhysicalState::LinkUp; });
    if (chosen == candidates.end())
        throw std::runtime_error(fmt::format("no InfiniBand port is up: {}; a port that is down is used when it is "
                                             "named as DEVICE/PORT",
                                             describe(candidates)));
    return *chosen;
}

} // namespace comad::transports
