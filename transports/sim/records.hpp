// SPDX-License-Identifier: MIT
// records.hpp - the records of a simulated subnet's SA (IBA 15.2.5), found by component mask. Knows no MAD and no method.
#pragma once
#include "attributes.hpp"
#include <comad/iba/detail/mask.hpp>
#include <comad/iba/sa.hpp>
#include <comad/mad/detail/time.hpp>

#include <optional>
#include <span>
#include <vector>

namespace comad::transports::sim {

/// What a query asks for, and the records that have it.
class collector {
public:
    /// `wanted`: the query's record, encoded; `mask`: its component mask.
    collector(const iba::record_info& record, u64 mask, std::span<const u8> wanted);

    /// Whether a record that begins with `head` may be meant.
    bool admits(std::span<const u8> head) const noexcept;
    /// Takes a whole record that is meant; others not.
    void offer(std::span<const u8> record);
    template <iba::wire R> void offer(const R& record) { offer(std::span<const u8>(iba::encode(record))); }

    template <iba::wire R> R wanted() const noexcept { return iba::decode<R>(wanted_.first<iba::wire_size<R>>()); }
    template <auto Member> bool asks_for() const noexcept { return (mask_ & iba::mask_of<Member>) != 0; }
    u64 mask() const noexcept { return mask_; }
    /// These components are compared by whoever offers records, not here.
    void leave_out(u64 components);

    std::size_t record_size() const noexcept { return record_.bytes; }
    std::size_t count() const noexcept { return found_.size() / record_.bytes; }
    /// One after the other.
    std::vector<u8> take() noexcept { return std::move(found_); }

private:
    const iba::record_info& record_;
    u64 mask_;
    std::span<const u8> wanted_;
    std::vector<u8> compared_;
    std::vector<u8> found_;
};

/// The services that ports have registered.
class services {
public:
    using record = iba::sa::ServiceRecord;
    enum class outcome : u8 { done, unknown, denied };

    /// Keeps or changes one. Denied: another key than it has.
    outcome set(const record&, mad::time_point now);
    /// Ends one; `r` becomes what it was.
    outcome remove(record& r, mad::time_point now);
    /// Those whose lease has not expired. Keys are not told.
    void find(collector&, mad::time_point now);

private:
    struct lease {
        record what;
        mad::time_point ends;
    };
    std::vector<lease>::iterator find(const record&, mad::time_point now);
    void drop_expired(mad::time_point now);
    std::vector<lease> leases_;
};

/// The structure of an SA's attribute; null if the SA has no such records.
const iba::record_info* record_of(u16 attributeID) noexcept;

/// Why there are no records.
enum class refusal : u8 { none, too_few_components };
/// Offers all records of the subnet that may be meant, but those that its users make. Precondition: record_of(attributeID).
refusal find_records(attributes& of, u16 attributeID, collector& found);

} // namespace comad::transports::sim
