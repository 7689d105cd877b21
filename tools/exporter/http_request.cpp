// SPDX-License-Identifier: MIT
// http_request.cpp - reads the header of an HTTP request. Does not use Beast's ext_list, which stops at a parameter that is followed by a
// comma and a blank.
#include "exporter/http_request.hpp"

#include <comad/iba/parse.hpp>

#include <boost/beast/core/string.hpp>

#include <algorithm>
#include <utility>

namespace ibtool {

namespace beast = boost::beast;
namespace http = beast::http;

namespace {

using empty_request = http::request<http::empty_body>;

/// Returns the values of all fields with this name as one list.
std::string list_of(const empty_request& r, http::field name) {
    std::string all;
    const auto [begin, end] = r.equal_range(name);
    for (auto field = begin; field != end; ++field) {
        if (!all.empty()) all += ", ";
        all += std::string(field->value());
    }
    return all;
}

/// Returns whether a weight is 0 or invalid. RFC 9110, 12.4.2: `qvalue` is 0 or 1 with at most three decimals.
bool is_nothing(std::string_view weight) {
    constexpr std::size_t longest = 5;
    const bool is_number = !weight.empty() && weight.size() <= longest &&
                           std::ranges::all_of(weight, [](char c) { return c == '.' || (c >= '0' && c <= '9'); });
    return !is_number || std::ranges::all_of(weight, [](char c) { return c == '.' || c == '0'; });
}

/// Returns the text before the next `end`. Removes that text and `end` from `text`.
std::string_view take_until(std::string_view& text, char end) {
    const std::size_t size = std::min(text.find(end), text.size());
    const std::string_view part = text.substr(0, size);
    text.remove_prefix(std::min(size + 1, text.size()));
    return comad::iba::trimmed(part);
}

/// Returns whether the client accepts a coding with these parameters.
bool is_taken(std::string_view parameters) {
    while (!parameters.empty()) {
        std::string_view value = take_until(parameters, ';');
        if (beast::iequals(take_until(value, '='), "q")) return !is_nothing(comad::iba::trimmed(value));
    }
    return true;
}

/// Returns the path of a target. A client that takes this server for a proxy sends `http://host:9400/metrics` (RFC 9112, 3.2.2); then the
/// path starts after the host. Returns an empty text for any other target.
std::string_view path_of(std::string_view target) {
    for (const std::string_view scheme : {"http://", "https://"}) {
        if (!beast::iequals(target.substr(0, scheme.size()), scheme)) continue;
        target.remove_prefix(scheme.size());
        const std::size_t host = std::min(target.find_first_of("/?"), target.size());
        if (host == 0) return {};
        target.remove_prefix(host);
        return target.empty() || target.front() == '?' ? "/" : target;
    }
    return target.starts_with('/') ? target : std::string_view();
}

/// Returns whether the text can be `uri-host [":" port]`: a name, an IPv4 address, [an IPv6 address], or nothing.
bool is_host(std::string_view value) {
    constexpr std::string_view others = "-._~!$&'()*+;=%[]:";
    return std::ranges::all_of(value, [&](char c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
               others.find(c) != others.npos;
    });
}

} // namespace

bool accepts_gzip(std::string_view encodings) {
    std::optional<bool> gzip, any;
    while (!encodings.empty()) {
        std::string_view parameters = take_until(encodings, ',');
        const std::string_view coding = take_until(parameters, ';');
        if (beast::iequals(coding, "gzip") || beast::iequals(coding, "x-gzip")) gzip = is_taken(parameters);
        else if (coding == "*") any = is_taken(parameters);
    }
    return gzip.value_or(any.value_or(false));
}

http_request request_of(const empty_request& r) {
    const auto target = path_of({r.target().data(), r.target().size()});
    return {std::string(target.substr(0, target.find('?'))), accepts_gzip(list_of(r, http::field::accept_encoding)),
            std::string(r[http::field::authorization])};
}

// Beast ignores transfer codings other than chunked. The body would then be read as the next request, which, after a proxy, could belong
// to another client (RFC 9112, 6.1 and 11.2).
std::optional<http_refusal> refusal_of(const http::request_parser<http::empty_body>& p) {
    const empty_request& r = p.get();
    constexpr unsigned http_1_1 = 11;
    if (r.count(http::field::transfer_encoding) != 0 && !p.chunked())
        return http_refusal{400, "a request must have no body and no Transfer-Encoding\n"};
    if (p.chunked() || p.content_length().value_or(0) > 0) return http_refusal{413, "a request must have no body\n"};
    const std::size_t hosts = r.count(http::field::host);
    if (hosts > 1 || (hosts == 0 && r.version() >= http_1_1))
        return http_refusal{400, "a request must have one Host field\n"};
    if (hosts == 1 && !is_host({r[http::field::host].data(), r[http::field::host].size()}))
        return http_refusal{400, "the Host field must be a host, with or without a port\n"};
    const http::verb method = r.method();
    if (method != http::verb::get && method != http::verb::head)
        return http_refusal{405, "only GET and HEAD are supported\n"};
    if (path_of({r.target().data(), r.target().size()}).empty())
        return http_refusal{400, "the target must be a path, such as /metrics, or http://HOST/PATH\n"};
    return std::nullopt;
}

} // namespace ibtool
