// SPDX-License-Identifier: MIT
// notice_list_test.cpp - the list of waiting notices has a maximum length.
#include "session/notice_list.hpp"
#include "support/catch.hpp"

using namespace ibtool;

TEST_CASE("a full list of notices reports once that it dropped notices") {
    notice_list list;
    CHECK(list.take().is_all);
    for (std::size_t i = 0; i < notice_list::most; ++i) {
        comad::iba::Notice n{};
        n.issuerLID = comad::iba::lid{static_cast<comad::u16>(i)};
        list.add(n);
    }
    const auto all = list.take();
    CHECK(all.is_all);
    REQUIRE(all.notices.size() == notice_list::most);
    CHECK(value(all.notices.back().issuerLID) == notice_list::most - 1);

    for (std::size_t i = 0; i <= notice_list::most; ++i) list.add({});
    const auto first = list.take();
    CHECK(first.notices.size() == notice_list::most);
    CHECK_FALSE(first.is_all);
    const auto then = list.take();
    CHECK(then.notices.empty());
    CHECK(then.is_all);
}
