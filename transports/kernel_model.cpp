// SPDX-License-Identifier: MIT
// kernel_model.cpp - the public class kernel_model: its functions call modelled_kernel or the inner transport.
#include "modelled_kernel.hpp"
#include <comad/transports/kernel_model.hpp>

namespace comad::transports {

kernel_model::kernel_model(mad::transport& inner, const kernel_options& options)
    : kernel_(std::make_unique<modelled_kernel>(inner, options)) {}
kernel_model::~kernel_model() = default;

mad::send_result kernel_model::send(const mad::send_request& r) noexcept { return kernel_->send(r); }
mad::received kernel_model::receive(std::span<u8> buffer) noexcept { return kernel_->receive(buffer); }
mad::transport_limits kernel_model::limits() const noexcept { return kernel_->limits(); }
int kernel_model::serve(const mad::registration& what) noexcept { return kernel_->inner().serve(what); }
std::optional<mad::time_point> kernel_model::next_event() const noexcept { return kernel_->next_event(); }
std::optional<mad::time_point> kernel_model::simulated_time() const noexcept {
    return kernel_->inner().simulated_time();
}
void kernel_model::set_now(mad::time_point now) noexcept { kernel_->set_now(now); }
mad::port_tables* kernel_model::tables() noexcept { return kernel_->inner().tables(); }

unsigned kernel_model::held() const noexcept { return kernel_->held().count(); }
std::optional<unsigned> kernel_model::held(iba::MgmtClass c) const noexcept { return kernel_->held().count(c); }
const kernel_counters& kernel_model::counters() const noexcept { return kernel_->counters(); }

} // namespace comad::transports
