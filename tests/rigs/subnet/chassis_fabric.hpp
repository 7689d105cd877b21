// SPDX-License-Identifier: MIT
// chassis_fabric.hpp - a topology file with one chassis of each vendor that libibnetdisc recognizes. The cabling is
// that of the vendors.
#pragma once
#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace comad::test {

/// Internal cabling of the Voltaire boards in a chassis type.
struct board_wiring {
    unsigned spine_device, line_device;
    unsigned spine_ports, line_ports;
    unsigned spine_chips, line_chips;
    unsigned parallel;      ///< cables between a spine chip and a line chip
    unsigned first_outside; ///< first external port of a line chip
    /// Return the port of the i-th cable between a spine chip and a line chip. spine_port: port of the spine chip, by
    /// slot and chip of the line. line_port: port of the line chip, by slot and chip of the spine.
    unsigned (*spine_port)(unsigned slot, unsigned chip, unsigned i);
    unsigned (*line_port)(unsigned slot, unsigned chip, unsigned i);
};

/// The wirings by chassis type. In an ISR9288 or ISR2012, each line chip has one cable to each of the three chips of a
/// spine. In an ISR9096 or ISR2004, each line chip has three cables to the only chip of a spine.
inline const std::map<std::string, board_wiring> voltaire_wirings{
    {"ISR9288",
     {0x5a08, 0x5a09, 24, 24, 3, 2, 1, 13, [](unsigned s, unsigned c, unsigned) { return 2 * (s - 1) + c; },
      [](unsigned s, unsigned c, unsigned) { return 3 * (s - 1) + c; }}},
    {"ISR2012",
     {0x5a37, 0x5a38, 24, 24, 3, 2, 1, 13, [](unsigned s, unsigned c, unsigned) { return 2 * (s - 1) + c; },
      [](unsigned s, unsigned c, unsigned) { return 3 * (s - 1) + c; }}},
    {"ISR9096",
     {0x5a0b, 0x5a0d, 24, 24, 1, 2, 3, 13,
      [](unsigned s, unsigned c, unsigned i) { return 6 * (s - 1) + 3 * (c - 1) + i; },
      [](unsigned s, unsigned, unsigned i) { return 3 * (s - 1) + i; }}},
    {"ISR2004",
     {0x5a40, 0x5a42, 24, 24, 1, 2, 3, 13,
      [](unsigned s, unsigned c, unsigned i) { return 6 * (s - 1) + 3 * (c - 1) + i; },
      [](unsigned s, unsigned, unsigned i) { return 3 * (s - 1) + i; }}},
    {"ISR4700",
     {0x5a5c, 0x5a5b, 36, 36, 1, 1, 2, 19, [](unsigned s, unsigned, unsigned i) { return 2 * (s - 1) + i; },
      [](unsigned s, unsigned, unsigned i) { return 2 * (s - 1) + i; }}},
    {"ISR4700x2",
     {0x5a5d, 0x5a5b, 36, 36, 2, 1, 1, 19, [](unsigned s, unsigned, unsigned) { return s; },
      [](unsigned s, unsigned c, unsigned) { return 2 * (s - 1) + 3 - c; }}},
    {"ISR4200",
     {0x5a60, 0x5a5b, 36, 36, 1, 1, 4, 19, [](unsigned s, unsigned, unsigned i) { return 4 * (s - 1) + i; },
      [](unsigned s, unsigned, unsigned i) { return 4 * (s - 1) + i + (s > 1 ? 2 : 0); }}},
};

/// Vendor and device of a node.
struct described_node {
    unsigned vendor = 0, device = 0;
    std::uint64_t system = 0; ///< system image GUID; 0: the node has its own
};

/// Builds a topology file.
class described_fabric {
public:
    using described = described_node;

