// SPDX-License-Identifier: MIT
// sweep_file_test.cpp - the bytes of sweep files, and files that are damaged at any place. The expected bytes were put together by hand
// from docs/reference/sweep-files.md, with checksums of Python's zlib.crc32.
#include "subnet/made_subnet.hpp"
#include "support/catch.hpp"
#include <comad/counters/detail/sweep_file.hpp>

#include <boost/crc.hpp>
#include <fmt/format.h>

#include <string>
#include <vector>

namespace sweep_file_test {

using namespace comad;
using namespace comad::counters;
using namespace std::chrono_literals;
using test::made_host_port, test::made_reading, test::made_router_port, test::made_switch_port;

namespace {

std::string bytes_of(const std::string& hex) {
    std::string bytes;
    for (std::size_t at = 0; at < hex.size(); at += 2)
        bytes += static_cast<char>(std::stoi(hex.substr(at, 2), nullptr, 16));
    return bytes;
}
const std::string header = bytes_of("636f6d61647377700000000199e78999");
const std::string ports = bytes_of("50000000120d88499e010002c903000001000103682d3101010007397f0150");
const std::string first = bytes_of("53000000173a42c7c10117979cfe362a00008827020007068102018102d00f06b4d2e61d");
const std::string second = bytes_of("5300000015d44ca6ed0217979cfe71c4ca0088270100070881020101f403d29e5f72");

/// The subnet of these bytes: one host with one port.
discovery::subnet one_host() {
    discovery::subnet s;
    discovery::node& n = s.nodes.emplace_back();
    n.info.nodeGUID = iba::guid{0x0002c90300000100};
    n.info.nodeType = iba::NodeType::CA;
    n.info.numPorts = 1;
    n.description = "h-1";
    n.ports.resize(2);
    n.ports[1].info.emplace().LID = iba::lid{7};
    s.by_guid.emplace(n.info.nodeGUID, 0);
    return s;
}

/// A sweep of one_host(): portXmitData with 64 bits, and symbolErrorCounter with 16 bits.
sweep sweep_of_host(mad::time_point begin, mad::duration read_after, u64 words, u64 errors, u64 mads) {
    sweep s;
    s.begin = begin;
    s.end = begin + 5us;
    s.mads = mads;
    reading& r = s.ports.emplace_back();
    r.where = {0, 1};
    r.valid = true;
    r.counters.at = begin + read_after;
    REQUIRE(r.counters.counters.set(counter::portXmitData, words, true));
    REQUIRE(r.counters.counters.set(counter::symbolErrorCounter, errors, false));
    return s;
}

/// What a reader returns, and its error.
struct read_file {
    explicit read_file(const std::string& bytes, std::size_t step = std::string::npos) {
        try {
            for (std::size_t at = 0; at < bytes.size(); at += std::min(step, bytes.size())) {
                reader.take(std::string_view(bytes).substr(at, step));
                while (auto found = reader.next()) sweeps.push_back(std::move(*found));
            }
            reader.finish();
        } catch (const sweep_file_error& e) {
            problem = e.what();
            is_truncated = e.is_truncated;
        }
    }
    sweep_file_reader reader;
    std::vector<saved_sweep> sweeps;
    std::string problem;
    bool is_truncated = false;
};

/// Checks that a sweep from a file has the counters and times of the original.
void check_equal(const sweep& read, const sweep& written) {
    REQUIRE(read.ports.size() == written.ports.size());
    CHECK(read.end - read.begin == written.end - written.begin);
    CHECK(read.mads == written.mads);
    for (std::size_t i = 0; i < read.ports.size(); ++i) {
        CHECK(read.ports[i].valid == written.ports[i].valid);
        if (!written.ports[i].valid) continue;
        CHECK(read.ports[i].counters.counters == written.ports[i].counters.counters);
        CHECK(read.ports[i].counters.at - read.begin ==
              std::chrono::floor<std::chrono::microseconds>(written.ports[i].counters.at - written.begin));
    }
}

/// Three sweeps of the constructed subnet with very different values, and one of another subnet; as bytes, by record.
struct long_file {
    long_file() {
        for (unsigned n = 0; n < 3; ++n) {
            sweep s;
            s.begin = mad::time_point(1s * n);
            s.end = s.begin + 77ns;
            s.mads = 10 + n;
            for (const discovery::port_ref where : {made_switch_port, made_host_port, made_router_port}) {
                s.ports.push_back(made_reading(where, 1 + n * 7 + where.node));
                s.ports.back().counters.at = s.begin + 1us * (9 - where.node);
            }
            s.ports[n].valid = n == 1;
            add(s, test::made_subnet());
        }
        add(sweep_of_host(mad::time_point(9s), 3us, 1000, 3, 2), one_host());
    }
    void add(const sweep& s, const discovery::subnet& in) {
        written.push_back(s);
        bytes += writer.add(s, in, 1700000000s + 1s * written.size());
        ends.push_back(bytes.size());
    }
    sweep_file_writer writer;
    std::string bytes = sweep_file_writer::header();
    std::vector<sweep> written;
    std::vector<std::size_t> ends;
};

} // namespace

TEST_CASE("a sweep file has the documented bytes") {
    sweep_file_writer writer;
    CHECK(writer.header() == header);
    const mad::time_point begin(5s);
    CHECK(writer.add(sweep_of_host(begin, 3us, 1000, 3, 2), one_host(), 1700000000s) == ports + first);
    CHECK(writer.add(sweep_of_host(begin + 1s, 4us, 1250, 3, 1), one_host(), 1700000001s) == second);
    CHECK(writer.sweeps() == 2);
}

TEST_CASE("a reader returns the sweeps of a file with their ports and Unix times, however the bytes arrive") {
    for (const std::size_t step : {std::string::npos, std::size_t{1}, std::size_t{7}}) {
        const read_file all(header + ports + first + second, step);
        CHECK(all.problem.empty());
        REQUIRE(all.sweeps.size() == 2);
        const saved_sweep &a = all.sweeps[0], &b = all.sweeps[1];
        CHECK((a.number == 1 && b.number == 2));
        CHECK(a.values.begin.time_since_epoch() == 1700000000s);
        CHECK(b.values.ports[0].counters.at.time_since_epoch() == 1700000001s + 4us);
        CHECK(a.values.mads == 2);
        CHECK(a.values.ports[0].counters.counters[counter::portXmitData] == 1000);
        CHECK(b.values.ports[0].counters.counters[counter::portXmitData] == 1250);
        CHECK(b.values.ports[0].counters.counters.width(counter::portXmitData) == 64);
        CHECK(b.values.ports[0].counters.counters.width(counter::symbolErrorCounter) == 16);
        CHECK(b.values.ports[0].counters.counters[counter::symbolErrorCounter] == 3);
        CHECK_FALSE(b.values.ports[0].counters.counters.has(counter::portRcvData));
        const discovery::node& n = b.subnet->nodes.at(0);
        CHECK(n.info.nodeGUID == iba::guid{0x0002c90300000100});
        CHECK(n.description == "h-1");
        CHECK(b.subnet->lid_at({0, 1}) == iba::lid{7});
        CHECK(all.reader.complete_bytes() == (header + ports + first + second).size());
    }
}

TEST_CASE("sweeps with any values, missing ports and another subnet in between are read as they were written") {
    const long_file file;
    const read_file all(file.bytes);
    CHECK(all.problem.empty());
    REQUIRE(all.sweeps.size() == file.written.size());
    for (std::size_t i = 0; i < all.sweeps.size(); ++i) check_equal(all.sweeps[i].values, file.written[i]);
    CHECK(all.sweeps[0].subnet->nodes.size() == 3);
    CHECK(all.sweeps[3].subnet->nodes.size() == 1);
}

TEST_CASE("a writer continues a file with the state of its reader") {
    const read_file start(header + ports + first);
    sweep_file_writer writer(start.reader.state());
    CHECK(writer.add(sweep_of_host(mad::time_point(1s), 4us, 1250, 3, 1), one_host(), 1700000001s) == second);
}

TEST_CASE("a file that ends anywhere keeps the sweeps that are complete") {
    const long_file file;
    for (std::size_t size = 0; size < file.bytes.size(); ++size) {
        const read_file all(file.bytes.substr(0, size));
        CAPTURE(size, all.problem);
        std::size_t complete = 0;
        while (complete < file.ends.size() && file.ends[complete] <= size) ++complete;
        REQUIRE(all.sweeps.size() == complete);
        for (std::size_t i = 0; i < complete; ++i) check_equal(all.sweeps[i].values, file.written[i]);
        const std::size_t end = complete ? file.ends[complete - 1] : header.size();
        CHECK(all.problem.empty() == (size == end));
        CHECK(all.is_truncated == (size > header.size() - 1 && size != end));
        if (size >= header.size()) CHECK(all.reader.complete_bytes() == end);
    }
    CHECK(read_file("").problem == "it is empty");
}

TEST_CASE("a changed byte is an error, and the sweeps before it stay correct") {
    const long_file file;
    for (std::size_t at = 0; at < file.bytes.size(); ++at) {
        std::string bytes = file.bytes;
        bytes[at] = static_cast<char>(bytes[at] ^ 0x20);
        const read_file all(bytes);
        CAPTURE(at, all.problem);
        CHECK_FALSE(all.problem.empty());
        CHECK(all.problem.find('\n') == all.problem.npos);
        REQUIRE(all.sweeps.size() < file.written.size());
        for (std::size_t i = 0; i < all.sweeps.size(); ++i) {
            CHECK(file.ends[i] <= at);
            check_equal(all.sweeps[i].values, file.written[i]);
        }
    }
}

// A size that is too large would otherwise look like a file that ends within a sweep, and the next sweep would replace the rest.
TEST_CASE("a changed bit in the head of a record is damage, and not an incomplete sweep") {
    const std::string bytes = header + ports + first + second;
    for (const std::size_t record : {header.size(), header.size() + ports.size(), bytes.size() - second.size()})
        for (std::size_t bit = 0; bit < 9 * 8; ++bit) {
            std::string changed = bytes;
            changed[record + bit / 8] = static_cast<char>(changed[record + bit / 8] ^ (1 << bit % 8));
            const read_file all(changed);
            CAPTURE(record, bit, all.problem);
            CHECK_FALSE(all.problem.empty());
            CHECK_FALSE(all.is_truncated);
        }
}

TEST_CASE("zeros at the end of a sweep file count as an incomplete sweep, and other bytes as damage") {
    const std::string bytes = header + ports + first;
    for (const std::size_t zeros : {1u, 8u, 9u, 4096u, 1u << 20}) {
        const read_file all(bytes + std::string(zeros, '\0'), 5000);
        CAPTURE(zeros, all.problem);
        CHECK(all.sweeps.size() == 1);
        CHECK(all.is_truncated);
        CHECK(all.reader.complete_bytes() == bytes.size());
    }
    CHECK_FALSE(read_file(bytes + std::string(4096, '\0') + "S").is_truncated);
    CHECK_FALSE(read_file(bytes + std::string((1u << 20) + 1, '\0')).is_truncated);
}

TEST_CASE("another kind of file and a newer version are refused by name") {
    CHECK(read_file("caguid=0xa000\nCa 1 \"H-000000000000a000\"\n").problem == "it is not a sweep file");
    CHECK(read_file("{}").problem == "it is not a sweep file");
    std::string newer = header.substr(0, 12);
    newer[11] = 2;
    boost::crc_32_type sum;
    sum.process_bytes(newer.data(), newer.size());
    for (unsigned shift = 32; shift > 0; shift -= 8) newer += static_cast<char>(sum.checksum() >> (shift - 8));
    CHECK(read_file(newer).problem == "it has format version 2, but this program reads version 1");
}

TEST_CASE("a counter can be set to each value of its field and to no larger value") {
    counter_values values;
    CHECK(values.set(counter::localLinkIntegrityErrors, 15, false)); // 4 bits (IBA 16.1.3.5)
    CHECK(values.is_pegged(counter::localLinkIntegrityErrors));
    CHECK_FALSE(values.set(counter::localLinkIntegrityErrors, 16, false));
    CHECK(values[counter::localLinkIntegrityErrors] == 15);
    CHECK_FALSE(values.set(counter::portUnicastXmitPkts, 1, false)); // only PortCountersExtended has it
    CHECK(values.set(counter::localLinkIntegrityErrors, 16, true));
    CHECK(values.width(counter::localLinkIntegrityErrors) == 64);
    values.remove(counter::localLinkIntegrityErrors);
    CHECK(values == counter_values());
}

} // namespace sweep_file_test
