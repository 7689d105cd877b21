// SPDX-License-Identifier: MIT
// counter_options.cpp - the letters of infiniband-diags' perfquery, and the names that python-rdma has for some.
#include "commands/counters/counter_options.hpp"

#include <string_view>

namespace ibtool {
namespace {

struct group_option {
    const char *letter, *name; ///< the letter with its comma, or nothing
    const counter_group& group;
};
const group_option group_options[] = {
    {"-x,", "--extended", port_counters_extended},
    {"-X,", "--xmtsl", xmit_data_sl},
    {"-S,", "--rcvsl", rcv_data_sl},
    {"-D,", "--xmtdisc", xmit_discard_details},
    {"-E,", "--rcverr", rcv_error_details},
    {"-T,", "--extended_speeds", extended_speeds},
    {"", "--oprcvcounters", op_rcv_counters},
    {"-F,", "--flowctlcounters", flow_ctl_counters},
    {"", "--vloppackets", vl_op_packets},
    {"", "--vlopdata", vl_op_data},
    {"", "--vlxmitflowctlerrors,--vl-xmit-errs", vl_xmit_flow_ctl_update_errors},
    {"", "--vlxmitcounters,--vl-xmit-wait", vl_xmit_wait},
    {"", "--swportvlcong,--vl-congestion", sw_port_vl_congestion},
    {"", "--rcvcc", rcv_con_ctrl},
    {"", "--slrcvfecn", sl_rcv_fecn},
    {"", "--slrcvbecn", sl_rcv_becn},
    {"", "--xmitcc", xmit_con_ctrl},
    {"", "--vlxmittimecc", vl_xmit_time_cong},
    {"-c,", "--smplctl", samples_control},
};

} // namespace

void counter_options::declare(arguments& takes, bool has_T) {
    asked_for_.resize(std::size(group_options));
    for (std::size_t i = 0; i < std::size(group_options); ++i) {
        const group_option& o = group_options[i];
        const bool has_letter = has_T || std::string_view(o.letter) != "-T,";
        takes.flag(has_letter ? std::string(o.letter) + o.name : o.name, asked_for_[i]);
    }
}

std::vector<const counter_group*> counter_options::groups() const {
    std::vector<const counter_group*> chosen;
    for (std::size_t i = 0; i < asked_for_.size(); ++i)
        if (asked_for_[i]) chosen.push_back(&group_options[i].group);
    return chosen;
}

} // namespace ibtool
