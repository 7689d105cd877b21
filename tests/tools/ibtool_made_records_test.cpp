// SPDX-License-Identifier: MIT
// ibtool_made_records_test.cpp - saquery and vendstat compared with infiniband-diags. A server replies with a different
// value in each field, because the records of OpenSM and ibsim contain mostly zeros.
#include "program/ibtool_subnet.hpp"
#include "subnet/made_records.hpp"
#include <comad/iba/detail/class_port_info.hpp>
#include <comad/iba/detail/mellanox.hpp>
#include <comad/iba/query.hpp>
#include <comad/iba/sa.hpp>
#include <comad/mad/detail/unique_fd.hpp>
#include <comad/server/responder.hpp>

#include <fmt/format.h>

#include <array>
#include <atomic>
#include <cstring>
#include <mutex>
#include <optional>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <thread>
#include <utility>

namespace ibtool_made_records_test {

using namespace ibtool_rig;
using namespace comad;
using iba::Method;
using iba::MgmtClass;

namespace {

/// Declares the client a subnet manager with `struct sim_ctl` of type SIM_CTL_SET_ISSM. ibsim delivers requests only to
/// such clients.
void be_manager(const std::string& sockname, u32 client) {
    const auto address_of = [&](const std::string& which) {
        const std::string name = sockname + ':' + which;
        sockaddr_un a{};
        a.sun_family = AF_UNIX;
        REQUIRE(name.size() + 2 <= sizeof a.sun_path);
        std::memcpy(a.sun_path + 1, name.c_str(), name.size() + 1);
        return std::pair(a, static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size() + 2));
    };
    const mad::unique_fd fd{::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
    const auto [ours, our_size] = address_of("ctl1");
    const auto [theirs, their_size] = address_of("ctl");
    REQUIRE(::bind(fd.get(), reinterpret_cast<const sockaddr*>(&ours), our_size) == 0);
    REQUIRE(::connect(fd.get(), reinterpret_cast<const sockaddr*>(&theirs), their_size) == 0);
    std::array<u32, 20> message{0xdeadbeef, client, 9, sizeof(u32), 1};
    REQUIRE(::send(fd.get(), message.data(), sizeof message, 0) == sizeof message);
    REQUIRE(::recv(fd.get(), message.data(), sizeof message, 0) == sizeof message);
    REQUIRE(message[2] == 9);
}

/// A server in its own thread that replies at a port of the subnet until the object is destroyed.
class server_at {
public:
    server_at(const transports::ibsim_options& where, const server::responder& answers)
        : answers_(answers), transport_(where) {
        be_manager(where.sockname, transport_.client_id());
        thread_ = std::thread([this] { run(); });
    }
    ~server_at() {
        is_over_ = true;
        thread_.join();
    }

private:
    void run() {
        std::array<u8, 512> buffer{};
        while (!is_over_) {
            pollfd event{transport_.native_handle(), POLLIN, 0};
            ::poll(&event, 1, 20);
            const mad::received r = transport_.receive(buffer);
            if (r.state == mad::receive_state::message && r.status == 0) answer(r);
        }
    }
    void answer(const mad::received& r) {
        const std::vector<u8> reply = answers_.answer(r.mad, r.source);
        if (reply.empty()) return;
        std::array<u8, mad::headroom + mad::mad_size> packet{};
        std::ranges::copy(reply, packet.begin() + mad::headroom);
        const mad::any_path back = mad::path_back(r.source);
        transport_.send({.path = &back,
                         .mad = packet.data() + mad::headroom,
                         .size = mad::mad_size,
                         .mgmt_class = reply[1],
                         .class_version = reply[2],
                         .expects_reply = false,
                         .attempt_timeout = {},
                         .operation_timeout = {}});
    }

