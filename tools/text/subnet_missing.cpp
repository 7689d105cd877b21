// SPDX-License-Identifier: MIT
// subnet_missing.cpp - adds the names and numbers of nodes to the locations of failures.
#include "text/subnet_missing.hpp"

#include <comad/iba/detail/text.hpp>

#include <fmt/format.h>

#include <utility>

namespace ibtool {

using discovery::failure;
using discovery::port_ref;
using discovery::subnet;

failure missing_of(const subnet& s, failure f) {
    const discovery::node* n = s.find(f.where.nodeGUID);
    if (!n) return f;
    f.where.name = discovery::name_of(*n);
    f.where.short_name = n->description.empty() ? discovery::topology_id(*n) : iba::escaped(n->description);
    if (f.where.port == 0) return f;
    f.where.name += fmt::format("[{}]", f.where.port);
    f.where.short_name += fmt::format(" port {}", f.where.port);
    return f;
}

failure missing_at(const subnet& s, port_ref where, std::string text, std::string cause) {
    return missing_of(s, {discovery::failure_kind::other, s.location_of(where), std::move(text), std::move(cause)});
}

std::vector<failure> named_failures(const subnet& s, const std::vector<failure>& failures) {
    std::vector<failure> all;
    for (const failure& f : failures) all.push_back(missing_of(s, f));
    return all;
}

std::vector<failure> all_missing(const subnet& s, const std::vector<failure>& more) {
    std::vector<failure> all = named_failures(s, s.failures);
    for (const failure& f : more) all.push_back(missing_of(s, f));
    return all;
}

} // namespace ibtool
