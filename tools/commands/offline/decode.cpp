// SPDX-License-Identifier: MIT
// decode.cpp - decode: prints MADs and packets from files, or one structure from hex digits, as text or JSON.
#include "comad.hpp"
#include "command.hpp"
#include "input/dissect_message.hpp"
#include "input/structure.hpp"
#include "text/output.hpp"
#include <comad/iba/detail/text.hpp>
#include <comad/iba/print.hpp>

#include <fmt/format.h>

#include <memory>

namespace ibtool {
namespace {

/// The command line of decode.
struct decode_settings {
    std::vector<std::string> words; ///< files; with --struct: hex digits
    std::string structure;
    message_kind kind = message_kind::automatic;
    unsigned offset = 0; // bytes to skip at the start of each input
    bool json = false, dotted = false, dump = false;
};

/// Returns the kind that --kind names. Throws usage_error for an unknown name.
message_kind kind_of(const std::string& word) {
    if (word == "auto") return message_kind::automatic;
    if (word == "mad") return message_kind::mad;
    if (word == "umad") return message_kind::umad;
    if (word == "packet") return message_kind::packet;
    if (word == "grh") return message_kind::grh;
    if (word == "bth") return message_kind::bth;
    throw usage_error(fmt::format("expected auto, mad, umad, packet, grh or bth, not {}", iba::as_given(word)));
}

/// Collects the output and the problems. An input that cannot be decoded adds one line to stderr; the others are decoded.
class result {
public:
    void add(const std::string& text) {
        text_ += text;
        ++good_;
    }
    void fail(const std::string& where, const std::string& why) {
        problems_ += fmt::format("{}: {}{}{}\n", program_name(), iba::escaped(where), where.empty() ? "" : ": ",
                                 iba::escaped(why));
        ++bad_;
    }
    /// Adds a line of information for stderr.
    void note(const std::string& where, const std::string& what) {
        problems_ += fmt::format("{}: {}: {}\n", program_name(), iba::escaped(where), what);
    }
    unsigned count() const { return good_ + bad_; }
    int finish() {
        write_output(text_);
        print_error(problems_);
        return bad_ == 0 ? complete : good_ == 0 ? failed : partial;
    }

private:
    std::string text_, problems_;
    unsigned good_ = 0, bad_ = 0;
};

/// Removes the bytes to skip. Throws std::runtime_error if the input is shorter.
void skip_bytes(std::vector<comad::u8>& bytes, unsigned offset) {
    if (offset > bytes.size())
        throw std::runtime_error(fmt::format("-o skips {} bytes, but the input has only {}", offset, bytes.size()));
    bytes.erase(bytes.begin(), bytes.begin() + offset);
}

std::string text_of(const decode_settings& s, message& m) {
    if (s.offset) m.starts_with.reset();
    skip_bytes(m.bytes, s.offset);
    const dissection d = dissect(m, s.kind);
    if (s.json) return message_json(m, d) + '\n';
    return s.dotted ? format_dotted(m, d) : format_dump(m, d);
}

/// Decodes all files. Returns an exit status.
int decode_messages(const decode_settings& s) {
    result r;
    const std::vector<std::string> standard_input{"-"};
    for (const std::string& file : s.words.empty() ? standard_input : s.words) {
        std::string problem;
        for (message& m : read_messages(file, problem)) {
            const std::string where = (s.words.size() > 1 ? file + ", " : "") + m.where;
            try {
                const std::string text = text_of(s, m);
                r.add(s.json ? text : fmt::format("{}# {}\n{}", r.count() ? "\n" : "", where, text));
            } catch (const std::runtime_error& e) {
                r.fail(where, e.what());
            }
        }
        if (!problem.empty()) r.fail({}, problem);
    }
    return r.finish();
}

/// Decodes all hex texts as structures. Returns an exit status.
int decode_structures(const decode_settings& s) {
    const iba::record_info& info = *structure_named(s.structure).info;
    result r;
    for_each_word(s.words, [&](const std::string& where, const std::string& word) {
        try {
            std::vector<comad::u8> bytes = parse_bytes(word);
            skip_bytes(bytes, s.offset);
            if (bytes.size() < info.bytes)
                throw std::runtime_error(
                    fmt::format("{} needs {} bytes, but the input has only {}", info.name, info.bytes, bytes.size()));
            if (bytes.size() > info.bytes) // SA records are padded
                r.note(where, fmt::format("{} has {} bytes; the {} bytes after them are ignored", info.name, info.bytes,
                                          bytes.size() - info.bytes));
            if (s.json) r.add(iba::json(info, bytes, nullptr, iba::json_style::exact) + '\n');
            else r.add((r.count() ? "\n" : "") + (s.dump ? iba::dump(info, bytes) : iba::dotted(info, bytes)));
        } catch (const std::runtime_error& e) {
            r.fail(where, e.what());
        }
    });
    return r.finish();
}

} // namespace

command decode_command() {
    return {.name = "decode",
            .group = command_group::offline,
            .no_sa_reason = "it sends nothing",
            .declare = [](arguments& takes) -> action {
                auto s = std::make_shared<decode_settings>();
                takes.option("input", s->words).file(file_use::read);
                takes.option("--struct", s->structure).such_as(structure_names());
                takes.option("--kind", [s](const std::string& word) { s->kind = kind_of(word); });
                takes.option("-o,--offset", s->offset);
                takes.flag("--umad", [s] { s->kind = message_kind::umad; });
                takes.flag("-l", [s] { s->kind = message_kind::packet; });
                const argument& json = takes.flag("--json", s->json);
                const argument& dotted = takes.flag("--dotted", s->dotted);
                takes.flag("--dump", s->dump).excludes(json).excludes(dotted);
                return [s](const global_options&) {
                    return s->structure.empty() ? decode_messages(*s) : decode_structures(*s);
                };
            }};
}

} // namespace ibtool
