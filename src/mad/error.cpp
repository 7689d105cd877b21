// SPDX-License-Identifier: MIT
// error.cpp - makes the texts of RPC errors.
#include <comad/iba/detail/codec.hpp>
#include <comad/iba/detail/format.hpp>
#include <comad/iba/detail/keys.hpp>
#include <comad/iba/detail/mad_header.hpp>
#include <comad/iba/detail/mad_tables.hpp>
#include <comad/iba/detail/registry.hpp>
#include <comad/iba/print.hpp>
#include <comad/mad/detail/message.hpp>
#include <comad/mad/error.hpp>
#include <comad/mad/path_text.hpp>
#include <comad/mad/trace.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>
#include <vector>

namespace comad::mad {

std::string mad_error::description() const {
    if (detail && detail->request[1] == value(mgmt_class)) return describe_mad(detail->request); // includes the OUI
    iba::MADHeader header;
    header.mgmtClass = mgmt_class;
    header.classVersion = class_version;
    header.method = method;
    header.attributeID = attributeID;
    return describe_mad(iba::encode(header));
}

mad_error& mad_error::message(std::string text) {
    if (!detail) detail = std::make_unique<error_detail>();
    detail->messages.push_back(std::move(text));
    return *this;
}

namespace {

/// Returns `MAD_STATUS_SA_NO_RECORDS(3)`, or only the number if the class has no names for its codes.
std::string class_status_text(const mad_error& e) {
    const u8 code = iba::class_status(e.status);
    std::string_view name;
    if (e.mgmt_class == iba::MgmtClass::SubnAdm) name = iba::find_name(iba::names_of<iba::SAStatus>, code);
    if (name.empty()) return std::to_string(code);
    return fmt::format("MAD_STATUS_SA_{}({})", name.substr(name.find('_') + 1), code);
}

/// Returns what is wrong with the reply, as a suffix of the message.
std::string format_invalid_value(const mad_error& e) {
    return e.detail && !e.detail->invalid_value.empty() ? ": " + e.detail->invalid_value : std::string();
}

std::string what_happened(const mad_error& e, const std::string& where) {
    switch (e.code) {
    case errc::timed_out: return "timed out to " + where;
    case errc::status:
        return fmt::format("got error status {:#x} - {} from {}", e.status, status_text(e.status), where);
    case errc::class_status:
    case errc::path_not_found: return fmt::format("got class specific error {} from {}", class_status_text(e), where);
    case errc::malformed_reply: return "got a malformed reply from " + where + format_invalid_value(e);
    case errc::send_failed: return fmt::format("could not be sent to {} ({})", where, std::strerror(e.sys_errno));
    case errc::transport_failed: return fmt::format("lost its transport ({})", std::strerror(e.sys_errno));
    case errc::cancelled: return "was cancelled";
    case errc::not_in_port_table:
    case errc::out_of_range:
        return fmt::format("was not sent to {}: {}", where,
                           e.detail ? e.detail->invalid_value : "a value does not fit its field");
    case errc::incomplete_path: return "was not sent to " + where + ": the path has no DLID";
    }
    return "failed";
}

std::string rpc_text(const mad_error& e) {
    const std::string where = e.detail ? "'" + to_string(e.detail->path) + "'" : "its target";
    return fmt::format("RPC {} {}", e.description(), what_happened(e, where));
}

// ---- plain text -----------------------------------------------------------------------------------------------------

/// Returns the name of a vendor attribute that ibping or ibsysstat of infiniband-diags queries; empty for other
/// attributes.
std::string_view diags_words(const mad_error& e) {
    constexpr iba::MgmtClass ping{0x32}, sysstat{0x33};
    if (e.mgmt_class == ping && e.attributeID == 0) return "the ping";
    if (e.mgmt_class != sysstat) return {};
    switch (e.attributeID) {
    case 0x10: return "the ping of ibsysstat";
    case 0x11: return "the request for the host name";
    case 0x12: return "the request for the CPUs";
    default: return {};
    }
}

/// Returns the request: `NodeInfo`, `Set of PortInfo`, `attribute 0xff90`.
std::string request_words(const mad_error& e) {
    if (const std::string_view words = diags_words(e); !words.empty()) return std::string(words);
    const iba::record_info* known = iba::find_attribute(e.mgmt_class, e.class_version, e.attributeID);
    const bool is_vendors = iba::is_vendor(e.mgmt_class) || iba::is_vendor_oui(e.mgmt_class);
    std::string name =
        known ? std::string(known->name) : fmt::format("{}attribute {:#x}", is_vendors ? "vendor " : "", e.attributeID);
    for (const std::string_view prefix : {"SMP", "SA", "PM", "MAD"})
        if (known && name.starts_with(prefix)) {
            name.erase(0, prefix.size());
            break;
        }
    if (e.method == iba::Method::Get || e.method == iba::Method::GetTable) return name;
    return fmt::format("{} of {}", iba::name_or_number(e.method), name);
}

/// Returns the target: `LID 7`, `route 0,1,4`, `the SA at LID 1`.
std::string target_words(const mad_error& e) {
    if (!e.detail) return "the target";
    if (const IBDRPath* route = directed(e.detail->path)) {
        const bool begins_far = route->drSLID != iba::permissive_lid;
        if (route->hopCount == 0 && !begins_far) return "the local node";
        const auto end = route->drPath.begin() + route->hopCount + 1;
        const std::string text = fmt::format("route {}", fmt::join(route->drPath.begin(), end, ","));
        return begins_far ? fmt::format("{} from LID {}", text, value(route->DLID)) : text;
    }
    const IBPath& to = *std::get_if<IBPath>(&e.detail->path);
    const std::string place = to.DLID == iba::lid{} && to.DGID != iba::gid{} ? fmt::format("GID {}", to.DGID)
                                                                             : fmt::format("LID {}", value(to.DLID));
    return e.mgmt_class == iba::MgmtClass::SubnAdm ? "the SA at " + place : place;
}

/// Returns the status of the reply: `busy (status 0x1)`.
std::string status_words(const mad_error& e) {
    if (e.code == errc::status) return fmt::format("{} (status {:#x})", status_text(e.status), e.status);
    constexpr std::string_view sa_words[] = {"",
                                             "no resources",
                                             "invalid request",
                                             "no records",
                                             "too many records",
                                             "invalid GID",
                                             "insufficient components",
                                             "denied",
                                             "priority suggested"}; // indexed by SAStatus
    const u8 code = iba::class_status(e.status);
    const bool is_known = e.mgmt_class == iba::MgmtClass::SubnAdm && code > 0 && code < std::size(sa_words);
    return is_known ? fmt::format("{} (status {:#x})", sa_words[code], e.status)
                    : fmt::format("status {:#x}", e.status);
}

/// Returns ` (3 attempts, 1.2 s)`, or an empty string if nothing was sent.
std::string effort_words(const mad_error& e) {
    if (e.attempts == 0) return {};
    std::string text = fmt::format(" ({} attempt{}", e.attempts, e.attempts == 1 ? "" : "s");
    const double seconds = in_seconds(e.elapsed);
    if (seconds >= 9.95) text += fmt::format(", {:.0f} s", seconds);
    else if (seconds >= 0.0995) text += fmt::format(", {:.2g} s", seconds);
    else if (seconds > 0) text += fmt::format(", {:.2g} ms", seconds * 1e3);
    return text + ')';
}

/// Returns why the path has no LID. Without a LID in the path to the SA, the local port has no SM LID.
std::string missing_lid_words(const mad_error& e, const char* otherwise) {
    return e.mgmt_class == iba::MgmtClass::SubnAdm ? "no subnet manager has configured the local port" : otherwise;
}

std::string plain_words(const mad_error& e) {
    const std::string what = request_words(e), target = target_words(e);
    switch (e.code) {
    case errc::timed_out: return fmt::format("{} did not reply to {}{}", target, what, effort_words(e));
    case errc::status:
    case errc::class_status:
    case errc::path_not_found: return fmt::format("{} refused {}: {}", target, what, status_words(e));
    case errc::malformed_reply:
        return fmt::format("{} sent a malformed reply to {}{}", target, what, format_invalid_value(e));
    case errc::send_failed:
        return fmt::format("{} could not be sent to {}: {}", what, target, std::strerror(e.sys_errno));
    case errc::transport_failed:
        return fmt::format("the device failed before {} replied to {}: {}", target, what, std::strerror(e.sys_errno));
    case errc::cancelled: return fmt::format("stopped before {} replied to {}", target, what);
    case errc::not_in_port_table:
    case errc::out_of_range:
        return fmt::format("{} was not sent to {}: {}", what, target,
                           e.detail ? e.detail->invalid_value : "a value does not fit its field");
    case errc::incomplete_path:
        return fmt::format("{} was not sent: {}", what, missing_lid_words(e, "the LID of its target is unknown"));
    }
    return fmt::format("{} failed", what);
}

void add_packet(std::string& out, std::string_view prefix, std::string_view title, std::span<const u8> mad) {
    const iba::record_info* format = iba::tables_of(mad).format;
    std::vector<u8> shown(mad.begin(), mad.end());
    const bool had_keys = iba::hide_keys(shown);
    out += fmt::format("{}+{} Packet {}{}\n", prefix, title, format ? format->name : "??",
                       had_keys ? ", keys shown as 0" : "");
    const std::string words = iba::dump_mad(shown);
    for (std::size_t begin = 0; begin < words.size();) {
        const std::size_t end = words.find('\n', begin) + 1;
        out += prefix;
        out += words.substr(begin, end - begin);
        begin = end;
    }
}

} // namespace

std::string to_string(const mad_error& e) {
    std::string text = rpc_text(e);
    if (e.detail && !e.detail->messages.empty()) text = e.detail->messages.back() + " [" + text + "]";
    return text;
}

bool is_unsupported(const mad_error& e) noexcept {
    return e.code == errc::status && iba::status_code(e.status) != iba::StatusCode::None;
}

std::string plain_text(const mad_error& e) {
    std::string text = plain_words(e);
    if (e.detail && !e.detail->messages.empty()) text = e.detail->messages.back() + ": " + text;
    return text;
}

std::string cause_text(const mad_error& e) {
    const std::string what = request_words(e);
    switch (e.code) {
    case errc::timed_out: return what + " timed out";
    case errc::status:
    case errc::class_status:
    case errc::path_not_found: return fmt::format("{} refused: {}", what, status_words(e));
    case errc::malformed_reply: return what + ": malformed reply" + format_invalid_value(e);
    case errc::send_failed: return fmt::format("{} could not be sent: {}", what, std::strerror(e.sys_errno));
    case errc::transport_failed: return fmt::format("the device failed: {}", std::strerror(e.sys_errno));
    case errc::cancelled: return "stopped";
    case errc::not_in_port_table:
    case errc::out_of_range:
        return fmt::format("{} was not sent: {}", what,
                           e.detail ? e.detail->invalid_value : "a value does not fit its field");
    case errc::incomplete_path: return missing_lid_words(e, "the LID is unknown");
    }
    return what + " failed";
}

std::string dump(const mad_error& e, unsigned level, std::string_view prefix) {
    if (level == 0 || !e.detail) return fmt::format("{}{}\n", prefix, to_string(e));
    std::string out;
    const auto& messages = e.detail->messages;
    for (std::size_t i = messages.size(); i-- > 0;)
        out += fmt::format("{}{}{}\n", prefix, out.empty() ? "" : "+", messages[i]);
    out += fmt::format("{}{}{}\n", prefix, out.empty() ? "" : "+", rpc_text(e));
    out += fmt::format("{}+MAD path was {}\n", prefix, spec_string(without_keys(e.detail->path)));
    if (level < 2) return out;
    add_packet(out, prefix, "Request", e.detail->request);
    if (!e.detail->reply.empty()) add_packet(out, prefix, "Reply", e.detail->reply);
    return out;
}

void bad_result_access(const mad_error& e) noexcept { iba::bad_result_access({iba::errc::unreadable, to_string(e)}); }

} // namespace comad::mad
