// SPDX-License-Identifier: MIT
// wire.hpp - includes the field tables and the codec: describe a structure once; decode, encode, access and checks
// follow from the table. Printing and comparison are in print.hpp and compare_structures.hpp.
#pragma once
#include <comad/iba/detail/bits.hpp>
#include <comad/iba/detail/codec.hpp>
#include <comad/iba/detail/table.hpp>
#include <comad/iba/types.hpp>
