// SPDX-License-Identifier: MIT
// counter_options.cpp - the letters of infiniband-diags' perfquery, and the names that python-rdma has for some.
#include "commands/counter_options.hpp"

#include <string_view>

namespace ibtool {
namespace {

struct group_option {
    const char *letter, *name, *what; ///< the letter with its comma, or nothing
    const counter_group& group;
};
const group_option group_options[] = {
    {"-x,", "--extended", "64-bit counters (PortCountersExtended)", port_counters_extended},
    {"-X,", "--xmtsl", "data sent, by SL", xmit_data_SL},
    {"-S,", "--rcvsl", "data received, by SL", rcv_data_SL},
    {"-D,", "--xmtdisc", "discarded packets by cause", xmit_discard_details},
    {"-E,", "--rcverr", "receive errors, by cause", rcv_error_details},
    {"-T,", "--extended_speeds", "errors and corrections on links of extended speeds", extended_speeds},
    {"", "--oprcvcounters", "packets and data received, of OpCode 0", op_rcv_counters},
    {"-F,", "--flowctlcounters", "flow control packets", flow_ctl_counters},
    {"", "--vloppackets", "packets received, of OpCode 0, by VL", VL_op_packets},
    {"", "--vlopdata", "data received, of OpCode 0, by VL", VL_op_data},
    {"", "--vlxmitflowctlerrors,--vl-xmit-errs", "errors of flow control, by VL", VL_xmit_flow_ctl_update_errors},
    {"", "--vlxmitcounters,--vl-xmit-wait", "ticks that packets waited to be sent, by VL", VL_xmit_wait},
    {"", "--swportvlcong,--vl-congestion", "packets discarded for congestion, by VL", sw_port_VL_congestion},
    {"", "--rcvcc", "packets received with FECN and BECN", rcv_con_ctrl},
    {"", "--slrcvfecn", "packets received with FECN, by SL", SL_rcv_FECN},
    {"", "--slrcvbecn", "packets received with BECN, by SL", SL_rcv_BECN},
    {"", "--xmitcc", "time of congestion", xmit_con_ctrl},
    {"", "--vlxmittimecc", "time of congestion, by VL", VL_xmit_time_cong},
    {"-c,", "--smplctl", "what is sampled (PortSamplesControl)", samples_control},
};

} // namespace

void counter_options::declare(arguments& takes, bool has_T) {
    asked_for_.resize(std::size(group_options));
    for (std::size_t i = 0; i < std::size(group_options); ++i) {
        const group_option& o = group_options[i];
        const bool has_letter = has_T || std::string_view(o.letter) != "-T,";
        takes.flag(has_letter ? std::string(o.letter) + o.name : o.name, asked_for_[i], o.what);
    }
}

std::vector<const counter_group*> counter_options::groups() const {
    std::vector<const counter_group*> chosen;
    for (std::size_t i = 0; i < asked_for_.size(); ++i)
        if (asked_for_[i]) chosen.push_back(&group_options[i].group);
    return chosen;
}

} // namespace ibtool