    const server::responder& answers_;
    transports::ibsim_transport transport_;
    std::atomic<bool> is_over_ = false;
    std::thread thread_;
};

/// Decodes a structure, changes it with `how` and encodes it again.
template <class T> void change(std::span<u8> bytes, auto&& how) {
    T value;
    iba::decode(value, bytes.data());
    how(value);
    iba::encode(value, bytes.data());
}

/// Changes a record so that infiniband-diags 44 has names for its values and reads its fields at the IBA's offsets.
void correct(std::string_view name, std::span<u8> bytes, unsigned pattern) {
    using namespace iba::sa;
    using namespace iba::vend;
    if (name == "SANodeRecord")
        change<NodeRecord>(bytes,
                           [&](auto& r) { r.nodeInfo.nodeType = iba::NodeType{static_cast<u8>(1 + pattern % 3)}; });
    if (name == "SAPortInfoRecord") // infiniband-diags 44 does not support XDR
        change<PortInfoRecord>(bytes, [](auto& r) {
            r.portInfo.linkSpeedExtSupported2 = 0;
            r.portInfo.linkSpeedExtActive2 = {};
        });
    if (name == "SAMCMemberRecord") bytes[49] = 0;        // infiniband-diags reads ProxyJoin from the wrong bit
    if (name == "SAPKeyTableRecord") bytes[2] = bytes[3]; // infiniband-diags swaps the bytes of blockNum
    if (name == "SAVLArbitrationTableRecord")             // infiniband-diags prints the reserved bits before a VL
        for (std::size_t i = 8; i < bytes.size(); i += 2) bytes[i] &= 0xf;
    if (name == "MADClassPortInfo") {
        bytes[6] |= 1; // capabilityMask2, IsMulticastTopSupported (bit 3): prints MulticastTop of a switch
        bytes[32] = 0; // reserved byte before redirectQP
    }
    if (name == "MlxGeneralInfo") {
        // The device is an InfiniScale III or a Quantum, which has its firmware version in another place.
        // infiniband-diags prints numbers with a sign. It prints the PSID and the bytes after the PSID up to the first
        // zero.
        change<MlxGeneralInfo>(bytes, [&](auto& g) { g.device_id = pattern % 2 ? 0xd2f0 : 0xb924; });
        for (const std::size_t i : {72, 76, 80, 84}) bytes[i] &= 0x7f;
        bytes[71] = 0;
    }
    if (name == "MlxCounterGroupInfo")
        change<MlxCounterGroupInfo>(bytes, [&](auto& g) { g.groupCount = static_cast<u8>(1 + pattern % 2); });
}

/// Builds records with a different value in each field. Each round uses other values.
class made_records {
public:
    std::atomic<unsigned> round = 0;

    /// Returns the number of records in a reply that fit into the part of an SA MAD that ibsim's library passes to
    /// infiniband-diags.
    static unsigned count(const iba::record_info& info) { return std::max(1u, 168 / stride(info)); }
    std::vector<u8> record(const iba::record_info& info, unsigned i) const {
        const unsigned pattern = round * count(info) + i;
        std::vector<u8> bytes = test::made_bytes(info, pattern);
        correct(info.name, bytes, pattern);
        if (info.name == "SANodeRecord") // the port is the first member of all groups
            change<iba::sa::NodeRecord>(bytes,
                                        [&](auto& r) { r.nodeInfo.portGUID = member(0).portGID.interface_id(); });
        if (info.name == "SAInformInfoRecord")
            change<iba::sa::InformInfoRecord>(bytes, [&](auto& r) { r.informInfo.isGeneric = round % 2; });
        return bytes;
    }
    server::response operator()(const server::request& r) const {
        if (r.header.mgmtClass == MgmtClass::SubnAdm) remember(r);
        std::vector<u8> all;
        const bool has_address = r.attribute == &iba::info_of<iba::vend::MlxConfigSpace>; // one record per address
        for (unsigned i = 0; i < count(*r.attribute); ++i) {
            const std::vector<u8> one = record(*r.attribute, has_address ? r.data[9] : i);
            all.insert(all.end(), one.begin(), one.end());
        }
        if (r.header.method != Method::GetTable) return server::response::data(all);
        if (is_of_another_port(r)) all.clear();
        return server::response::table(all, r.attribute->bytes);
    }

