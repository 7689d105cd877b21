// SPDX-License-Identifier: MIT
// authorization.cpp - the lines of that file.
#include "exporter/authorization.hpp"

#include "input/options.hpp"
#include <comad/iba/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <sys/stat.h>

namespace ibtool {

namespace iba = comad::iba;

namespace {

// RFC 4648
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
    std::ifstream in(file);
    std::string line;
    if (!in) refuse(0, "cannot be read");
    if (is_readable_by_others(file)) refuse(0, "others than its owner can read it (chmod 600)");
    std::vector<std::string> all;
    std::size_t number = 0;
    while (++number, std::getline(in, line)) {
        if (line.empty() || line[0] == '#') continue;
        const std::size_t space = line.find(' ');
        const std::string kind = line.substr(0, space),
                          secret = space == std::string::npos ? "" : line.substr(space + 1);
        if (kind == "bearer" && !secret.empty()) all.push_back("Bearer " + secret);
        else if (kind == "basic" && secret.find(':') != std::string::npos) all.push_back("Basic " + base64(secret));
        else refuse(number, "neither 'bearer TOKEN' nor 'basic USER:PASSWORD'");
    }
    if (in.bad()) refuse(0, "cannot be read");
    if (all.empty()) refuse(0, "nobody would be let in");
    return all;
}

bool is_authorized(std::string_view given, const std::vector<std::string>& accepted) noexcept {
    bool is_one = accepted.empty();
    for (const std::string& one : accepted) is_one |= is_same(one, given);
    return is_one;
}

} // namespace ibtool
