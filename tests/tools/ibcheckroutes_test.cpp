// SPDX-License-Identifier: MIT
// ibcheckroutes_test.cpp - ibcheckroutes compared with ibdmchk of ibutils: routes of OpenSM's routing engines, and
// errors that the test writes into both the subnet and OpenSM's dumps for ibdmchk.
#include "program/ibtool_subnet.hpp"
#include <comad/coro/detail/blocking.hpp>
#include <comad/iba/sa.hpp>
#include <comad/sa/client.hpp>

#include <cstdio>
#include <map>
#include <optional>
#include <ostream>
#include <regex>
#include <set>

namespace ibtool_route_judge_test {

using namespace ibtool_rig;

namespace {

/// The result of a check of routes, by ibcheckroutes or ibdmchk.
struct verdict {
    unsigned routes = 0, cut = 0;
    bool has_bad_groups = false;
    std::set<std::string> cut_off{}; ///< hosts that a group does not reach, or whose packets do not reach the group
    std::optional<bool> has_credit_loops = false; ///< empty: unknown, because ibdmchk stops at other errors

    friend bool operator==(const verdict&, const verdict&) = default;
    friend std::ostream& operator<<(std::ostream& out, const verdict& v) {
        const char* const credit_loops = !v.has_credit_loops   ? "unknown credit loops"
                                         : *v.has_credit_loops ? "credit loops"
                                                               : "no credit loops";
        return out << v.routes << " routes, " << v.cut << " cut, " << (v.has_bad_groups ? "bad groups, " : "")
                   << v.cut_off.size() << " hosts cut off, " << credit_loops;
    }
};

/// Returns the number between two texts; 0 if the texts are missing.
unsigned number_between(const std::string& text, const std::string& before, const std::string& behind) {
    std::smatch found;
    return std::regex_search(text, found, std::regex(before + "([0-9]+)" + behind))
               ? static_cast<unsigned>(std::stoul(found[1]))
               : 0;
}

// ---- fabrics ----------------------------------------------------------------------------------------------------------

/// Writes the simulator's topology to a file for ibsim.
std::string made(const std::string& specification) {
    return run({"ibnetdiscover", "--fabric", "sim:" + specification}).out;
}

/// Changes all switches to enhanced port 0, so that a switch has as many LIDs as a host. ibdmchk supports only one LMC.
std::string with_lmc_of_switches(std::string text) {
    return std::regex_replace(text, std::regex("base port 0"), "enhanced port 0");
}

/// A subnet that OpenSM has routed, with OpenSM's dump files.
class routed_subnet {
    directory own_;

public:
    routed_subnet(const std::string& topology, const words& options, unsigned LMC = 0, manager kind = manager::leaves)
        : net(topology, kind,
              words{"-D", "0x43", "-F", own_.write("options", "lmc_esp0 TRUE\n"), "-l", std::to_string(LMC)} + options),
          LMC_(LMC) {
        const auto found = nlohmann::json::parse(net.ours({"ibnetdiscover", "--json"}).out);
        for (const auto& node : found["nodes"]) {
            std::string GUID = node["nodeGUID"];
            std::erase(GUID, ':');
            const unsigned LID = node["ports"][0]["LID"];
            if (node["nodeType"] == "Switch") lids_[GUID] = std::to_string(LID);
            else hosts.push_back({GUID, LID});
        }
        std::ranges::sort(hosts, {}, &host::GUID);
        if (LMC) count_lids_from_1();
    }

    /// Runs ibdmchk on the dumps with further arguments. ibdmchk may crash when it frees its memory at its end.
    verdict theirs(const std::string& arguments = {}) const {
        const std::string printed = process({"sh", "-c",
                                             "cd '" + (net.files() / "") +
                                                 "' && ibdmchk -s opensm-subnet.lst -f opensm.fdbs -m "
                                                 "opensm.mcfdbs -l " +
                                                 std::to_string(LMC_) + " " + arguments + " 2>&1; :"})
                                        .wait()
                                        .out;
        CAPTURE(printed);
        REQUIRE_THAT(printed, Contains("Verifying all CA to CA paths"));
        verdict v;
        v.routes = number_between(printed, "Scanned:", " CA to CA paths");
        v.cut = number_between(printed, "-E- Found ", " missing paths");
        if (v.cut) v.routes = number_between(printed, "missing paths out of:", " ");
        v.has_bad_groups = printed.find(" multicast group checks failed") != printed.npos;
        const std::regex disconnected("-E- Disconnected HCA:([^/]+)/");
        for (std::sregex_iterator at(printed.begin(), printed.end(), disconnected), end; at != end; ++at)
            v.cut_off.insert((*at)[1]);
        v.has_credit_loops.reset();
        // The full check of ibdmchk and its check of trees (-u) print different texts.
        for (const char* none : {"-I- no credit loops found", "-I- No credit loops found in:"})
            if (printed.find(none) != printed.npos) v.has_credit_loops = false;
        for (const char* some : {"-E- credit loops in routing", " paths that can cause credit loops"})
            if (printed.find(some) != printed.npos) v.has_credit_loops = true;
        REQUIRE((v.has_credit_loops || v.has_bad_groups || v.cut));
        return v;
    }

