// SPDX-License-Identifier: MIT
// counter_options.cpp - declares the counter options of infiniband-diags' perfquery, and additional names from python-rdma.
#include "commands/counters/counter_options.hpp"

#include "comad.hpp"

#include <string_view>

namespace ibtool {
namespace {

/// An option that selects a counter group.
struct group_option {
    const char *letter, *name; ///< `letter` ends with a comma, or is empty
    const counter_group& group;
};
const group_option group_options[] = {
    {"-x,", "--extended", group_of<pm::PortCountersExt>},
    {"-X,", "--xmtsl", group_of<pm::PortXmitDataSL>},
    {"-S,", "--rcvsl", group_of<pm::PortRcvDataSL>},
    {"-D,", "--xmtdisc", group_of<pm::PortXmitDiscardDetails>},
    {"-E,", "--rcverr", group_of<pm::PortRcvErrorDetails>},
    {"-T,", "--extended_speeds", group_of<pm::PortExtendedSpeedsCounters>},
    {"", "--oprcvcounters", group_of<pm::PortOpRcvCounters>},
    {"-F,", "--flowctlcounters", group_of<pm::PortFlowCtlCounters>},
    {"", "--vloppackets", group_of<pm::PortVLOpPackets>},
    {"", "--vlopdata", group_of<pm::PortVLOpData>},
    {"", "--vlxmitflowctlerrors,--vl-xmit-errs", group_of<pm::PortVLXmitFlowCtlUpdateErrors>},
    {"", "--vlxmitcounters,--vl-xmit-wait", group_of<pm::PortVLXmitWaitCounters>},
    {"", "--swportvlcong,--vl-congestion", group_of<pm::SwPortVLCongestion>},
    {"", "--rcvcc", group_of<pm::PortRcvConCtrl>},
    {"", "--slrcvfecn", group_of<pm::PortSLRcvFECN>},
    {"", "--slrcvbecn", group_of<pm::PortSLRcvBECN>},
    {"", "--xmitcc", group_of<pm::PortXmitConCtrl>},
    {"", "--vlxmittimecc", group_of<pm::PortVLXmitTimeCong>},
    {"-c,", "--smplctl", group_of<pm::PortSamplesCtl>},
};

} // namespace

void counter_options::declare(arguments& takes, bool has_T) {
    is_chosen_.resize(std::size(group_options));
    for (std::size_t i = 0; i < std::size(group_options); ++i) {
        const group_option& o = group_options[i];
        const bool has_letter = has_T || std::string_view(o.letter) != "-T,";
        takes.flag(has_letter ? std::string(o.letter) + o.name : o.name, is_chosen_[i]);
    }
}

std::vector<const counter_group*> counter_options::groups() const {
    std::vector<const counter_group*> chosen;
    for (std::size_t i = 0; i < is_chosen_.size(); ++i)
        if (is_chosen_[i]) chosen.push_back(&group_options[i].group);
    return chosen;
}

} // namespace ibtool
