// SPDX-License-Identifier: MIT
// check_cabling_text_test.cpp - text about cables that differ from the plan, for a constructed subnet.
#include "subnet/made_subnet.hpp"
#include "support/catch.hpp"
#include "text/check_cabling_text.hpp"
#include <comad/discovery/database/node_names.hpp>

#include <nlohmann/json.hpp>

namespace cabling_text_test {

using namespace comad;
using discovery::cabling_fault;

TEST_CASE("check_cabling gives the reason for a missing cable only if the reason is known") {
    const discovery::subnet s = test::made_subnet();
    const std::vector<discovery::planned_cable> plan{{{"here", 1}, {"there", 2}, 3}, {{"x", 4}, {"y", 5}, 6}};
    discovery::cabling is;
    is.planned = is.links = 2;
    is.faults = {{cabling_fault::kind::missing, {0}, {}, "unknown node 'there'"},
                 {cabling_fault::kind::missing, {1}, {}, {}}};
    const std::string text = ibtool::format_cabling(plan, is, s, {});
    CHECK_THAT(text,
               Catch::StartsWith("missing: ") && Catch::Contains(": unknown node 'there'\nmissing: ") &&
                   Catch::EndsWith("\n2 cables planned, 0 of them connected as planned; 2 links in the subnet\n"));
    CHECK_THAT(text, !Catch::Contains(": \n") && !Catch::Contains("found"));
    const auto faults = nlohmann::json::parse(ibtool::cabling_json(plan, is, s, {})).at("faults");
    REQUIRE(faults.size() == 2);
    CHECK(faults[0].at("why") == "unknown node 'there'");
    CHECK_FALSE(faults[1].contains("why"));
    CHECK_FALSE(faults[1].contains("found"));
}

} // namespace cabling_text_test
