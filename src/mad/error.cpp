// SPDX-License-Identifier: MIT
// error.cpp - errors as text.
#include <comad/iba/registry.hpp>
#include <comad/mad/error.hpp>
#include <comad/mad/message.hpp>

#include <fmt/format.h>

#include <cstring>

namespace comad::mad {

std::string mad_error::description() const {
    const iba::record_info* format = iba::find_format(mgmt_class, class_version);
    const iba::record_info* attribute = iba::find_attribute(mgmt_class, class_version, attributeID);
    return fmt::format("{}({}) {}({}.{}) {}({})", method_constant(method), static_cast<u8>(method),
                       format ? format->name : "??", static_cast<u8>(mgmt_class), class_version,
                       attribute ? attribute->name : "??", attributeID);
}

mad_error& mad_error::message(std::string text) {
    if (!detail) detail = std::make_unique<error_detail>();
    detail->messages.push_back(std::move(text));
    return *this;
}

namespace {

std::string what_happened(const mad_error& e, const std::string& where) {
    switch (e.code) {
    case errc::timed_out: return "timed out to " + where;
    case errc::status:
        return fmt::format("got error status {:#x} - {} from {}", e.status, status_text(e.status), where);
    case errc::class_status: return fmt::format("got class specific error {} from {}", e.status >> 8, where);
    case errc::malformed_reply: return "got a malformed reply from " + where;
    case errc::send_failed: return fmt::format("could not be sent to {} ({})", where, std::strerror(e.sys_errno));
    case errc::transport_failed: return fmt::format("lost its transport ({})", std::strerror(e.sys_errno));
    case errc::cancelled: return "was cancelled";
    case errc::out_of_range:
        return fmt::format("was not sent to {}: {}", where, e.detail ? e.detail->misfit : "a value does not fit");
    }
    return "failed";
}

} // namespace

std::string to_string(const mad_error& e) {
    const std::string where = e.detail ? "'" + to_string(e.detail->path) + "'" : "its target";
    std::string text = fmt::format("RPC {} {}", e.description(), what_happened(e, where));
    if (e.detail && !e.detail->messages.empty()) text = e.detail->messages.back() + " [" + text + "]";
    return text;
}

} // namespace comad::mad
