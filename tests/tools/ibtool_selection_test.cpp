// SPDX-License-Identifier: MIT
// ibtool_selection_test.cpp - the options that select nodes and ports, on all commands that have them, and tables as CSV. The expected rows
// are those of the whole output that a reader would select by hand, and Python's csv module reads the tables.
#include "program/ibtool_rig.hpp"

#include <nlohmann/json.hpp>

#include <functional>
#include <set>

namespace ibtool_selection_test {

using namespace ibtool_rig;
using nlohmann::json;

namespace {

// 8 hosts h-0001 to h-0008, two at each of 4 leaves, whose ports 3 and 4 lead to 2 spines. One link is narrow and slow.
const words tree{"--fabric", "sim:fattree2,radix=4,sm=1,time=virtual,link=leaf-0001/3:1xSDR"};

process_result run_on(const words& arguments) { return run(arguments + tree); }

/// Returns the lines of the whole output for which `is_wanted` returns true.
words chosen(const words& command, const std::function<bool(const std::string&)>& is_wanted) {
    const process_result all = run_on(command);
    check_success(all);
    words lines = lines_in_order(all.out);
    std::erase_if(lines, [&](const std::string& line) { return !is_wanted(line); });
    return lines;
}

std::function<bool(const std::string&)> with(std::string text) {
    return [text = std::move(text)](const std::string& line) { return line.find(text) != line.npos; };
}

/// Checks that a selection prints exactly these lines.
void check_lines(const words& arguments, const words& expected) {
    INFO(arguments.front() << ' ' << arguments.back());
    const process_result r = run_on(arguments);
    check_success(r);
    CHECK(lines_in_order(r.out) == expected);
    CHECK_FALSE(expected.empty());
}

/// Returns a column of the objects that a command prints.
std::set<std::string> values_of(const process_result& r, const char* member) {
    std::set<std::string> values;
    for (const std::string& line : lines_in_order(r.out)) {
        const json o = json::parse(line);
        if (o.contains(member))
            values.insert(o.at(member).is_string() ? o.at(member).get<std::string>() : o.at(member).dump());
    }
    return values;
}

/// Returns the rows of a CSV text as Python's csv module reads them.
std::vector<words> rows_of(const std::string& csv) {
    const directory files;
    const std::string file = files.write("table.csv", csv);
    const process_result r =
        run_process({"python3", "-c",
                     "import csv, json, sys\n"
                     "for row in csv.reader(open(sys.argv[1], newline='')): print(json.dumps(row))",
                     file});
    REQUIRE(r.status == 0);
    std::vector<words> rows;
    for (const std::string& line : lines_in_order(r.out)) rows.push_back(json::parse(line).get<words>());
    return rows;
}

} // namespace

TEST_CASE("iblinkinfo refuses a selection that has no node of the wanted kind") {
    const char* const none = "the options select no node of the subnet";
    check_failure(run_on({"iblinkinfo", "--switches-only", "--name", "h-*"}), 1, none);
    check_failure(run_on({"iblinkinfo", "--cas-only", "--type", "switch"}), 1, none);
    CHECK(run_on({"iblinkinfo", "--cas-only", "--name", "h-*"}).status == 0);
}

TEST_CASE("the options --name and --guid and --exclude select nodes by the whole name or its first word or a GUID") {
    const auto hosts = [](const char* pattern) { return chosen({"ibhosts"}, with(pattern)); };
    check_lines({"ibhosts", "--name", "h-0003 HCA-1"}, hosts("\"h-0003"));
    check_lines({"ibhosts", "--name", "h-0003"}, hosts("\"h-0003"));
    check_lines({"ibhosts", "--name", "H-000?", "--exclude", "h-000[1-7]"}, hosts("\"h-0008"));
    check_lines({"ibhosts", "--name", "h-0001", "--name", "h-0002"}, hosts("\"h-0001") + hosts("\"h-0002"));
    check_lines({"ibhosts", "--guid", "0x0002c90300000300"}, hosts("\"h-0003"));
    check_lines({"ibhosts", "--guid", "0002:c903:0000:0301"}, hosts("\"h-0003")); // the GUID of its port
    check_lines({"ibhosts", "--guid", "0x2c90300000100,0x2c90300000200"}, hosts("\"h-0001") + hosts("\"h-0002"));
    check_lines({"ibhosts", "--name", "h-000[34]", "--exclude", "0x0002c90300000300"}, hosts("\"h-0004"));
    check_lines({"ibswitches", "--name", "leaf*"}, chosen({"ibswitches"}, with("\"leaf")));
    check_lines({"ibnodes", "--type", "switch"}, chosen({"ibnodes"}, with("Switch\t")));
    check_lines({"ibnodes", "--type", "switch,ca", "--name", "*-0001*"}, chosen({"ibnodes"}, with("-0001")));
    CHECK(run_on({"ibhosts", "--name", "0003 HCA-1"}).status == 1); // not the whole name
}

TEST_CASE("a GUID file may have comments, names and empty lines, and may come from stdin") {
    const directory files;
    const std::string file =
        files.write("guids", "# leaves\n\n0x0002c90300000900 \"leaf 1\" # first\n  0002:c903:0000:0a00\n");
    check_lines({"ibswitches", "--guid-file", file},
                chosen({"ibswitches"}, with("\"leaf-0001")) + chosen({"ibswitches"}, with("\"leaf-0002")));
    check_failure(run_on({"ibswitches", "--guid-file", files.write("wrong", "# a list\nleaf-0001\n")}), 1,
                  "wrong:2: expected a GUID");
    check_failure(run_on({"ibswitches", "--guid-file", files.write("empty", "# none\n")}), 1, "contains no GUID");
    check_failure(run_on({"ibswitches", "--guid-file", files / "missing"}), 1, "missing");
    // Standard input is read once for all fabrics.
    const process_result both =
        run_process(words{"sh", "-c", "echo 0x0002c90300000900 | exec env \"$@\"", "sh"} +
                    ibtool({"--fabric", "sim:fattree2,radix=4,time=virtual", "--fabric",
                            "sim:fattree2,radix=4,sm=1,time=virtual", "ibswitches", "--json", "--guid-file", "-"}));
    CHECK(both.status == 0);
    CHECK(lines_in_order(both.out).size() == 2);
}

TEST_CASE("the options --port-state and --speed and --width select ports and the nodes that have such a port") {
    const process_result narrow = run_on({"iblinkinfo", "--json", "--width", "1x"});
    check_success(narrow);
    CHECK(values_of(narrow, "description") == std::set<std::string>{"leaf-0001", "spine-0001"});
    CHECK(values_of(narrow, "linkWidthActive") == std::set<std::string>{"1x"});
    CHECK(run_on({"iblinkinfo", "--json", "--speed", "sdr"}).out == narrow.out);
    CHECK(run_on({"iblinkinfo", "--json", "--speed", "SDR,XDR", "--name", "leaf*"}).out ==
          lines_in_order(narrow.out)[0] + "\n");
    check_lines({"ibswitches", "--speed", "SDR"},
                chosen({"ibswitches"}, with("\"leaf-0001")) + chosen({"ibswitches"}, with("\"spine-0001")));
    check_lines({"ibhosts", "--port-state", "Active,Init"}, chosen({"ibhosts"}, with("h-")));
    const process_result none = run_on({"iblinkinfo", "--port-state", "down"}); // no port is down: not an error
    check_success(none);
    CHECK(none.out.empty());
    CHECK(values_of(run_on({"sweep", "--json", "--width", "1x"}), "description") ==
          std::set<std::string>{"leaf-0001", "spine-0001"});
}

TEST_CASE("iblinkinfo prints the ports of selected nodes, except those that lead to an excluded node") {
    const auto of_leaf = [](const char* without) {
        return chosen({"iblinkinfo", "-l"},
                      [=](const std::string& line) { return with(" leaf-0002\"")(line) && !with(without)(line); });
    };
    check_lines({"iblinkinfo", "-l", "--name", "leaf-0002"}, of_leaf("nothing"));
    CHECK(of_leaf("nothing").size() == 4);
    check_lines({"iblinkinfo", "-l", "--name", "leaf-0002", "--exclude", "h-*"}, of_leaf("h-00"));
    CHECK(of_leaf("h-00").size() == 2);
}

TEST_CASE(
    "ibnetdiscover prints the stanzas of selected nodes, and ibnetdiscover of infiniband-diags agrees about them") {
    const process_result part = run_on({"ibnetdiscover", "--name", "leaf-0001", "--exclude", "h-0001"});
    check_success(part);
    const words lines = lines_in_order(part.out);
    CHECK(std::count_if(lines.begin(), lines.end(), with("switchguid=")) == 1);
    CHECK(std::count_if(lines.begin(), lines.end(), with("caguid=")) == 0);
    const words ports = chosen({"ibnetdiscover"}, with("\t# \"")); // lines of ports at a switch
    words of_leaf;
    for (const std::string& line : lines)
        if (line.starts_with("[")) of_leaf.push_back(line);
    CHECK(of_leaf.size() == 3); // one host and two spines
    for (const std::string& line : of_leaf) CHECK(std::count(ports.begin(), ports.end(), line) >= 1);

    const json whole = json::parse(run_on({"ibnetdiscover", "--json"}).out);
    const json reduced = json::parse(run_on({"ibnetdiscover", "--json", "--name", "spine*"}).out);
    CHECK(reduced.at("start") == whole.at("start"));
    std::set<std::string> full, neighbors;
    for (const json& n : reduced.at("nodes")) (n.contains("known") ? neighbors : full).insert(n.at("description"));
    CHECK(full == std::set<std::string>{"spine-0001", "spine-0002"});
    CHECK(neighbors == std::set<std::string>{"h-0001 HCA-1", "leaf-0001", "leaf-0002", "leaf-0003", "leaf-0004"});
    CHECK(reduced.at("counts").at("links") == 8); // 4 leaves at 2 spines
}

TEST_CASE("a link that no longer has the selected speed or state is not reported as removed") {
    const directory files;
    const std::string before = files / "before.cache";
    const std::string whole = "sim:fattree2,radix=4,sm=1,time=virtual";
    check_success(run({"--fabric", whole, "ibnetdiscover", "--subnet-cache", before}));
    // One of the links is SDR now. ibnetdiscover and iblinkinfo do not compare speeds.
    for (const char* command : {"ibnetdiscover", "iblinkinfo"})
        for (const char* speed : {"EDR", "SDR"}) {
            CAPTURE(command, speed);
            const process_result r = run_on({command, "--diff", before, "--speed", speed});
            check_success(r);
            CHECK(r.out.empty());
        }
    const words cut{"--fabric", whole + ",cut=h-0008 HCA-1/1@0s"};
    // Before, no port was down, so the options select a node only in the subnet of now.
    const process_result down = run(cut + words{"iblinkinfo", "--line", "--diff", before, "--port-state", "down"});
    check_success(down);
    const words lines = lines_in_order(down.out);
    REQUIRE(lines.size() == 2);
    CHECK_THAT(lines[0], StartsWith("< ") && Contains("leaf-0004") && Contains("h-0008"));
    CHECK_THAT(lines[1], StartsWith("> ") && Contains("leaf-0004") && Contains("Down"));
}

TEST_CASE("counters are read only from the selected ports") {
    const words counted{"--fabric", "sim:fattree2,radix=4,sm=1,time=virtual,counters=3"};
    const process_result errors = run(words{"ibqueryerrors", "--json", "--name", "spine*"} + counted);
    REQUIRE(errors.status != 2);
    CHECK_THAT(errors.out, Contains("\"nodes\":2") && Contains("\"ports\":8"));
    const process_result all = run(words{"ibqueryerrors", "--json"} + counted);
    for (const std::string& line : lines_in_order(errors.out))
        if (!with("\"schema\"")(line)) CHECK(with(line)(all.out));
    const process_result swept = run(words{"sweep", "--json", "--exclude", "h-*", "--exclude", "spine*"} + counted);
    check_success(swept);
    CHECK_THAT(swept.out, Contains("\"ports\":16"));
    // health reads both ends of each link of the host.
    const process_result health = run(words{"health", "--json", "--name", "h-0001"} + counted);
    CHECK_THAT(health.out, Contains("\"ports\":2,"));
    const process_result bench =
        run(words{"bench", "--json", "--name", "leaf*", "-c", "10", "--windows", "1"} + counted);
    check_success(bench);
    CHECK_THAT(bench.out, Contains("\"targets\":4,"));
}

TEST_CASE("watch prints only the changes of selected nodes and their links") {
    const words changing{"--fabric", "sim:fattree2,radix=4,sm=1,time=virtual,cut=leaf-0003/3@5s,cut=leaf-0001/4@15s"};
    const words watch = words{"watch", "--json", "--every", "10s"} + changing;
    const process_result all = run(watch);
    const process_result part = run(watch + words{"--name", "leaf-0003"});
    CHECK(part.status == all.status);
    words expected;
    for (const std::string& line : lines_in_order(all.out))
        if (with("leaf-0003")(line)) expected.push_back(line);
    words printed;
    for (const std::string& line : lines_in_order(part.out))
        if (with("\"change\"")(line) || with("leaf-0003")(line)) printed.push_back(line);
    CHECK(printed == expected);
    CHECK_FALSE(expected.empty());
    CHECK_FALSE(with("leaf-0001")(part.out));
}

TEST_CASE("watch prints only the changes of ports that match before or after the change") {
    const words changing{"--fabric", "sim:fattree2,radix=4,sm=1,time=virtual,link=leaf-0001/4:1xQDR,cut=leaf-0003/3@5s,"
                                     "cut=leaf-0001/4@15s"};
    const words watch = words{"watch", "--every", "10s"} + changing;
    const std::string narrow = run(watch + words{"--width", "1x"}).out, wide = run(watch + words{"--width", "4x"}).out;
    CHECK_THAT(narrow, Contains("leaf-0001") && !Contains("leaf-0003"));
    CHECK_THAT(wide, Contains("leaf-0003") && !Contains("leaf-0001"));
    CHECK_THAT(run(watch + words{"--port-state", "down"}).out, Contains("leaf-0001") && Contains("leaf-0003"));
    CHECK_THAT(run(watch + words{"--speed", "HDR"}).out, !Contains("leaf-000"));
}

TEST_CASE("values that match nothing are an error if no node is left, and else a message") {
    check_failure(run_on({"ibhosts", "--name", "nobody"}), 1,
                  "select no node of the subnet: --name 'nobody' matches no node");
    check_failure(run_on({"ibhosts", "--name", "leaf*"}), 1, "select no node");
    check_failure(run_on({"iblinkinfo", "--exclude", "*"}), 1, "select no node");
    check_failure(run_on({"health", "--guid", "0x1"}), 1, "--guid '0x1' matches no node");
    check_failure(run_on({"export", "--format", "svg", "--name", "x"}), 1, "select no node");
    for (const words& nothing : {words{"sweep", "--name", "nobody"},
                                 {"bench", "--all", "--width", "2x"},
                                 {"bench", "--switches", "--type", "ca"},
                                 {"health", "--width", "2x"}})
        check_failure(run_on(nothing), 1, "select no ");
    check_failure(run_on({"sweep", "--width", "2x"}), 1, "the options select none of the discovered ports");
    check_failure(run_on({"iblinkinfo", "leaf-0001", "--name", "spine-0001"}), 1, "exclude \"leaf-0001\"");
    check_failure(run_on({"ibqueryerrors", "-G", "0x0002c90300000d00", "--name", "leaf-0001"}), 1, "exclude \"");
    const process_result some = run_on({"ibhosts", "--name", "h-0001", "--name", "nobody"});
    CHECK(some.status == 0);
    CHECK(lines_in_order(some.out).size() == 1);
    CHECK(some.err == "ibtool: --name 'nobody' matches no node\n");
    for (const char* command :
         {"ibhosts", "ibnetdiscover", "iblinkinfo", "ibqueryerrors", "health", "sweep", "bench"}) {
        CAPTURE(command);
        check_failure(run_on({command, "--speed", "fast"}), 2, "--speed: expected a list of SDR, DDR, ");
        check_failure(run_on({command, "--width", "3x"}), 2, "--width: expected a list of 1x, 2x, ");
        check_failure(run_on({command, "--port-state", "up"}), 2, "--port-state: expected a list of down, ");
        check_failure(run_on({command, "--guid", "seven"}), 2, "--guid: invalid GUID 'seven'");
        check_failure(run_on({command, "--type", "hub"}), 2,
                      "--type: expected a list of switch, ca, router, not 'hub'");
    }
}

TEST_CASE("options of infiniband-diags can be abbreviated although options that select start alike") {
    // getopt_long of infiniband-diags accepts --port for --port-guid.
    const process_result whole = run_on({"iblinkinfo", "--port-guid", "0x0002c90300000900"});
    check_success(whole);
    CHECK(run_on({"iblinkinfo", "--port", "0x0002c90300000900"}).out == whole.out);
    CHECK(run_on({"iblinkinfo", "--portguids"}).out == run_on({"iblinkinfo", "-g"}).out);
    CHECK(run_on({"ibnetdiscover", "--port"}).out == run_on({"ibnetdiscover", "-p"}).out);
}

TEST_CASE("tables as CSV have the values of the JSON objects") {
    const words counted{"--fabric", "sim:fattree2,radix=4,sm=1,time=virtual,counters=3,traffic=100000,errors=1.0:20"};
    for (const words& command :
         {words{"ibnodes"}, words{"iblinkinfo"}, words{"ibqueryerrors", "--data", "-r"}, words{"health"}}) {
        CAPTURE(command.front());
        const process_result text = run(command + words{"--csv"} + counted),
                             objects = run(command + words{"--json"} + counted);
        CHECK(text.status == objects.status);
        std::vector<words> rows = rows_of(text.out);
        REQUIRE(rows.size() > 2);
        const words titles = rows.front();
        rows.erase(rows.begin());
        std::vector<json> expected;
        for (const std::string& line : lines_in_order(objects.out))
            if (json o = json::parse(line); !o.contains("schema")) expected.push_back(std::move(o));
        REQUIRE(rows.size() == expected.size());
        for (std::size_t i = 0; i < rows.size(); ++i) {
            REQUIRE(rows[i].size() == titles.size());
            for (std::size_t c = 0; c < titles.size(); ++c) {
                if (!expected[i].contains(titles[c])) continue; // nested members are compared below
                const json& value = expected[i].at(titles[c]);
                if (!value.is_array())
                    CHECK(rows[i][c] == (value.is_string() ? value.get<std::string>() : value.dump()));
            }
            const auto peer = std::find(titles.begin(), titles.end(), "peer_port");
            const json* const link = expected[i].contains("link") ? &expected[i].at("link") : &expected[i];
            if (peer != titles.end() && link->contains("peer"))
                CHECK(rows[i][static_cast<std::size_t>(peer - titles.begin())] == link->at("peer").at("port").dump());
            if (expected[i].contains("errors"))
                for (const auto& [name, count] : expected[i].at("errors").items()) {
                    const auto at = std::find(titles.begin(), titles.end(), name);
                    REQUIRE(at != titles.end());
                    CHECK(rows[i][static_cast<std::size_t>(at - titles.begin())] == count.dump());
                }
        }
    }
}

TEST_CASE("a hostile node name stays one field of CSV and is no formula for a spreadsheet") {
    const directory files;
    const std::string file =
        files.write("hostile.topo", "Switch 2 \"S-1\" # \"=1+1,x\" base port 0 lid 1 lmc 0\n"
                                    "[1] \"H-a\"[1] # \"@a\" lid 2 4xEDR\n\n"
                                    "Ca 1 \"H-a\" # \"@a\"\n[1] \"S-1\"[1] # lid 2 lmc 0 \"=1+1,x\" lid 1 4xEDR\n");
    const process_result r = run({"ibnodes", file, "--csv"});
    check_success(r);
    const std::vector<words> rows = rows_of(r.out);
    REQUIRE(rows.size() == 3);
    for (const words& row : rows) CHECK(row.size() == 8);
    CHECK(rows[1][3] == "'@a");
    CHECK(rows[2][3] == "'=1+1,x");
}

TEST_CASE("all tables as CSV escape bytes that are not UTF-8 as text output does") {
    const directory files;
    // The name of the switch ends with U+00FF, and that of the host with the byte 0xff.
    const std::string file = files.write(
        "odd.topo", "switchguid=0x20(20)\nSwitch 2 \"S-0000000000000020\" # \"s\xc3\xbf\" base port 0 lid 2 lmc 0\n"
                    "[1] \"H-0000000000000010\"[1](11) # \"h\xff\" lid 1 4xEDR\n\n"
                    "caguid=0x10\nCa 1 \"H-0000000000000010\" # \"h\xff\"\n"
                    "[1](11) \"S-0000000000000020\"[1] # lid 1 lmc 0 \"s\xc3\xbf\" lid 2 4xEDR\n");
    const words odd{"--fabric", "sim:" + file + ",sm=1,time=virtual,counters=3,traffic=100000,errors=1.0:20"};
    for (const words& command :
         {words{"ibnodes", "--csv"}, words{"iblinkinfo", "--csv"}, words{"ibqueryerrors", "-r", "--csv"},
          words{"health", "--csv"}, words{"sweep", "--csv"}, words{"export", "--format", "csv"}}) {
        CAPTURE(command.front());
        const std::string text = run(command + odd).out;
        CHECK_THAT(text, Contains("\"h\\xff\"") && Contains("\"s\xc3\xbf\""));
        CHECK_THAT(text, !Contains("\"h\xc3\xbf\"") && !Contains("\"h\xff"));
    }
}

} // namespace ibtool_selection_test
