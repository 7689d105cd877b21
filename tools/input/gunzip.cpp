// SPDX-License-Identifier: MIT
// gunzip.cpp - decompresses gzip files with zlib's inflate.
#include "input/gunzip.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <new>
#include <zlib.h>

namespace ibtool {
namespace {

/// The state of zlib for one gzip file, which the destructor frees.
struct inflater : z_stream {
    inflater() : z_stream{} {
        constexpr int only_gzip = 16, largest_window = 15;
        if (inflateInit2(this, largest_window + only_gzip) != Z_OK) throw std::bad_alloc();
    }
    inflater(const inflater&) = delete;
    inflater& operator=(const inflater&) = delete;
    ~inflater() { inflateEnd(this); }
};

} // namespace

bool is_gzipped(std::string_view bytes) noexcept { return bytes.starts_with("\x1f\x8b\x08"); }

std::string gunzip(std::string_view bytes, std::string& problem, std::size_t most) {
    std::string out;
    inflater in;
    char some[1 << 16];
    while (true) {
        if (in.avail_in == 0) { // zlib counts with 32 bits
            const std::size_t part = std::min<std::size_t>(bytes.size(), std::numeric_limits<uInt>::max());
            in.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data())); // zlib does not write there
            in.avail_in = static_cast<uInt>(part);
            bytes.remove_prefix(part);
        }
        in.next_out = reinterpret_cast<Bytef*>(some);
        in.avail_out = sizeof some;
        const int result = inflate(&in, Z_NO_FLUSH);
        const std::size_t made = sizeof some - in.avail_out;
        if (made > most - out.size()) {
            problem = fmt::format("the decompressed data exceeds {} bytes; decompress and split the file", most);
            return out.append(some, most - out.size());
        }
        out.append(some, made);
        if (result == Z_STREAM_END) {
            const std::string_view rest(reinterpret_cast<const char*>(in.next_in), in.avail_in);
            if (!is_gzipped(rest)) return out;
            inflateReset(&in); // the next member
        } else if (result == Z_BUF_ERROR && in.avail_in == 0 && bytes.empty()) {
            problem = "the compressed data is truncated";
            return out;
        } else if (result != Z_OK && result != Z_BUF_ERROR) {
            problem = fmt::format("the compressed data is damaged: {}", in.msg ? in.msg : "zlib gives no reason");
            return out;
        }
    }
}

} // namespace ibtool
