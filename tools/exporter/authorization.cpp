// SPDX-License-Identifier: MIT
// authorization.cpp - reads and checks the bearer tokens and passwords of HTTP clients.
#include "exporter/authorization.hpp"

#include "comad.hpp"
#include "input/options.hpp"
#include "input/split_text.hpp"
#include <comad/iba/detail/text.hpp>
#include <comad/iba/detail/text_file.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace ibtool {

namespace {

// Returns the Base64 form of the bytes (RFC 4648).
std::string base64(std::string_view bytes) {
    static constexpr char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string out;
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        unsigned group = 0;
        for (std::size_t k = i; k < i + 3; ++k)
            group = group << 8 | (k < bytes.size() ? static_cast<unsigned char>(bytes[k]) : 0u);
        const std::size_t here = std::min<std::size_t>(bytes.size() - i, 3);
        for (std::size_t k = 0; k < 4; ++k) out += k <= here ? digits[group >> (18 - 6 * k) & 63] : '=';
    }
    return out;
}

bool is_readable_by_others(const std::string& file) {
    struct stat found {};
    return ::stat(file.c_str(), &found) == 0 && (found.st_mode & (S_IRGRP | S_IROTH)) != 0;
}

/// Returns why other users could change the accepted credentials; null if they cannot.
const char* why_not_private(const std::string& file) {
    struct stat found {};
    if (::stat(file.c_str(), &found) != 0) return "cannot read the file";
    if ((found.st_mode & (S_IWGRP | S_IWOTH)) != 0) return "other users can write the file; run chmod 600";
    if (found.st_uid != ::geteuid() && found.st_uid != 0)
        return "the file must belong to root or to the user who runs ibtool; run chown";
    return nullptr;
}

/// Returns the scheme and the credentials of a line or header. `Bearer` and `Basic` are recognized in any case (RFC 9110, 11.1). Removes
/// the CR before LF of files from Windows.
std::pair<std::string, std::string> scheme_and_rest(std::string_view text) {
    const std::string line = trimmed(text);
    const std::size_t end = std::min(line.find_first_of(" \t"), line.size());
    std::string scheme = line.substr(0, end);
    for (const char* known : {"Bearer", "Basic"})
        if (to_lower(scheme) == to_lower(known)) scheme = known;
    return {std::move(scheme), trimmed(line.substr(end))};
}

/// Returns whether the credentials contain a password. Without a password, any client that knows the user name would be accepted.
bool has_password(std::string_view credentials) {
    const std::size_t colon = credentials.find(':');
    return colon != credentials.npos && colon + 1 < credentials.size();
}

/// Returns whether the texts are equal. The time does not depend on the position of a difference.
bool is_same(std::string_view a, std::string_view b) noexcept {
    unsigned difference = a.size() != b.size();
    for (std::size_t i = 0; i < a.size(); ++i)
        difference |= static_cast<unsigned char>(a[i] ^ (i < b.size() ? b[i] : '\0'));
    return difference == 0;
}

} // namespace

std::vector<std::string> read_authorizations(const std::string& file) {
    const auto refuse = [&](std::size_t line, const char* why) {
        throw usage_error(
            fmt::format("--auth: {}{}: {}", iba::escaped(file), line ? fmt::format(":{}", line) : "", why));
    };
    std::istringstream in;
    std::string line;
    try {
        in = iba::open_text_file(file);
    } catch (const std::runtime_error& e) {
        throw usage_error(fmt::format("--auth: {}", e.what()));
    }
    if (is_readable_by_others(file)) refuse(0, "other users can read the file; run chmod 600");
    std::vector<std::string> all;
    if (const char* const why = why_not_private(file)) refuse(0, why);
    std::size_t number = 0;
    while (++number, std::getline(in, line)) {
        const auto [scheme, secret] = scheme_and_rest(line);
        if (scheme.empty() || scheme[0] == '#') continue;
        if (scheme == "Bearer" && !secret.empty()) all.push_back("Bearer " + secret);
        else if (scheme == "Basic" && has_password(secret)) all.push_back("Basic " + base64(secret));
        else refuse(number, "expected 'bearer TOKEN' or 'basic USER:PASSWORD', neither of them empty");
    }
    if (all.empty()) refuse(0, "the file contains no credentials");
    return all;
}

bool is_authorized(std::string_view given, const std::vector<std::string>& accepted) {
    bool is_one = accepted.empty();
    const auto [scheme, credentials] = scheme_and_rest(given);
    const std::string normal = scheme + ' ' + credentials;
    for (const std::string& one : accepted) is_one |= is_same(one, normal);
    return is_one;
}

} // namespace ibtool
