// SPDX-License-Identifier: MIT
// main.cpp - a program outside comad's tree: needs its headers, its library, and what the library needs.
#include <comad/mad/path.hpp>

#include <array>
#include <cstdio>
#include <string>

int main() {
    const std::array<comad::u8, 2> ports{1, 4};
    const std::string route = comad::mad::to_string(comad::mad::IBDRPath{ports});
    std::puts(route.c_str());
    return route == "DR Path (0, 1, 4)" ? 0 : 1;
}