    void add_switch(const std::string& id, unsigned ports, std::uint64_t GUID, const described& d = {},
                    const std::string& description = {}) {
        add("Switch", "switchguid", id, ports, GUID, d, description);
    }
    void add_ca(const std::string& id, unsigned ports, std::uint64_t GUID, const described& d = {},
                const std::string& description = {}) {
        add("Ca", "caguid", id, ports, GUID, d, description);
    }
    void link(const std::string& a, unsigned a_port, const std::string& b, unsigned b_port) {
        links_[a] += fmt::format("[{}]\t\"{}\"[{}]\n", a_port, b, b_port);
        links_[b] += fmt::format("[{}]\t\"{}\"[{}]\n", b_port, a, a_port);
    }
    std::string text() const {
        std::string all;
        for (const auto& [id, head] : heads_) {
            const auto links = links_.find(id);
            all += head + (links == links_.end() ? "" : links->second) + '\n';
        }
        return all;
    }

private:
    void add(const char* kind, const char* guid_key, const std::string& id, unsigned ports, std::uint64_t GUID,
             const described& d, const std::string& description) {
        std::string head = fmt::format("vendid={:#x}\ndevid={:#x}\n", d.vendor, d.device);
        head += fmt::format("sysimgguid={:#x}\n", d.system ? d.system : GUID);
        head += fmt::format("{}={:#x}\n{}\t{} \"{}\"\t\t# \"{}\"\n", guid_key, GUID, kind, ports, id,
                            description.empty() ? id : description);
        heads_.emplace_back(id, head);
    }

    std::vector<std::pair<std::string, std::string>> heads_;
    std::map<std::string, std::string> links_;
};

/// Adds a Voltaire chassis. It has spines in slots 1 and 2, lines in slots 1 and 3, and a host at an external port of
/// each line chip. An external port of the last line chip stays free for `link`. Names are `NAME-spine-1.2`, by slot
/// and chip.
inline void add_voltaire(described_fabric& f, const std::string& name, const board_wiring& w, std::uint64_t GUID) {
    constexpr unsigned vendor = 0x8f1, slots_of_spines[] = {1, 2}, slots_of_lines[] = {1, 3};
    const auto called = [&](const char* board, unsigned slot, unsigned chip) {
        return fmt::format("{}-{}-{}.{}", name, board, slot, chip);
    };
    for (const unsigned s : slots_of_spines)
        for (unsigned c = 1; c <= w.spine_chips; ++c)
            f.add_switch(called("spine", s, c), w.spine_ports, GUID += 4, {vendor, w.spine_device, 0});
    for (const unsigned l : slots_of_lines) {
        for (unsigned c = 1; c <= w.line_chips; ++c) {
            f.add_switch(called("line", l, c), w.line_ports, GUID += 4, {vendor, w.line_device, 0});
            for (const unsigned s : slots_of_spines)
                for (unsigned sc = 1; sc <= w.spine_chips; ++sc)
                    for (unsigned i = 1; i <= w.parallel; ++i)
                        f.link(called("spine", s, sc), w.spine_port(l, c, i), called("line", l, c),
                               w.line_port(s, sc, i));
            const std::string host = called("host", l, c);
            f.add_ca(host, 1, GUID += 4);
            f.link(called("line", l, c), w.first_outside + 2 * l + c, host, 1);
        }
    }
}

