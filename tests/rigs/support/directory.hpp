// SPDX-License-Identifier: MIT
// directory.hpp - a temporary directory for the files of one test, and a function that reads a file.
#pragma once
#include "support/catch.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdlib.h>
#include <string>
#include <string_view>
#include <system_error>

namespace comad::test {

/// A temporary directory. The destructor removes the directory with its files.
class directory {
public:
    directory() {
        std::string name = std::filesystem::temp_directory_path() / "comad-test-XXXXXX";
        REQUIRE(::mkdtemp(name.data()));
        path_ = name;
    }
    ~directory() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    directory(const directory&) = delete;
    directory& operator=(const directory&) = delete;

    /// Returns the path of a file in the directory.
    std::string operator/(std::string_view file) const { return path_ / file; }
    /// Writes a file, creates its directories and returns its path.
    std::string write(std::string_view file, std::string_view text) const {
        const std::filesystem::path name = path_ / file;
        std::filesystem::create_directories(name.parent_path());
        std::ofstream(name) << text;
        return name;
    }

private:
    std::filesystem::path path_;
};

/// Returns the content of a file; empty if the file cannot be read.
inline std::string read_file(const std::string& name) {
    std::ifstream file(name);
    return {std::istreambuf_iterator<char>(file), {}};
}

} // namespace comad::test
