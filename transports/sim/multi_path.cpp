// SPDX-License-Identifier: MIT
// multi_path.cpp - finds paths between groups of ports, with one path query per pair of ports.
#include "addressed_ports.hpp"
#include "paths.hpp"

#include <algorithm>

namespace comad::transports::sim {
namespace {

using iba::SAStatus;
using iba::sa::MultiPathRecord;
using iba::sa::PathRecord;

constexpr std::size_t gids_begin = iba::offset_of<&MultiPathRecord::SDGID>;

/// Copies a component to the query of a pair if the mask contains it.
template <auto From, auto To>
void carry(const MultiPathRecord& wanted, u64 mask, PathRecord& query, u64& query_mask) noexcept {
    if ((mask & iba::mask_of<From>) == 0) return;
    query.*To = wanted.*From;
    query_mask |= iba::mask_of<To>;
}

} // namespace

SAStatus multi_path_records(attributes& of, std::span<const u8> request, u64 mask, std::vector<u8>& found) {
    using M = MultiPathRecord;
    using P = PathRecord;
    constexpr u64 counts = iba::mask_of<&M::SGIDCount> | iba::mask_of<&M::DGIDCount>;
    const auto wanted = iba::decode<M>(request.first<iba::wire_size<M>>());
    if ((mask & counts) != counts) return SAStatus::ERR_REQ_INSUFFICIENT_COMPONENTS;
    const std::size_t count = std::size_t{wanted.SGIDCount} + wanted.DGIDCount;
    if (wanted.SGIDCount == 0 || wanted.DGIDCount == 0 || request.size() < gids_begin + count * sizeof(iba::gid))
        return SAStatus::ERR_REQ_INVALID;

    P query;
    u64 query_mask = iba::mask_of<&P::SGID> | iba::mask_of<&P::DGID>;
    carry<&M::PKey, &P::PKey>(wanted, mask, query, query_mask);
    carry<&M::SL, &P::SL>(wanted, mask, query, query_mask);
    carry<&M::MTUSelector, &P::MTUSelector>(wanted, mask, query, query_mask);
    carry<&M::MTU, &P::MTU>(wanted, mask, query, query_mask);
    carry<&M::rateSelector, &P::rateSelector>(wanted, mask, query, query_mask);
    carry<&M::rate, &P::rate>(wanted, mask, query, query_mask);
    carry<&M::packetLifeTimeSelector, &P::packetLifeTimeSelector>(wanted, mask, query, query_mask);
    carry<&M::packetLifeTime, &P::packetLifeTime>(wanted, mask, query, query_mask);

    std::vector<iba::gid> gids(count);
    for (std::size_t i = 0; i < count; ++i) {
        std::copy_n(request.begin() + static_cast<std::ptrdiff_t>(gids_begin + i * sizeof(iba::gid)), sizeof(iba::gid),
                    gids[i].bytes.begin());
        if (!find_addressed_port(of, gids[i])) return SAStatus::ERR_REQ_INVALID_GID;
    }
    for (std::size_t s = 0; s < wanted.SGIDCount; ++s) {
        for (std::size_t d = wanted.SGIDCount; d < count; ++d) {
            query.SGID = gids[s];
            query.DGID = gids[d];
            const auto bytes = iba::encode(query);
            collector pair(iba::info_of<P>, query_mask, bytes);
            path_records(of, pair);
            const std::vector<u8> paths = pair.take();
            found.insert(found.end(), paths.begin(), paths.end());
        }
    }
    return SAStatus::None;
}

} // namespace comad::transports::sim
