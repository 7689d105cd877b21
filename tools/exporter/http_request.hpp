// SPDX-License-Identifier: MIT
// http_request.hpp - what a request asks for, and which requests are refused (RFC 9110, RFC 9112). Knows no connection.
#pragma once
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace ibtool {

struct http_request {
    std::string path; ///< without scheme and host, and without what follows a `?`
    bool takes_gzip = false;
    std::string authorization; ///< that header; empty: there is none
};

http_request request_of(const boost::beast::http::request<boost::beast::http::empty_body>&);

/// The status and one line of text for a request that is refused for its header; nothing: it is not. A refused request ends the
/// connection: where its body ends, and the next request begins, is not certain.
struct http_refusal {
    unsigned status;
    const char* text;
};
std::optional<http_refusal> refusal_of(const boost::beast::http::request_parser<boost::beast::http::empty_body>&);

/// Whether a client that sends these values of Accept-Encoding takes gzip (RFC 9110, 12.5.3). `identity` is always possible, so
/// that what cannot be read means no.
bool accepts_gzip(std::string_view encodings);

} // namespace ibtool
