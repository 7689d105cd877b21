// SPDX-License-Identifier: MIT
// kernel_file.cpp - implements read, write and ioctl of an open MAD device (Linux, drivers/infiniband/core/user_mad.c).
#include "../kernel_rules.hpp"
#include <comad/mad/detail/message.hpp>
#include <comad/transports/detail/vumad/kernel_port.hpp>
#include <comad/transports/kernel_model.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <rdma/ib_user_mad.h>
#include <sys/ioctl.h>

namespace comad::transports::vumad {
namespace {

using iba::MgmtClass;

constexpr u8 highest_class = 0x4f, highest_version = 0x82; // except the class of directed routes (Linux, mad_priv.h)

/// Returns whether the kernel can register an agent, by the rules of ib_register_mad_agent().
bool is_registrable(const mad::registration& what, u32 qpn, u8 rmpp_version, bool is_user_rmpp) noexcept {
    const auto c = what.mgmt_class;
    if (qpn > 1 || rmpp_version > 1) return false;
    if (value(c) == 0) return !is_user_rmpp; // the agent receives only replies
    const bool is_known = value(c) <= highest_class || c == MgmtClass::SubnDirected;
    const bool reports_oui = !iba::is_vendor_oui(c) || (what.OUI != 0 && what.OUI >> 24 == 0);
    const bool has_its_pair = iba::is_smp(c) == (qpn == 0);
    return is_known && what.class_version <= highest_version && reports_oui && has_its_pair &&
           (rmpp_version == 0 || mad::has_rmpp(c));
}

} // namespace

kernel_port::file::~file() {
    for (agent* a : agents_)
        if (a) port_.remove(*a);
    std::erase(port_.files_, this);
}

int kernel_port::file::ioctl(unsigned long request, void* argument) {
    switch (request) {
    case IB_USER_MAD_ENABLE_PKEY:
        if (is_used_) return EINVAL;
        has_pkey_index_ = true;
        return 0;
    case IB_USER_MAD_UNREGISTER_AGENT: {
        u32 id;
        std::memcpy(&id, argument, sizeof id);
        if (id >= agents_.size() || !agents_[id]) return EINVAL;
        port_.remove(*std::exchange(agents_[id], nullptr));
        return 0;
    }
    case IB_USER_MAD_REGISTER_AGENT: {
        ib_user_mad_reg_req wanted;
        std::memcpy(&wanted, argument, sizeof wanted);
        u64 methods;
        std::memcpy(&methods, wanted.method_mask, sizeof methods);
        const u32 OUI = u32{wanted.oui[0]} << 16 | u32{wanted.oui[1]} << 8 | wanted.oui[2];
        const mad::registration what{MgmtClass{wanted.mgmt_class}, wanted.mgmt_class_version, static_cast<u32>(methods),
                                     OUI, wanted.rmpp_version != 0};
        u32 id = 0;
        if (const int error = register_agent(id, what, wanted.qpn, wanted.rmpp_version, false)) return error;
        wanted.id = id;
        std::memcpy(argument, &wanted, sizeof wanted);
        is_used_ = true;
        return 0;
    }
    case IB_USER_MAD_REGISTER_AGENT2: {
        ib_user_mad_reg_req2 wanted;
        std::memcpy(&wanted, argument, sizeof wanted);
        if ((wanted.flags & ~u32{IB_USER_MAD_REG_FLAGS_CAP}) != 0) {
            wanted.flags = IB_USER_MAD_REG_FLAGS_CAP;
            std::memcpy(argument, &wanted, sizeof wanted);
            return EINVAL;
        }
        const bool is_user_rmpp = (wanted.flags & IB_USER_MAD_USER_RMPP) != 0;
        const mad::registration what{MgmtClass{wanted.mgmt_class}, wanted.mgmt_class_version,
                                     static_cast<u32>(wanted.method_mask[0]), wanted.oui, wanted.rmpp_version != 0};
        u32 id = 0;
        if (const int error = register_agent(id, what, wanted.qpn, wanted.rmpp_version, is_user_rmpp)) return error;
        wanted.id = id;
        std::memcpy(argument, &wanted, sizeof wanted);
        if (!std::exchange(is_used_, true)) has_pkey_index_ = true;
        return 0;
    }
    default: return ENOTTY;
    }
}

int kernel_port::file::register_agent(u32& id, const mad::registration& what, u32 qpn, u8 rmpp_version,
                                      bool is_user_rmpp) {
    if (port_.gone_ != 0) return EPIPE;
    const auto free = std::ranges::find(agents_, nullptr);
    if (qpn > 1) return EINVAL;
    if (free == agents_.end()) return ENOMEM;
    mad::registration registered = what;
    if (!iba::is_vendor_oui(what.mgmt_class)) registered.OUI = 0;
    if (value(what.mgmt_class) == 0) registered.methods = 0;
    if (!is_registrable(registered, qpn, rmpp_version, is_user_rmpp) || port_.is_served(registered)) return EINVAL;
    id = static_cast<u32>(free - agents_.begin());
    int error = 0;
    *free = port_.add_agent(*this, id, registered, qpn == 0, is_user_rmpp, error);
    return error;
}

std::size_t kernel_port::file::header_bytes() const noexcept {
    return has_pkey_index_ ? sizeof(ib_user_mad_hdr) : sizeof(ib_user_mad_hdr_old);
}

std::ptrdiff_t kernel_port::file::write(std::span<const u8> given) {
    if (port_.gone_ != 0) return -EIO;
    if (given.size() < header_bytes() + kernel_rules::least_size) return -EINVAL;
    packet_header header{}; // the old header is the start of the new one
    std::copy_n(given.begin(), header_bytes(), header.begin());
    u32 id;
    std::memcpy(&id, header.data(), sizeof id);
    if (id >= agents_.size()) return -EINVAL;
    if (!agents_[id]) return -EIO;
    if (const int error = port_.post(*agents_[id], header, given.subspan(header_bytes()))) return -error;
    return static_cast<std::ptrdiff_t>(given.size());
}

std::ptrdiff_t kernel_port::file::read(std::span<u8> buffer) {
    if (buffer.size() < header_bytes()) return -EINVAL;
    if (port_.gone_ != 0) return -EIO;
    if (unread_.empty()) return -EAGAIN;
    const std::vector<u8>& next = unread_.front();
    const std::size_t size = next.size() - sizeof(ib_user_mad_hdr) + header_bytes();
    const std::size_t first = std::min(size, header_bytes() + mad::mad_size);
    if (buffer.size() < first) return -EINVAL;
    const bool fits = buffer.size() >= size;
    std::copy_n(next.begin(), header_bytes(), buffer.begin());
    std::copy_n(next.begin() + sizeof(ib_user_mad_hdr), (fits ? size : first) - header_bytes(),
                buffer.begin() + static_cast<std::ptrdiff_t>(header_bytes()));
    if (!fits) return -ENOSPC;
    unread_.pop_front();
    ++port_.counters_.read;
    return static_cast<std::ptrdiff_t>(size);
}

void kernel_port::file::put(std::vector<u8> arrived) {
    if (unread_.size() > kernel_options{}.max_unread) {
        ++port_.counters_.dropped;
        return;
    }
    unread_.push_back(std::move(arrived));
    if (on_arrival_) on_arrival_();
}

} // namespace comad::transports::vumad
