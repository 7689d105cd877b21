// SPDX-License-Identifier: MIT
// rdma_bw_link.cpp - sends, receives and checks the JSON lines that the two ends of rdma_bw exchange over TCP.
#include "commands/measuring/rdma_bw_link.hpp"

#include "text/json.hpp"
#include <comad/iba/detail/format.hpp>
#include <comad/iba/detail/text.hpp>
#include <comad/iba/parse.hpp>

#include <boost/asio/io_context.hpp>
#include <fmt/format.h>

#include <chrono>
#include <limits>
#include <stdexcept>

namespace ibtool {
namespace {

using boost::asio::ip::tcp;
constexpr std::chrono::seconds patience{10};
constexpr std::size_t most_of_a_line = 4096;

[[noreturn]] void refuse(std::string_view what) {
    throw std::runtime_error(fmt::format("the remote end does not run this version of rdma_bw: {}", what));
}

/// Returns a number from a received line. Throws std::runtime_error if it is missing or outside of the limits.
comad::u64 number_in(const nlohmann::json& fields, const char* name, comad::u64 least, comad::u64 most) {
    const auto found = fields.find(name);
    const bool is_number = found != fields.end() && found->is_number_unsigned();
    if (!is_number || found->get<comad::u64>() < least || found->get<comad::u64>() > most)
        refuse(fmt::format("'{}' must be a number from {} to {}", name, least, most));
    return found->get<comad::u64>();
}

} // namespace

rdma_bw_link rdma_bw_link::accept(unsigned short port, bool v6) {
    boost::asio::io_context io;
    rdma_bw_link link;
    try {
        tcp::acceptor acceptor(io, {v6 ? tcp::v6() : tcp::v4(), port});
        acceptor.accept(link.stream_.socket());
    } catch (const boost::system::system_error& e) {
        throw std::runtime_error(fmt::format("cannot listen on TCP port {}: {}", port, e.code().message()));
    }
    return link;
}

rdma_bw_link rdma_bw_link::connect(const std::string& host, unsigned short port, bool v6) {
    boost::asio::io_context io;
    rdma_bw_link link;
    link.stream_.expires_after(patience);
    boost::system::error_code error;
    tcp::resolver resolver(io);
    const auto places = resolver.resolve(v6 ? tcp::v6() : tcp::v4(), host, std::to_string(port), error);
    for (const auto& place : places) {
        link.stream_.connect(place.endpoint());
        if (link.stream_) return link;
        error = link.stream_.error();
        link.stream_.clear();
    }
    throw std::runtime_error(
        fmt::format("cannot connect to {} on TCP port {}: {}", comad::iba::as_given(host), port, error.message()));
}

void rdma_bw_link::send(const rdma_bw_end& e) {
    send(json_compact({{"rdma_bw", 1},
                       {"LID", value(e.LID)},
                       {"GID", fmt::format("{}", e.GID)},
                       {"QPN", e.QPN},
                       {"PSN", e.PSN},
                       {"MTU", e.MTU},
                       {"address", e.address},
                       {"rkey", e.rkey},
                       {"size", e.size},
                       {"writes", e.writes},
                       {"both_ways", e.both_ways ? 1 : 0}}));
}

rdma_bw_end rdma_bw_link::receive_end() {
    const auto fields = nlohmann::json::parse(line(false), nullptr, false);
    if (!fields.is_object()) refuse("its first line is not a JSON object");
    constexpr comad::u64 any = std::numeric_limits<comad::u64>::max(), bits_24 = 0xffffff;
    number_in(fields, "rdma_bw", 1, 1);
    rdma_bw_end e;
    e.LID = comad::iba::lid{static_cast<comad::u16>(number_in(fields, "LID", 0, 0xffff))};
    const auto GID = fields.find("GID");
    const auto read =
        GID != fields.end() && GID->is_string() ? comad::iba::parse_gid(GID->get<std::string>()) : std::nullopt;
    if (!read) refuse("'GID' is not a valid GID");
    e.GID = *read;
    e.QPN = static_cast<comad::u32>(number_in(fields, "QPN", 0, bits_24));
    e.PSN = static_cast<comad::u32>(number_in(fields, "PSN", 0, bits_24));
    e.MTU = static_cast<unsigned>(number_in(fields, "MTU", 1, 5));
    e.address = number_in(fields, "address", 0, any);
    e.rkey = static_cast<comad::u32>(number_in(fields, "rkey", 0, 0xffffffff));
    e.size = number_in(fields, "size", 1, rdma_bw_most_size);
    e.writes = number_in(fields, "writes", 1, rdma_bw_most_writes);
    e.both_ways = number_in(fields, "both_ways", 0, 1) != 0;
    return e;
}

void rdma_bw_link::send(const std::string& word) {
    stream_.expires_after(patience);
    stream_ << word << '\n' << std::flush;
    if (!stream_) throw std::runtime_error("lost the connection to the remote end: " + stream_.error().message());
}

void rdma_bw_link::receive(const std::string& word, bool is_long) {
    if (const std::string received = line(is_long); received != word)
        refuse(fmt::format("it sent {} instead of {}", comad::iba::as_given(received), word));
}

std::string rdma_bw_link::line(bool is_long) {
    if (is_long) stream_.expires_at(std::chrono::steady_clock::time_point::max());
    else stream_.expires_after(patience);
    std::string text;
    for (char c; stream_.get(c) && c != '\n';) {
        if (text.size() == most_of_a_line) refuse("it sent a line that is too long");
        text += c;
    }
    if (!stream_) throw std::runtime_error("lost the connection to the remote end: " + stream_.error().message());
    return text;
}

} // namespace ibtool
