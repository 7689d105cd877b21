// SPDX-License-Identifier: MIT
// caller.hpp - accesses the program that made a FUSE call: reads arguments that FUSE does not pass on, and writes results that FUSE
// replies cannot contain. Does not depend on a device.
#pragma once
#include <comad/iba/types.hpp>

#include <cstddef>
#include <optional>
#include <span>
#include <sys/types.h>

namespace ibtool {

/// The arguments of a read(2) or write(2) as the program passed them. FUSE splits long calls into pieces.
struct data_call {
    comad::u64 buffer; ///< address in the program's memory
    std::size_t size;
};

/// Returns the call in which the thread waits. `number` is SYS_read or SYS_write. Returns nullopt if the thread waits in another call, or
/// if this process may not trace the thread (ptrace(2)). It may trace programs that it started.
std::optional<data_call> call_of(pid_t thread, long number);

/// Writes bytes into the memory of the thread. Returns false if this is not permitted.
bool write_to(pid_t thread, comad::u64 address, std::span<const comad::u8> bytes);

} // namespace ibtool
