// SPDX-License-Identifier: MIT
// http_request.hpp - parses an HTTP request, and decides which requests are rejected (RFC 9110, RFC 9112). Does not depend on a connection.
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
    std::string path; ///< without scheme, host, and the query after `?`
    bool takes_gzip = false;
    std::string authorization; ///< the Authorization header; empty: there is none
};

http_request request_of(const boost::beast::http::request<boost::beast::http::empty_body>&);

/// The status and one line of text for a request that is rejected because of its header. The connection is then closed, because it is
/// uncertain where the body ends and the next request starts.
struct http_refusal {
    unsigned status;
    const char* text;
};
/// Returns why a request is rejected; nullopt: it is not.
std::optional<http_refusal> refusal_of(const boost::beast::http::request_parser<boost::beast::http::empty_body>&);

/// Returns whether these values of Accept-Encoding allow gzip (RFC 9110, 12.5.3). If the header cannot be parsed, the result is false,
/// because `identity` is always possible.
bool accepts_gzip(std::string_view encodings);

} // namespace ibtool
