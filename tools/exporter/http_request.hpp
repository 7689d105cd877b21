// SPDX-License-Identifier: MIT
// http_request.hpp - parses HTTP requests, and decides which ones are rejected (RFC 9110, RFC 9112). Does not depend on a connection.
#pragma once
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace ibtool {

/// The parts of a request that the server uses.
struct http_request {
    std::string path; ///< path without scheme, host and query
    bool takes_gzip = false;
    std::string authorization; ///< value of the Authorization header; empty: none
};

/// Returns the parts of a request that the server uses.
http_request request_of(const boost::beast::http::request<boost::beast::http::empty_body>&);

/// A reason to reject a request because of its header. The server closes the connection after the reply, because the end of the body, and
/// so the start of the next request, is unknown.
struct http_refusal {
    unsigned status;
    const char* text;
};
/// Returns why a request is rejected; nullopt if it is accepted.
std::optional<http_refusal> refusal_of(const boost::beast::http::request_parser<boost::beast::http::empty_body>&);

/// Returns whether the values of Accept-Encoding allow gzip (RFC 9110, 12.5.3). Returns false if they cannot be parsed, because
/// `identity` is always allowed.
bool accepts_gzip(std::string_view encodings);

} // namespace ibtool
