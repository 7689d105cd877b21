// SPDX-License-Identifier: MIT
// notice_list.hpp - notices that wait until somebody looks: so many, and then only that there were more.
#pragma once
#include <comad/iba/notice.hpp>

#include <cstddef>
#include <utility>
#include <vector>

namespace ibtool {

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
    /// Those since the last time.
    waiting take() { return std::exchange(now_, {}); }

private:
    waiting now_;
};

} // namespace ibtool
