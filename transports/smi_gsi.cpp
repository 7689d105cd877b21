// SPDX-License-Identifier: MIT
// smi_gsi.cpp - routes SMPs and GMPs to the SMI and GSI devices of a port, and reads from both in turn.
#include <comad/transports/smi_gsi.hpp>
#include <comad/transports/striped.hpp>

#include <algorithm>
#include <cerrno>
#include <sys/epoll.h>
#include <system_error>
#include <utility>
#include <vector>

namespace comad::transports {

smi_gsi_transport::smi_gsi_transport(std::unique_ptr<mad::transport> smi, std::unique_ptr<mad::transport> gsi)
    : sides_{std::move(smi), std::move(gsi)}, both_(::epoll_create1(EPOLL_CLOEXEC)) {
    const auto refuse = [] {
        throw std::system_error(errno, std::generic_category(), "cannot wait for two MAD devices");
    };
    if (!both_) refuse();
    for (const auto& side : sides_) {
        epoll_event readable{.events = EPOLLIN, .data = {}};
        if (::epoll_ctl(both_.get(), EPOLL_CTL_ADD, side->native_handle(), &readable) != 0) refuse();
    }
}

mad::transport& smi_gsi_transport::carrier_of(iba::MgmtClass mgmt_class) const noexcept {
    return *sides_[iba::is_smp(mgmt_class) ? 0 : 1];
}

mad::send_result smi_gsi_transport::send(const mad::send_request& request) noexcept {
    mad::transport& carrier = carrier_of(iba::MgmtClass{request.mgmt_class});
    const mad::send_result result = carrier.send(request);
    if (result.state == mad::send_state::failed) failed_ = &carrier;
    return result;
}

int smi_gsi_transport::serve(const mad::registration& what) noexcept {
    failed_ = &carrier_of(what.mgmt_class);
    return failed_->serve(what);
}

mad::received smi_gsi_transport::receive(std::span<u8> buffer) noexcept {
    for (const std::size_t side : {next_, 1 - next_}) {
        const mad::received r = sides_[side]->receive(buffer);
        if (r.state == mad::receive_state::would_block) continue;
        // If the message did not fit, the device keeps it: the next call must read from the same device.
        next_ = r.full_size > r.mad.size() ? side : 1 - side;
        if (r.state == mad::receive_state::failed) failed_ = sides_[side].get();
        return r;
    }
    return {};
}

std::string smi_gsi_transport::name() const { return sides_[0]->name() + ", " + sides_[1]->name(); }

std::string_view smi_gsi_transport::advice(mad::transport_call call, int error) const noexcept {
    return failed_->advice(call, error);
}

mad::transport_limits smi_gsi_transport::limits() const noexcept {
    const mad::transport_limits smi = sides_[0]->limits();
    const mad::transport_limits gsi = sides_[1]->limits();
    return {.max_window = std::min(smi.max_window, gsi.max_window),
            .sa_window = gsi.sa_window,
            .smi = smi.smi,
            .smi_by_lid = false,
            .timer_resolution = std::max(smi.timer_resolution, gsi.timer_resolution),
            .kernel_rmpp = gsi.kernel_rmpp};
}

std::optional<mad::time_point> smi_gsi_transport::next_event() const noexcept {
    const auto smi = sides_[0]->next_event();
    const auto gsi = sides_[1]->next_event();
    return smi && gsi ? std::min(smi, gsi) : smi ? smi : gsi;
}

void smi_gsi_transport::set_now(mad::time_point now) noexcept {
    for (const auto& side : sides_) side->set_now(now);
}

std::unique_ptr<mad::transport> open_end_port(const end_port& port, const std::filesystem::path& sys_class,
                                              unsigned descriptors, const umad_options& options) {
    if (descriptors > 1) {
        umad_options shared = options;
        const auto sides = smi_gsi_pair(port, end_ports(sys_class));
        const end_port& gsi = sides.gsi ? *sides.gsi : port;
        if (!shared.tables) shared.tables = std::make_shared<mad::port_tables>(gsi.PKeys, gsi.gids);
        std::vector<std::unique_ptr<mad::transport>> members;
        for (unsigned i = 0; i < descriptors; ++i) members.push_back(open_end_port(port, sys_class, 1, shared));
        return std::make_unique<striped_transport>(std::move(members));
    }
    const smi_gsi sides = smi_gsi_pair(port, end_ports(sys_class));
    if (!sides.smi || !sides.gsi || sides.smi->umad == sides.gsi->umad)
        return std::make_unique<umad_transport>(port, options);
    auto smi = std::make_unique<umad_transport>(*sides.smi, options);
    auto gsi = std::make_unique<umad_transport>(*sides.gsi, options);
    return std::make_unique<smi_gsi_transport>(std::move(smi), std::move(gsi));
}

} // namespace comad::transports
