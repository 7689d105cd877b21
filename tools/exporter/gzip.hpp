// SPDX-License-Identifier: MIT
// gzip.hpp - compresses text to the gzip format step by step, so that other work can run in between.
#pragma once
#include <memory>
#include <string>
#include <string_view>

namespace ibtool {

/// Compresses text to the gzip format.
class gzip_writer {
public:
    /// Errors: every function throws std::bad_alloc if memory is exhausted.
    gzip_writer();
    ~gzip_writer();

    /// Compresses more text.
    void add(std::string_view text);
    /// Returns all compressed text. No text can be added afterwards.
    std::string finish();

private:
    struct stream;
    void write(std::string_view text, int flush);
    std::unique_ptr<stream> stream_;
    std::string out_;
};

} // namespace ibtool