    /// Checks that ibcheckroutes and ibdmchk agree on the current subnet.
    void compare(const verdict& theirs, const words& arguments = {}) const {
        const process_result r = net.ours(words{"ibcheckroutes", "--json"} + arguments);
        CAPTURE(arguments, r.out, r.err);
        const auto lines = objects_of(r.out);
        REQUIRE_FALSE(lines.empty());
        const auto& sum = lines.back();
        CHECK(sum["complete"] == true);
        CHECK(r.status == (sum["findings"] == 0 ? 0 : 1));
        verdict ours;
        ours.routes = sum["routes"];
        ours.cut = sum["cut"];
        for (const auto& line : lines) {
            ours.has_bad_groups = ours.has_bad_groups || line.contains("MLID");
            if (line.value("finding", "") != "multicast_apart" || line["location"]["port"] == 0) continue;
            const std::string name = line["location"]["description"];
            ours.cut_off.insert(name.substr(0, name.find(' ')));
        }
        ours.has_credit_loops = sum["credit_loops"] != 0;
        if (!theirs.has_credit_loops) ours.has_credit_loops.reset();
        CHECK(ours == theirs);
    }

    /// Changes the port through which a switch forwards a LID, in the subnet and in the dump. Port 255 means no port.
    void forward(const std::string& switch_guid, unsigned LID, unsigned port) {
        check_success(net.ours({"query", "SubnSet", "LinearForwardingTable", lids_.at(switch_guid), "-a",
                                std::to_string(LID / 64), "-f",
                                "portBlock[" + std::to_string(LID % 64) + "]=" + std::to_string(port)}));
        char line[32], was[32];
        std::snprintf(was, sizeof was, "\n0x%04X : ", LID - shift_);
        std::snprintf(line, sizeof line, "%03u  : 01   : yes", port);
        std::string dump = read_file(net.files() / "opensm.fdbs");
        const std::size_t begin = dump.find(was, dump.find("Switch 0x" + switch_guid));
        REQUIRE(begin != dump.npos);
        const std::size_t end = dump.find('\n', begin + 1), from = begin + std::string(was).size();
        dump.replace(from, end - from, port == 255 ? "UNREACHABLE" : line);
        net.files().write("opensm.fdbs", dump);
    }

    /// The port mask of each switch for a multicast LID.
    using tree = std::map<std::string, std::vector<unsigned>>;
    /// Replaces the multicast tables. The switches forward one LID per tree, starting with the first multicast LID, and
    /// no other LIDs.
    void forward_groups(const std::vector<tree>& trees) {
        std::string dump;
        for (const auto& [switch_guid, LID] : lids_) {
            words fields;
            dump += "\nSwitch 0x" + switch_guid + "\nLID    : Out Port(s)\n";
            for (std::size_t i = 0; i < trees.size(); ++i) {
                dump += "0xC00" + std::to_string(i) + " :";
                unsigned mask = 0;
                for (const unsigned p : trees[i].at(switch_guid)) {
                    mask |= 1u << p;
                    dump += " 0x00" + std::to_string(p) + " ";
                }
                dump += '\n';
                fields = fields + words{"-f", "portMaskBlock[" + std::to_string(i) + "]=" + std::to_string(mask)};
            }
            check_success(net.ours(words{"query", "SubnSet", "MulticastForwardingTable", LID} + fields));
        }
        net.files().write("opensm.mcfdbs", dump);
    }

    struct host {
        std::string GUID;
        unsigned LID;
    };

