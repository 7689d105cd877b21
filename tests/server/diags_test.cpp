// SPDX-License-Identifier: MIT
// diags_test.cpp - the responders to ibping and ibsysstat compared byte by byte with infiniband-diags, as handlers and
// as hosts of a simulated subnet. Statuses are those of the IBA (13.4.7).
#include "library/diags_mads.hpp"
#include "support/catch.hpp"
#include "wire/sim_client.hpp"
#include <comad/iba/detail/class_port_info.hpp>
#include <comad/server/diags.hpp>

#include <algorithm>
#include <sstream>
#include <string>
#include <unistd.h>

using namespace comad;
using namespace comad::test;
namespace server = comad::server;

namespace {

/// The host on which the servers of infiniband-diags ran.
const server::host_info seen_host{"guest.example.(none)", "cpu 0: model  QEMU TCG CPU version 2.5+ MHZ  2793.510\n"};

server::responder both(const server::host_info& host = seen_host) {
    server::responder answers;
    server::add_ping(answers, host);
    server::add_sysstat(answers, host);
    return answers;
}

mad_vector request_of(const char* name, u16 attribute, u8 method = 0x01) {
    mad_vector request = diags_mad(name);
    request[3] = method;
    request[16] = static_cast<u8>(attribute >> 8);
    request[17] = static_cast<u8>(attribute);
    return request;
}
unsigned status_of(const mad_vector& reply) {
    REQUIRE(reply.size() == 256);
    CHECK(reply[3] == 0x81);
    return static_cast<unsigned>(reply[4] << 8 | reply[5]);
}

} // namespace

TEST_CASE("responders of ping and ibsysstat reply byte for byte like infiniband-diags") {
    const server::responder answers = both();
    for (const std::string name : {"ping", "sysstat_ping", "sysstat_host", "sysstat_cpu"}) {
        CAPTURE(name);
        const mad_vector request = diags_mad(name + "_request");
        mad_vector wanted = diags_mad(name + "_reply");
        std::copy_n(request.begin() + 8, 8, wanted.begin() + 8); // another time and another transaction ID
        // ibsysstat -S sends RMPP version 1 and no response time, although it does not use RMPP.
        wanted[24] = wanted[26] = 0;
        CHECK(answers.answer(request, {}) == wanted);
    }
}

TEST_CASE("the reply to an ibsysstat ping contains the data of the request") {
    mad_vector request = diags_mad("sysstat_ping_request");
    for (std::size_t i = 40; i < 256; ++i) request[i] = static_cast<u8>(i);
    mad_vector wanted = request;
    wanted[3] = 0x81;
    CHECK(both().answer(request, {}) == wanted);
}

TEST_CASE("a host name is limited to 215 bytes and a NUL") {
    const auto name_in = [](const mad_vector& reply) { return std::string(reply.begin() + 40, reply.end()); };
    const server::responder answers = both({std::string(300, 'n'), {}});
    CHECK(name_in(answers.answer(diags_mad("ping_request"), {})) == std::string(215, 'n') + '\0');
    CHECK(name_in(answers.answer(diags_mad("sysstat_host_request"), {})) == std::string(215, 'n') + '\0');
}

TEST_CASE("a CPU list that does not fit a MAD is sent by RMPP") {
    const auto answer_of = [](std::size_t bytes) {
        return both({"host", std::string(bytes, 'c')}).answer(diags_mad("sysstat_cpu_request"), {});
    };
    const mad_vector single = answer_of(215), several = answer_of(216);
    REQUIRE(single.size() == 256);
    CHECK((single[26] & 7) == 0); // without RMPP
    CHECK(single[255] == 0);
    REQUIRE(several.size() == 40 + 217);
    CHECK(several[24] == 1);                                        // version
    CHECK(several[25] == 1);                                        // DATA
    CHECK((several[26] & 7) == 3);                                  // Active, First
    CHECK(iba::load_be<u32>(several.data() + 28) == 1);             // the first segment
    CHECK(iba::load_be<u32>(several.data() + 32) == 217 + 2u * 4u); // including the OUI of both segments
    CHECK(std::string(several.begin() + 40, several.end()) == std::string(216, 'c') + '\0');
}

