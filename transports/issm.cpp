// SPDX-License-Identifier: MIT
// issm.cpp - finds /dev/infiniband/issmN by infiniband_mad/issmN/{ibdev,port} and opens it.
#include <comad/iba/detail/text_file.hpp>
#include <comad/transports/detail/issm.hpp>
#include <comad/transports/detail/umad_errors.hpp>

#include <fmt/format.h>

#include <cerrno>
#include <fcntl.h>
#include <stdexcept>
#include <string>
#include <system_error>

namespace comad::transports {

mad::unique_fd open_issm(const end_port& port, const std::filesystem::path& sys_class,
                         const std::filesystem::path& devices) {
    std::error_code none;
    for (const auto& entry : std::filesystem::directory_iterator(sys_class / "infiniband_mad", none)) {
        const std::string name = entry.path().filename();
        if (!name.starts_with("issm") || iba::first_word_of(entry.path() / "ibdev") != port.device ||
            iba::first_word_of(entry.path() / "port") != std::to_string(port.port))
            continue;
        const std::string file = devices / name;
        // Without O_NONBLOCK, open() would wait until the other process closes the device.
        mad::unique_fd fd{::open(file.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)};
        if (fd) return fd;
        const int error = errno;
        const std::string_view advice = error == EAGAIN ? "another subnet manager runs on this port; stop it first"
                                                        : umad_advice(umad_call::open, error);
        throw std::runtime_error(fmt::format("cannot open {}: {}{}{}", file, std::generic_category().message(error),
                                             advice.empty() ? "" : "; ", advice));
    }
    throw std::runtime_error(fmt::format(
        "{} has no issm device; a subnet manager needs a port whose link layer is InfiniBand", port.name()));
}

} // namespace comad::transports
