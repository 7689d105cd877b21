// SPDX-License-Identifier: MIT
// sysfs.cpp - reads infiniband_mad/umadN/{ibdev,port}, infiniband/DEVICE and its ports/PORT (Linux,
// Documentation/ABI/stable/sysfs-class-infiniband).
#include <comad/iba/detail/format.hpp>
#include <comad/iba/detail/text.hpp>
#include <comad/iba/detail/text_file.hpp>
#include <comad/iba/parse.hpp>
#include <comad/mad/detail/port_tables.hpp>
#include <comad/transports/sysfs.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <type_traits>

namespace comad::transports {

namespace fs = std::filesystem;

namespace {

std::string first_line(const fs::path& file) { return iba::first_line_of(file); }

/// Returns the number at the start of `text`, decimal or 0x...; `4: ACTIVE` is 4. Returns nullopt if there is none or
/// T cannot hold it.
template <class T = unsigned> std::optional<T> leading_number(std::string_view text) {
    const bool hex = text.starts_with("0x");
    if (hex) text.remove_prefix(2);
    T number{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, hex ? 16 : 10);
    if (error != std::errc{}) return std::nullopt;
    return number;
}

/// Sets `member` to the number at the start of the file.
template <class T> void read_number(const fs::path& file, T& member) {
    using number_type =
        typename std::conditional_t<std::is_enum_v<T>, std::underlying_type<T>, std::type_identity<T>>::type;
    if (const auto number = leading_number<number_type>(first_line(file))) member = T{*number};
}

/// Sets `guid` to the contents of the file if it contains a GUID.
void read_guid(const fs::path& file, iba::guid& guid) {
    if (const auto found = iba::parse_guid(first_line(file))) guid = *found;
}

/// Reads the files 0, 1, ... of a directory. An entry that `parse` rejects counts as unused.
template <class T, class Parse> std::vector<T> read_table(const fs::path& directory, Parse parse) {
    std::vector<T> table;
    std::error_code none;
    for (fs::path file = directory / "0"; fs::exists(file, none); file = directory / std::to_string(table.size()))
        table.push_back(parse(first_line(file)).value_or(T{}));
    return table;
}

/// Reads a port without its tables, which are long and which many programs do not need.
end_port read_port(const fs::path& sys_class, const std::string& device_name, unsigned number,
                   const std::string& umad) {
    end_port ep;
    ep.device = device_name;
    ep.port = number;
    ep.umad = umad;

    const fs::path device = sys_class / "infiniband" / ep.device;
    const fs::path port = device / "ports" / std::to_string(ep.port);
    if (const std::string layer = first_line(port / "link_layer"); !layer.empty()) ep.link_layer = layer;
    read_number(device / "node_type", ep.nodeType);
    read_guid(device / "node_guid", ep.nodeGUID);
    if (const auto first = iba::parse_gid(first_line(port / "gids" / "0"))) {
        ep.portGUID = first->interface_id();
        ep.GIDPrefix = first->prefix();
    }
    read_number(port / "state", ep.portState);
    read_number(port / "phys_state", ep.portPhysicalState);
    read_number(port / "lid", ep.LID);
    read_number(port / "lid_mask_count", ep.LMC);
    read_number(port / "sm_lid", ep.masterSMLID);
    read_number(port / "sm_sl", ep.masterSMSL);
    read_number(port / "cap_mask", ep.capabilityMask);
    ep.rate = first_line(port / "rate");
    read_number(device / "mad_sa_cc" / std::to_string(ep.port) / "max_outstanding", ep.sa_max_outstanding);
    return ep;
}

void read_tables(const fs::path& sys_class, end_port& ep) {
    const fs::path port = sys_class / "infiniband" / ep.device / "ports" / std::to_string(ep.port);
    ep.gids = read_table<iba::gid>(port / "gids", iba::parse_gid);
    ep.PKeys = read_table<u16>(port / "pkeys", leading_number<u16>);
}

std::vector<end_port> with_tables(std::vector<end_port> ports, const fs::path& sys_class) {
    for (end_port& ep : ports) read_tables(sys_class, ep);
    return ports;
}

bool comes_before(const std::string& device_a, const std::string& device_b) {
    return ::strverscmp(device_a.c_str(), device_b.c_str()) < 0; // sorts mlx5_2 before mlx5_10
}

bool comes_before(const end_port& a, const end_port& b) {
    return a.device != b.device ? comes_before(a.device, b.device) : a.port < b.port;
}

/// Returns all end ports with a MAD device, in order, without tables. Skips devices that were just removed.
std::vector<end_port> ports_with_umad(const fs::path& sys_class) {
    std::vector<end_port> found;
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(sys_class / "infiniband_mad", none)) {
        const std::string umad = entry.path().filename();
        if (!umad.starts_with("umad")) continue;
        const std::string device = first_line(entry.path() / "ibdev");
        const auto number = leading_number(first_line(entry.path() / "port"));
        if (!device.empty() && number) found.push_back(read_port(sys_class, device, *number, umad));
    }
    std::sort(found.begin(), found.end(), [](const end_port& a, const end_port& b) { return comes_before(a, b); });
    return found;
}

/// Returns the ports of a device in order, with or without a MAD device, without tables.
std::vector<end_port> ports_of(const fs::path& sys_class, const std::string& device_name,
                               const std::vector<end_port>& with_umad) {
    std::vector<end_port> found;
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(sys_class / "infiniband" / device_name / "ports", none)) {
        const auto number = iba::parse_digits(entry.path().filename().string(), 10);
        if (!number || number->value > 0xff) continue;
        const auto port = static_cast<unsigned>(number->value);
        const auto known = std::find_if(with_umad.begin(), with_umad.end(), [&](const end_port& ep) {
            return ep.device == device_name && ep.port == port;
        });
        found.push_back(known != with_umad.end() ? *known : read_port(sys_class, device_name, port, {}));
    }
    std::sort(found.begin(), found.end(), [](const end_port& a, const end_port& b) { return comes_before(a, b); });
    return found;
}

