// SPDX-License-Identifier: MIT
// agent.cpp - passes requests to a responder and sends the replies through a transport.
#include <comad/server/agent.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <utility>

namespace comad::server {
namespace {

/// Merges registrations with equal class, version and OUI, because a transport has few agents.
std::vector<mad::registration> merged(const std::vector<mad::registration>& all) {
    std::vector<mad::registration> few;
    for (const mad::registration& r : all) {
        const auto same = std::find_if(few.begin(), few.end(), [&](const mad::registration& f) {
            return f.mgmt_class == r.mgmt_class && f.class_version == r.class_version && f.OUI == r.OUI;
        });
        if (same == few.end()) {
            few.push_back(r);
            continue;
        }
        same->methods |= r.methods;
        same->rmpp |= r.rmpp;
    }
    return few;
}

} // namespace

agent::agent(mad::transport& carrier, const responder& answers) : carrier_(carrier), answers_(answers) {
    for (const mad::registration& r : merged(answers.registrations())) {
        const int error = carrier_.serve(r);
        if (error == 0) continue;
        const std::string_view advice = carrier_.advice(mad::transport_call::serve, error);
        throw std::system_error(error, std::generic_category(),
                                fmt::format("cannot serve management class 0x{:02x}{}{}{}", value(r.mgmt_class),
                                            advice.empty() ? "" : " (", advice, advice.empty() ? "" : ")"));
    }
}

void agent::on_request(const mad::received& r, mad::time_point now) noexcept {
    ++counters_.requests;
    const std::vector<u8> message = answers_.answer(r.mad, r.source, now);
    if (message.empty()) return;
    reply out{reply_path(r.mad, r.source), r.source.agent, {}};
    const bool is_whole = carrier_.limits().kernel_rmpp;
    if (message.size() > mad::mad_size && !is_whole) {
        ++counters_.unsent;
        return;
    }
    // A transport that segments messages takes the length from the message; other transports carry whole MADs.
    out.packet.resize(mad::headroom + (is_whole ? message.size() : std::size_t{mad::mad_size}));
    std::copy(message.begin(), message.end(), out.packet.begin() + mad::headroom);
    if (waiting_.empty() && send(out)) return;
    if (waiting_.size() == most_waiting) {
        ++counters_.overflowed;
        return;
    }
    waiting_.push_back(std::move(out));
}

/// Returns false if the reply must be sent again later.
bool agent::send(reply& out) noexcept {
    u8* mad = out.packet.data() + mad::headroom;
    mad::send_request request{};
    request.path = &out.path;
    request.mad = mad;
    request.size = out.packet.size() - mad::headroom;
    request.mgmt_class = mad[1];
    request.class_version = mad[2];
    request.agent = out.agent;
    const mad::send_result result = carrier_.send(request);
    if (result.state == mad::send_state::would_block) return false;
    ++(result.state == mad::send_state::sent ? counters_.replies : counters_.unsent);
    return true;
}

void agent::resume_sends() noexcept {
    while (!waiting_.empty() && send(waiting_.front())) waiting_.pop_front();
}

} // namespace comad::server
