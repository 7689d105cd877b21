// SPDX-License-Identifier: MIT
// arguments.hpp - the arguments and options that a command declares: names, rules and where the value is stored. Their texts are in
// commands/<command>.md (command_text.hpp). Only command_line.cpp uses the library that reads command lines.
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

/// The use that a command makes of the file that an argument names.
enum class file_use : comad::u8 {
    none,         ///< the argument does not name a file
    read,         ///< read once, as text or bytes; a pipe is read to its end
    read_regular, ///< read once; must be a regular file
    read_again,   ///< read, and again on SIGHUP; then it must be a regular file
    written,      ///< replaced as a whole; a file that is not regular is written to directly
    replaced,     ///< replaced as a whole; must be a regular file
    streamed,     ///< written while the command runs: a file, or a pipe whose reader may be slow
    cached,       ///< as read_regular if the file exists, else as replaced
};

/// One argument or option. Created through `arguments`; the functions that add properties can be chained.
class argument {
public:
    using text_reader = std::function<void(const std::string&)>;
    /// The variable for the value. A flag stores a bool, or the number of times it was given. Others store a text, a number, or all
    /// values.
    using destination =
        std::variant<bool*, unsigned*, int*, comad::u64*, std::optional<unsigned>*, std::optional<comad::u64>*,
                     std::string*, std::vector<std::string>*, text_reader, std::function<void()>>;

    argument(std::string names, destination where, bool is_flag)
        : names_(std::move(names)), destination_(std::move(where)), is_flag_(is_flag) {}

    argument& required() { return is_required_ = true, *this; }
    /// Declares the present value as the default. The text of the option must show it in brackets.
    argument& shows_default();
    argument& range(std::int64_t least, std::int64_t most) { return range_.emplace(least, most), *this; }
    argument& one_of(std::vector<std::string> words) { return choices_ = std::move(words), *this; }
    /// Sets words that the value may be, among others. Shell completion offers them.
    argument& such_as(std::vector<std::string> words) { return words_ = std::move(words), *this; }
    /// Allows the name of a command as the value.
    argument& such_as_commands() { return names_command_ = true, *this; }
    /// For a target: allows the name of a node as the value.
    argument& such_as_node_names() { return names_node_ = true, *this; }
    /// For an argument with several words: declares that they are a program and its arguments, which may look like options.
    argument& program() { return is_program_ = true, *this; }
    /// Declares that the value names a file.
    argument& file(file_use use) { return file_use_ = use, *this; }
    /// Hides the argument in the help; it is still accepted.
    argument& hidden() { return is_hidden_ = true, *this; }
    /// For an option with several values: requires the option's name before each value.
    argument& one_each() { return is_one_each_ = true, *this; }
    /// Reads the value in the order of the command line, and not after all other values.
    argument& at_once() { return is_at_once_ = true, *this; }
    /// Lets the beginning of this option's name stand for another option that starts alike.
    argument& yields() { return is_yielding_ = true, *this; }
    argument& value_optional() { return is_value_optional_ = true, *this; }
    argument& environment(std::string variable) { return environment_ = std::move(variable), *this; }
    argument& excludes(const argument& other) { return excluded_.push_back(&other), *this; }
    argument& needs(const argument& other) { return needed_.push_back(&other), *this; }

    /// Returns `-g,--gid_show`; for an argument without dashes only `target`.
    const std::string& names() const { return names_; }
    /// Returns each name separately.
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
    bool is_yielding() const { return is_yielding_; }
    bool is_value_optional() const { return is_value_optional_; }
    /// Returns the default value as text, if shows_default() was called; else nullopt.
    const std::optional<std::string>& default_text() const { return default_text_; }
    bool takes_several() const { return std::holds_alternative<std::vector<std::string>*>(destination_); }

private:
    friend class command_line;
    std::string names_, environment_;
    destination destination_;
    std::vector<std::string> choices_, words_;
    std::optional<std::string> default_text_;
    file_use file_use_ = file_use::none;
    std::optional<std::pair<std::int64_t, std::int64_t>> range_;
    std::vector<const argument*> excluded_, needed_;
    bool is_flag_, is_required_ = false, is_hidden_ = false, is_one_each_ = false, is_value_optional_ = false,
                   is_at_once_ = false, names_command_ = false, names_node_ = false, is_program_ = false,
                   is_yielding_ = false;
};

/// All arguments of a command, in the order of its help. The variables that get the values must outlive it.
class arguments {
public:
    /// Adds an option with a value or, if `names` has no dash, an argument for the next word of the command line.
    template <class Place>
        requires std::constructible_from<argument::destination, Place*>
    argument& option(std::string names, Place& where) {
        return add(std::move(names), &where, false);
    }
    /// Adds an option whose value `read` takes; `read` may throw usage_error. A second value is rejected unless at_once() is set.
    argument& option(std::string names, argument::text_reader read) {
        return add(std::move(names), std::move(read), false);
    }
    argument& flag(std::string names, bool& where) { return add(std::move(names), &where, true); }
    /// Adds a flag that counts how often it is given.
    argument& flag(std::string names, unsigned& where) { return add(std::move(names), &where, true); }
    argument& flag(std::string names, std::function<void()> then) {
        return add(std::move(names), std::move(then), true);
    }
    /// Adds an option that infiniband-diags has, and that has no effect in ibtool.
    argument& ignored_flag(std::string names) {
        return flag(std::move(names), [] {});
    }

    const std::deque<argument>& all() const { return all_; }
    const argument* find(const std::string& name) const;

private:
    argument& add(std::string names, argument::destination where, bool is_flag) {
        return all_.emplace_back(std::move(names), std::move(where), is_flag);
    }
    std::deque<argument> all_;
};

} // namespace ibtool
