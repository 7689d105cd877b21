// SPDX-License-Identifier: MIT
// request.hpp - a request as it came from the wire, taken apart or refused with the status that the IBA has for its fault
// (IBA 13.4.7). Bytes in, facts out: no I/O.
#pragma once
#include <comad/iba/codec.hpp>
#include <comad/iba/detail/attribute.hpp>
#include <comad/iba/mad_header.hpp>
#include <comad/mad/transport.hpp>

#include <boost/outcome/basic_result.hpp>
#include <boost/outcome/policy/terminate.hpp>

#include <cassert>
#include <span>

namespace comad::server {

/// The common status bits of replies that refuse (IBA 13.4.7).
namespace status {
inline constexpr u16 bad_version = 0x04;           ///< base version or class version
inline constexpr u16 unsupported_method = 0x08;    ///< also of classes that nobody serves
inline constexpr u16 unsupported_attribute = 0x0c; ///< or the method for it
inline constexpr u16 invalid_value = 0x1c;         ///< in the attribute or its modifier
} // namespace status

/// What is wrong with a request.
enum class fault : u8 {
    too_short,         ///< 24 bytes or less: a header at most
    no_request,        ///< it answers something
    base_version,      ///< not 1
    unknown_class,     ///< no table describes it
    class_version,     ///< the class is known in another version
    wrong_length,      ///< neither 256 bytes, nor a message that RMPP put together
    unknown_attribute, ///< no table describes it, see unknown_attributes
    undecodable,       ///< the message ends within its attribute
};
/// The status that tells the sender of a fault; 0: it is not answered.
u16 status_of(fault) noexcept;

/// A request. Refers to the message that it was parsed from.
struct request {
    std::span<const u8> mad;                     ///< the whole, of any length if it came by RMPP
    iba::MADHeader header;                       ///< of a directed route, classSpecific is hop pointer and hop count
    mad::source_address source;                  ///< who asks
    const iba::record_info* attribute = nullptr; ///< null: unknown, see unknown_attributes
    std::span<const u8> data;                    ///< from the attribute's first byte to the message's end

    /// Of a vendor class that tells it; otherwise 0.
    u32 OUI() const noexcept;
    /// Of a request to the SA; otherwise 0.
    u64 component_mask() const noexcept;
    /// The attribute. Precondition: data has as many bytes.
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

using parsed = boost::outcome_v2::basic_result<request, fault, boost::outcome_v2::policy::terminate>;
/// Takes a message apart that anybody may have sent.
parsed parse_request(std::span<const u8> message, const mad::source_address& source,
                     unknown_attributes = unknown_attributes::refused_unless_vendor) noexcept;

} // namespace comad::server
