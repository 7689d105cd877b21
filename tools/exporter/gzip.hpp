// SPDX-License-Identifier: MIT
// gzip.hpp - text compressed bit by bit, for who has other things to do meanwhile.
#pragma once
#include <memory>
#include <string>
#include <string_view>

namespace ibtool {

class gzip_writer {
public:
    /// Throws std::bad_alloc, as all here.
    gzip_writer();
    ~gzip_writer();

    void add(std::string_view text);
    /// All that was added, compressed. Nothing can be added after that.
    std::string finish();

private:
    struct stream;
    void write(std::string_view text, int flush);
    std::unique_ptr<stream> stream_;
    std::string out_;
};

} // namespace ibtool
