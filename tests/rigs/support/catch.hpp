// SPDX-License-Identifier: MIT
// catch.hpp - Catch2, under the name that all tests include: the one place to change for another version of it.
#pragma once
#include <catch2/catch.hpp>
