// SPDX-License-Identifier: MIT
// local_port.cpp - queries the local SMA by SubnGets without hops.
#include <comad/iba/detail/device_ids.hpp>
#include <comad/mad/detail/message.hpp>
#include <comad/transports/detail/vumad/local_port.hpp>

#include <array>
#include <cstring>
#include <endian.h>
#include <rdma/ib_user_mad.h>
#include <stdexcept>
#include <sys/ioctl.h>
#include <utility>

namespace comad::transports::vumad {
namespace {

namespace smp = iba::smp;
using local_header = ib_user_mad_hdr;

// A real SMA is in the adapter, and no MAD to it is lost. A simulated fabric may lose some.
constexpr u32 timeout_ms = 50, repetitions = 40;

u16 attribute_id_of(unsigned what) noexcept {
    switch (what) {
    case local_attribute::node_info: return iba::attribute_id<smp::NodeInfo>;
    case local_attribute::node_description: return iba::attribute_id<smp::NodeDescription>;
    case local_attribute::port_info: return iba::attribute_id<smp::PortInfo>;
    case local_attribute::mlnx_ext_port_info: return iba::attribute_id<smp::MlnxExtPortInfo>;
    default: return iba::attribute_id<smp::PKeyTable>;
    }
}

void put(local_attributes& into, unsigned what, const u8* data) {
    switch (what) {
    case local_attribute::node_info: return iba::decode(into.node, data);
    case local_attribute::node_description: return iba::decode(into.description, data);
    case local_attribute::port_info: return iba::decode(into.port, data);
    case local_attribute::mlnx_ext_port_info: return iba::decode(into.mlnx_ext_port, data);
    default: return iba::decode(into.pkeys, data);
    }
}

/// Returns whether PortInfo reports QDR and the device is of a type that can distinguish FDR10 from it.
bool may_be_fdr10(const local_attributes& a) noexcept {
    return a.port.linkSpeedActive == iba::LinkSpeed::QDR && a.port.linkSpeedExtActive == iba::LinkSpeedExt::none &&
           a.port.linkSpeedExtActive2 == iba::LinkSpeedExt2::none &&
           iba::has_mlnx_ext_port_info(a.node.vendorID, a.node.deviceID);
}

} // namespace

local_port::local_port(kernel_port& of) : file_(of.open()) {
    ib_user_mad_reg_req agent{};
    agent.mgmt_class = value(iba::MgmtClass::SubnDirected);
    agent.mgmt_class_version = 1;
    if (file_->ioctl(IB_USER_MAD_ENABLE_PKEY, nullptr) != 0 || file_->ioctl(IB_USER_MAD_REGISTER_AGENT, &agent) != 0)
        throw std::runtime_error("cannot register an agent for SMPs at the port");
    agent_ = agent.id;
}

void local_port::query_attributes(unsigned what, reader then) {
    const auto entry = queries_.insert(queries_.end(), {what, {}, std::move(then)});
    for (unsigned bit = 1; bit <= local_attribute::pkey_table; bit <<= 1)
        if ((what & bit) != 0) send(entry, bit);
}

void local_port::send(questions::iterator of, unsigned what) {
    std::array<u8, sizeof(local_header) + mad::mad_size> packet{};
    local_header h{};
    h.id = agent_;
    h.timeout_ms = timeout_ms;
    h.retries = repetitions;
    h.lid = htobe16(value(iba::permissive_lid));
    std::memcpy(packet.data(), &h, sizeof h);
    u8* const m = packet.data() + sizeof h;
    const mad::rpc_kind kind{iba::MgmtClass::SubnLID, 1, iba::Method::Get, attribute_id_of(what), true};
    mad::write_request(m, kind, mad::IBDRPath{}, 0);
    mad::set_low_tid(m, ++last_tid_);
    requests_[last_tid_] = {of, what};
    file_->write(packet); // the next read reports a failure
}

void local_port::take_answers() {
    std::array<u8, sizeof(local_header) + mad::mad_size> packet;
    while (file_->is_readable()) {
        const std::ptrdiff_t bytes = file_->read(packet);
        if (bytes > 0) {
            take(std::span(packet).first(static_cast<std::size_t>(bytes)));
            continue;
        }
        return give_up(); // the fabric is disconnected
    }
}

void local_port::give_up() {
    requests_.clear();
    for (const question& q : std::exchange(queries_, {})) q.then(nullptr);
}

local_port::~local_port() { give_up(); }

void local_port::take(std::span<const u8> packet) {
    local_header h;
    std::memcpy(&h, packet.data(), sizeof h);
    const auto mad = packet.subspan(sizeof h);
    const auto known = requests_.find(mad::low_tid(mad.data()));
    if (known == requests_.end()) return;
    const auto [of, what] = known->second;
    requests_.erase(known);
    const bool is_answer = h.status == 0 && mad.size() == mad::mad_size && mad::status_of(mad.data()) == 0;
    if (is_answer) put(of->found, what, mad.data() + iba::offset_of<&smp::FormatDirected::data>);
    of->missing &= ~what;
    // A simulator may lack these two attributes.
    constexpr unsigned optional = local_attribute::pkey_table | local_attribute::mlnx_ext_port_info;
    const bool has_failed = !is_answer && (what & optional) == 0;
    if (!has_failed && what != local_attribute::mlnx_ext_port_info &&
        of->missing == local_attribute::mlnx_ext_port_info) {
        if (may_be_fdr10(of->found)) return send(of, local_attribute::mlnx_ext_port_info);
        of->missing = 0;
    }
    if (!has_failed && of->missing != 0) return;
    std::erase_if(requests_, [&](const auto& r) { return r.second.of == of; });
    const question over = std::move(*of);
    queries_.erase(of);
    over.then(has_failed ? nullptr : &over.found);
}

} // namespace comad::transports::vumad
