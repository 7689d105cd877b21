// SPDX-License-Identifier: MIT
// record_tables.cpp - tables of records; each record contains its number.
#include "record_tables.hpp"

#include <comad/mad/detail/message.hpp>

#include <algorithm>
#include <vector>

namespace comad::test {

using iba::sa::NodeRecord;

namespace {

NodeRecord record_of(u32 number) {
    NodeRecord r;
    r.LID = iba::lid(static_cast<u16>(number));
    r.nodeInfo.nodeGUID = iba::guid{u64{0x11223344} << 32 | number};
    return r;
}

} // namespace

server::responder record_tables(u32 least) {
    server::responder answers;
    const auto methods = mad::methods(iba::Method::GetTable);
    answers.add({iba::MgmtClass::SubnAdm, 2, methods, 0, true}, [least](const server::request& r) {
        const u32 count = std::max(value(r.payload<NodeRecord>().LID) * 16u, least);
        std::vector<u8> records;
        records.reserve(count * iba::wire_size<NodeRecord>);
        for (u32 i = 0; i < count; ++i) {
            const auto bytes = iba::encode(record_of(i));
            records.insert(records.end(), bytes.begin(), bytes.end());
        }
        return server::response::table(std::move(records), iba::wire_size<NodeRecord>);
    });
    return answers;
}

void check_table(coro::blocking_transactor& rpcs, const mad::IBPath& to, u16 sixteens) {
    CAPTURE(sixteens);
    auto query = iba::query<NodeRecord>{}.where<&NodeRecord::LID>(iba::lid{sixteens});
    const auto records = rpcs.SubnAdmGetTable(query, to);
    INFO((records ? std::string() : mad::plain_text(records.error())));
    REQUIRE(records);
    REQUIRE(records.value().size() == sixteens * 16u);
    u32 different = 0;
    for (u32 i = 0; i < records.value().size(); ++i) different += records.value()[i] != record_of(i);
    CHECK(different == 0);
}

} // namespace comad::test
