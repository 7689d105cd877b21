// SPDX-License-Identifier: MIT
// doctor_checks.cpp - one function for each kind of check of `doctor`, in the order of their dependencies.
#include "text/doctor_checks.hpp"

#include "comad.hpp"
#include "text/local_ports.hpp"
#include <comad/iba/detail/format.hpp>
#include <comad/transports/detail/umad_errors.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <system_error>

namespace ibtool {
namespace {

using transports::end_port;

using findings = std::vector<finding>;

/// Returns the verdict for a problem of a port: bad for the port that is used, a warning for other ports.
verdict bad_if(bool is_used) { return is_used ? verdict::bad : verdict::warning; }

bool is_used(const machine& m, const end_port& p) { return m.used && m.used->name() == p.name(); }

std::string error_text(int error) { return std::generic_category().message(error); }

// Devices

constexpr unsigned Mellanox = 0x15b3, QLogic = 0x1077;

/// Returns the kernel module that makes an adapter an InfiniBand device; empty: unknown.
std::string_view module_of(const pci_adapter& a) {
    constexpr unsigned first_of_mlx5 = 0x1011; // Connect-IB; lower IDs are ConnectX to ConnectX-3 Pro
    if (a.vendor == Mellanox) return a.product < first_of_mlx5 ? "mlx4_ib" : "mlx5_ib";
    if (a.vendor == QLogic) return "ib_qib";
    return {};
}

std::string format_adapter(const pci_adapter& a) {
    return fmt::format("adapter {} ({:04x}:{:04x}, {}) is not an RDMA device", a.address, a.vendor, a.product,
                       a.driver.empty() ? "no driver" : "driver " + a.driver);
}
remedy remedy_for(const pci_adapter& a) {
    const std::string_view module = module_of(a);
    if (module.empty()) return remedy_id::load_vendor_driver;
    return {remedy_id::load_module, {{"module", module}}};
}

findings check_devices(const machine& m) {
    findings all;
    for (const transports::device& d : m.devices) {
        const auto origin = std::ranges::find(m.origins, d.name, &device_origin::device);
        const bool has_driver = origin != m.origins.end() && !origin->driver.empty();
        all.push_back({"device",
                       d.name,
                       verdict::ok,
                       fmt::format("{}, firmware {}, {}", d.hca_type.empty() ? "of unknown type" : d.hca_type,
                                   d.fw_ver.empty() ? "unknown" : d.fw_ver,
                                   has_driver ? "driver " + origin->driver : "no PCI driver: a software device"),
                       {}});
    }
    const auto is_idle = [&](const pci_adapter& a) {
        // An unused network adapter is a problem only if there is no other device.
        return (a.is_infiniband || m.devices.empty()) &&
               std::ranges::find(m.origins, a.address, &device_origin::address) == m.origins.end();
    };
    for (const pci_adapter& a : m.adapters)
        if (is_idle(a)) all.push_back({"device", {}, bad_if(m.devices.empty()), format_adapter(a), remedy_for(a)});
    if (all.empty())
        all.push_back({"device",
                       {},
                       verdict::bad,
                       "no RDMA device, and no adapter on the PCI bus that could become one",
                       remedy_id::show_adapters});
    return all;
}

// The module

finding check_module(const machine& m) {
    constexpr unsigned least_abi = 5;
    if (!m.umad_abi)
        return {"module", "ib_umad", bad_if(m.needs_umad), "not loaded, so there are no MAD devices",
                remedy_id::load_ib_umad};
    if (*m.umad_abi < least_abi)
        return {"module", "ib_umad", bad_if(m.needs_umad),
                fmt::format("ABI version {}, but at least {} is required", *m.umad_abi, least_abi),
                remedy_id::newer_kernel};
    return {"module", "ib_umad", verdict::ok, fmt::format("loaded, ABI version {}", *m.umad_abi), {}};
}

// Files

remedy remedy_for(const device_file& f, const std::string& user) {
    constexpr unsigned group_may = 0060;
    if (f.error == EACCES && (f.mode & group_may) == group_may && f.group_owner != "root")
        return {remedy_id::join_group, {{"group", f.group_owner}, {"user", user}}};
    return {remedy_id::as_kernel_reports, {{"advice", transports::umad_advice(transports::umad_call::open, f.error)}}};
}

finding check_file(const device_file& f, const machine& m, bool is_needed) {
    const bool is_umad = f.name.starts_with("umad");
    std::string found = fmt::format("device file of {}, ", f.port);
    if (f.error == ENOENT) found += "missing";
    else found += fmt::format("mode {:04o}, {}:{}", f.mode, f.user_owner, f.group_owner);
    if (f.error == 0) return {"file", f.path, verdict::ok, found + fmt::format(", accessible to {}", m.user), {}};
    if (f.error != ENOENT) found += fmt::format(", not accessible to {} ({})", m.user, error_text(f.error));
    if (!is_umad) found += "; only subnet managers need it";
    return {"file", f.path, bad_if(is_needed), std::move(found), remedy_for(f, m.user)};
}

findings check_files(const machine& m) {
    const std::vector<device_file> needed = files_in_use(m);
    findings all;
    for (const device_file& f : m.files)
        all.push_back(check_file(f, m, std::ranges::find(needed, f.name, &device_file::name) != needed.end()));
    return all;
}

// Ports

/// Returns the options that select a port.
std::string at_port(const end_port& p) { return fmt::format("-C {} -P {}", p.device, p.port); }

/// Returns the possible fix for a link that is down.
remedy link_remedy(const end_port& p) {
    using enum iba::PortPhysicalState;
    const std::string port = fmt::to_string(p.port);
    switch (p.portPhysicalState) {
    case Polling: return remedy_id::check_cable;
    case Disabled: return {remedy_id::enable_port, {{"at", at_port(p)}, {"port", port}}};
    case Sleep: return {remedy_id::reset_port, {{"at", at_port(p)}, {"port", port}}};
    default: return remedy_id::clean_cable;
    }
}

/// Returns the possible fix for a device without InfiniBand ports.
remedy infiniband_remedy(const end_port& p) {
    const std::string port = fmt::to_string(p.port);
    if (p.device.starts_with("mlx5_"))
        return {remedy_id::make_mlx5_port_infiniband, {{"device", p.device}, {"port", port}}};
    if (p.device.starts_with("mlx4_"))
        return {remedy_id::make_mlx4_port_infiniband, {{"device", p.device}, {"port", port}}};
    return remedy_id::other_adapter;
}

finding check_port_state(const end_port& p, bool is_used) {
    const std::string found =
        fmt::format("{}, {} ({}), LID {}, SM at LID {}", p.link_layer, format_state(p.portState),
                    format_physical_state(p.portPhysicalState), value(p.LID), value(p.masterSMLID));
    const auto evaluated = [&](verdict v, std::string more, remedy advice) {
        return finding{"port", p.name(), v, more.empty() ? found : found + ": " + more, std::move(advice)};
    };
    if (!p.is_infiniband())
        return {"port",
                p.name(),
                verdict::ok,
                fmt::format("{} (RoCE), {}: the port has no subnet and cannot send SMPs", p.link_layer,
                            format_state(p.portState)),
                {}};
    switch (p.portState) {
    case iba::PortState::Active:
        if (value(p.masterSMLID) == 0)
            return evaluated(bad_if(is_used), "no subnet manager is known", remedy_id::start_sm);
        return evaluated(verdict::ok, {}, {});
    case iba::PortState::Armed:
        return evaluated(verdict::warning, "the subnet manager has not finished its configuration",
                         remedy_id::see_sm_log);
    case iba::PortState::Initialize:
        return evaluated(bad_if(is_used), "the link is up, but no subnet manager has configured the port",
                         remedy_id::start_sm);
    default: return evaluated(bad_if(is_used), "no link", link_remedy(p));
    }
}

/// Checks a port whose SMI may belong to another device.
finding check_sides(const machine& m, const std::vector<end_port>& with_umad) {
    const transports::smi_gsi sides = transports::smi_gsi_pair(*m.used, with_umad);
    if (!sides.smi)
        return {"fabric", m.used->name(), verdict::bad,
                "its device has no SMI (IsSMdisabled), and no other device has its port GUID, so SMPs cannot be sent",
                remedy_id::pass_in_plane_device};
    if (!sides.gsi)
        return {"fabric", m.used->name(), verdict::bad, "has no GSI, so only SMPs can be sent", remedy_id::choose_port};
    const std::string found =
        sides.smi->umad == sides.gsi->umad
            ? "the port that ibtool uses"
            : fmt::format("the port that ibtool uses: {} ({}) for SMPs, {} ({}) for all other MADs", sides.smi->name(),
                          sides.smi->umad, sides.gsi->name(), sides.gsi->umad);
    return {"fabric", m.used->name(), verdict::ok, found, {}};
}

finding check_choice(const machine& m) {
    if (m.used && !m.needs_umad)
        return {"fabric",
                m.used->name(),
                verdict::ok,
                "the port that ibtool uses, through verbs: it can send only GMPs",
                {}};
    std::vector<end_port> all = ports_of(m);
    if (m.used) {
        std::erase_if(all, [](const end_port& p) { return p.umad.empty(); });
        return check_sides(m, all);
    }
    remedy advice = remedy_id::see_above;
    const auto is_infiniband = [](const end_port& p) { return p.is_infiniband(); };
    if (!all.empty() && std::ranges::none_of(all, is_infiniband)) advice = infiniband_remedy(all.front());
    else if (std::ranges::any_of(all, is_infiniband) && m.umad_abi) advice = remedy_id::choose_or_connect_port;
    return {"fabric", {}, verdict::bad, m.no_port, advice};
}

findings check_ports(const machine& m) {
    findings all;
    for (const end_port& p : ports_of(m)) all.push_back(check_port_state(p, is_used(m, p)));
    all.push_back(check_choice(m));
    return all;
}

// The kernel

/// Checks the lengths of the kernel's queues (docs/explanation/devices.md, "How much is in flight").
finding check_queues(const machine& m) {
    constexpr unsigned usual_send = 128, usual_receive = 512;
    const unsigned send = m.send_queue.value_or(usual_send), receive = m.receive_queue.value_or(usual_receive);
    std::string found =
        fmt::format("Linux {}: at most {} MADs of a port are in flight; kernels since 2025 also limit each open "
                    "device to {} SMPs and {} SA requests",
                    m.kernel, send, receive / 4, receive / 32);
    if (send >= usual_send && receive >= usual_receive)
        return {"kernel", {}, verdict::ok, found + "; ibtool keeps to these limits", {}};
    return {"kernel",
            {},
            verdict::warning,
            found +
                "; ibtool may send 128 SMPs and 16 SA requests: the excess waits in the kernel while its timeout runs",
            {remedy_id::lengthen_queues,
             {{"send", fmt::to_string(usual_send)},
              {"receive", fmt::to_string(usual_receive)},
              {"outstanding", fmt::to_string(std::max(1u, std::min(send, receive / 4)))}}}};
}

findings check_kernel(const machine& m) {
    findings all{check_queues(m)};
    constexpr unsigned without_cap = 16; // requests to the SA in flight if the driver sets no limit
    for (const end_port& p : ports_of(m)) {
        if (p.sa_max_outstanding == 0) continue;
        const std::string found =
            fmt::format("mad_sa_cc of MLNX_OFED sends at most {} requests to the SA at a time, and "
                        "silently drops requests if its queue is full; ibtool keeps to this limit, "
                        "but other programs may not",
                        p.sa_max_outstanding);
        const bool is_less = p.sa_max_outstanding < without_cap;
        remedy advice;
        if (is_less)
            advice = {remedy_id::raise_sa_limit,
                      {{"most", fmt::to_string(without_cap)}, {"device", p.device}, {"port", fmt::to_string(p.port)}}};
        all.push_back({"kernel", p.name(), is_less ? verdict::warning : verdict::ok, found, std::move(advice)});
    }
    return all;
}

// The fabric

/// Formats a duration: `0.123 ms`.
std::string format_ms(comad::mad::duration d) {
    return fmt::format("{:.3f} ms", std::chrono::duration<double, std::milli>(d).count());
}

/// Reports the subnet manager at the LID that the local port has stored.
finding check_own_sm(const fabric_facts& f) {
    const std::string about = fmt::format("LID {}", f.SM_LID);
    if (!f.SM.error.empty()) return {"SM", about, verdict::bad, f.SM.error, remedy_id::check_sm};
    const std::string found = fmt::format("{}, replied in {}", manager_state(f.sm_info), format_ms(f.SM.round_trip));
    if (f.sm_info.SMState != iba::SMState::Master)
        return {"SM", about, verdict::warning, found + ": the local port uses it, but it is not the master",
                remedy_id::restart_right_sm};
    return {"SM", about, verdict::ok, found, {}};
}

/// Reports another subnet manager. `was_queried`: SMInfo was requested from it.
finding list_sm(const manager_facts& m, bool was_queried) {
    using enum manager_facts::source;
    const std::string_view silent = was_queried ? ", but it did not reply to SMInfo" : "";
    switch (m.described_by) {
    case own:
        return {"SM",
                manager_name(m),
                verdict::ok,
                fmt::format("{}, replied in {}", manager_state(m.info), format_ms(m.round_trip)),
                {}};
    case SA:
        return {"SM",
                manager_name(m),
                verdict::ok,
                fmt::format("{}, according to the SA{}", manager_state(m.info), silent),
                {}};
    case capability_mask: break;
    }
    return {"SM", manager_name(m), verdict::skipped, fmt::format("its port has IsSM set{}", silent), {}};
}

remedy_id remedy_for(manager_problem::kind what) {
    switch (what) {
    case manager_problem::kind::no_master: return remedy_id::restart_right_sm;
    case manager_problem::kind::several_masters: return remedy_id::stop_other_sms;
    case manager_problem::kind::outranked_master: break;
    }
    return remedy_id::correct_sm_priority;
}

findings check_sms(const fabric_facts& f) {
    findings all;
    if (f.SM_LID != 0 && f.has_smps) all.push_back(check_own_sm(f));
    const bool is_own_known = f.SM_LID != 0 && f.SM.error.empty();
    for (const manager_facts& m : f.managers) {
        const bool is_own =
            f.SM_LID != 0 && f.has_smps && (m.LID == f.SM_LID || (is_own_known && m.info.GUID == f.sm_info.GUID));
        if (!is_own) all.push_back(list_sm(m, f.has_smps));
    }
    for (const manager_problem& p : manager_problems(f.managers))
        all.push_back({"SM", {}, verdict::warning, p.text, remedy_for(p.what)});
    return all;
}

finding check_sa(const fabric_facts& f) {
    if (!f.SA.error.empty())
        return {"SA",
                {},
                verdict::bad,
                f.SA.error,
                f.has_smps && f.SM.error.empty() ? remedy{remedy_id::wait_for_sa, {{"at", f.at}}}
                                                 : remedy{remedy_id::restart_sm}};
    const auto response_time = std::chrono::nanoseconds(4096LL << f.sa_response_time);
    return {"SA",
            {},
            verdict::ok,
            fmt::format("replies in {}; it announces a response time of up to {}", format_ms(f.SA.round_trip),
                        format_ms(response_time)),
            {}};
}

} // namespace

std::vector<end_port> ports_of(const machine& m) {
    std::vector<end_port> all;
    for (const transports::device& d : m.devices) all.insert(all.end(), d.end_ports.begin(), d.end_ports.end());
    return all;
}

std::vector<device_file> files_in_use(const machine& m) {
    std::vector<device_file> all;
    if (!m.used || !m.needs_umad) return all;
    const transports::smi_gsi sides = transports::smi_gsi_pair(*m.used, ports_of(m));
    for (const device_file& f : m.files)
        if ((sides.smi && f.name == sides.smi->umad) || (sides.gsi && f.name == sides.gsi->umad)) all.push_back(f);
    return all;
}

bool can_open(const machine& m) {
    return m.used && std::ranges::all_of(files_in_use(m), [](const device_file& f) { return f.error == 0; });
}

findings check_machine(const machine& m) {
    findings all = check_devices(m);
    all.push_back(check_module(m));
    for (const auto check : {check_files, check_ports, check_kernel}) {
        findings more = check(m);
        std::ranges::move(more, std::back_inserter(all));
    }
    return all;
}

findings check_fabric(const fabric_facts& f) {
    findings all;
    const auto add_sms = [&] { std::ranges::move(check_sms(f), std::back_inserter(all)); };
    if (!f.has_smps) {
        all.push_back({"SMP", {}, verdict::skipped, "not sent: the transport or --sa excludes SMPs", {}});
    } else if (!f.local.error.empty()) {
        all.push_back({"SMP", {}, verdict::bad, "the local port: " + f.local.error, remedy_id::see_dmesg});
        all.push_back({"SM", {}, verdict::skipped, "not checked: the local port does not reply", {}});
        return all;
    } else {
        all.push_back({"SMP", {}, verdict::ok, "the local port replies in " + format_ms(f.local.round_trip), {}});
    }
    if (f.SM_LID == 0) {
        all.push_back({"SM",
                       {},
                       verdict::bad,
                       "no subnet manager is known: the SM LID of the local port is 0",
                       remedy_id::start_sm});
        add_sms();
        all.push_back({"SA", {}, verdict::skipped, "not checked: no subnet manager is known", {}});
        return all;
    }
    add_sms();
    all.push_back(check_sa(f));
    return all;
}

finding check_name_map(const name_map_facts& f) {
    std::vector<std::string_view> places;
    for (const auto& candidate : f.examined) places.push_back(candidate.file);
    const auto closed = std::ranges::find_if(f.examined, [](const name_map_facts::candidate& p) {
        return p.error != 0 && p.error != ENOENT && p.error != ENOTDIR;
    });
    if (!f.problem.empty())
        return {"names", f.examined.back().file, f.is_named ? verdict::bad : verdict::warning, f.problem,
                remedy_id::correct_name_map_file};
    if (closed != f.examined.end())
        return {"names",
                closed->file,
                verdict::warning,
                fmt::format("the node name map cannot be read ({})", error_text(closed->error)),
                {remedy_id::allow_name_map, {{"file", closed->file}}}};
    if (f.examined.empty() || f.examined.back().error != 0)
        return {
            "names",
            {},
            verdict::ok,
            fmt::format("no node name map ({}): nodes have their own descriptions as names", fmt::join(places, ", ")),
            {}};
    const std::string found = fmt::format("node name map with {} names", f.names);
    if (!f.warnings.empty())
        return {"names", f.examined.back().file, verdict::warning,
                fmt::format("{}; {} lines are ignored, first: {}", found, f.warnings.size(), f.warnings.front()),
                remedy_id::correct_name_map_lines};
    return {"names", f.examined.back().file, verdict::ok, found, {}};
}

} // namespace ibtool
