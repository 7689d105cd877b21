// SPDX-License-Identifier: MIT
// counted_object.hpp - an object type that counts its live instances and detects double destruction.
#pragma once
#include <cstddef>
#include <set>

namespace comad::test {

/// Counts of live objects in one test. Must outlive the counted objects.
class census {
public:
    std::size_t live() const noexcept { return live_.size(); }
    std::size_t peak() const noexcept { return peak_; }
    /// Number of destructions of objects that were already destroyed or never created.
    std::size_t ghosts() const noexcept { return ghosts_; }

private:
    friend class counted;
    std::set<const void*> live_;
    std::size_t peak_ = 0;
    std::size_t ghosts_ = 0;
};

/// An object that may be copied and moved; each instance is counted.
class counted {
public:
    explicit counted(census& c) : census_(&c) { born(); }
    counted(const counted& other) : census_(other.census_) { born(); }
    counted& operator=(const counted&) noexcept { return *this; }
    ~counted() {
        if (census_->live_.erase(this) == 0) ++census_->ghosts_;
    }

private:
    void born() {
        census_->live_.insert(this);
        if (census_->live_.size() > census_->peak_) census_->peak_ = census_->live_.size();
    }
    census* census_;
};

} // namespace comad::test
