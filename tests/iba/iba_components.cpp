// SPDX-License-Identifier: MIT
// iba_components.cpp - the component mask of a structure.
#include "iba_components.hpp"

using namespace comad::iba;

namespace {

void append(std::vector<component>& out, unsigned& next, const record_info& info, const std::string& prefix) {
    for (const row_info& row : info.rows) {
        const std::string name = prefix + std::string(row.name);
        if (row.nested && row.count == 1 && row.masked == mask::one) {
            append(out, next, *row.nested, name + ".");
            continue;
        }
        switch (row.masked) {
        case mask::one: out.push_back({name, next++}); break;
        case mask::two:
            out.push_back({name, next++});
            out.push_back({name, next++});
            break;
        case mask::each:
            for (unsigned i = 0; i < row.count; ++i) out.push_back({name + "_" + std::to_string(i), next++});
            break;
        case mask::with_previous: out.push_back({name, next - 1}); break;
        case mask::none: break;
        }
    }
}

} // namespace

std::vector<component> components_of(const record_info& info) {
    std::vector<component> all;
    unsigned next = 0;
    append(all, next, info, "");
    return all;
}
