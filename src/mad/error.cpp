// SPDX-License-Identifier: MIT
// error.cpp - errors as text.
#include <comad/iba/codec.hpp>
#include <comad/iba/keys.hpp>
#include <comad/iba/mad_header.hpp>
#include <comad/iba/mad_tables.hpp>
#include <comad/iba/print.hpp>
#include <comad/mad/error.hpp>
#include <comad/mad/message.hpp>
#include <comad/mad/path_text.hpp>
#include <comad/mad/trace.hpp>

#include <fmt/format.h>

#include <cstring>
#include <vector>

namespace comad::mad {

std::string mad_error::description() const {
    if (detail && detail->request[1] == value(mgmt_class)) return describe_mad(detail->request); // tells an OUI, too
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

/// `MAD_STATUS_SA_NO_RECORDS(3)`; of classes whose codes have no names only the number.
std::string class_status_text(const mad_error& e) {
    const u8 code = iba::class_status(e.status);
    std::string_view name;
    if (e.mgmt_class == iba::MgmtClass::SubnAdm) name = iba::find_name(iba::names_of<iba::SAStatus>, code);
    if (name.empty()) return std::to_string(code);
    return fmt::format("MAD_STATUS_SA_{}({})", name.substr(name.find('_') + 1), code);
}

std::string what_happened(const mad_error& e, const std::string& where) {
    switch (e.code) {
    case errc::timed_out: return "timed out to " + where;
    case errc::status:
        return fmt::format("got error status {:#x} - {} from {}", e.status, status_text(e.status), where);
    case errc::class_status:
    case errc::path_not_found: return fmt::format("got class specific error {} from {}", class_status_text(e), where);
    case errc::malformed_reply: return "got a malformed reply from " + where;
    case errc::send_failed: return fmt::format("could not be sent to {} ({})", where, std::strerror(e.sys_errno));
    case errc::transport_failed: return fmt::format("lost its transport ({})", std::strerror(e.sys_errno));
    case errc::cancelled: return "was cancelled";
    case errc::out_of_range:
        return fmt::format("was not sent to {}: {}", where, e.detail ? e.detail->misfit : "a value does not fit");
    case errc::incomplete_path: return "was not sent to " + where + ": the path has no DLID";
    }
    return "failed";
}

std::string rpc_text(const mad_error& e) {
    const std::string where = e.detail ? "'" + to_string(e.detail->path) + "'" : "its target";
    return fmt::format("RPC {} {}", e.description(), what_happened(e, where));
}

void add_packet(std::string& out, std::string_view prefix, std::string_view title, std::span<const u8> mad) {
    const iba::record_info* format = iba::tables_of(mad).format;
    std::vector<u8> shown(mad.begin(), mad.end());
    const bool had_keys = iba::hide_keys(shown);
    out += fmt::format("{}+{} Packet {}{}\n", prefix, title, format ? format->name : "??",
                       had_keys ? ", its keys hidden as 0" : "");
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

void end_for_lack_of_value(const mad_error& e) noexcept {
    iba::end_for_lack_of_value({iba::errc::unreadable, to_string(e)});
}

} // namespace comad::mad
