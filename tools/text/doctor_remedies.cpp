// SPDX-License-Identifier: MIT
// doctor_remedies.cpp - the texts of possible fixes. `at`: the options with which a command uses the port or fabric that doctor examined.
#include "text/doctor_remedies.hpp"

#include <algorithm>
#include <cassert>
#include <iterator>

namespace ibtool {
namespace {

using enum remedy_id;

constexpr remedy_row remedy_rows[] = {
    {load_vendor_driver, {}, "load the vendor's driver"},
    {load_module, {}, "modprobe {module}, then check dmesg"},
    {show_adapters, "ibtool --fabric sim:fattree2,radix=8,sm=1 ibnetdiscover",
     "list the adapters by lspci -nn | grep -i -e infiniband -e mellanox; a virtual machine or container needs an "
     "adapter passed in; without an adapter, try {command}"},
    {load_ib_umad, {}, "modprobe ib_umad; to load it at boot: echo ib_umad >/etc/modules-load.d/ib_umad.conf"},
    {newer_kernel, {}, "install Linux 2.6.24 or later"},
    {join_group, {}, "usermod -aG {group} {user}, then log in again"},
    {as_kernel_reports, {}, "{advice}"},
    {start_sm, {}, "start a subnet manager: systemctl start opensm on a host of the subnet, or the one of a switch"},
    {check_cable, {}, "check the cable, and that the port on its other end is powered and enabled"},
    {enable_port, "ibtool {at} ibportstate -D 0 {port} enable", "{command}"},
    {reset_port, "ibtool {at} ibportstate -D 0 {port} reset", "{command}"},
    {clean_cable,
     {},
     "the link training does not finish: clean or replace the cable, and compare the speeds of both ends"},
    {see_sm_log, {}, "check the log of the subnet manager if this state persists"},
    {make_mlx5_port_infiniband,
     {},
     "if the adapter supports InfiniBand: mstconfig -d {device} set LINK_TYPE_P{port}=1, then reboot"},
    {make_mlx4_port_infiniband,
     {},
     "if the adapter supports InfiniBand: echo ib >/sys/class/infiniband/{device}/device/mlx4_port{port}"},
    {other_adapter, {}, "use an adapter with InfiniBand ports"},
    {pass_in_plane_device,
     {},
     "also pass in the device of the planes (such as smi1), or select another port by -C and -P"},
    {choose_port, {}, "select another port by -C and -P"},
    {see_above, {}, "see the findings above"},
    {choose_or_connect_port, "ibtool ibstat", "bring a port up, or select one by -C and -P ({command} lists them)"},
    {see_help, "ibtool help", "see the findings above, and {command}"},
    {lengthen_queues,
     {},
     "echo options ib_core send_queue_size={send} recv_queue_size={receive} >/etc/modprobe.d/ib_core.conf, then "
     "reboot; or limit each command by --outstanding {outstanding}"},
    {raise_sa_limit, {}, "echo {most} >/sys/class/infiniband/{device}/mad_sa_cc/{port}/max_outstanding"},
    {see_dmesg, {}, "check dmesg: a port replies to its own host even without a cable"},
    {check_sm,
     {},
     "check that the subnet manager runs on the host with this LID (systemctl status opensm), or start another one"},
    {restart_right_sm, {}, "start or restart the subnet manager that you want as the master"},
    {stop_other_sms,
     {},
     "keep only one and stop the others, then compare their SM_Keys and check that the links between them carry SMPs"},
    {correct_sm_priority, {}, "give the intended master the highest priority, or stop the other subnet manager"},
    {wait_for_sa, "ibtool {at} -t 5s saquery -c",
     "its SM replies: try a longer timeout ({command}), then restart the subnet manager"},
    {restart_sm, {}, "restart the subnet manager"},
    {correct_name_map_file, {}, "give --node-name-map a file with lines of the form 0xGUID \"name\""},
    {allow_name_map, {}, "chmod a+r {file}"},
    {correct_name_map_lines, {}, "write the lines as 0xGUID \"name\""},
};

constexpr bool is_in_order() {
    for (std::size_t i = 0; i < std::size(remedy_rows); ++i)
        if (static_cast<std::size_t>(remedy_rows[i].id) != i) return false;
    return true;
}
static_assert(is_in_order());

std::string filled(std::string_view text, remedy::values values, std::string_view command) {
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t open = std::min(text.find('{', at), text.size());
        out += text.substr(at, open - at);
        if (open == text.size()) break;
        const std::size_t close = text.find('}', open);
        const std::string_view name = text.substr(open + 1, close - open - 1);
        const auto found = std::ranges::find(values, name, &std::pair<std::string_view, std::string_view>::first);
        assert(name == "command" || found != values.end());
        if (name == "command") out += command;
        else if (found != values.end()) out += found->second;
        at = close + 1;
        const bool doubles_a_blank = at < text.size() && text[at] == ' ' && out.ends_with(' ');
        if (doubles_a_blank) ++at; // the inserted value is empty
    }
    return out;
}

} // namespace

std::span<const remedy_row> remedy_table() noexcept { return remedy_rows; }

remedy::remedy(remedy_id id, values v) {
    const remedy_row& row = remedy_rows[static_cast<std::size_t>(id)];
    command_ = filled(row.command, v, {});
    text_ = filled(row.text, v, command_);
}

} // namespace ibtool
