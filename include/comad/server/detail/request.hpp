// SPDX-License-Identifier: MIT
// request.hpp - a received request, decoded, or the fault for which it is rejected (IBA 13.4.7). It does no I/O.
#pragma once
#include <comad/iba/detail/attribute.hpp>
#include <comad/iba/detail/codec.hpp>
#include <comad/iba/detail/mad_header.hpp>
#include <comad/mad/transport.hpp>

#include <boost/outcome/basic_result.hpp>
#include <boost/outcome/policy/terminate.hpp>

#include <cassert>
#include <span>

namespace comad::server {

/// The common status of replies that reject a request (IBA 13.4.7).
namespace status {
inline constexpr u16 bad_version = 0x04;           ///< base version or class version
inline constexpr u16 unsupported_method = 0x08;    ///< also for classes without a handler
inline constexpr u16 unsupported_attribute = 0x0c; ///< or the method is not supported for the attribute
inline constexpr u16 invalid_value = 0x1c;         ///< in the attribute or its modifier
} // namespace status

/// Why a request is invalid.
enum class fault : u8 {
    too_short,         ///< 24 bytes or less: a header at most
    no_request,        ///< it is a response
    base_version,      ///< not 1
    unknown_class,     ///< no table describes it
    class_version,     ///< the class is known in another version
    wrong_length,      ///< neither 256 bytes, nor a message of several RMPP segments
    unknown_attribute, ///< no table describes it, see unknown_attributes
    undecodable,       ///< the message ends within its attribute
};
/// Returns the status of the reply to a request with this fault; 0: there is no reply.
u16 status_of(fault) noexcept;

/// A decoded request, as a handler gets it.
///
///     server::response get(const server::request& r) { return answer_for(r.header.attributeModifier, r.source.SLID); }
///
/// Lifetime: It refers to the message that it was parsed from, which is valid during the call of the handler.
struct request {
    std::span<const u8> mad;    ///< the whole message; longer than one MAD if it arrived by RMPP
    iba::MADHeader header;      ///< for a directed route, classSpecific contains hop pointer and hop count
    mad::source_address source; ///< the sender
    const iba::record_info* attribute = nullptr; ///< null: unknown, see unknown_attributes
    std::span<const u8> data;                    ///< from the first byte of the attribute to the end of the message

    /// The OUI of a vendor class that has one; otherwise 0.
    u32 OUI() const noexcept;
    /// The component mask of a request to the SA; otherwise 0.
    u64 component_mask() const noexcept;
    /// Decodes the attribute. Precondition: data has wire_size<T> bytes.
    template <iba::wire T> T payload() const noexcept {
        assert(data.size() >= iba::wire_size<T>);
        T value;
        iba::decode(value, data.data());
        return value;
    }
};

/// Whether an attribute that the registry (iba/registry.hpp) does not list is a fault. The registry cannot list the attributes
/// of a program, even if the program describes them for its own RPCs (`described<>`, `attribute_of<>`).
enum class unknown_attributes : u8 {
    refused,               ///< in every class
    passed,                ///< in no class
    refused_unless_vendor, ///< in the classes of the IBA; in vendor classes (0x09-0x0f, 0x30-0x4f) the handler decides
};

/// A request, or the fault for which it is rejected.
using parsed = boost::outcome_v2::basic_result<request, fault, boost::outcome_v2::policy::terminate>;
/// Decodes a message, which need not be valid.
parsed parse_request(std::span<const u8> message, const mad::source_address& source,
                     unknown_attributes = unknown_attributes::refused_unless_vendor) noexcept;

} // namespace comad::server
