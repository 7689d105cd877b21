// SPDX-License-Identifier: MIT
// made_file.hpp - a temporary file with a given text that exists as long as its object.
#pragma once
#include "support/catch.hpp"

#include <cstdio>
#include <fstream>
#include <stdlib.h>
#include <string>
#include <string_view>
#include <unistd.h>

/// A temporary file. The destructor removes the file.
class made_file {
public:
    explicit made_file(std::string_view text) {
        char made[] = "/tmp/comad-file-XXXXXX";
        const int fd = ::mkstemp(made);
        REQUIRE(fd >= 0);
        ::close(fd);
        name = made;
        std::ofstream(name) << text;
    }
    ~made_file() { std::remove(name.c_str()); }
    made_file(const made_file&) = delete;
    made_file& operator=(const made_file&) = delete;
    std::string name;
};
