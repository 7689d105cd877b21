// SPDX-License-Identifier: MIT
// comad.hpp - the short names of the library's namespaces and integers within ibtool. Contains no other declaration.
#pragma once
#include <comad/iba/types.hpp>

namespace comad::coro {}
namespace comad::counters {}
namespace comad::discovery {}
namespace comad::iba::cc {}
namespace comad::iba::pm {}
namespace comad::iba::smp {}
namespace comad::mad {}
namespace comad::server {}
namespace comad::topology_file {}
namespace comad::transports::vumad {}

namespace ibtool {

namespace cc = comad::iba::cc;
namespace coro = comad::coro;
namespace counters = comad::counters;
namespace discovery = comad::discovery;
namespace iba = comad::iba;
namespace mad = comad::mad;
namespace pm = comad::iba::pm;
namespace server = comad::server;
namespace smp = comad::iba::smp;
namespace topology_file = comad::topology_file;
namespace transports = comad::transports;
namespace vumad = comad::transports::vumad;

using comad::u16;
using comad::u32;
using comad::u64;
using comad::u8;

} // namespace ibtool
