// SPDX-License-Identifier: MIT
// fabric_text.cpp - parses and formats texts that name a fabric.
#include <comad/fabric/detail/fabric_text.hpp>
#include <comad/iba/detail/text.hpp>
#include <comad/transports/sim/detail/topology.hpp>

#include <fmt/format.h>

#include <array>
#include <utility>

namespace comad {
namespace {

constexpr std::array<std::pair<std::string_view, fabric_kind>, 4> fabric_kinds{{
    {"umad", fabric_kind::umad},
    {"verbs", fabric_kind::verbs},
    {"ibsim", fabric_kind::ibsim},
    {"sim", fabric_kind::sim},
}};

} // namespace

void bad_result_access(const fabric_error& e) noexcept { iba::bad_result_access({iba::errc::unreadable, e.text}); }

std::string fabric_text::to_string() const {
    for (const auto& [name, known] : fabric_kinds)
        if (known == kind) return place.empty() ? std::string(name) : fmt::format("{}:{}", name, place);
    return {};
}

fabric_result<fabric_text> parse_fabric(std::string_view text) {
    if (text.empty()) return fabric_text{};
    const std::string_view name = text.substr(0, text.find(':'));
    const std::string_view place = name.size() < text.size() ? text.substr(name.size() + 1) : std::string_view();
    for (const auto& [known, kind] : fabric_kinds)
        if (name == known && !(kind == fabric_kind::sim && place.empty())) return fabric_text{kind, std::string(place)};
    return fabric_error{fabric_errc::invalid_text,
                        fmt::format("invalid fabric {}; expected umad[:DEVICE[/PORT]], verbs[:DEVICE[/PORT]], "
                                    "ibsim[:SOCKNAME[,NODE]], sim:FILE or sim:KIND,key=value... with KIND one of {}",
                                    iba::as_given(text), transports::sim::topology_kinds())};
}

} // namespace comad