    /// Returns the queries that the SA received since the previous call: attribute, method and modifier, component
    /// mask, components.
    std::vector<std::string> take_requests() {
        const std::lock_guard lock(mutex_);
        return std::exchange(requests_, {});
    }

private:
    void remember(const server::request& r) const {
        std::string text = fmt::format("{} {:x} {:x} {:#x}", r.attribute->name, static_cast<unsigned>(r.header.method),
                                       r.header.attributeModifier, r.component_mask());
        for (unsigned i = 0; i < r.attribute->bytes && r.component_mask(); ++i)
            text += fmt::format(" {:02x}", r.data[i]);
        const std::lock_guard lock(mutex_);
        requests_.push_back(text);
    }
    mutable std::mutex mutex_;
    mutable std::vector<std::string> requests_;
    static unsigned stride(const iba::record_info& info) { return (info.bytes + 7) / 8 * 8; }
    iba::sa::MCMemberRecord member(unsigned i) const {
        iba::sa::MCMemberRecord m;
        iba::decode(m, record(iba::info_of<iba::sa::MCMemberRecord>, i).data());
        return m;
    }
    /// Returns true if a query selects the port GUID of another port. The server evaluates no other component.
    /// infiniband-diags does not send this component and searches the records itself.
    bool is_of_another_port(const server::request& r) const {
        using iba::sa::NodeRecord;
        constexpr u64 mask = iba::mask_of<&NodeRecord::nodeInfo, &iba::smp::NodeInfo::portGUID>;
        return r.attribute == &iba::info_of<NodeRecord> && (r.component_mask() & mask) != 0 &&
               r.payload<NodeRecord>().nodeInfo.portGUID != member(0).portGID.interface_id();
    }
};

/// A subnet whose OpenSM has exited. A server with constructed records replies instead of OpenSM.
class made_subnet {
public:
    made_records records;

