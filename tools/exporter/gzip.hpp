// SPDX-License-Identifier: MIT
// gzip.hpp - compresses text step by step, so that other work can run in between.
#pragma once
#include <memory>
#include <string>
#include <string_view>

namespace ibtool {

/// Compresses text to the gzip format.
class gzip_writer {
public:
    /// All functions throw std::bad_alloc.
    gzip_writer();
    ~gzip_writer();

    void add(std::string_view text);
    /// Returns the compressed form of everything that was added. Nothing can be added afterwards.
    std::string finish();

private:
    struct stream;
    void write(std::string_view text, int flush);
    std::unique_ptr<stream> stream_;
    std::string out_;
};

} // namespace ibtool
