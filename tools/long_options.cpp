// SPDX-License-Identifier: MIT
// long_options.cpp - which words are options, and which their values.
#include "long_options.hpp"

#include "input/options.hpp"
#include "input/words.hpp"
#include <comad/iba/text.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

namespace ibtool {
namespace {

/// Those that the program has beside all descriptors; they take no values.
constexpr std::array own_options{"--help", "--version", "-h", "-V"};

class option_reader {
public:
    explicit option_reader(const arguments& global) : known_{&global} {}
    void add(const arguments& of_command) { known_.push_back(&of_command); }

    bool has(std::string_view name) const { return find(name) || is_own(name); }
    /// The option by its whole name; null: there is none, or it is the program's own.
    const argument* find(std::string_view name) const {
        for (const arguments* some : known_)
            for (const argument& a : some->all())
                for (const std::string& n : split(a.names(), ','))
                    if (n == name) return &a;
        return nullptr;
    }

    /// The whole name of what begins like that: the name itself where nothing does, or where it is one already.
    std::string whole(const std::string& beginning) const {
        if (has(beginning) || beginning.size() <= 2) return beginning;
        std::vector<std::pair<const argument*, std::string>> found;
        const auto take = [&](const argument* a, std::string_view name) {
            const bool is_known = std::ranges::any_of(found, [&](const auto& f) { return a && f.first == a; });
            if (name.starts_with(beginning) && !is_known) found.emplace_back(a, name);
        };
        for (const arguments* some : known_)
            for (const argument& a : some->all())
                for (const std::string& name : split(a.names(), ',')) take(&a, name);
        for (const std::string_view name : own_options) take(nullptr, name);
        if (found.empty()) return beginning;
        if (found.size() == 1) return found.front().second;
        std::vector<std::string> names;
        for (const auto& [a, name] : found) names.push_back(name);
        throw usage_error(fmt::format("option {} is ambiguous: {}", comad::iba::as_given(beginning), fmt::join(names, ", ")));
    }

    /// Whether the next word is its value: of an option whose value does not stand in the same word.
    bool takes_next(const std::string& word) const {
        if (word.starts_with("--")) return word.find('=') == word.npos && takes_value(find(word));
        for (std::size_t i = 1; i < word.size(); ++i)
            if (takes_value(find(std::string("-") + word[i]))) return i + 1 == word.size();
        return false;
    }

private:
    static bool is_own(std::string_view name) { return std::ranges::find(own_options, name) != own_options.end(); }
    static bool takes_value(const argument* a) { return a && !a->is_flag() && !a->is_value_optional(); }

    std::vector<const arguments*> known_;
};

/// `--name` of `--name=value`, with the name made whole.
std::string whole_word(const option_reader& options, const std::string& word) {
    if (!word.starts_with("--")) return word;
    const std::size_t end = std::min(word.find('='), word.size());
    return options.whole(word.substr(0, end)) + word.substr(end);
}

} // namespace

std::vector<std::string> whole_words(const std::vector<std::string>& words, const arguments& global,
                                     const arguments_finder& of_command) {
    option_reader options(global);
    std::vector<std::string> out;
    bool is_command_known = false, wants_json = false;
    for (auto word = words.begin(); word != words.end(); ++word) {
        const bool is_option = word->size() > 1 && word->starts_with('-');
        if (*word == "--") {
            out.insert(out.end(), word, words.end());
            return out;
        }
        if (is_option && !is_command_known && *word == "--json") {
            wants_json = true;
            continue;
        }
        out.push_back(is_option ? whole_word(options, *word) : *word);
        if (is_option) {
            if (options.takes_next(out.back()) && std::next(word) != words.end()) out.push_back(*++word);
        } else if (!std::exchange(is_command_known, true)) {
            if (const arguments* own = of_command(*word)) options.add(*own);
            if (wants_json) out.emplace_back("--json");
        }
    }
    return out;
}

} // namespace ibtool
