// SPDX-License-Identifier: MIT
// watch_ibsim_test.cpp - watch with a real OpenSM while ibsim's console cuts cables and stops switches. watch reports
// each change once, and the final state is the actual state.
#include "program/ibtool_subnet.hpp"

#include <csignal>
#include <map>

namespace ibtool_watch_ibsim_test {

using namespace ibtool_rig;

namespace {

/// A running watch with a cache file.
class watched_subnet {
public:
    explicit watched_subnet(subnet& s, words options = {})
        : s_(s), cache_(files_ / "cache"),
          watch_(ibtool(words{"watch", "--every", "100ms", "--json", "--no-subscription", "--subnet-cache", cache_,
                              "--fabric", s.fabric()} +
                        options)) {
        watch_.await_error("watching ");
    }

    /// Waits for this number of events since the previous call and returns the events. The result does not contain port
    /// states that OpenSM sets while it initializes a new link.
    words events(std::size_t number) {
        await([&] { return reported_so_far().size() >= reported_ + number || watch_.ended(); });
        words all = reported_so_far();
        all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(std::exchange(reported_, all.size())));
        std::sort(all.begin(), all.end());
        return all;
    }
    /// Waits until the cache file equals a complete discovery.
    void await_up_to_date() {
        process_result last;
        try {
            await([&] { return (last = s_.ours({"subnet_diff", cache_})).status == 0; });
        } catch (const std::runtime_error&) {
            FAIL(last.out << last.err << watch_.errors());
        }
    }
    process_result end() {
        watch_.signal(SIGINT);
        return watch_.wait();
    }

private:
    /// Returns the events so far, such as `removed link S-... "first switch"[20] <=> ...`.
    words reported_so_far() const {
        const std::string text = watch_.output();
        words all;
        for (const std::string& line : lines_in_order(text.substr(0, text.rfind('\n') + 1))) {
            const auto event = nlohmann::json::parse(line);
            if (event.at("subject") == "state") continue;
            all.push_back(event.at("kind").get<std::string>() + " " + event.at("subject").get<std::string>() + " " +
                          event.at("location").get<std::string>());
        }
        return all;
    }

    subnet& s_;
    directory files_;
    std::string cache_;
    process watch_;
    std::size_t reported_ = 0;
};

const std::string S1 = "S-0000000000005000 \"first switch\"", S2 = "S-0000000000006000 \"second switch\"";
const std::string C = "H-000000000000c000 \"host C, with a name of more than 32 letters\"";

/// Returns the words in sorted order.
words sorted(words all) {
    std::sort(all.begin(), all.end());
    return all;
}

} // namespace

TEST_CASE("watch reports only the changes that ibsim's console makes to the cables and nodes of a subnet") {
    subnet s(topology, manager::stays, {"-s", "1"});
    watched_subnet watch(s);

    s.console("Unlink \"S2\"[4]");
    CHECK(watch.events(1) == words{"removed link " + S1 + "[20] <=> " + S2 + "[4]"});
    s.console("Relink \"S2\"[4]");
    CHECK(watch.events(1) == words{"added link " + S1 + "[20] <=> " + S2 + "[4]"});

    s.console("Unlink \"C\""); // all ports of C
    const std::string its_link = S2 + "[1] <=> " + C + "[2]";
    CHECK(watch.events(2) == words{"removed link " + its_link, "removed node " + C});
    s.console("Relink \"C\"");
    CHECK(watch.events(2) == words{"added link " + its_link, "added node " + C});

    // The switch no longer replies, but its links stay up.
    s.console("Error \"S2\" 100");
    const words gone{"link " + S1 + "[17] <=> " + S2 + "[3]", "link " + S1 + "[20] <=> " + S2 + "[4]",
                     "link " + its_link, "node " + S2, "node " + C};
    words expected;
    for (const std::string& one : gone) expected.push_back("removed " + one);
    CHECK(watch.events(5) == sorted(expected));
    s.console("Error \"S2\" 0");
    expected.clear();
    for (const std::string& one : gone) expected.push_back("added " + one);
    CHECK(watch.events(5) == sorted(expected));

    watch.await_up_to_date();
    const process_result r = watch.end();
    CHECK(r.status == 3); // the subnet was partial while the switch did not reply
    CHECK_THAT(r.err, Contains("first switch") && Contains("no reply from the neighbor"));
}

TEST_CASE("watch reports that ibsim delivers no notices, because ibsim clients get only responses") {
    subnet s(topology, manager::stays, {"-s", "1"});
    process watch(ibtool({"watch", "--every", "100ms", "--fabric", s.fabric()}));
    watch.await_error("watching ");
    watch.signal(SIGINT);
    const process_result r = watch.wait();
    CHECK_THAT(r.err, Contains("no notices: ") && Contains(" receives only responses, not reports of the SA; ") &&
                          !Contains("another program"));
}

TEST_CASE("watch converges to the actual state after links change faster than its polling interval") {
    subnet s(topology, manager::stays, {"-s", "1"});
    watched_subnet watch(s);
    words cables{"\"S2\"[4]", "\"S2\"[3]", "\"A\"[1]", "\"C\"[2]"};
    for (unsigned round = 0; round < 6; ++round) {
        for (const std::string& cable : cables) s.console("Unlink " + cable);
        std::next_permutation(cables.begin(), cables.end());
        for (const std::string& cable : cables) s.console("Relink " + cable);
    }
    for (const std::string& cable : cables) s.console("Unlink " + cable);
    watch.await_up_to_date();
    for (const std::string& cable : cables) s.console("Relink " + cable);
    watch.await_up_to_date();

    // All events together lead from the first subnet to the last subnet. Both are equal, so each node and link was
    // added as often as removed.
    std::map<std::string, int> balance;
    for (const std::string& event : watch.events(0)) {
        const std::string verb = event.substr(0, event.find(' '));
        if (verb != "changed") balance[event.substr(verb.size() + 1)] += verb == "added" ? 1 : -1;
    }
    for (const auto& [what, sum] : balance) {
        CAPTURE(what);
        CHECK(sum == 0);
    }
    watch.end();
}

} // namespace ibtool_watch_ibsim_test
