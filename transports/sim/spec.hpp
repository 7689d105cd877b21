// SPDX-License-Identifier: MIT
// spec.hpp - parses `head,key=value,...` as users type it, with error messages that show what is valid.
// It does not depend on particular keys.
#pragma once
#include <comad/iba/types.hpp>
#include <comad/mad/detail/time.hpp>

#include <initializer_list>
#include <optional>
#include <string_view>
#include <vector>

namespace comad::transports::sim {

/// A parsed specification. Every take_*() removes a key; finish() rejects the remaining keys as unknown. Values are
/// views of the original text. Errors: throws std::runtime_error with one line.
class spec {
public:
    explicit spec(std::string_view text);

    std::string_view head() const noexcept { return head_; }

    std::optional<std::string_view> take(std::string_view key);
    /// Returns the value of a key that may occur without a value; the value is then empty.
    std::optional<std::string_view> take_word(std::string_view key);
    /// Returns all values of a key that may be repeated.
    std::vector<std::string_view> take_all(std::string_view key);
    /// Returns the values of a key that contain `mark`. Other values of the key are for a take function that follows.
    std::vector<std::string_view> take_all_with(std::string_view key, char mark);
    /// Converts a part of a value. `key` is for the error message.
    double to_probability(std::string_view key, std::string_view text) const;
    mad::duration to_duration(std::string_view key, std::string_view text) const;
    /// Converts a rate in events per second, up to 1e9.
    double to_rate(std::string_view key, std::string_view text) const;
    u64 to_number(std::string_view key, std::string_view text, u64 least, u64 most) const;
    u64 take_number(std::string_view key, u64 otherwise, u64 least, u64 most);
    /// Returns a probability, 0 to 1; 0 if the key is missing.
    double take_probability(std::string_view key);
    /// Returns a number with one of the units ns, us, ms, s.
    mad::duration take_duration(std::string_view key, mad::duration otherwise);
    std::string_view take_choice(std::string_view key, std::string_view otherwise,
                                 std::initializer_list<std::string_view> choices);

    /// Throws if a key is left over. The message lists the valid keys.
    void finish() const;

    [[noreturn]] void fail(std::string_view what) const;

private:
    struct entry {
        std::string_view key;
        std::optional<std::string_view> value; ///< nullopt: the key has no value
        bool taken = false;
    };
    const entry* take_one(std::string_view key);
    std::string_view value_of(const entry&) const;

    std::string_view head_;
    std::vector<entry> entries_;
    std::vector<std::string_view> known_;
};

} // namespace comad::transports::sim
