// SPDX-License-Identifier: MIT
// capture.cpp - passes each MAD to a sink after it was sent or received.
#include <comad/transports/capture.hpp>

namespace comad::transports {

mad::send_result capture_transport::send(const mad::send_request& request) noexcept {
    const mad::send_result result = inner_.send(request);
    const bool is_mad = request.size == mad::mad_size;
    if (result.state == mad::send_state::sent && is_mad)
        show(mad::request_address(*request.path, request.mgmt_class), request.mad);
    return result;
}

mad::received capture_transport::receive(std::span<u8> buffer) noexcept {
    const mad::received message = inner_.receive(buffer);
    const bool arrived = message.state == mad::receive_state::message && message.status == 0;
    if (arrived && message.mad.size() == mad::mad_size) {
        const u8 mgmt_class = message.mad[1];
        show(mad::reply_address(message.source, mgmt_class), message.mad.data());
    }
    return message;
}

void capture_transport::set_now(mad::time_point now) noexcept {
    virtual_now_ = now;
    inner_.set_now(now);
}

void capture_transport::show(const mad::packet_address& address, const u8* mad) noexcept {
    using clock = std::chrono::system_clock;
    const auto when =
        native_handle() < 0
            ? clock::time_point(std::chrono::duration_cast<clock::duration>(virtual_now_.time_since_epoch()))
            : clock::now();
    sink_({when, address, std::span<const u8, mad::mad_size>(mad, mad::mad_size)});
}

} // namespace comad::transports
