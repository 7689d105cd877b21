// SPDX-License-Identifier: MIT
// delivered_request.hpp - the header fields of a request as a server receives them, and the values that Linux delivers.
// The tests of the simulator, the virtual device, ibsim and the kernel use them.
#pragma once
#include <comad/iba/smp.hpp>
#include <comad/mad/detail/message.hpp>
#include <comad/mad/path.hpp>
#include <comad/mad/transport.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <string>

namespace comad::test {

/// A request from one end of a cable to the other. Both ends are port 1 of a channel adapter.
enum class request_kind : u8 {
    by_ports,     ///< SubnGet(SMInfo) by the directed route 0,1
    by_lid,       ///< SubnGet(SMInfo) by LID
    of_other_port ///< PerformanceGet(PortCounters)
};

/// Values in the header of the request.
inline constexpr u32 requested_tid = 77;
inline constexpr u64 requested_mkey = 0x0123'4567'89ab'cdef;
inline constexpr u8 requested_sl = 3;

/// Returns the path of a request.
inline mad::any_path path_of(request_kind what, iba::lid target) {
    const std::array<u8, 1> ports{1};
    if (what == request_kind::by_ports) return mad::IBDRPath(ports);
    mad::IBPath path;
    path.DLID = target;
    path.SL = requested_sl;
    return path;
}
/// Returns the bytes of a request.
inline std::array<u8, mad::mad_size> bytes_of(request_kind what) {
    const bool is_smp = what != request_kind::of_other_port;
    const u16 attribute = is_smp ? iba::attribute_id<iba::smp::SMInfo> : u16{0x12};
    const mad::rpc_kind kind{is_smp ? iba::MgmtClass::SubnLID : iba::MgmtClass::Performance, 1, iba::Method::Get,
                             attribute, true};
    mad::any_path path = path_of(what, iba::lid{2});
    std::visit([](auto& p) { p.MKey = requested_mkey; }, path);
    std::array<u8, mad::mad_size> mad;
    mad::write_request(mad.data(), kind, path, 0);
    mad::set_low_tid(mad.data(), requested_tid);
    return mad;
}

using fields = std::map<std::string, u64>;

/// Returns the fields of a received request. They contain only the lower half of the transaction ID, because the
/// sending kernel sets the upper half.
inline fields fields_of(const mad::source_address& from, std::span<const u8> mad) {
    using header = iba::MADHeader;
    using directed_header = iba::MADHeaderDirected;
    using iba::smp::FormatDirected;
    const u8* m = mad.data();
    fields all{{"SLID", value(from.SLID)},
               {"SL", from.SL},
               {"P_Key index", from.pkey_index},
               {"source QP", from.sqpn},
               {"path bits", from.path_bits},
               {"GRH", from.has_grh},
               {"length", mad.size()},
               {"BaseVersion", iba::get<&header::baseVersion>(m)},
               {"MgmtClass", value(iba::get<&header::mgmtClass>(m))},
               {"ClassVersion", iba::get<&header::classVersion>(m)},
               {"Method", value(iba::get<&header::method>(m))},
               {"TransactionID", mad::low_tid(m)},
               {"AttributeID", iba::get<&header::attributeID>(m)},
               {"AttributeModifier", iba::get<&header::attributeModifier>(m)}};
    if (iba::get<&header::mgmtClass>(m) == iba::MgmtClass::Performance) {
        all["Status"] = iba::get<&header::status>(m);
        return all;
    }
    all["M_Key"] = iba::get<&iba::smp::Format::MKey>(m);
    if (iba::get<&header::mgmtClass>(m) == iba::MgmtClass::SubnLID) {
        all["Status"] = iba::get<&header::status>(m);
        return all;
    }
    all["D"] = iba::get<&directed_header::D>(m);
    all["Status"] = iba::get<&directed_header::status>(m);
    all["HopPointer"] = iba::get<&directed_header::hopPointer>(m);
    all["HopCount"] = iba::get<&directed_header::hopCount>(m);
    all["DrSLID"] = value(iba::get<&FormatDirected::drSLID>(m));
    all["DrDLID"] = value(iba::get<&FormatDirected::drDLID>(m));
    for (std::size_t i = 0; i < 64; ++i) {
        all["InitialPath " + std::to_string(i)] = m[iba::offset_of<&FormatDirected::initialPath> + i];
        all["ReturnPath " + std::to_string(i)] = m[iba::offset_of<&FormatDirected::returnPath> + i];
    }
    return all;
}

/// Returns the fields that Linux delivers (drivers/infiniband/core: mad.c, smi.c, user_mad.c; IBA 14.2.2.2). `from`: LID of
/// the requester.
inline fields expected_of(request_kind what, iba::lid from) {
    const bool is_directed = what == request_kind::by_ports, is_smp = what != request_kind::of_other_port;
    fields all{{"SLID", is_directed ? 0xffff : value(from)},
               {"SL", is_directed ? 0 : requested_sl},
               {"P_Key index", 0},
               {"source QP", is_smp ? 0 : 1},
               {"path bits", 0},
               {"GRH", 0},
               {"length", 256},
               {"BaseVersion", 1},
               {"MgmtClass", is_directed ? 0x81
                             : is_smp    ? 0x01
                                         : 0x04},
               {"ClassVersion", 1},
               {"Method", 0x01},
               {"TransactionID", requested_tid},
               {"AttributeID", is_smp ? 0x20 : 0x12},
               {"AttributeModifier", 0},
               {"Status", 0}};
    if (is_smp) all["M_Key"] = requested_mkey;
    if (!is_directed) return all;
    all["D"] = 0;
    all["HopPointer"] = 2; // includes the hop from the SMI to the SM
    all["HopCount"] = 1;
    all["DrSLID"] = all["DrDLID"] = 0xffff;
    for (int i = 0; i < 64; ++i)
        all["InitialPath " + std::to_string(i)] = all["ReturnPath " + std::to_string(i)] = i == 1 ? 1 : 0;
    return all;
}

/// Describes the fields that differ, such as `HopPointer 0, expected 2`, except those named in `free`.
inline std::string differences(const fields& got, const fields& expected,
                               std::initializer_list<const char*> free = {}) {
    std::string all;
    for (const auto& [name, value] : expected) {
        const auto found = got.find(name);
        const bool is_free = std::find(free.begin(), free.end(), name) != free.end();
        if (is_free || (found != got.end() && found->second == value)) continue;
        all += name + " " + (found == got.end() ? "missing" : std::to_string(found->second)) + ", expected " +
               std::to_string(value) + "\n";
    }
    return all;
}

} // namespace comad::test
