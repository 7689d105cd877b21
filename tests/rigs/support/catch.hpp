// SPDX-License-Identifier: MIT
// catch.hpp - includes Catch2 for all tests, so that a new version of Catch2 needs a change only here.
#pragma once
#include <catch2/catch.hpp>
