// SPDX-License-Identifier: MIT
// trace.cpp - formats the trace events of the engine as lines.
#include <comad/iba/detail/codec.hpp>
#include <comad/iba/detail/keys.hpp>
#include <comad/iba/detail/mad_header.hpp>
#include <comad/iba/detail/registry.hpp>
#include <comad/iba/print.hpp>
#include <comad/iba/vendor.hpp>
#include <comad/mad/detail/message.hpp>
#include <comad/mad/trace.hpp>

#include <fmt/format.h>

#include <string_view>
#include <vector>

namespace comad::mad {
namespace {

using kind = trace_event::kind;

std::string target_of(const trace_event& e) { return e.path ? "'" + to_string(*e.path) + "'" : "?"; }
std::string sender_of(const trace_event& e) { return e.source ? fmt::format("'Lid {}'", value(e.source->SLID)) : "?"; }

/// Returns the line of an event; empty if the event has no line.
std::string line_of(const trace_event& e) {
    switch (e.what) {
    case kind::send: return {};
    case kind::retry: return fmt::format("RPC {} retry to {}.", describe_mad(e.request), target_of(e));
    case kind::reply:
        return fmt::format("RPC {} completed to {} len {}.", describe_mad(e.request), target_of(e), e.mad.size());
    case kind::timed_out: return fmt::format("RPC {} TIMED OUT to {}.", describe_mad(e.request), target_of(e));
    case kind::unexpected: return fmt::format("Got unexpected MAD from {}.", sender_of(e));
    case kind::request:
        return fmt::format("RPC {} received from {} len {}.", describe_mad(e.request), sender_of(e), e.request.size());
    case kind::response: return fmt::format("RPC {} reply to {}", describe_mad(e.mad), target_of(e));
    }
    return {};
}

void add_dump(const trace_lines& out, std::string_view title, std::span<const u8> mad, iba::key_display keys) {
    std::vector<u8> shown(mad.begin(), mad.end());
    const bool had_keys = keys == iba::key_display::hidden && iba::hide_keys(shown);
    out(fmt::format("{} {}{}", title, describe_mad(mad), had_keys ? ", keys shown as 0" : ""));
    const std::string text = iba::dump_mad(shown);
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = text.find('\n', begin);
        out(text.substr(begin, end - begin));
        begin = end + 1;
    }
}

/// Adds the line of an event, and dumps of its MADs.
void add_dumps(const trace_lines& out, const trace_event& e, iba::key_display keys) {
    if (const std::string line = line_of(e); !line.empty()) out(line);
    switch (e.what) {
    case kind::send:
    case kind::retry: break;
    case kind::reply:
        add_dump(out, "Request", e.request, keys);
        add_dump(out, "Reply", e.mad, keys);
        break;
    case kind::timed_out: add_dump(out, "Request", e.request, keys); break;
    case kind::unexpected: add_dump(out, "Unexpected", e.mad, keys); break;
    case kind::request: add_dump(out, "Incoming request", e.request, keys); break;
    case kind::response: add_dump(out, "Outgoing reply", e.mad, keys); break;
    }
}

} // namespace

std::string describe_mad(std::span<const u8> mad) {
    if (mad.size() < iba::wire_size<iba::MADHeader>) return "??";
    const auto header = iba::decode<iba::MADHeader>(mad.first<iba::wire_size<iba::MADHeader>>());
    const bool reports_oui = iba::is_vendor_oui(header.mgmtClass) && mad.size() >= iba::wire_size<iba::vend::OUIFormat>;
    const u32 OUI = reports_oui ? iba::get<&iba::vend::OUIFormat::OUI>(mad.data()) : 0;
    const iba::record_info* format = iba::find_format(header.mgmtClass, header.classVersion, header.attributeID);
    const iba::record_info* attribute =
        iba::find_attribute(header.mgmtClass, header.classVersion, header.attributeID, OUI);
    return fmt::format("{}({}) {}({}.{}) {}({})", method_constant(header.method), value(header.method),
                       format ? format->name : "??", value(header.mgmtClass), header.classVersion,
                       attribute ? attribute->name : "??", header.attributeID);
}

void simple_tracer::on_event(const trace_event& e) noexcept {
    if (const std::string line = line_of(e); !line.empty()) out_(line);
}

void dumper_tracer::on_event(const trace_event& e) noexcept { add_dumps(out_, e, iba::key_display::hidden); }
void dumper_tracer_with_keys::on_event(const trace_event& e) noexcept { add_dumps(out_, e, iba::key_display::shown); }

} // namespace comad::mad
