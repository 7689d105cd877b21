// SPDX-License-Identifier: MIT
// notice_list.hpp - a list of notices that wait to be read. It is bounded, and records whether notices were dropped.
#pragma once
#include <comad/iba/notice.hpp>

#include <cstddef>
#include <utility>
#include <vector>

namespace ibtool {

/// Keeps at most `most` notices until take() is called.
class notice_list {
public:
    static constexpr std::size_t most = 1000;
    struct waiting {
        std::vector<comad::iba::Notice> notices; ///< the first ones
        bool is_all = true;
    };

    void add(const comad::iba::Notice& n) {
        if (now_.notices.size() < most) now_.notices.push_back(n);
        else now_.is_all = false;
    }
    /// Returns the notices since the last call.
    waiting take() { return std::exchange(now_, {}); }

private:
    waiting now_;
};

} // namespace ibtool