/// Returns the ports of all devices, with or without a MAD device, without tables.
std::vector<end_port> all_ports(const fs::path& sys_class) {
    const std::vector<end_port> with_umad = ports_with_umad(sys_class);
    std::vector<end_port> found;
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(sys_class / "infiniband", none)) {
        auto more = ports_of(sys_class, entry.path().filename(), with_umad);
        std::move(more.begin(), more.end(), std::back_inserter(found));
    }
    std::sort(found.begin(), found.end(), [](const end_port& a, const end_port& b) { return comes_before(a, b); });
    return found;
}

bool is_down(const end_port& ep) { return ep.portState <= iba::PortState::Down; }

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
    constexpr unsigned needed = 5; // the first version with P_Key indices in the header (rdma/ib_user_mad.h)
    const fs::path file = sys_class / "infiniband_mad" / "abi_version";
    const auto version = leading_number(first_line(file));
    if (!version)
        throw std::runtime_error(fmt::format("cannot read the ABI version of ib_umad from {}", file.string()));
    if (*version < needed)
        throw std::runtime_error(
            fmt::format("ABI version {} of ib_umad ({}) is too old; must be at least {}, so update the kernel",
                        *version, file.string(), needed));
}

/// Returns the ports to choose from. Throws if no port exists, or if the kernel is too old.
std::vector<end_port> candidates_in(const fs::path& sys_class, port_use use) {
    if (use == port_use::GMPs) {
        std::vector<end_port> all = all_ports(sys_class);
        if (!all.empty()) return all;
        throw no_device(fmt::format("no InfiniBand device found in {}", (sys_class / "infiniband").string()));
    }
    std::vector<end_port> candidates = ports_with_umad(sys_class);
    if (candidates.empty())
        throw no_device(fmt::format("no InfiniBand device found in {} (is the module ib_umad loaded?)",
                                    (sys_class / "infiniband_mad").string()));
    require_abi(sys_class);
    return candidates;
}

