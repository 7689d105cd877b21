// SPDX-License-Identifier: MIT
// arguments.hpp - the arguments and options of a command as it declares them: names, rules and where the value is stored. Their texts are
// in commands/<command>.md (command_text.hpp). Only command_line.cpp uses the library that reads command lines.
#pragma once
#include <comad/iba/types.hpp>

#include <concepts>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace ibtool {

/// What a command does with the file that an argument names.
enum class file_use : comad::u8 {
    none,         ///< the argument names no file
    read,         ///< a text or bytes, once; a pipe is read to its end
    read_regular, ///< the same, but only of a regular file
    read_again,   ///< read, and again on SIGHUP: then only a regular file
    written,      ///< replaced as a whole; what is not a regular file is written to directly
    replaced,     ///< replaced as a whole; must be a regular file
    streamed,     ///< written while the command runs: a file, or a pipe whose reader may be slow
    cached,       ///< read_regular if it is there, else replaced
};

/// One argument or option. Declared through `arguments`; the functions that say more of it can be chained.
class argument {
public:
    using text_reader = std::function<void(const std::string&)>;
    /// Where the value goes: of a flag a bool, or how often it was given; else text or a number, or all that were given.
    using place =
        std::variant<bool*, unsigned*, int*, comad::u64*, std::optional<unsigned>*, std::optional<comad::u64>*,
                     std::string*, std::vector<std::string>*, text_reader, std::function<void()>>;

    argument(std::string names, place where, bool is_flag)
        : names_(std::move(names)), place_(std::move(where)), is_flag_(is_flag) {}

    argument& required() { return is_required_ = true, *this; }
    /// The present value is the default; its text must show it in brackets.
    argument& shows_default();
    argument& range(std::int64_t least, std::int64_t most) { return range_.emplace(least, most), *this; }
    argument& one_of(std::vector<std::string> words) { return choices_ = std::move(words), *this; }
    /// Words that it may be, among others: shells offer them.
    argument& such_as(std::vector<std::string> words) { return words_ = std::move(words), *this; }
    /// It may be the name of a command.
    argument& such_as_commands() { return names_command_ = true, *this; }
    /// Of a target: it may be the name of a node.
    argument& such_as_node_names() { return names_node_ = true, *this; }
    /// Of an argument for several words: they are a program and its arguments, which may look like options.
    argument& program() { return is_program_ = true, *this; }
    /// It names a file.
    argument& file(file_use use) { return file_use_ = use, *this; }
    /// It is accepted, and no help mentions it.
    argument& hidden() { return is_hidden_ = true, *this; }
    /// Of an option for several values: each wants the option's name before it.
    argument& one_each() { return is_one_each_ = true, *this; }
    /// Its value is read when it is met, in the order of the command line, and not after all others.
    argument& at_once() { return is_at_once_ = true, *this; }
    argument& value_optional() { return is_value_optional_ = true, *this; }
    argument& environment(std::string variable) { return environment_ = std::move(variable), *this; }
    argument& excludes(const argument& other) { return excluded_.push_back(&other), *this; }
    argument& needs(const argument& other) { return needed_.push_back(&other), *this; }

    /// `-g,--gid_show`, or for an argument by its place just `target`.
    const std::string& names() const { return names_; }
    /// The same, one by one.
    std::vector<std::string> all_names() const;
    bool is_called(std::string_view name) const;
    const std::vector<std::string>& choices() const { return choices_; }
    const std::vector<std::string>& words() const { return words_; }
    bool names_command() const { return names_command_; }
    bool names_node() const { return names_node_; }
    bool is_program() const { return is_program_; }
    file_use use_of_file() const { return file_use_; }
    bool is_option() const { return names_.starts_with('-'); }
    bool is_flag() const { return is_flag_; }
    bool is_required() const { return is_required_; }
    bool is_hidden() const { return is_hidden_; }
    bool is_value_optional() const { return is_value_optional_; }
    /// The value when shows_default() was called, as text; nothing if it was not.
    const std::optional<std::string>& default_text() const { return default_text_; }
    bool takes_several() const { return std::holds_alternative<std::vector<std::string>*>(place_); }

private:
    friend class command_line;
    std::string names_, environment_;
    place place_;
    std::vector<std::string> choices_, words_;
    std::optional<std::string> default_text_;
    file_use file_use_ = file_use::none;
    std::optional<std::pair<std::int64_t, std::int64_t>> range_;
    std::vector<const argument*> excluded_, needed_;
    bool is_flag_, is_required_ = false, is_hidden_ = false, is_one_each_ = false, is_value_optional_ = false,
                   is_at_once_ = false, names_command_ = false, names_node_ = false, is_program_ = false;
};

/// All of one command, in the order of its help. What values go to lives longer.
class arguments {
public:
    /// An option with a value or, if `names` has no dash, the next word of the command line.
    template <class Place>
        requires std::constructible_from<argument::place, Place*>
    argument& option(std::string names, Place& where) {
        return add(std::move(names), &where, false);
    }
    /// The same with a value that `read` takes; `read` throws usage_error. A second value is refused unless at_once().
    argument& option(std::string names, argument::text_reader read) {
        return add(std::move(names), std::move(read), false);
    }
    argument& flag(std::string names, bool& where) { return add(std::move(names), &where, true); }
    /// Counts how often the flag is given.
    argument& flag(std::string names, unsigned& where) { return add(std::move(names), &where, true); }
    argument& flag(std::string names, std::function<void()> then) {
        return add(std::move(names), std::move(then), true);
    }
    /// An option that infiniband-diags has and that has no effect here.
    argument& ignored_flag(std::string names) {
        return flag(std::move(names), [] {});
    }

    const std::deque<argument>& all() const { return all_; }
    const argument* find(const std::string& name) const;

private:
    argument& add(std::string names, argument::place where, bool is_flag) {
        return all_.emplace_back(std::move(names), std::move(where), is_flag);
    }
    std::deque<argument> all_;
};

} // namespace ibtool
