// SPDX-License-Identifier: MIT
// rmpp.cpp - fuzzes both ends of an RMPP transfer. The first byte of each step selects the action, the rest is its
// data.
#include "fuzz.hpp"
#include <comad/mad/detail/message.hpp>
#include <comad/mad/detail/record_table.hpp>
#include <comad/mad/detail/rmpp.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>

using namespace comad;

namespace {

constexpr std::size_t max_message = 8192;
using mad_bytes = std::array<u8, mad::mad_size>;

/// Checks that a packet is a MAD of the transfer with a valid type.
void check_packet(const mad_bytes& mad) { fuzz::require(mad::is_rmpp(mad) && mad[24] == 1 && mad[25] - 1u < 4); }

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const u8* data, std::size_t size) {
    if (size < 2) return 0;
    const std::size_t header_size = 36 + data[0] % 220;
    const unsigned window = 1 + data[1] % 64;
    std::span<const u8> rest(data + 2, size - 2);

    mad::time_point now{};
    std::vector<u8> message(header_size + 4000, 0x5a);
    std::fill_n(message.begin(), 36, u8{0});
    message[1] = 0x03;
    message[3] = 0x92;
    const std::size_t sent_size = message.size();
    mad::rmpp_sender sender(std::move(message), header_size, now, {.double_sided = (data[1] & 0x80) != 0});
    std::optional<mad::rmpp_receiver> receiver;

    const auto to_receiver = [&](std::span<const u8> mad) {
        if (receiver) receiver->feed(mad, now);
        else if (mad.size() == mad::mad_size && mad::is_rmpp(mad))
            receiver.emplace(mad, header_size, now,
                             mad::rmpp_receiver_options{.max_message = max_message, .window = window});
    };
    bool is_honest = true;
    // The bytes of a step: the action; type, flags, status; and two bytes for each of the two words.
    for (constexpr std::size_t step = 8; rest.size() >= step; rest = rest.subspan(step)) {
        mad_bytes mad{};
        switch (rest[0] % 6) {
        case 0: // the next packet of the sender goes to the receiver, or is lost
            if (!sender.next_packet(mad, now)) break;
            check_packet(mad);
            if ((rest[1] & 1) == 0) to_receiver(mad);
            break;
        case 1:
            if (!receiver || !receiver->next_packet(mad)) break;
            check_packet(mad);
            if ((rest[1] & 1) == 0) sender.feed(mad, now);
            break;
        case 2: // time passes
            now += std::chrono::milliseconds(rest[1] * 100);
            sender.on_time(now);
            if (receiver) receiver->on_time(now);
            break;
        default: // a packet that neither end would send
            is_honest = false;
            mad[1] = 0x03;
            mad[3] = rest[0] & 0x80 ? 0x92 : 0x12;
            mad[24] = rest[1] < 0xf0 ? 1 : rest[1];
            mad[25] = rest[1] % 6;
            mad[26] = static_cast<u8>(rest[2] | 1);
            mad[27] = rest[3] & 0x80 ? rest[3] & 0x7f : 0;
            std::copy_n(&rest[4], 2, &mad[30]);
            std::copy_n(&rest[6], 2, &mad[34]);
            if ((rest[2] & 0x40) != 0) mad[28] = mad[32] = 0xff;
            const std::span<const u8> fed = std::span(mad).first(rest[3] == 1 ? 100 : mad.size());
            to_receiver(fed);
            sender.feed(fed, now);
        }
    }
    if (receiver && receiver->state() == mad::rmpp_state::complete) {
        const std::vector<u8> got = receiver->take_message();
        fuzz::require(got.size() >= header_size && got.size() <= max_message);
        fuzz::require(!is_honest || got.size() == sent_size);
        if (const auto table = mad::record_table::of(got, 108))
            for (std::size_t i = 0; i < table.value().size(); ++i) fuzz::require(table.value()[i].size() == 108);
    }
    return 0;
}