/// Returns a port for which `holds` is true: the first one that is not down, otherwise the first one.
template <class Ports, class Holds> auto first_that_is_up(Ports& ports, Holds holds) {
    const auto up =
        std::find_if(ports.begin(), ports.end(), [&](const end_port& ep) { return holds(ep) && !is_down(ep); });
    return up != ports.end() ? up : std::find_if(ports.begin(), ports.end(), holds);
}

device read_device(const fs::path& sys_class, const std::string& name, const std::vector<end_port>& with_umad) {
    const fs::path directory = sys_class / "infiniband" / name;
    device d;
    d.name = name;
    read_number(directory / "node_type", d.nodeType);
    read_guid(directory / "node_guid", d.nodeGUID);
    read_guid(directory / "sys_image_guid", d.systemImageGUID);
    d.node_desc = first_line(directory / "node_desc");
    d.fw_ver = first_line(directory / "fw_ver");
    d.hw_ver = first_line(directory / "hw_rev");
    d.board_id = first_line(directory / "board_id");
    d.hca_type = first_line(directory / "hca_type");
    d.end_ports = with_tables(ports_of(sys_class, name, with_umad), sys_class);
    return d;
}

end_port choose_end_port(std::string_view name, std::vector<end_port> candidates, port_use use) {
    const std::size_t slash = name.find('/');
    const bool is_full = slash != name.npos && slash != 0;
    if (!name.empty()) {
        const std::string all = describe(candidates);
        std::erase_if(candidates, [&](const end_port& ep) {
            if (slash == 0) return '/' + std::to_string(ep.port) != name;
            return slash == name.npos ? ep.device != name : ep.name() != name;
        });
        if (candidates.empty())
            throw std::runtime_error(
                fmt::format("unknown InfiniBand port {}; available: {}", iba::as_given(name), all));
    }

    if (is_full && use == port_use::GMPs) return candidates.front(); // RoCE ports also carry GMPs

    const std::string named = describe(candidates);
    std::erase_if(candidates, [](const end_port& ep) { return !ep.is_infiniband(); });
    if (candidates.empty())
        throw std::runtime_error(
            fmt::format("no port has link layer InfiniBand, which subnet management needs; available: {}", named));
    if (is_full) return candidates.front();

    const auto first_where = [&](auto&& holds) { return std::find_if(candidates.begin(), candidates.end(), holds); };
    auto chosen = first_where([](const end_port& ep) { return ep.portState == iba::PortState::Active; });
    if (chosen == candidates.end())
        chosen = first_where([](const end_port& ep) { return ep.portPhysicalState == iba::PortPhysicalState::LinkUp; });
    if (chosen == candidates.end())
        throw std::runtime_error(fmt::format("no InfiniBand port is up: {}; to use a port that is down, name it as "
                                             "DEVICE/PORT",
                                             describe(candidates)));
    return *chosen;
}

/// Returns an InfiniBand port for which `holds` is true: the first one that is not down, otherwise the first one.
template <class Holds> std::optional<end_port> find_infiniband(std::vector<end_port> ports, Holds holds) {
    std::erase_if(ports, [](const end_port& ep) { return !ep.is_infiniband(); });
    const auto found = first_that_is_up(ports, holds);
    if (found == ports.end()) return std::nullopt;
    return std::move(*found);
}

bool has_gid(const end_port& ep, const iba::gid& wanted) {
    if (wanted.prefix() == iba::link_local_prefix) return ep.portGUID == wanted.interface_id();
    return std::find(ep.gids.begin(), ep.gids.end(), wanted) != ep.gids.end();
}

} // namespace

std::optional<u16> end_port::pkey_index(u16 pkey) const noexcept { return mad::find_pkey(PKeys, pkey); }
std::optional<u8> end_port::gid_index(const iba::gid& wanted) const noexcept { return mad::find_gid(gids, wanted); }

mad::IBPath end_port::sa_path() const noexcept {
    mad::IBPath path;
    path.DLID = masterSMLID;
    path.SLID = LID;
    path.SL = masterSMSL;
    return path;
}

std::vector<end_port> end_ports(const fs::path& sys_class) {
    return with_tables(ports_with_umad(sys_class), sys_class);
}

