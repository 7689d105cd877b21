// SPDX-License-Identifier: MIT
// answering_kernel.hpp - a thread that replies to the MADs of a MAD device as well-behaved nodes do.
#pragma once
#include "kernel/fake_kernel.hpp"
#include "wire/scripted_transport.hpp"

#include <algorithm>
#include <array>
#include <poll.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

namespace comad::test {

/// Replies to MADs from its construction to its destruction.
class answering_kernel {
public:
    explicit answering_kernel(fake_kernel& kernel) : descriptor_(kernel.descriptor()), thread_([this] { run(); }) {}
    ~answering_kernel() {
        ::shutdown(descriptor_, SHUT_RDWR);
        thread_.join();
    }

private:
    void run() {
        std::array<u8, 320> packet;
        for (pollfd waiting{descriptor_, POLLIN, 0}; ::poll(&waiting, 1, -1) == 1;) {
            if (::read(descriptor_, packet.data(), packet.size()) <= 0) return;
            const mad_bytes reply = answer_to(packet.data() + 64);
            std::copy(reply.begin(), reply.end(), packet.begin() + 64);
            (void)!::write(descriptor_, packet.data(), packet.size());
        }
    }
    int descriptor_;
    std::thread thread_;
};

} // namespace comad::test
