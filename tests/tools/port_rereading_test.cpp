// SPDX-License-Identifier: MIT
// port_rereading_test.cpp - a session of ibtool whose local port changes in sysfs. A socket acts as the kernel side of
// the MAD device, and one SA replies.
#include "kernel/fake_kernel.hpp"
#include "kernel/sysfs_tree.hpp"
#include "session/session.hpp"
#include <comad/iba/detail/sa/records.hpp>
#include <comad/transports/sysfs.hpp>

#include <array>
#include <atomic>
#include <poll.h>
#include <string>
#include <thread>
#include <vector>

namespace port_rereading_test {

using namespace comad;
using namespace comad::test;
using namespace ibtool;

namespace {

/// A kernel that delivers replies only to requests to the SA at one LID.
class kernel_with_sa {
public:
    kernel_with_sa(fake_kernel& kernel, u16 SA_LID)
        : descriptor_(kernel.descriptor()), SA_LID_(SA_LID), thread_([this] { run(); }) {}
    ~kernel_with_sa() {
        ::shutdown(descriptor_, SHUT_RDWR);
        thread_.join();
    }
    std::atomic<unsigned> queried_elsewhere = 0;

private:
    void run() {
        std::array<u8, 320> packet;
        for (pollfd waiting{descriptor_, POLLIN, 0}; ::poll(&waiting, 1, -1) == 1;) {
            if (::read(descriptor_, packet.data(), packet.size()) <= 0) return;
            ib_user_mad_hdr header;
            std::memcpy(&header, packet.data(), sizeof header);
            if (packet[64 + 1] != class_SubnAdm || be16toh(header.lid) != SA_LID_) {
                ++queried_elsewhere;
                continue;
            }
            packet[64 + 3] |= 0x80;
            (void)!::write(descriptor_, packet.data(), packet.size());
        }
    }
    int descriptor_;
    u16 SA_LID_;
    std::thread thread_;
};

/// Queries the SA. Returns true if it replied.
coro::task<bool> query_sa(session& in) {
    auto answer = co_await in.schedule().SubnAdmGet(iba::query<iba::sa::NodeRecord>{});
    co_return answer.has_value();
}
/// Rereads the port of the session.
coro::task<bool> refresh(session& in) {
    co_await in.refresh_port();
    co_return true;
}

} // namespace

TEST_CASE("a session whose SA stops replying finds the new SA in sysfs and reports the changes of the port") {
    sysfs_tree tree;
    tree.abi();
    tree.port(0, "mlx5_0", 1, "InfiniBand", "4: ACTIVE", "5: LinkUp");
    tree.gids("mlx5_0", 1, {"fe80:0000:0000:0000:0002:c903:0000:0701"});
    const fs::path port = tree.port_dir("mlx5_0", 1);
    const auto set = [&](const char* file, const char* value) { tree.write(port / file, value); };
    set("lid", "0x7\n");
    set("lid_mask_count", "0\n");
    set("sm_lid", "0x1\n");
    set("sm_sl", "0\n");

    fake_kernel kernel;
    const kernel_with_sa sa_at_4(kernel, 4);
    const auto reader = sysfs_port_reader("mlx5_0/1", transports::port_use::umad, tree.root());
    global_options options;
    options.timeout = 200ms;
    options.retries = 0;
    session in(options, [&] {
        transports::umad_options how = kernel.options();
        how.name = "mlx5_0/1 (umad0)";
        sa::local_port now{iba::lid{7}, iba::gid(iba::link_local_prefix, iba::guid{0x0002c90300000701}), {}};
        now.sa_path = transports::get_end_port("mlx5_0/1", tree.root()).sa_path();
        return fabric(std::make_unique<transports::umad_transport>(kernel.device(), how), now, reader);
    });
    std::vector<std::string> lines;
    in.on_port_change([&](const std::string& line) { lines.push_back(line); });

    CHECK_FALSE(in.run(query_sa(in))); // sysfs still contains SM LID 1
    CHECK(lines.empty());
    set("sm_lid", "0x4\n");
    CHECK(in.run(refresh(in)));
    CHECK(in.run(query_sa(in)));
    CHECK(sa_at_4.queried_elsewhere == 1);
    set("lid", "0x8\n");
    set("lid_mask_count", "1\n");
    CHECK(in.run(refresh(in)));
    CHECK(in.run(refresh(in)));
    CHECK(in.local_port().LID == iba::lid{8});
    CHECK(lines == std::vector<std::string>{
                       "mlx5_0/1 (umad0): the subnet manager moved from LID 1 to LID 4",
                       "mlx5_0/1 (umad0): the local LID changed from 7 to 8; the local LMC changed from 0 to 1"});
    set("sm_lid", "0x0\n"); // the link is down for a moment
    CHECK(in.run(refresh(in)));
    CHECK(lines.size() == 2);
    CHECK(in.run(query_sa(in)));
}

TEST_CASE("a request that times out at the old SA is sent to the new SA in sysfs without the caller's help") {
    sysfs_tree tree;
    tree.abi();
    tree.port(0, "mlx5_0", 1, "InfiniBand", "4: ACTIVE", "5: LinkUp");
    const fs::path port = tree.port_dir("mlx5_0", 1);
    tree.write(port / "lid", "0x7\n");
    tree.write(port / "sm_lid", "0x4\n"); // changed since the session was opened
    fake_kernel kernel;
    const kernel_with_sa sa_at_4(kernel, 4);
    global_options options;
    options.timeout = 200ms;
    options.retries = 0;
    session in(options, [&] {
        sa::local_port then{iba::lid{7}, {}, {}};
        then.sa_path.DLID = iba::lid{1};
        return fabric(std::make_unique<transports::umad_transport>(kernel.device(), kernel.options()), then,
                      sysfs_port_reader("mlx5_0/1", transports::port_use::umad, tree.root()));
    });
    CHECK(in.run(query_sa(in)));
    CHECK(sa_at_4.queried_elsewhere == 1);
    CHECK(in.local_port().sa_path.DLID == iba::lid{4});
}

TEST_CASE("a session that rereads its port sends GMPs with the P_Key index of the new table") {
    sysfs_tree tree;
    tree.abi();
    tree.port(0, "mlx5_0", 1, "InfiniBand", "4: ACTIVE", "5: LinkUp");
    tree.write(tree.port_dir("mlx5_0", 1) / "lid", "0x7\n");
    tree.write(tree.port_dir("mlx5_0", 1) / "sm_lid", "0x4\n");
    tree.pkeys("mlx5_0", 1, {"0xffff", "0x0000"});
    mad::IBPath to;
    to.pkey = 0x8001;
    const mad::any_path tenant = to;

    fake_kernel kernel;
    transports::umad_options how = kernel.options();
    how.tables = std::make_shared<mad::port_tables>(std::vector<u16>{0xffff, 0}, std::vector<iba::gid>{});
    mad::port_tables& tables = *how.tables;
    const global_options options;
    session in(options, [&] {
        return fabric(std::make_unique<transports::umad_transport>(kernel.device(), how), {iba::lid{7}, {}, {}},
                      sysfs_port_reader("mlx5_0/1", transports::port_use::umad, tree.root(), &tables));
    });
    CHECK(tables.find(tenant).miss == mad::table_miss::pkey);
    tree.pkeys("mlx5_0", 1, {"0x7fff", "0x8001"});
    CHECK(in.run(refresh(in)));
    REQUIRE(tables.find(tenant).miss == mad::table_miss::none);
    CHECK(tables.find(tenant).pkey_index == 1);
}

} // namespace port_rereading_test
