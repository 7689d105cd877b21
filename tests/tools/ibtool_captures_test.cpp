// SPDX-License-Identifier: MIT
// ibtool_captures_test.cpp - ibtool decode with captures of RoCE, compressed files, and datagrams that are not MADs,
// compared with tshark.
#include "program/ibtool_rig.hpp"
#include "program/tshark.hpp"
#include <comad/mad/detail/packet.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <array>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <sstream>

namespace ibtool_captures_test {

using namespace comad;
using namespace ibtool_rig;
using nlohmann::json;

namespace {

using octets = std::vector<u8>;

/// Returns all parts as one sequence of bytes.
octets joined(std::initializer_list<octets> parts) {
    octets all;
    for (const octets& part : parts) all.insert(all.end(), part.begin(), part.end());
    return all;
}
/// Returns a 16-bit number in network byte order.
octets big_endian(std::size_t value) { return {static_cast<u8>(value >> 8), static_cast<u8>(value)}; }

/// Returns bytes as hex digits.
std::string hex(std::span<const u8> all) {
    std::string text;
    for (const u8 byte : all) text += fmt::format("{:02x}", byte);
    return text;
}

/// Returns a pcap file with this link type.
std::string pcap_of(u32 link_type, const std::vector<octets>& records) {
    std::string file;
    const auto add = [&](u32 value) { file.append(reinterpret_cast<const char*>(&value), sizeof value); };
    for (const u32 word : {0xa1b2c3d4u, 0x00040002u, 0u, 0u, 65535u, link_type}) add(word);
    for (const octets& r : records) {
        const auto size = static_cast<u32>(r.size());
        for (const u32 word : {0u, 0u, size, size}) add(word);
        file.append(r.begin(), r.end());
    }
    return file;
}

/// Returns the packets of a --pcap capture from the BTH to the invariant CRC, without record header, ERF header, LRH
/// and variant CRC.
std::vector<octets> packets_of(const std::string& file) {
    constexpr std::size_t file_header = 24, record_header = 16, erf_header = 16, lrh = 8, variant_crc = 2;
    std::vector<octets> packets;
    const std::string all = read_file(file);
    for (std::size_t at = file_header; at + record_header < all.size();) {
        u32 size = 0;
        std::memcpy(&size, &all[at + 8], sizeof size);
        at += record_header;
        packets.emplace_back(all.begin() + static_cast<std::ptrdiff_t>(at + erf_header + lrh),
                             all.begin() + static_cast<std::ptrdiff_t>(at + size - variant_crc));
        at += size;
    }
    return packets;
}

/// Returns a UDP datagram to a port.
octets udp(const octets& payload, unsigned port = 4791) {
    return joined({big_endian(49152), big_endian(port), big_endian(payload.size() + 8), big_endian(0), payload});
}
/// Returns an IPv4 packet.
octets ipv4(const octets& payload, const octets& options = {}, u8 protocol = 17) {
    const std::size_t header = 20 + options.size();
    return joined({{static_cast<u8>(0x40 | header / 4), 0},
                   big_endian(payload.size() + header),
                   {0, 1, 0, 0, 64, protocol, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2},
                   options,
                   payload});
}
/// Returns an IPv6 packet with a header of destination options before the payload.
octets ipv6(const octets& payload) {
    octets addresses(32);
    addresses[0] = addresses[16] = 0xfd, addresses[15] = 1, addresses[31] = 2;
    return joined(
        {{0x60, 0, 0, 0}, big_endian(payload.size() + 8), {60, 64}, addresses, {17, 0, 1, 4, 0, 0, 0, 0}, payload});
}
/// Returns an Ethernet frame of a type, with VLAN tags on request.
octets ethernet(unsigned type, const octets& payload, const octets& tags = {}) {
    return joined({{2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2}, tags, big_endian(type), payload});
}

/// Returns the names and values that tshark prints for the transport headers and the MAD.
std::vector<std::string> fields_by_tshark(const std::string& file) {
    std::vector<std::string> all;
    for (const tshark_packet& p : dissect_with_tshark(file)) {
        CHECK_FALSE(p.is_malformed);
        for (const tshark_field& f : p.fields)
            if (f.name != "infiniband" && f.name.find(".lrh") == f.name.npos && f.name.find(".grh") == f.name.npos &&
                f.name.find("crc") == f.name.npos)
                all.push_back(f.name + '=' + f.value);
    }
    return all;
}

} // namespace

TEST_CASE("RoCE captures decode as the InfiniBand packets do, and as tshark decodes them") {
    const directory files;
    const std::string original = files / "perf.pcap";
    check_success(
        run({"perfquery", "3", "1", "--fabric", "sim:fattree2,radix=4,sm=1,time=virtual", "--pcap", original}));
    const std::vector<octets> packets = packets_of(original);
    REQUIRE(packets.size() >= 2);
    const auto lines_without_route = [](const process_result& r) {
        check_success(r);
        std::string all, line;
        for (std::istringstream in(r.out); std::getline(in, line);) {
            json object = json::parse(line);
            object.erase("HdrLRH"), object.erase("HdrGRH");
            all += object.dump() + '\n';
        }
        return all;
    };
    const std::string expected = lines_without_route(run({"decode", "--json", original}));
    const auto expected_by_tshark = fields_by_tshark(original);

    const octets tag{0x81, 0x00, 0x20, 0x07}, outer_tag{0x88, 0xa8, 0x20, 0x08};
    struct carrier {
        std::string name;
        u32 link_type;
        std::function<octets(const octets&)> wrap;
    };
    const carrier carriers[] = {
        {"Ethernet, IPv4", 1, [](const octets& p) { return ethernet(0x0800, ipv4(udp(p))); }},
        {"Ethernet, VLAN, IPv6", 1, [&](const octets& p) { return ethernet(0x86dd, ipv6(udp(p)), tag); }},
        {"Ethernet, two VLANs, IPv4 with options, padding", 1,
         [&](const octets& p) {
             return joined({ethernet(0x0800, ipv4(udp(p), {1, 1, 1, 0}), joined({outer_tag, tag})), octets(6)});
         }},
        {"RoCEv1", 1,
         [](const octets& p) {
             return ethernet(0x8915, joined({{0x60, 0, 0, 0}, big_endian(p.size()), {0x1b, 64}, octets(32), p}));
         }},
        {"Linux cooked", 113,
         [](const octets& p) {
             return joined({{0, 0, 0, 1, 0, 6, 2, 0, 0, 0, 0, 2, 0, 0}, big_endian(0x0800), ipv4(udp(p))});
         }},
        {"Linux cooked 2", 276,
         [](const octets& p) {
             return joined({big_endian(0x0800), octets(6), {0, 1, 0, 6, 2, 0, 0, 0, 0, 2, 0, 0}, ipv4(udp(p))});
         }},
        {"IPv6", 101, [](const octets& p) { return ipv6(udp(p)); }},
    };
    for (const carrier& c : carriers) {
        CAPTURE(c.name);
        std::vector<octets> records;
        for (const octets& p : packets) records.push_back(c.wrap(p));
        const std::string file = files.write("roce.pcap", pcap_of(c.link_type, records));
        CHECK(lines_without_route(run({"decode", "--json", file})) == expected);
        CHECK(fields_by_tshark(file) == expected_by_tshark);
    }
    // decode skips other packets in between but counts them, as Wireshark does.
    const std::string mixed = files.write(
        "mixed.pcap", pcap_of(1, {ethernet(0x0806, octets(28)), ethernet(0x0800, ipv4(udp(octets(40), 53))),
                                  ethernet(0x0800, ipv4(udp(packets[0]))), ethernet(0x0800, ipv4(octets(40), {}, 6))}));
    const process_result text = run({"decode", mixed});
    check_success(text);
    CHECK_THAT(text.out, StartsWith("# packet 3, RoCEv2 from 10.0.0.1 to 10.0.0.2\nHdrBTH\n"));
    const std::string none = files.write("none.pcap", pcap_of(1, {ethernet(0x0806, octets(28))}));
    check_failure(run({"decode", none}), 1, "none.pcap' contains 1 packet, but no InfiniBand packets");
    check_failure(run({"decode", files.write("usb.pcap", pcap_of(189, {octets(64)}))}), 1,
                  "expected InfiniBand, ERF, Ethernet or IP");
}

TEST_CASE("compressed captures and texts decode as the uncompressed files do") {
    const directory files;
    const std::string file = files / "discovery.pcap";
    check_success(run({"ibnetdiscover", "--fabric", "sim:fattree2,radix=4,time=virtual", "--pcap", file}));
    const std::string plain = run({"decode", "--json", file}).out;
    check_success(run_process({"gzip", "-k", file}));
    check_success(run({"decode", "--json", file + ".gz"}));
    CHECK(run({"decode", "--json", file + ".gz"}).out == plain);
    const process_result input =
        run_process(words{"sh", "-c", "exec \"$@\" < '" + file + ".gz'", "sh", "env"} + ibtool({"decode", "--json"}));
    CHECK(input.out == plain);
    const std::string mad = files.write("mad.hex", "0x01550101" + std::string(2 * 252, '0') + '\n');
    const std::string of_text = run({"decode", "--json", mad}).out;
    check_success(run_process({"gzip", mad}));
    CHECK(run({"decode", "--json", mad + ".gz"}).out == of_text);
    // For a truncated file, decode prints the packets before the end and the reason.
    const std::string compressed = read_file(file + ".gz");
    const process_result cut =
        run({"decode", "--json", files.write("cut.pcap.gz", compressed.substr(0, compressed.size() * 3 / 4))});
    CHECK(cut.status == 3);
    CHECK(plain.starts_with(cut.out));
    CHECK_FALSE(cut.out.empty());
    CHECK_THAT(cut.err, EndsWith("cut.pcap.gz': the compressed data is truncated\n"));
}

TEST_CASE("an unreliable datagram to another queue pair is a MAD only if its content looks like a MAD") {
    const directory files;
    std::array<u8, mad::mad_size> payload{};
    const auto decoded = [&](u32 queue_pair) {
        const mad::packet_address to{iba::lid{1}, iba::lid{2}, 0, 0xffff, 0x49, queue_pair, 0x0b1b};
        return json::parse(
            run({"decode", "--json", files.write("packet", hex(mad::make_packet(to, 1, payload)) + '\n')}).out);
    };
    for (const auto& [type, name] :
         {std::pair<unsigned, const char*>{0x0800, "IPv4"}, {0x86dd, "IPv6"}, {0x0806, "ARP"}}) {
        payload[0] = static_cast<u8>(type >> 8), payload[1] = static_cast<u8>(type);
        const json packet = decoded(0x48);
        CHECK(packet["datagram"] == fmt::format("{} over InfiniBand to queue pair 0x48", name));
        CHECK(packet["data"] == "0x" + hex(payload));
        CHECK_FALSE(packet.contains("attribute"));
    }
    payload[2] = 1; // not IPoIB
    CHECK(decoded(0x123456)["datagram"] == "datagram to queue pair 0x123456");
    CHECK_THAT(run({"decode", files / "packet"}).out,
               Contains("\ndatagram to queue pair 0x123456\n") && !Contains("unknown class"));
    // A packet to queue pair 1 is a MAD. MADs of a redirected class go to another queue pair.
    CHECK_FALSE(decoded(1).contains("datagram"));
    payload = {1, 4, 1, 1}; // a Get of performance management
    payload[17] = 1;        // ClassPortInfo
    CHECK(decoded(0x48)["attribute"] == "MADClassPortInfo");
    CHECK_FALSE(decoded(0x48).contains("datagram"));
}

} // namespace ibtool_captures_test
