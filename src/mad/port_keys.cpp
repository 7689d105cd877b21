// SPDX-License-Identifier: MIT
// port_keys.cpp - parses key files, and finds the key of a port.
#include <comad/iba/detail/text.hpp>
#include <comad/iba/parse.hpp>
#include <comad/mad/port_keys.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

namespace comad::mad {
namespace {

/// A kind of key, with its name in key files.
struct name_of_kind {
    std::string_view name;
    key_kind kind;
};
constexpr name_of_kind kinds[] = {{"M_Key", key_kind::MKey}, {"SM_Key", key_kind::SMKey}, {"CC_Key", key_kind::CCKey}};

std::vector<std::string_view> words_of(std::string_view line) {
    constexpr std::string_view blank = " \t\r";
    line = line.substr(0, line.find('#'));
    std::vector<std::string_view> words;
    for (std::size_t begin = 0; (begin = line.find_first_not_of(blank, begin)) != std::string_view::npos;) {
        const std::size_t end = std::min(line.find_first_of(blank, begin), line.size());
        words.push_back(line.substr(begin, end - begin));
        begin = end;
    }
    return words;
}

std::optional<iba::guid> guid_of(std::string_view word) {
    const auto number = iba::parse_guid_number(word);
    if (!number || number->is_larger) return std::nullopt;
    return iba::guid{number->value};
}

/// One line of a key file.
struct entry {
    std::optional<iba::guid> port; // nullopt: the default of the kind
    key_kind kind;
    u64 key = 0;
};

/// Parses an entry; returns what is wrong, or nullopt.
std::optional<std::string> read(const std::vector<std::string_view>& words, entry& e) {
    if (words.size() != 2 && words.size() != 3)
        return fmt::format("expected a port GUID or 'default', optionally M_Key, SM_Key or CC_Key, and the key; "
                           "the line has {} word{}",
                           words.size(), words.size() == 1 ? "" : "s");
    if (words.front() != "default") {
        e.port = guid_of(words.front());
        if (!e.port)
            return fmt::format(
                "invalid port GUID {}; expected a 64-bit number such as 0x0002c90300a1b2c3, or 'default'",
                iba::as_given(words.front()));
    }
    if (words.size() == 3) {
        const auto* found =
            std::find_if(std::begin(kinds), std::end(kinds), [&](const name_of_kind& k) { return k.name == words[1]; });
        if (found == std::end(kinds))
            return fmt::format("unknown kind of key {}; expected M_Key, SM_Key or CC_Key", iba::as_given(words[1]));
        e.kind = found->kind;
    }
    const auto key = iba::parse_number(words.back());
    if (!key || key->is_larger) return "the key must be a number of at most 64 bits";
    e.key = key->value;
    return std::nullopt;
}

} // namespace

namespace {

/// Calls `read` with the words of each line that has words. `read` returns what is wrong, or nullopt.
template <class Read> iba::result<void> for_each_line(std::string_view text, Read&& read) {
    unsigned number = 0;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        const auto words = words_of(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
        ++number;
        if (words.empty()) continue;
        if (const std::optional<std::string> wrong = read(words))
            return iba::error{iba::errc::unreadable, fmt::format("line {}: {}", number, *wrong)};
    }
    return iba::success();
}

using numbered_port = std::pair<iba::guid, u8>;

/// Parses `0x0002c90300a1b2c3:1`.
std::optional<numbered_port> read_port(std::string_view word) {
    const std::size_t colon = word.rfind(':');
    if (colon == std::string_view::npos) return std::nullopt;
    const auto port = guid_of(word.substr(0, colon));
    const auto number = iba::parse_number(word.substr(colon + 1));
    if (!port || !number || number->is_larger || number->value > 255) return std::nullopt;
    return numbered_port{*port, static_cast<u8>(number->value)};
}

} // namespace

iba::result<void> port_keys::add(std::string_view text, key_kind unsaid) {
    port_keys more = *this;
    const auto take = [&](const std::vector<std::string_view>& words) {
        entry e{.port = {}, .kind = unsaid};
        auto wrong = read(words, e);
        if (wrong) return wrong;
        if (e.port) more.set(e.kind, *e.port, e.key);
        else more.set_default(e.kind, e.key);
        return wrong;
    };
    if (auto read_all = for_each_line(text, take); !read_all) return read_all;
    *this = std::move(more);
    return iba::success();
}

iba::result<void> port_keys::add_neighbors(std::string_view text) {
    auto more = neighbors_;
    const auto take = [&](const std::vector<std::string_view>& words) -> std::optional<std::string> {
        if (words.size() != 2)
            return fmt::format("expected two ports as GUID:PORT; the line has {} word{}", words.size(),
                               words.size() == 1 ? "" : "s");
        const auto one = read_port(words[0]), other = read_port(words[1]);
        if (!one || !other)
            return fmt::format("invalid port {}; expected GUID:PORT, such as 0x0002c90300a1b2c3:1",
                               iba::as_given(words[one.has_value() ? 1 : 0]));
        more[*one] = other->first;
        more[*other] = one->first;
        return std::nullopt;
    };
    if (auto read_all = for_each_line(text, take); !read_all) return read_all;
    neighbors_ = std::move(more);
    return iba::success();
}

u64 port_keys::beyond(key_kind kind, iba::guid from, u8 port) const noexcept {
    const auto known = neighbors_.find({from, port});
    return known == neighbors_.end() ? default_of(kind) : of(kind, known->second);
}

void port_keys::set(key_kind kind, iba::guid port, u64 key) { ports_[index(kind)][port] = key; }

u64 port_keys::of(key_kind kind, iba::guid port) const noexcept {
    const auto& ports = ports_[index(kind)];
    const auto known = ports.find(port);
    return known == ports.end() ? default_of(kind) : known->second;
}

any_path port_keys::put_into(any_path path, iba::guid port) const noexcept {
    const auto fill = [&](u64& key, key_kind kind) {
        if (key == 0) key = of(kind, port);
    };
    if (auto* route = std::get_if<IBDRPath>(&path)) {
        fill(route->MKey, key_kind::MKey);
    } else if (auto* to = std::get_if<IBPath>(&path)) {
        fill(to->MKey, key_kind::MKey);
        fill(to->SMKey, key_kind::SMKey);
        fill(to->CCKey, key_kind::CCKey);
    }
    return path;
}

} // namespace comad::mad