    made_subnet() {
        const auto answer = [this](const server::request& r) { return records(r); };
        answers_.add({MgmtClass::SubnAdm, 2, mad::methods(Method::Get, Method::GetTable)}, answer);
        answers_.add({iba::vend::mellanox_class, 1, mad::methods(Method::Get, Method::Set)}, answer);
        server_.emplace(net_.at("S1"), answers_);
    }
    std::string ours(const words& command) const {
        const process_result r = net_.ours(command);
        check_success(r);
        return r.out;
    }
    /// Returns the output of a command that writes a value. The command reads back another value, because the server
    /// replies with constructed values.
    std::string ours_not_set(const words& command) const {
        const process_result r = net_.ours(command);
        CHECK(r.status == 3);
        CHECK_THAT(r.err, StartsWith("ibtool: Lid 1: not set: "));
        return r.out;
    }
    std::string theirs(const words& command) const { return net_.peer(command).out; }

private:
    subnet net_{topology, manager::leaves};
    server::responder answers_;
    std::optional<server_at> server_;
};

/// Number of rounds after which any two 4-bit fields have differed. In each round the server has other records.
constexpr unsigned rounds = 4;

} // namespace

TEST_CASE("saquery prints each field of a record where infiniband-diags' saquery prints the field") {
    made_subnet s;
    struct {
        words arguments;
        const iba::record_info& info;
    } const all[] = {
        {{"NR", "1"}, iba::info_of<iba::sa::NodeRecord>},
        {{"PIR", "1/1"}, iba::info_of<iba::sa::PortInfoRecord>},
        {{"-s"}, iba::info_of<iba::sa::PortInfoRecord>},
        {{"SWIR", "1"}, iba::info_of<iba::sa::SwitchInfoRecord>},
        {{"SMIR", "-K"}, iba::info_of<iba::sa::SMInfoRecord>},
        {{"LR"}, iba::info_of<iba::sa::LinkRecord>},
        {{"PR"}, iba::info_of<iba::sa::PathRecord>},
        {{"MCMR"}, iba::info_of<iba::sa::MCMemberRecord>},
        {{"-g"}, iba::info_of<iba::sa::MCMemberRecord>},
        {{"-m"}, iba::info_of<iba::sa::MCMemberRecord>},
        {{"SR"}, iba::info_of<iba::sa::ServiceRecord>},
        {{"SR", "-K"}, iba::info_of<iba::sa::ServiceRecord>},
        {{"PIR", "1/1", "-K"}, iba::info_of<iba::sa::PortInfoRecord>},
        {{"IIR", "-K"}, iba::info_of<iba::sa::InformInfoRecord>},
        {{"IIR"}, iba::info_of<iba::sa::InformInfoRecord>},
        {{"LFTR"}, iba::info_of<iba::sa::LinearForwardingTableRecord>},
        {{"MFTR"}, iba::info_of<iba::sa::MulticastForwardingTableRecord>},
        {{"SL2VL", "1"}, iba::info_of<iba::sa::SLToVLMappingTableRecord>},
        {{"PKTR"}, iba::info_of<iba::sa::PKeyTableRecord>},
        {{"VLAR", "1"}, iba::info_of<iba::sa::VLArbitrationTableRecord>},
        {{"GIR"}, iba::info_of<iba::sa::GUIDInfoRecord>},
        {{"-c"}, iba::info_of<iba::ClassPortInfo>},
    };
    for (const auto& one : all) {
        CAPTURE(one.arguments, one.info.name);
        const unsigned count = made_records::count(one.info);
        CHECK(test::are_distinguishable(one.info, rounds * count));
        for (s.records.round = 0; s.records.round < rounds; ++s.records.round) {
            std::string ours = s.ours(words{"saquery"} + one.arguments);
            const std::string theirs = s.theirs(words{"saquery"} + one.arguments);
            // The reply that infiniband-diags gets is truncated before these bytes.
            if (one.arguments[0] == "SR") ours.erase(ours.rfind("\t\tServiceData64.2"));
            // infiniband-diags continues with records that it reads from the remaining bytes of the MAD.
            CHECK(theirs.substr(0, ours.size()) == ours);
            CHECK_FALSE(ours.empty());
        }
    }
}

TEST_CASE("saquery queries the components that infiniband-diags' saquery queries") {
    made_subnet s;
    const words all[] = {
        {"LR", "2/2", "3/2"},
        {"LR", "2", "3"},
        {"LR", "2/", "3/"},
        {"-x", "2/4", "7"},
        {"linkrecord", "2"}, // names are not case-sensitive
        {"lr"},
        {"PIR", "3/2/1"},
        {"SL2VL", "3//2"},
        {"PKTR", "3/1/2"},
        {"VLAR", "0x3/1/2"},
        {"LFTR", "3/5"},
        {"MFTR", "3/1/5"},
        {"MFTR", "3/1"},
        {"GIR", "3/1"},
        {"SWIR", "3"},
        {"SMIR", "3"},
        {"IIR", "fe80::a001"},
        {"3"},
        {"NR", "3"},
        {"PR", "-n", "5", "--slid", "2", "--dlid", "3", "-r", "1"},
        {"PR", "-n", "5", "--sgid", "fe80::2", "--dgid", "fe80::3", "--reversible", "0"},
        {"-p", "-n", "5", "--pkey", "0x8001", "-Q", "3", "--sl", "2", "-M", "0x84", "-R", "0x43", "--pkt_lifetime",
         "0x92"},
        {"PR", "-n", "5", "--mtu", "3", "--rate", "5", "-T", "1", "-F", "2", "--hop_limit", "3", "--service_id",
         "0x1234567890"},
        {"--src-to-dst", "2:3"},
        {"--src-to-dst", ":3"},
        {"--sgid-to-dgid", "fe80::2-fe80::3"},
        {"MCMR", "--mlid", "0xc003", "--mgid", "ff12::1", "--gid", "fe80::2", "-q", "0x80010000", "-J", "1", "--scope",
         "2"},
        {"MCMR", "-M", "0x84", "--rate", "0x83", "--pkt_lifetime", "0x12", "--sl", "1", "-F", "3", "-H", "4",
         "--tclass", "5"},
    };
    for (const words& arguments : all) {
        CAPTURE(arguments);
        s.theirs(words{"saquery"} + arguments);
        auto theirs = s.records.take_requests();
        s.ours(words{"saquery"} + arguments);
        // infiniband-diags queries ClassPortInfo before it queries SwitchInfo records.
        std::erase_if(theirs, [](const std::string& r) { return r.starts_with("MADClassPortInfo"); });
        REQUIRE(theirs.size() == 1);
        CHECK(s.records.take_requests() == theirs);
    }
    // With -X, infiniband-diags sets the last of eight bits. The IBA defines the first bit (15.2.5.17).
    s.ours({"saquery", "MCMR", "-X", "1"});
    CHECK_THAT(
        s.records.take_requests().front(),
        StartsWith(fmt::format("SAMCMemberRecord 12 0 {:#x} ", iba::mask_of<&iba::sa::MCMemberRecord::proxyJoin>)) &&
            EndsWith(" 80 00 00"));
    // infiniband-diags does not send these queries, or sends them in another form.
    const auto query_line = [&](const words& arguments) {
        const std::string text = s.ours(words{"saquery"} + arguments);
        CHECK_FALSE(text.empty());
        const auto requests = s.records.take_requests();
        REQUIRE_FALSE(requests.empty());
        CHECK((requests.size() == 1 || arguments == words{"SMInfo"})); // saquery also queries each manager
        return requests.front();
    };
    using PR = iba::sa::PathRecord;
    CHECK_THAT(query_line({"PR"}), StartsWith(fmt::format("SAPathRecord 12 0 {:#x} ",
                                                          iba::mask_of<&PR::SGID> | iba::mask_of<&PR::numbPath>)));
    CHECK_THAT(
        query_line({"PR", "--dlid", "3"}),
        StartsWith(fmt::format("SAPathRecord 12 0 {:#x} ", iba::mask_of<&PR::DLID> | iba::mask_of<&PR::numbPath>)));
    CHECK(query_line({"PR", "--no-defaults"}) == "SAPathRecord 12 0 0x0");
    CHECK(query_line({"PR", "--get"}) == "SAPathRecord 1 0 0x0");
    CHECK_THAT(query_line({"NR", "3", "--get"}), StartsWith("SANodeRecord 1 0 0x1 00 03 "));
    CHECK_THAT(query_line({"RFTRecord", "3/1"}), StartsWith("SARandomForwardingTableRecord 12 0 0x3 00 03 00 01 "));
    CHECK(query_line({"ServiceAssociationRecord"}) == "SAServiceAssociationRecord 12 0 0x0");
    CHECK(query_line({"SALinearForwardingTableRecord"}) == "SALinearForwardingTableRecord 12 0 0x0");
    CHECK(query_line({"LinearForwardingTableRecord"}) == "SALinearForwardingTableRecord 12 0 0x0");
    CHECK(query_line({"SWI"}) == "SASwitchInfoRecord 12 0 0x0"); // prefixes of names
    CHECK(query_line({"SMInfo"}) == "SASMInfoRecord 12 0 0x0");
}

TEST_CASE("vendstat prints each field where infiniband-diags' vendstat prints the field") {
    made_subnet s;
    for (s.records.round = 0; s.records.round < rounds; ++s.records.round) {
        for (const words& arguments :
             {words{"-N", "1"}, words{"-i", "1", "12"}, words{"-R", "10013c", "-R", "4,ff", "1"}})
            CHECK(s.ours(words{"vendstat"} + arguments) == s.theirs(words{"vendstat"} + arguments));
        for (const words& arguments : {words{"-c", "2,8", "1", "12"}, words{"-W", "10013c,12", "-W", "4,ff,f0", "1"}})
            CHECK(s.ours_not_set(words{"vendstat"} + arguments) == s.theirs(words{"vendstat"} + arguments));
    }
    s.records.round = 0;
    const words ours = lines_in_order(s.ours({"vendstat", "-w", "1"})),
                theirs = lines_in_order(s.theirs({"vendstat", "-w", "1"}));
    REQUIRE(ours.size() == 24);
    REQUIRE(theirs.size() == 24);
    for (std::size_t i = 0; i < 24; ++i) {
        // From the 17th port on, infiniband-diags is off by one: it prints port 4 twice and does not print port 20.
        const std::size_t begin = i < 16 ? 0 : ours[i].find(':'), there = i < 16 ? 0 : theirs[i].find(':');
        CHECK(ours[i].substr(begin) == theirs[i].substr(there));
    }
    CHECK_THAT(ours[16], StartsWith("Port 20:"));
    const auto as_json = lines_in_order(s.ours({"vendstat", "-w", "1", "--json"}));
    REQUIRE(as_json.size() == 24);
    const auto first = nlohmann::json::parse(as_json[0]);
    CHECK(first["LID"] == 1);
    CHECK_THAT(ours[0], StartsWith(fmt::format("Port {}: PortXmitWait {:#x}", first["port"].get<unsigned>(),
                                               first["counters"]["portXmitWait"].get<unsigned>())));
    CHECK_THAT(ours[23], StartsWith("Port 3:"));
}

} // namespace ibtool_made_records_test