TEST_CASE("ping and ibsysstat have a ClassPortInfo and reject other attributes, methods and OUIs") {
    const server::responder answers = both();
    for (const char* name : {"ping_request", "sysstat_ping_request"}) {
        CAPTURE(name);
        const mad_vector info = answers.answer(request_of(name, 0x0001), {});
        CHECK(status_of(info) == 0);
        CHECK(info[40] == 1); // base version
        CHECK(info[41] == 1); // class version
        CHECK(status_of(answers.answer(request_of(name, 0x0013), {})) == 0x0c);
        CHECK(status_of(answers.answer(request_of(name, 0x0010, 0x02), {})) == 0x08); // Set
        CHECK(answers.answer(request_of(name, 0x0010, 0x03), {}).empty());            // Send
        CHECK(answers.answer(request_of(name, 0x0010, 0x81), {}).empty());            // GetResp
        mad_vector foreign = diags_mad(name);
        foreign[39] = 0x06;
        CHECK(status_of(answers.answer(foreign, {})) == 0x08);
        mad_vector version = diags_mad(name);
        version[2] = 2;
        CHECK(status_of(answers.answer(version, {})) == 0x04);
    }
    CHECK(status_of(answers.answer(request_of("sysstat_ping_request", 0x0000), {})) == 0x0c);
    CHECK(status_of(answers.answer(request_of("ping_request", 0x0010), {})) == 0x0c);
}

TEST_CASE("add_ping with another OUI serves only that OUI") {
    server::responder answers;
    server::add_ping(answers, seen_host, 0x123456);
    mad_vector request = diags_mad("ping_request");
    CHECK(status_of(answers.answer(request, {})) == 0x08);
    request[37] = 0x12;
    request[38] = 0x34;
    request[39] = 0x56;
    CHECK(status_of(answers.answer(request, {})) == 0);
    const auto registered = answers.registrations();
    REQUIRE(registered.size() == 1);
    CHECK(registered[0].OUI == 0x123456);
    CHECK(registered[0].methods == 2); // Get
}

TEST_CASE("CPU information is parsed from text in the format of /proc/cpuinfo") {
    std::istringstream two(
        "processor\t: 0\nvendor_id\t: X\nmodel name\t: Made up\ncpu MHz\t\t: 2400.000\nflags\t\t: a b\n\n"
        "processor\t: 1\nmodel name\t: Other: one\ncpu MHz\t\t: 1.5\n\n");
    CHECK(server::read_cpus(two) == "cpu 0: model  Made up MHZ  2400.000\ncpu 1: model  Other: one MHZ  1.5\n");
    std::istringstream bare("model name\t: of nobody\nprocessor\t: 0\nprocessor\t: 1\n"), empty("");
    CHECK(server::read_cpus(bare) == "cpu 0: model  MHZ \ncpu 1: model  MHZ \n");
    CHECK(server::read_cpus(empty).empty());
    std::string many;
    for (int i = 0; i < 300; ++i) many += "processor\t: 0\n";
    many += "cpu MHz\t\t: 7\n";
    std::istringstream crowd(many);
    const std::string text = server::read_cpus(crowd);
    CHECK(std::count(text.begin(), text.end(), '\n') == 256);
    CHECK(text.find('7') == text.find("cpu 7") + 4); // no processor has the description of the last one
}

TEST_CASE("local host information contains the host name") {
    const server::host_info host = server::this_host();
    char name[256] = {};
    REQUIRE(::gethostname(name, sizeof name - 1) == 0);
    CHECK(host.name.starts_with(name));
    CHECK(host.cpus.starts_with("cpu 0: model "));
}

TEST_CASE("simulated hosts reply to ping with their node names, and switches do not reply") {
    namespace sim = transports::sim;
    auto s = sim::make_sim("fattree2,radix=4,sm=1", sim::time_mode::virtual_);
    for (const sim::node& n : s.fabric->graph().nodes) {
        const mad::IBPath path = to_lid(value(n.ports[n.first_port()].LID));
        const auto text = [&](const char* name) {
            smp_bytes request;
            const mad_vector bytes = diags_mad(name);
            std::copy(bytes.begin(), bytes.end(), request.begin());
            const auto reply = send_query(*s.transport, path, request);
            REQUIRE(reply);
            CHECK((*reply)[5] == (n.is_switch() ? 0x08 : 0));
            return std::string(reinterpret_cast<const char*>(reply->data()) + 40);
        };
        const std::string name = n.is_switch() ? "" : n.description;
        CHECK(text("ping_request") == name);
        CHECK(text("sysstat_host_request") == name);
        CHECK(text("sysstat_cpu_request").empty() == n.is_switch());
    }
}
