// SPDX-License-Identifier: MIT
// output.cpp - writing that notices a full disk and a closed pipe.
#include "text/output.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <stdexcept>

namespace ibtool {

void write_output(std::string_view text, const std::string& file) {
    std::unique_ptr<std::FILE, int (*)(std::FILE*)> opened(nullptr, &std::fclose);
    if (!file.empty()) opened.reset(std::fopen(file.c_str(), "w"));
    std::FILE* out = file.empty() ? stdout : opened.get();
    const std::string name = file.empty() ? "the standard output" : "'" + file + "'";
    if (!out) throw std::runtime_error(fmt::format("cannot write {}: {}", name, std::strerror(errno)));
    if (std::fwrite(text.data(), 1, text.size(), out) != text.size() || std::fflush(out) != 0) {
        throw std::runtime_error(fmt::format("could not write all of {}: {}", name, std::strerror(errno)));
    }
}

std::vector<std::string> lines_about(std::vector<std::string> missing, const std::string& loss) {
    if (loss.empty() || missing.empty()) return missing;
    return {fmt::format("{}; {} answer{} missing", loss, missing.size(), missing.size() == 1 ? " is" : "s are")};
}

void tell_missing(std::vector<std::string> missing, const std::string& loss) {
    for (const std::string& line : lines_about(std::move(missing), loss)) fmt::print(stderr, "ibtool: {}\n", line);
}

std::string indented(std::string_view lines) {
    std::string out;
    for (std::size_t begin = 0; begin < lines.size();) {
        const std::size_t end = lines.find('\n', begin) + 1;
        if (lines[begin] != '\t') out += "\t\t";
        out += lines.substr(begin, end - begin);
        begin = end;
    }
    return out;
}

} // namespace ibtool
