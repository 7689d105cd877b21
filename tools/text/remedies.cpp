// SPDX-License-Identifier: MIT
// remedies.cpp - the table. `at`: the options by which a command reaches the port or fabric that doctor examined.
#include "text/remedies.hpp"

#include <algorithm>
#include <cassert>
#include <iterator>

namespace ibtool {
namespace {

using enum remedy_id;

constexpr remedy_row remedy_rows[] = {
    {load_vendor_driver, {}, "load the driver of its vendor"},
    {load_module, {}, "modprobe {module}, then look at dmesg"},
    {show_adapters, "ibtool --fabric sim:fattree2,radix=8,sm=1 ibnetdiscover",
     "lspci -nn | grep -i -e infiniband -e mellanox shows adapters; a virtual machine or container needs one passed "
     "in; "
     "{command} needs none"},
    {load_ib_umad, {}, "modprobe ib_umad; at every start: echo ib_umad >/etc/modules-load.d/ib_umad.conf"},
    {newer_kernel, {}, "a kernel since 2.6.24"},
    {join_group, {}, "usermod -aG {group} {user}, then log in again"},
    {as_kernel_says, {}, "{advice}"},
    {start_SM, {}, "start a subnet manager: systemctl start opensm on a host of the subnet, or that of a switch"},
    {check_cable, {}, "check the cable and that its other end is on and enabled"},
    {enable_port, "ibtool {at} ibportstate -D 0 {port} enable", "{command}"},
    {reset_port, "ibtool {at} ibportstate -D 0 {port} reset", "{command}"},
    {clean_cable,
     {},
     "the link does not finish its training: clean or replace the cable, compare the speeds of both ends"},
    {see_SM_log, {}, "look at its log if that lasts"},
    {make_mlx5_port_infiniband,
     {},
     "mstconfig -d {device} set LINK_TYPE_P{port}=1, then restart, if the adapter can both"},
    {make_mlx4_port_infiniband,
     {},
     "echo ib >/sys/class/infiniband/{device}/device/mlx4_port{port}, if the adapter can both"},
    {other_adapter, {}, "an adapter with ports of InfiniBand"},
    {pass_in_plane_device,
     {},
     "pass in the device of the planes, too (such as smi1), or choose another port by -C and -P"},
    {choose_port, {}, "choose another port by -C and -P"},
    {see_above, {}, "see above"},
    {choose_or_connect_port, "ibtool ibstat", "bring a port up, or name one by -C and -P ({command} lists them)"},
    {see_help, "ibtool help", "see above, and {command}"},
    {lengthen_queues,
     {},
     "echo options ib_core send_queue_size={send} recv_queue_size={receive} >/etc/modprobe.d/ib_core.conf, then "
     "restart; "
     "or limit each command by --outstanding {outstanding}"},
    {raise_SA_limit, {}, "echo {most} >/sys/class/infiniband/{device}/mad_sa_cc/{port}/max_outstanding"},
    {see_dmesg, {}, "look at dmesg: a port answers its own host even without a cable"},
    {check_SM, {}, "check that it runs where that LID is (systemctl status opensm), or start another one"},
    {restart_right_SM, {}, "start or restart the subnet manager that should be the master"},
    {stop_other_SMs,
     {},
     "stop all but one, then compare their SM_Keys and check that the links between them carry SMPs"},
    {correct_SM_priority, {}, "give the intended master the highest priority, or stop the other subnet manager"},
    {wait_for_SA, "ibtool {at} -t 5s saquery -c",
     "its SM answers: a longer timeout ({command}), else restart the subnet manager"},
    {restart_SM, {}, "restart the subnet manager"},
    {correct_name_map_file, {}, "--node-name-map takes a file of lines 0xGUID \"name\""},
    {allow_name_map, {}, "chmod a+r {file}"},
    {correct_name_map_lines, {}, "write them as 0xGUID \"name\""},
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
        if (doubles_a_blank) ++at; // the value is empty
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