end_port select_end_port(std::string_view name, const fs::path& sys_class, port_use use) {
    end_port chosen = choose_end_port(name, candidates_in(sys_class, use), use);
    read_tables(sys_class, chosen);
    return chosen;
}

end_port get_end_port(std::string_view text, const fs::path& sys_class, port_use use) {
    std::optional<iba::gid> wanted = iba::parse_gid(text);
    if (const auto guid = iba::parse_guid(text); !wanted && guid) wanted = iba::gid(iba::link_local_prefix, *guid);
    if (!wanted) return select_end_port(text, sys_class, use);
    const std::vector<end_port> all = with_tables(candidates_in(sys_class, use), sys_class);
    const bool is_somebodys = wanted->interface_id() != iba::guid{};
    auto found = find_infiniband(all, [&](const end_port& ep) { return is_somebodys && has_gid(ep, *wanted); });
    if (found) return std::move(*found);
    throw std::runtime_error(
        fmt::format("no InfiniBand port has GID or GUID {}; available: {}", iba::as_given(text), describe(all)));
}

end_port end_port_for(const mad::address& target, std::string_view chosen, const fs::path& sys_class, port_use use) {
    if (target.end_port) {
        end_port required = get_end_port(*target.end_port, sys_class, use);
        if (chosen.empty()) return required;
        if (const end_port other = get_end_port(chosen, sys_class, use); other.name() != required.name())
            throw std::runtime_error(
                fmt::format("the path requires end port {}, but {} was selected", required.name(), other.name()));
        return required;
    }
    if (!chosen.empty()) return get_end_port(chosen, sys_class, use);
    const auto* path = std::get_if<mad::IBPath>(&target.path);
    if (path && path->DGID != iba::gid{} && path->DGID.prefix() != iba::link_local_prefix) {
        auto found = find_infiniband(with_tables(candidates_in(sys_class, use), sys_class), [&](const end_port& ep) {
            return std::any_of(ep.gids.begin(), ep.gids.end(),
                               [&](const iba::gid& g) { return g.prefix() == path->DGID.prefix(); });
        });
        if (found) return std::move(*found);
    }
    return select_end_port({}, sys_class, use);
}

std::vector<device> get_devices(const fs::path& sys_class) {
    const std::vector<end_port> with_umad = ports_with_umad(sys_class);
    std::vector<device> found;
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(sys_class / "infiniband", none))
        found.push_back(read_device(sys_class, entry.path().filename(), with_umad));
    std::sort(found.begin(), found.end(),
              [](const device& a, const device& b) { return comes_before(a.name, b.name); });
    return found;
}

device get_device(std::string_view text, const fs::path& sys_class) {
    std::vector<device> all = get_devices(sys_class);
    if (all.empty())
        throw std::runtime_error(fmt::format("no RDMA device found in {}", (sys_class / "infiniband").string()));
    const auto guid = iba::parse_guid(text);
    const auto found = std::find_if(all.begin(), all.end(), [&](const device& d) {
        return text.empty() || d.name == text || (guid && *guid != iba::guid{} && d.nodeGUID == *guid);
    });
    if (found != all.end()) return std::move(*found);
    std::vector<std::string_view> names;
    for (const device& d : all) names.push_back(d.name);
    throw std::runtime_error(
        fmt::format("unknown RDMA device {}; available: {}", iba::as_given(text), fmt::join(names, ", ")));
}

smi_gsi smi_gsi_pair(const end_port& port, std::span<const end_port> all) {
    const auto is_other_side = [&](const end_port& ep) {
        return ep.is_infiniband() && ep.portGUID == port.portGUID && ep.is_gsi_only() != port.is_gsi_only();
    };
    if (!port.is_infiniband()) return {};
    const auto other = port.portGUID != iba::guid{} ? first_that_is_up(all, is_other_side) : all.end();
    if (other != all.end())
        return port.is_gsi_only() ? smi_gsi{.smi = *other, .gsi = port} : smi_gsi{.smi = port, .gsi = *other};
    if (port.is_gsi_only()) return {.smi = std::nullopt, .gsi = port};
    return {.smi = port, .gsi = port};
}

} // namespace comad::transports