    subnet net;
    std::vector<host> hosts;

private:
    /// Renumbers LIDs, because OpenSM starts at LID 2^LMC and ibdmchk expects the first base LID to be 1.
    void count_lids_from_1() {
        shift_ = (1u << LMC_) - 1;
        const auto shifted = [&](const std::string& name, const std::regex& where) {
            const std::string text = read_file(net.files() / name);
            std::string out;
            std::size_t done = 0;
            for (std::sregex_iterator at(text.begin(), text.end(), where), end; at != end; ++at) {
                const auto LID = static_cast<unsigned>(std::stoul((*at)[1], nullptr, 16));
                char made[8];
                std::snprintf(made, sizeof made, "%04X", LID > shift_ ? LID - shift_ : 0xbfff);
                out += text.substr(done, static_cast<std::size_t>(at->position(1)) - done) + made;
                done = static_cast<std::size_t>(at->position(1) + at->length(1));
            }
            net.files().write(name, out + text.substr(done));
        };
        shifted("opensm-subnet.lst", std::regex("LID:([0-9A-F]{4}) "));
        shifted("opensm.fdbs", std::regex("\n0x([0-9A-F]{4}) :"));
    }

    unsigned LMC_, shift_ = 0;
    std::map<std::string, std::string> lids_; // LIDs of the switches, by GUID
};

/// Returns the GUIDs of the switches, by their names in the simulator's topologies.
std::map<std::string, std::string> switches_of(const std::string& topology) {
    std::map<std::string, std::string> all;
    const std::regex line("\nSwitch\t[0-9]+ \"S-([0-9a-f]+)\"\\s+# \"([^\"]+)\"");
    for (std::sregex_iterator at(topology.begin(), topology.end(), line), end; at != end; ++at)
        all[(*at)[2]] = (*at)[1];
    return all;
}

} // namespace

TEST_CASE("ibcheckroutes agrees with ibdmchk on the routes of OpenSM's routing engines") {
    if (!is_installed("ibdmchk")) return;
    struct one {
        std::string specification, engine;
        unsigned LMC = 0;
    };
    const one all[] = {
        {"line,switches=3", "minhop"},   {"ring,switches=5", "minhop"},         {"torus,x=3,y=3", "updn"},
        {"torus,x=5,y=3", "minhop"},     {"fattree2,radix=6", "minhop"},        {"fattree2,radix=6", "updn"},
        {"fattree2,radix=6", "ftree"},   {"fattree3,radix=4", "ftree"},         {"fattree2,radix=4", "ftree", 2},
        {"fattree3,radix=4", "updn", 2}, {"torus,x=3,y=3,z=2,hosts=2", "updn"}, {"ring,switches=5", "minhop", 2}};
    unsigned looped = 0;
    for (const one& o : all) {
        CAPTURE(o.specification, o.engine, o.LMC);
        const std::string topology = made(o.specification);
        const routed_subnet s(o.LMC ? with_lmc_of_switches(topology) : topology, {"-R", o.engine}, o.LMC);
        const verdict theirs = s.theirs();
        CHECK(theirs.routes == s.hosts.size() * (s.hosts.size() - 1) << o.LMC);
        s.compare(theirs);
        if (o.specification.starts_with("fattree")) s.compare(s.theirs("-u"));
        looped += theirs.has_credit_loops == true;
    }
    CHECK(looped > 0);
    CHECK(looped < std::size(all));
}

TEST_CASE("ibcheckroutes agrees with ibdmchk on errors in forwarding tables") {
    if (!is_installed("ibdmchk")) return;
    // Port 1 of each switch leads to the next switch, port 2 to the previous one, and port 3 to its host.
    const std::string ring = made("ring,switches=4");
    const auto named = switches_of(ring);
    const auto of = [&](unsigned n) { return named.at("sw-000" + std::to_string(n % 4 + 1)); };
    routed_subnet s(ring, {"-R", "updn"});
    const auto LID = [&](unsigned n) { return s.hosts[n % 4].LID; };
    const verdict good = s.theirs();
    CHECK(good == verdict{.routes = 12});
    s.compare(good);

    const auto compared = [&](unsigned cut, std::optional<bool> has_credit_loops) {
        const verdict theirs = s.theirs();
        CHECK(theirs.cut == cut);
        CHECK(theirs.has_credit_loops == has_credit_loops);
        s.compare(theirs);
    };
    SECTION("a host that its own switch has no route to") {
        s.forward(of(0), LID(0), 255);
        compared(3, std::nullopt);
    }
    SECTION("an entry with a port that the switch does not have") {
        s.forward(of(1), LID(1), 9);
        compared(3, std::nullopt);
    }
    SECTION("two switches that forward a host's packets to each other") {
        s.forward(of(0), LID(2), 1);
        s.forward(of(1), LID(2), 2);
        compared(2, std::nullopt); // the routes of the two switches
    }
    SECTION("all routes to the opposite host run in one direction around a ring") {
        for (unsigned n = 0; n < 4; ++n) {
            s.forward(of(n), LID(n + 2), 1);
            s.forward(of(n), LID(n + 1), 1);
        }
        compared(0, true);
    }
}

TEST_CASE("ibcheckroutes and ibdmchk report valleys in a fat tree as a credit loop") {
    if (!is_installed("ibdmchk")) return;
    // Ports 1 and 2 of a leaf lead to its hosts, and 3 and 4 to the spines. Port N of a spine leads to leaf N.
    const std::string tree = made("fattree2,radix=4");
    const auto named = switches_of(tree);
    routed_subnet s(tree, {"-R", "ftree"});
    const unsigned first = s.hosts[0].LID, second = s.hosts[2].LID; // hosts at the first two leaves
    s.forward(named.at("leaf-0003"), second, 3);
    s.forward(named.at("spine-0001"), second, 1);
    s.forward(named.at("leaf-0001"), second, 4);
    s.forward(named.at("leaf-0003"), first, 4);
    s.forward(named.at("spine-0002"), first, 2);
    s.forward(named.at("leaf-0002"), first, 4);
    const verdict before = s.theirs();
    CHECK(before.cut > 0); // the second spine and the second leaf forward to each other
    s.compare(before);
    s.forward(named.at("leaf-0002"), first, 3);
    for (const char* check : {"", "-u"}) {
        const verdict theirs = s.theirs(check);
        CHECK(theirs == verdict{.routes = 8 * 7, .has_credit_loops = true});
        s.compare(theirs);
    }
}

TEST_CASE("ibcheckroutes agrees with ibdmchk on the trees of multicast groups") {
    if (!is_installed("ibdmchk")) return;
    const std::string ring = made("ring,switches=4");
    const auto named = switches_of(ring);
    const auto of = [&](unsigned n) { return named.at("sw-000" + std::to_string(n + 1)); };
    routed_subnet s(ring, {"-R", "updn"});
    // The tree contains all hosts and all links except the link at port 1 of one switch.
    const auto without = [&](unsigned skipped) {
        routed_subnet::tree made;
        for (unsigned n = 0; n < 4; ++n) {
            std::vector<unsigned>& ports = made[of(n)];
            if (n != skipped) ports.push_back(1);
            if ((n + 3) % 4 != skipped) ports.push_back(2);
            ports.push_back(3);
        }
        return made;
    };
    const auto compared = [&](bool has_bad_groups, std::optional<bool> has_credit_loops) {
        const verdict theirs = s.theirs("-M");
        CHECK(theirs.has_bad_groups == has_bad_groups);
        CHECK(theirs.has_credit_loops == has_credit_loops);
        s.compare(theirs, {"-M"});
    };
    SECTION("a tree") {
        s.forward_groups({without(3)});
        compared(false, false);
    }
    SECTION("trees that form a loop together but not separately") {
        s.forward_groups({without(3), without(0), without(1)});
        compared(false, true);
        s.compare(s.theirs()); // without groups, the routes form no loop
    }
    SECTION("a loop") {
        s.forward_groups({without(4)});
        compared(true, std::nullopt);
    }
    SECTION("a switch that forwards only to its own host") {
        // A cut first switch forwards to no other switch. A cut second switch ends the route to the switches after it.
        // Packets of a cut last switch arrive nowhere.
        for (const auto& [n, cut_off] : {std::pair(0u, 3u), std::pair(1u, 3u), std::pair(3u, 1u)}) {
            CAPTURE(n);
            routed_subnet::tree cut = without(3);
            cut[of(n)] = {3};
            s.forward_groups({cut});
            compared(true, std::nullopt);
            CHECK(s.theirs("-M").cut_off.size() == cut_off);
        }
    }
    SECTION("two disconnected parts") {
        routed_subnet::tree parts = without(3);
        parts[of(1)] = {2, 3};
        parts[of(2)] = {1, 3};
        s.forward_groups({parts});
        compared(true, std::nullopt);
    }
}

// ---- virtual lanes ----------------------------------------------------------------------------------------------------

namespace {

/// Returns the SL of each path as the SA reports it, in lines that ibdmchk reads.
std::string path_sls(const routed_subnet& s) {
    using namespace comad;
    using iba::sa::PathRecord;
    transports::ibsim_transport port(s.net.at(""));
    coro::blocking_transactor umad(port);
    iba::smp::PortInfo info;
    iba::decode(info, port.port_info().data());
    umad.schedule().set_sa_path(sa::sa_path_of(info));
    std::string text;
    for (const auto& from : s.hosts) {
        for (const auto& to : s.hosts) {
            if (from.LID == to.LID) continue;
            iba::query<PathRecord> path;
            path.where<&PathRecord::SLID>(iba::lid(from.LID)).where<&PathRecord::DLID>(iba::lid(to.LID));
            path.where<&PathRecord::numbPath>(u8{1});
            const auto reported = umad.SubnAdmGet(path);
            REQUIRE(reported);
            text += "0x" + from.GUID + " " + std::to_string(to.LID) + " " + std::to_string(reported.value().SL) + "\n";
        }
    }
    return text;
}

} // namespace

TEST_CASE("ibcheckroutes agrees with ibdmchk on torus-2QoS, with lanes from files and from queries") {
    if (!is_installed("ibdmchk")) return;
    const directory d;
    const std::string torus = made("torus,x=5,y=3,z=2");
    const auto named = switches_of(torus);
    const auto link = [&](const char* key, const char* to) {
        return std::string(key) + " 0x" + named.at("sw-0-0-0") + " 0x" + named.at(to) + "\n";
    };
    const std::string seed = d.write("torus-2QoS.conf", "torus 5 3 2M\n" + link("xp_link", "sw-1-0-0") +
                                                            link("yp_link", "sw-0-1-0") + link("zp_link", "sw-0-0-1"));
    const routed_subnet s(torus, {"-R", "torus-2QoS", "--torus_config", seed}, 0, manager::stays);
    const std::string sls = s.net.files().write("SLs", path_sls(s)), VLs = s.net.files() / "opensm-sl2vl.dump";

    // The rings have credit loops with one lane, and with SL to VL tables that map all SLs to one VL.
    const verdict without = s.theirs();
    CHECK(without == verdict{.routes = 30 * 29, .has_credit_loops = true});
    s.compare(without);
    CHECK(s.theirs("-d opensm-sl2vl.dump") == without);
    s.compare(without, {"--SL-to-VL", VLs});

    const verdict with = s.theirs("-c SLs -d opensm-sl2vl.dump");
    CHECK(with == verdict{.routes = 30 * 29});
    s.compare(with, {"--path-SLs", sls, "--SL-to-VL", VLs});
    s.compare(with, {"--path-SLs", sls, "--lanes"});
    s.compare(with, {"--SL-to-VL", VLs, "--lanes"});
    s.compare(with, {"--lanes"});

    // Writes the tables in the format of ibdmchk's usage text, and again with all SLs on VL 0.
    std::string bytes, zeros;
    for (const std::string& line : lines_in_order(read_file(VLs))) {
        static std::string GUID;
        std::smatch found;
        if (std::regex_search(line, found, std::regex("^Switch 0x([0-9a-f]+),"))) GUID = found[1];
        else if (line.starts_with("Channel")) GUID.clear();
        std::istringstream words_of(line);
        unsigned in = 0, out = 0;
        std::string colon;
        if (GUID.empty() || !(words_of >> in >> out >> colon) || colon != ":") continue;
        const std::string begin = "0x" + GUID + " " + std::to_string(in) + " " + std::to_string(out);
        bytes += begin;
        zeros += begin;
        for (unsigned high = 0, low = 0; words_of >> high >> low;) {
            char pair[8];
            std::snprintf(pair, sizeof pair, " 0x%x%x", high, low);
            bytes += pair;
            zeros += " 0x00";
        }
        bytes += '\n';
        zeros += '\n';
    }
    REQUIRE_FALSE(bytes.empty());
    s.net.files().write("bytes", bytes);
    s.net.files().write("zeros", zeros);
    CHECK(s.theirs("-c SLs -d bytes") == with);
    s.compare(with, {"--path-SLs", sls, "--SL-to-VL", s.net.files() / "bytes"});
    CHECK(s.theirs("-c SLs -d zeros") == without);
    s.compare(without, {"--path-SLs", sls, "--SL-to-VL", s.net.files() / "zeros"});
    // Without tables, each SL uses the VL with the number of the SL.
    s.compare(s.theirs("-c SLs"), {"--path-SLs", sls});
}

} // namespace ibtool_route_judge_test
