// SPDX-License-Identifier: MIT
// altering_transport.hpp - a transport that changes replies on their way to the requester, as a faulty or malicious peer would.
#pragma once
#include <comad/iba/detail/mad_header.hpp>
#include <comad/iba/detail/mad_tables.hpp>
#include <comad/iba/fields.hpp>
#include <comad/mad/detail/message.hpp>
#include <comad/mad/transport.hpp>

#include <functional>
#include <span>
#include <string_view>
#include <utility>

namespace comad::test {

/// Forwards everything, and changes replies with `lie`.
class altering_transport final : public mad::transport {
public:
    using lie = std::function<void(std::span<u8> reply)>;
    /// Precondition: `honest` outlives this object.
    altering_transport(mad::transport& honest, lie how) : honest_(honest), lie_(std::move(how)) {}
    void alter(lie other) { lie_ = std::move(other); }

    int native_handle() const noexcept override { return honest_.native_handle(); }
    mad::send_result send(const mad::send_request& r) noexcept override { return honest_.send(r); }
    mad::received receive(std::span<u8> buffer) noexcept override {
        const mad::received r = honest_.receive(buffer);
        const bool is_reply = r.state == mad::receive_state::message && r.status == 0 && mad::is_response(r.mad);
        if (is_reply && lie_)
            lie_(buffer.subspan(static_cast<std::size_t>(r.mad.data() - buffer.data()), r.mad.size()));
        return r;
    }
    mad::transport_limits limits() const noexcept override { return honest_.limits(); }
    int serve(const mad::registration& what) noexcept override { return honest_.serve(what); }
    std::optional<mad::time_point> next_event() const noexcept override { return honest_.next_event(); }
    std::optional<mad::time_point> simulated_time() const noexcept override { return honest_.simulated_time(); }
    void set_now(mad::time_point now) noexcept override { honest_.set_now(now); }

private:
    mad::transport& honest_;
    lie lie_;
};

/// Writes a number into a field of a structure, truncated to the field's width.
inline void put_number(const iba::row_info& row, std::span<u8> structure, u64 number) {
    for (unsigned bit = row.off + row.width; bit-- > row.off; number >>= 1) {
        const u8 mask = static_cast<u8>(0x80 >> bit % 8);
        u8& byte = structure[bit / 8];
        byte = static_cast<u8>(number & 1 ? byte | mask : byte & ~mask);
    }
}

/// Returns the attribute in a reply if its type is T; empty otherwise.
template <class T> std::span<u8> attribute_in(std::span<u8> reply) {
    const iba::mad_tables t = iba::tables_of(reply);
    return t.attribute == &iba::info_of<T> ? reply.subspan(t.data_begin) : std::span<u8>{};
}

/// Returns a lie that sets a field of every T to `number`.
template <class T> altering_transport::lie always(std::string_view field, u64 number) {
    const iba::row_info row = iba::find_field(iba::info_of<T>, field).value();
    return [row, number](std::span<u8> reply) {
        if (const auto attribute = attribute_in<T>(reply); !attribute.empty()) put_number(row, attribute, number);
    };
}

} // namespace comad::test
