// SPDX-License-Identifier: MIT
// main.cpp - Catch2's own main(), compiled once for all test executables.
#define CATCH_CONFIG_MAIN
#include "catch.hpp"