/// Returns a topology file in which the switch "core" connects all chassis.
inline std::string chassis_fabric() {
    described_fabric f;
    f.add_ca("start", 1, 0x1000);
    f.add_switch("core", 36, 0x2000);
    f.link("start", 1, "core", 1);
    unsigned port = 1;
    const auto at_core = [&](const std::string& id, unsigned there) { f.link("core", ++port, id, there); };

    std::uint64_t GUID = 0x0008f10000000000;
    for (const auto& [name, w] : voltaire_wirings) {
        add_voltaire(f, name, w, GUID += 0x1000);
        at_core(name + "-line-1.1", w.first_outside);
    }
    add_voltaire(f, "second-ISR9288", voltaire_wirings.at("ISR9288"), GUID += 0x1000);
    f.link("ISR9288-line-3.2", 24, "second-ISR9288-line-1.1", 24);
    f.add_ca("at-wide-socket", 1, GUID += 0x1000);
    f.link("ISR4700x2-spine-1.2", 36, "at-wide-socket", 1);
    f.add_switch("ISR9024", 24, GUID += 0x1000, {0x8f1, 0x5a06, 0});
    at_core("ISR9024", 1);

    // Mellanox: the description contains the slot.
    const described_fabric::described IS4{0x2c9, 0xbd36, 0x0002c90300700000};
    f.add_switch("M-S2", 36, 0x0002c90300700010, IS4, "MF0;sx6536:SX6536/S02/U1");
    f.add_switch("M-S1", 36, 0x0002c90300700020, IS4, "MF0;sx6536:SX6536/S01:board type/U1");
    f.add_switch("M-L36", 36, 0x0002c90300700030, IS4, "MF0;sx6536:SX6536/L36/U1");
    f.add_switch("M-L1", 36, 0x0002c90300700040, IS4, "MF0;sx6536:a type of more than 20 letters/L01/U2");
    f.add_switch("M-again", 36, 0x0002c90300700050, IS4, "MF0;sx6536:SX6536/L36/U1");
    f.add_switch("M-mgmt", 36, 0x0002c90300700060, IS4, "MF0;sx6536:SX6536/MGMT/U1");
    f.add_switch("M-other", 36, 0x0002c90300700070, IS4, "Infiniscale-IV Mellanox Technologies");
    f.add_switch("M-alone", 36, 0x0002c90300700080, {0x2c9, 0xbd36, 0}, "MF0;alone:SX6506/L02/U1");
    f.add_ca("M-host", 1, 0x0002c90300700090);
    for (const unsigned i : {1, 2}) {
        f.link("M-L1", 18 + i, fmt::format("M-S{}", i), 1);
        f.link("M-L36", 18 + i, fmt::format("M-S{}", i), 36);
    }
    f.link("M-S1", 3, "M-again", 19);
    f.link("M-S1", 4, "M-mgmt", 19);
    f.link("M-S1", 5, "M-other", 19);
    f.link("M-L36", 18, "M-host", 1);
    f.link("M-L1", 2, "M-alone", 18);
    at_core("M-L1", 1);

    // These GUIDs differ only in the byte for the board.
    f.add_switch("T-1", 24, 0x0005ad0000010010, {0x5ad, 0x5a5a, 0x0005ad0101000000});
    f.add_switch("T-2", 24, 0x0005ad0000010020, {0x5ad, 0x5a5a, 0x0005ad0107000000});
    f.add_switch("T-alone", 24, 0x0005ad0000010030, {0x5ad, 0x5a5a, 0x0005ad0107000001});
    f.add_ca("I-1", 2, 0x00066a0000010010, {0x66a, 1, 0x00066a0000000100});
    f.add_ca("I-2", 2, 0x00066a0000010020, {0x66a, 1, 0x00066a0001000100});
    f.link("T-1", 2, "T-2", 2);
    f.link("T-2", 3, "T-alone", 2);
    at_core("T-1", 1);
    at_core("I-1", 2);
    at_core("I-2", 1);

    // The first leaf of the Xsigo has its management server and cards, and a second leaf has a card. Another card is at
    // a leaf that is not the first.
    f.add_switch("X-leaf1", 24, 0x0013970102000a01, {0x1397, 1, 0x0013970102000a01});
    f.add_switch("X-leaf2", 24, 0x0013970105000a01, {0x1397, 1, 0x0013970105000a01});
    f.add_ca("X-server", 1, 0x0013970202000a10, {0x1397, 2, 0x0013970202000a10}, "xsigo manager");
    f.add_ca("X-card3", 1, 0x0013970303000a20, {0x1397, 3, 0x0013970303000a20});
    f.add_ca("X-card4", 1, 0x0013970304000a30, {0x2c9, 3, 0x0013970304000a30});
    f.add_ca("X-far", 1, 0x0013970305000a40, {0x1397, 3, 0x0013970305000a40});
    f.link("X-leaf1", 1, "X-server", 1);
    f.link("X-leaf1", 3, "X-card3", 1);
    f.link("X-leaf1", 4, "X-card4", 1);
    f.link("X-leaf1", 20, "X-leaf2", 20);
    f.link("X-leaf2", 5, "X-far", 1);
    at_core("X-leaf1", 24);

    // Other nodes that share a system image GUID: a host with two adapters and a switch with two chips.
    f.add_ca("H-1", 1, 0x3001, {0x15b3, 4099, 0x3000});
    f.add_ca("H-2", 1, 0x3005, {0x15b3, 4099, 0x3000});
    f.add_switch("D-1", 8, 0x4001, {0x15b3, 0xcf08, 0x4000});
    f.add_switch("D-2", 8, 0x4005, {0x15b3, 0xcf08, 0x4000});
    f.link("D-1", 2, "D-2", 2);
    at_core("H-1", 1);
    at_core("H-2", 1);
    at_core("D-1", 1);
    return f.text();
}

} // namespace comad::test
