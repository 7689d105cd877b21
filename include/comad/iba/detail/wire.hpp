// SPDX-License-Identifier: MIT
// wire.hpp - the field-table machinery: describe a structure once; decode, encode, access and checks follow.
// Knows no structure of the IBA; printing and comparison stand in print.hpp and compare.hpp.
#pragma once
#include <comad/iba/detail/bits.hpp>
#include <comad/iba/detail/codec.hpp>
#include <comad/iba/detail/table.hpp>
#include <comad/iba/types.hpp>
