// SPDX-License-Identifier: MIT
// spec.hpp - `head,key=value,...` as users type it, taken apart with errors that say what would be right.
// Knows no key.
#pragma once
#include <comad/iba/types.hpp>
#include <comad/mad/detail/time.hpp>

#include <initializer_list>
#include <optional>
#include <string_view>
#include <vector>

namespace comad::transports::sim {

/// Every take_*() removes a key, so that what is left at finish() is what nobody knows. Values are views of the text
/// given. Errors: std::runtime_error, one line.
class spec {
public:
    explicit spec(std::string_view text);

    std::string_view head() const noexcept { return head_; }

    std::optional<std::string_view> take(std::string_view key);
    /// Of a key that may stand alone, which gives an empty value.
    std::optional<std::string_view> take_word(std::string_view key);
    /// All values of a key that may be repeated.
    std::vector<std::string_view> take_all(std::string_view key);
    /// A part of a value as what it should be; `key` is for the message.
    double to_probability(std::string_view key, std::string_view text) const;
    mad::duration to_duration(std::string_view key, std::string_view text) const;
    /// Times a second, up to 1e9.
    double to_rate(std::string_view key, std::string_view text) const;
    u64 to_number(std::string_view key, std::string_view text, u64 least, u64 most) const;
    u64 take_number(std::string_view key, u64 otherwise, u64 least, u64 most);
    /// 0 to 1; 0 unless it is given.
    double take_probability(std::string_view key);
    /// A number and one of the units ns, us, ms, s.
    mad::duration take_duration(std::string_view key, mad::duration otherwise);
    std::string_view take_choice(std::string_view key, std::string_view otherwise,
                                 std::initializer_list<std::string_view> choices);

    /// Throws when a key is left over; the message lists those that were asked for.
    void finish() const;

    [[noreturn]] void fail(std::string_view what) const;

private:
    struct entry {
        std::string_view key;
        std::optional<std::string_view> value; ///< nothing: the key stands alone
        bool taken = false;
    };
    const entry* take_one(std::string_view key);
    std::string_view value_of(const entry&) const;

    std::string_view head_;
    std::vector<entry> entries_;
    std::vector<std::string_view> known_;
};

} // namespace comad::transports::sim
