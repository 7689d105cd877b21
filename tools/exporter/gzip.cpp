// SPDX-License-Identifier: MIT
// gzip.cpp - compresses text to the gzip format (RFC 1952) with zlib.
#include "exporter/gzip.hpp"

#include <new>
#include <utility>
#include <zlib.h>

namespace ibtool {

struct gzip_writer::stream : z_stream {
    stream() : z_stream{} {
        constexpr int gzip_frame = 16, largest_window = 15, usual_memory = 8;
        if (deflateInit2(this, Z_BEST_SPEED, Z_DEFLATED, largest_window + gzip_frame, usual_memory,
                         Z_DEFAULT_STRATEGY) != Z_OK)
            throw std::bad_alloc();
    }
    ~stream() { deflateEnd(this); }
};

gzip_writer::gzip_writer() : stream_(std::make_unique<stream>()) {}
gzip_writer::~gzip_writer() = default;

void gzip_writer::add(std::string_view text) { write(text, Z_NO_FLUSH); }

std::string gzip_writer::finish() {
    write({}, Z_FINISH);
    return std::move(out_);
}

void gzip_writer::write(std::string_view text, int flush) {
    stream_->next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data())); // zlib only reads it
    stream_->avail_in = static_cast<uInt>(text.size());
    do {
        char some[16 << 10];
        stream_->next_out = reinterpret_cast<Bytef*>(some);
        stream_->avail_out = sizeof some;
        deflate(stream_.get(), flush);
        out_.append(some, sizeof some - stream_->avail_out);
    } while (stream_->avail_out == 0);
}

} // namespace ibtool
