// SPDX-License-Identifier: MIT
// node_description.cpp - returns the text of a NodeDescription.
#include <comad/iba/detail/smp/node.hpp>

#include <cstring>
#include <string>

namespace comad::iba::smp {

std::string text(const NodeDescription& d) {
    const char* bytes = reinterpret_cast<const char*>(d.nodeString.data());
    return {bytes, strnlen(bytes, d.nodeString.size())};
}

} // namespace comad::iba::smp
