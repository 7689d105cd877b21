// SPDX-License-Identifier: MIT
// sim_client.hpp - queries a simulated subnet in virtual time without an engine, one SMP at a time.
#pragma once
#include <comad/iba/smp.hpp>
#include <comad/mad/detail/message.hpp>
#include <comad/transports/sim/transport.hpp>

#include <array>
#include <initializer_list>
#include <optional>
#include <span>
#include <vector>

using smp_bytes = std::array<comad::u8, comad::mad::mad_size>;

/// Returns the directed route through these ports.
inline comad::mad::IBDRPath route(std::initializer_list<comad::u8> ports) {
    return comad::mad::IBDRPath(std::span(ports.begin(), ports.size()));
}
/// Returns the path to a LID.
inline comad::mad::IBPath to_lid(unsigned lid) {
    comad::mad::IBPath path;
    path.DLID = comad::iba::lid{static_cast<comad::u16>(lid)};
    return path;
}

/// Returns a SubnGet of one attribute in the form in which the RPC layer writes it.
inline smp_bytes get_request(comad::u16 attribute, const comad::mad::any_path& path, comad::u32 modifier = 0) {
    using namespace comad;
    const mad::rpc_kind kind{iba::MgmtClass::SubnLID, 1, iba::Method::Get, attribute, true};
    smp_bytes bytes;
    mad::write_request(bytes.data(), kind, path, modifier);
    return bytes;
}

/// Sends a MAD with a time limit of one second.
inline comad::mad::send_result send_to(comad::mad::transport& transport, const comad::mad::any_path& path,
                                       const smp_bytes& mad) {
    using namespace comad;
    std::array<u8, mad::headroom + mad::mad_size> packet{};
    std::copy(mad.begin(), mad.end(), packet.begin() + mad::headroom);
    const mad::duration second{1'000'000'000};
    return transport.send({&path, packet.data() + mad::headroom, mad.size(), mad[1], mad[2], true, second, second});
}

/// A message and the time of its arrival.
struct arrived {
    comad::mad::time_point when;
    std::vector<comad::u8> bytes;
    std::size_t full_size;
};

/// Advances the virtual time until no MAD is in flight. Returns the messages that arrived.
inline std::vector<arrived> drain(comad::mad::transport& transport, std::size_t buffer_size = 320) {
    using namespace comad;
    std::vector<arrived> all;
    std::vector<u8> buffer(buffer_size);
    while (const auto next = transport.next_event()) {
        transport.set_now(*next);
        for (;;) {
            const mad::received r = transport.receive(buffer);
            if (r.state != mad::receive_state::message) break;
            all.push_back({*next, {r.mad.begin(), r.mad.end()}, r.full_size});
        }
    }
    return all;
}

/// Sends a request and returns its only reply; empty if no reply arrives.
inline std::optional<smp_bytes> send_query(comad::mad::transport& transport, const comad::mad::any_path& path,
                                           const smp_bytes& request) {
    send_to(transport, path, request);
    const auto all = drain(transport);
    if (all.size() != 1 || all[0].bytes.size() != comad::mad::mad_size) return std::nullopt;
    smp_bytes reply;
    std::copy(all[0].bytes.begin(), all[0].bytes.end(), reply.begin());
    return reply;
}

/// Returns the decoded attribute of a reply.
template <class T> T attribute(const smp_bytes& reply) {
    T value;
    comad::iba::decode(value, reply.data() + comad::iba::offset_of<&comad::iba::smp::Format::data>);
    return value;
}

/// Returns the result of SubnGet(T); empty if it fails.
template <class T>
std::optional<T> get(comad::mad::transport& transport, const comad::mad::any_path& path, comad::u32 modifier = 0) {
    using namespace comad;
    const auto reply = send_query(transport, path, get_request(iba::attribute_of<T>::attributeID, path, modifier));
    if (!reply || mad::status_of(reply->data()) != 0) return std::nullopt;
    return attribute<T>(*reply);
}
