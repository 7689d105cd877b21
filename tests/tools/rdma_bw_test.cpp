// SPDX-License-Identifier: MIT
// rdma_bw_test.cpp - both ends of rdma_bw: their connection, including invalid peers, and their writes over a fake
// device.
#include "commands/measuring/rdma_bw_link.hpp"
#include "commands/measuring/rdma_bw_stream.hpp"
#include "kernel/made_verbs.hpp"
#include "program/free_port.hpp"
#include "support/catch.hpp"
#include "support/exception_message.hpp"
#include <comad/iba/detail/text.hpp>

#include <future>
#include <string>
#include <thread>

namespace rdma_bw_test {

using namespace ibtool;
using Catch::Matchers::Contains;
using comad::test::free_port;

namespace {

/// Connects to a port as soon as the other end listens.
rdma_bw_link connected(unsigned short port) {
    for (int i = 0;; ++i) {
        try {
            return rdma_bw_link::connect("127.0.0.1", port, false);
        } catch (const std::runtime_error&) { // the other thread does not listen yet
            if (i == 1000) throw;
            std::this_thread::yield();
        }
    }
}

/// Returns the message that receive_end() throws for this text from a client.
std::string refusal_of(const std::string& line) {
    const unsigned short port = free_port();
    auto client = std::async(std::launch::async, [&] {
        rdma_bw_link link = connected(port);
        link.send(line);
    });
    rdma_bw_link link = rdma_bw_link::accept(port, false);
    const std::string refusal = message_of([&] { link.receive_end(); });
    client.get();
    return refusal;
}

} // namespace

TEST_CASE("both ends of rdma_bw exchange the addresses for their writes") {
    rdma_bw_end end;
    end.LID = comad::iba::lid{7};
    end.GID = comad::iba::gid(comad::iba::link_local_prefix, comad::iba::guid{9});
    end.QPN = 0xfffffe;
    end.PSN = 0x123456;
    end.MTU = 5;
    end.address = ~comad::u64{0};
    end.rkey = 0xffffffff;
    end.size = 65536;
    end.writes = 12;
    end.both_ways = true;
    const unsigned short port = free_port();
    auto client = std::async(std::launch::async, [&] {
        rdma_bw_link link = connected(port);
        link.send(end);
        link.receive("ready");
    });
    rdma_bw_link link = rdma_bw_link::accept(port, false);
    const rdma_bw_end received = link.receive_end();
    link.send("ready");
    client.get();
    CHECK(received.LID == end.LID);
    CHECK(received.GID == end.GID);
    CHECK(received.QPN == end.QPN);
    CHECK(received.PSN == end.PSN);
    CHECK(received.MTU == end.MTU);
    CHECK(received.address == end.address);
    CHECK(received.rkey == end.rkey);
    CHECK(received.size == end.size);
    CHECK(received.writes == end.writes);
    CHECK(received.both_ways);
}

TEST_CASE("rdma_bw accepts only valid numbers from its peer") {
    const std::string good =
        R"({"rdma_bw":1,"LID":1,"GID":"::","QPN":1,"PSN":1,"MTU":1,"address":1,"rkey":1,"size":1,"writes":1,"both_ways":0})";
    const auto with = [&](const std::string& was, const std::string& is) {
        std::string line = good;
        return refusal_of(line.replace(line.find(was), was.size(), is));
    };
    CHECK(refusal_of(good) == "nothing was thrown");
    CHECK_THAT(refusal_of("GET / HTTP/1.1\r"), Contains("does not run this version of rdma_bw"));
    CHECK_THAT(refusal_of("(dp0"), Contains("does not run this version of rdma_bw"));
    CHECK_THAT(refusal_of(std::string(5000, '{')), Contains("it sent a line that is too long"));
    CHECK_THAT(with("\"rdma_bw\":1", "\"rdma_bw\":2"), Contains("'rdma_bw'"));
    CHECK_THAT(with("\"size\":1", "\"size\":1073741825"), Contains("'size'"));
    CHECK_THAT(with("\"size\":1", "\"size\":0"), Contains("'size'"));
    CHECK_THAT(with("\"QPN\":1", "\"QPN\":-1"), Contains("'QPN'"));
    CHECK_THAT(with("\"QPN\":1", "\"QPN\":16777216"), Contains("'QPN'"));
    CHECK_THAT(with("\"MTU\":1", "\"MTU\":6"), Contains("'MTU'"));
    CHECK_THAT(with("\"::\"", "7"), Contains("'GID'"));
    CHECK_THAT(message_of([] { rdma_bw_link::connect("127.0.0.1", free_port(), false); }), Contains("cannot connect"));
}

TEST_CASE("rdma_bw writes arrive at the peer, whole or in pieces, and a wrong key is an error") {
    comad::test::made_device made;
    comad::transports::end_port port;
    port.device = "made0";
    port.port = 1;
    rdma_bw_stream a(port, 1000, 4, 3, -1), b(port, 1000, 4, 1, -1);
    CHECK(a.ours().LID == comad::iba::lid{3});
    CHECK(a.ours().MTU == 5);
    a.connect(b.ours());
    b.connect(a.ours());
    CHECK_FALSE(b.has_arrived(a.ours()));
    a.write(10);
    CHECK(b.has_arrived(a.ours()));
    CHECK_FALSE(a.has_arrived(b.ours()));

    rdma_bw_end wrong = b.ours();
    wrong.rkey ^= 0xf0f0;
    rdma_bw_stream c(port, 1000, 4, 1, -1);
    wrong.QPN = b.ours().QPN;
    c.connect(wrong);
    CHECK_THAT(message_of([&] { c.write(1); }), Contains("failed"));
    CHECK(made.misuses.empty());
}

} // namespace rdma_bw_test
