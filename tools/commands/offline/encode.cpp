// SPDX-License-Identifier: MIT
// encode.cpp - encode: converts structures from JSON or field=value to hex digits. The inverse of decode --struct.
#include "comad.hpp"
#include "command.hpp"
#include "input/structure.hpp"
#include "text/json.hpp"
#include "text/output.hpp"
#include <comad/iba/detail/text.hpp>
#include <comad/iba/fields.hpp>
#include <comad/iba/from_json.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>

namespace ibtool {
namespace {

/// The command line of encode.
struct encode_settings {
    std::string structure;
    std::vector<std::string> words;
    bool json = false;
};

std::string encoded_line(const iba::record_info& info, std::span<const comad::u8> bytes, bool json) {
    if (json) return json_line({{"struct", info.name}, {"data", json_bytes(bytes)}});
    return fmt::format("{:02x}\n", fmt::join(bytes, ""));
}

/// Encodes one structure from all assignments, and prints it. Returns an exit status.
int encode_assignments(const iba::record_info& info, const std::vector<std::string>& words, bool json) {
    std::vector<comad::u8> bytes(info.bytes);
    for (const std::string& word : words) {
        const auto parts = iba::parse_assignment(word);
        if (!parts) throw usage_error(parts.error().text);
        const auto done = iba::set_field(info, bytes, parts.value().name, parts.value().text);
        if (!done) throw usage_error(done.error().text);
    }
    write_output(encoded_line(info, bytes, json));
    return complete;
}

int encode_objects(const iba::record_info& info, const std::vector<std::string>& words, bool json) {
    std::string text, problems;
    for_each_word(words, [&](const std::string& where, const std::string& word) {
        if (const auto bytes = iba::from_json(info, word)) text += encoded_line(info, bytes.value(), json);
        else
            problems +=
                fmt::format("{}: {}: {}\n", program_name(), iba::escaped(where), iba::escaped(bytes.error().text));
    });
    write_output(text);
    print_error(problems);
    return problems.empty() ? complete : text.empty() ? failed : partial;
}

int run_encode(const encode_settings& s) {
    const iba::record_info& info = *structure_named(s.structure).info;
    const bool are_assignments = !s.words.empty() && std::none_of(s.words.begin(), s.words.end(), [](const auto& word) {
        return word.starts_with('{');
    });
    return are_assignments ? encode_assignments(info, s.words, s.json) : encode_objects(info, s.words, s.json);
}

} // namespace

command encode_command() {
    return {.name = "encode",
            .group = command_group::offline,
            .no_sa_reason = "it sends nothing",
            .declare = [](arguments& takes) -> action {
                auto s = std::make_shared<encode_settings>();
                takes.option("--struct", s->structure).such_as(structure_names()).required();
                takes.option("fields", s->words);
                takes.flag("--json", s->json);
                return [s](const global_options&) { return run_encode(*s); };
            }};
}

} // namespace ibtool
