// SPDX-License-Identifier: MIT
// ibtool_watch_ibsim_test.cpp - watch beside a real OpenSM, while the console of ibsim pulls cables and lets switches die: each is told
// once, and what is known at the end is what is there.
#include "ibtool_subnet.hpp"

#include <csignal>
#include <map>

namespace ibtool_watch_ibsim_test { // compiled together with others

using namespace ibtool_rig;

namespace {

/// A watch that keeps what it knows in a file.
class watched_subnet {
public:
    explicit watched_subnet(subnet& s, words options = {})
        : s_(s), cache_(files_ / "cache"),
          watch_(ibtool(words{"watch", "--every", "100ms", "--json", "--no-subscription", "--subnet-cache", cache_,
                              "--fabric", s.fabric()} +
                        options)) {
        watch_.await_error("watching ");
    }

    /// What it has told since the last time, once that is so many events: `went link S1[20] S2[4]`, with the descriptions' names.
    words events(std::size_t number) {
        await([&] { return whole_lines().size() >= told_ + number || watch_.ended(); });
        words all;
        for (const words lines = whole_lines(); told_ < lines.size(); ++told_) {
            const auto event = nlohmann::json::parse(lines[told_]);
            all.push_back(event.at("event").get<std::string>() + " " + event.at("of").get<std::string>() + " " +
                          event.at("place").get<std::string>());
        }
        std::sort(all.begin(), all.end());
        return all;
    }
    /// The file says what a whole discovery finds.
    bool is_up_to_date() const { return s_.ours({"subnet_diff", cache_}).status == 0; }
    process_result end() {
        watch_.signal(SIGINT);
        return watch_.wait();
    }

private:
    words whole_lines() const {
        const std::string text = watch_.output();
        return lines_in_order(text.substr(0, text.rfind('\n') + 1));
    }

    subnet& s_;
    directory files_;
    std::string cache_;
    process watch_;
    std::size_t told_ = 0;
};

const std::string S1 = "S-0000000000005000 \"first switch\"", S2 = "S-0000000000006000 \"second switch\"";
const std::string C = "H-000000000000c000 \"host C, with a name of more than 32 letters\"";

words sorted(words all) {
    std::sort(all.begin(), all.end());
    return all;
}

} // namespace

TEST_CASE("watch tells what the console of ibsim does to cables and nodes of a subnet with OpenSM and nothing else") {
    subnet s(topology, manager::stays, {"-s", "1"});
    watched_subnet watch(s);

    s.console("Unlink \"S2\"[4]");
    CHECK(watch.events(1) == words{"went link " + S1 + "[20] <=> " + S2 + "[4]"});
    s.console("Relink \"S2\"[4]");
    CHECK(watch.events(1) == words{"appeared link " + S1 + "[20] <=> " + S2 + "[4]"});

    s.console("Unlink \"C\""); // all of its ports
    const std::string its_link = S2 + "[1] <=> " + C + "[2]";
    CHECK(watch.events(2) == words{"went link " + its_link, "went node " + C});
    s.console("Relink \"C\"");
    CHECK(watch.events(2) == words{"appeared link " + its_link, "appeared node " + C});

    // It answers nothing any more, and its cables stay up.
    s.console("Error \"S2\" 100");
    const words gone{"link " + S1 + "[17] <=> " + S2 + "[3]", "link " + S1 + "[20] <=> " + S2 + "[4]",
                     "link " + its_link, "node " + S2, "node " + C};
    words expected;
    for (const std::string& one : gone) expected.push_back("went " + one);
    CHECK(watch.events(5) == sorted(expected));
    s.console("Error \"S2\" 0");
    expected.clear();
    for (const std::string& one : gone) expected.push_back("appeared " + one);
    CHECK(watch.events(5) == sorted(expected));

    await([&] { return watch.is_up_to_date(); });
    const process_result r = watch.end();
    CHECK(r.status == 3); // while the switch was dead the subnet was partial
    CHECK_THAT(r.err, Contains("first switch") && Contains("no answer from behind it"));
}

TEST_CASE("watch ends up with what is there after cables were pulled and put back faster than it looks") {
    subnet s(topology, manager::stays, {"-s", "1"});
    watched_subnet watch(s);
    const words cables{"\"S2\"[4]", "\"S2\"[3]", "\"A\"[1]", "\"S2\"[4]", "\"C\"[2]", "\"S2\"[3]"};
    for (unsigned round = 0; round < 4; ++round) {
        for (const std::string& cable : cables) s.console((round % 2 ? "Relink " : "Unlink ") + cable);
        for (const std::string& cable : cables) s.console((round % 2 ? "Unlink " : "Relink ") + cable);
    }
    s.console("Unlink \"S2\"[4]");
    await([&] { return watch.is_up_to_date(); });
    for (const std::string& cable : cables) s.console("Relink " + cable);
    await([&] { return watch.is_up_to_date(); });

    // All events together lead from the first subnet to the last one, which are the same: each thing went as often as it came.
    std::map<std::string, int> balance;
    for (const std::string& event : watch.events(0)) {
        const std::string verb = event.substr(0, event.find(' '));
        if (verb != "changed") balance[event.substr(verb.size() + 1)] += verb == "appeared" ? 1 : -1;
    }
    for (const auto& [what, sum] : balance) {
        CAPTURE(what);
        CHECK(sum == 0);
    }
    watch.end();
}

} // namespace ibtool_watch_ibsim_test
