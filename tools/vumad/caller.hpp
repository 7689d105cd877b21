// SPDX-License-Identifier: MIT
// caller.hpp - the program whose call FUSE brings: what FUSE does not say of a call, and what its answer has no place for. Knows no
// device.
#pragma once
#include <comad/iba/types.hpp>

#include <cstddef>
#include <optional>
#include <span>
#include <sys/types.h>

namespace ibtool {

/// read(2) or write(2), as the program called it: FUSE brings long ones in pieces.
struct data_call {
    comad::u64 buffer; ///< in the program's memory
    std::size_t size;
};

/// What the thread, which waits for an answer to it, has called: `number` is SYS_read or SYS_write. Nothing if this process may not
/// look, as ptrace(2) has it: it may of programs that it started.
std::optional<data_call> call_of(pid_t thread, long number);

/// Writes into its memory. False: it may not.
bool write_to(pid_t thread, comad::u64 address, std::span<const comad::u8> bytes);

} // namespace ibtool
