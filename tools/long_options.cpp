// SPDX-License-Identifier: MIT
// long_options.cpp - determines which words are options, and which are their values.
#include "long_options.hpp"

#include "input/options.hpp"
#include "input/split_text.hpp"
#include <comad/iba/detail/text.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace ibtool {
namespace {

/// The names of the options that a command line may contain.
class option_reader {
public:
    /// Starts with the options that all commands have, and the program's own options.
    explicit option_reader(const arguments& global) {
        for (const char* name : {"--help", "--version", "-h", "-V"}) known_.push_back({nullptr, name});
        add(global);
    }
    /// Adds the options of a command. If a command declares a name that all commands have, its own option takes precedence.
    void add(const arguments& more) {
        std::vector<known_name> names;
        for (const argument& a : more.all())
            for (std::string& name : split(a.names(), ',')) names.push_back({&a, std::move(name)});
        known_.insert(known_.begin(), names.begin(), names.end());
    }

    /// Completes the name of an option. Returns the name unchanged if no option starts with it, or if it is complete.
    std::string whole(const std::string& beginning) const {
        if (beginning.size() <= 2 || std::ranges::find(known_, beginning, &known_name::name) != known_.end())
            return beginning;
        std::vector<known_name> found; // only the first name of each option
        for (const known_name& k : known_) {
            const auto is_same = [&](const known_name& f) {
                return k.option ? f.option == k.option : f.name == k.name;
            };
            if (k.name.starts_with(beginning) && std::ranges::none_of(found, is_same)) found.push_back(k);
        }
        const auto yields = [](const known_name& f) { return f.option && f.option->is_yielding(); };
        if (found.size() > 1 && !std::ranges::all_of(found, yields)) std::erase_if(found, yields);
        if (found.empty()) return beginning;
        if (found.size() == 1) return found.front().name;
        std::vector<std::string> names;
        for (const known_name& f : found) names.push_back(f.name);
        throw usage_error(fmt::format("option {} is ambiguous; it can mean {}", comad::iba::as_given(beginning),
                                      fmt::join(names, ", ")));
    }

    /// Returns whether the next word is the value of the option: it takes a value, and the word itself contains none.
    bool takes_next(const std::string& word) const {
        if (word.starts_with("--")) return word.find('=') == word.npos && takes_value(word);
        for (std::size_t i = 1; i < word.size(); ++i)
            if (takes_value(std::string("-") + word[i])) return i + 1 == word.size();
        return false;
    }

    /// Throws usage_error for `--name=`: CLI11 would use the next word as the value.
    void check_value(const std::string& word) const {
        const std::size_t equals = word.find('=');
        if (!word.starts_with("--") || equals + 1 != word.size() || !takes_value(word.substr(0, equals))) return;
        throw usage_error(fmt::format("{}: must not be empty", word.substr(0, equals)));
    }

private:
    struct known_name {
        const argument* option; // null: an option of the program without a value
        std::string name;
    };
    bool takes_value(std::string_view name) const {
        const auto found = std::ranges::find(known_, name, &known_name::name);
        return found != known_.end() && found->option && !found->option->is_flag() &&
               !found->option->is_value_optional();
    }

    std::vector<known_name> known_; // the first of several equal names is used
};

/// Completes the name in `--name` or `--name=value`.
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
            options.check_value(out.back());
            if (options.takes_next(out.back()) && std::next(word) != words.end()) out.push_back(*++word);
        } else if (!std::exchange(is_command_known, true)) {
            if (const arguments* own = of_command(out.back())) options.add(*own);
            if (wants_json) out.emplace_back("--json");
        }
    }
    return out;
}

} // namespace ibtool
