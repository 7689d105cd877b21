// SPDX-License-Identifier: MIT
// paths.cpp - fuzzes targets that users type. A valid target must stay equal when it is printed and parsed again; an
// error must be one line.
#include "fuzz.hpp"
#include <comad/mad/path_text.hpp>

#include <string_view>

using namespace comad;

extern "C" int LLVMFuzzerTestOneInput(const u8* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    for (const auto hex : {mad::hex_means::LID, mad::hex_means::GUID}) {
        const auto target = mad::from_string(text, hex);
        if (!target) {
            fuzz::require(fuzz::is_one_line(target.error().text) && target.error().text.size() < 1024);
            continue;
        }
        const mad::any_path& path = target.value().path;
        fuzz::require(fuzz::is_one_line(to_string(path)));
        const auto again = mad::from_string(spec_string(path));
        fuzz::require(again.has_value() && again.value().path == path);
        const auto whole = mad::from_string(spec_string(target.value()));
        fuzz::require(whole.has_value() && whole.value() == target.value());
    }
    return 0;
}
