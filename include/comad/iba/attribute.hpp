// SPDX-License-Identifier: MIT
// attribute.hpp - what the RPC layer must know of an attribute: its id, its class, its methods. Knows no attribute.
#pragma once
#include <comad/iba/enums.hpp>
#include <comad/iba/table.hpp>

namespace comad::iba {

/// Specialised for every attribute that can be asked for: derives from attribute_traits. A method that the IBA does not
/// give an attribute is false there, so that an RPC that no node would answer does not compile.
template <class T> struct attribute_of;

/// The facts of one attribute.
template <MgmtClass Class, u8 ClassVersion, u16 AttributeID, Method... Methods> struct attribute_traits {
    static constexpr MgmtClass mgmt_class = Class; ///< SubnLID stands for both routings of SMPs
    static constexpr u8 class_version = ClassVersion;
    static constexpr u16 attributeID = AttributeID;
    static constexpr bool has_get = ((Methods == Method::Get) || ...);
    static constexpr bool has_set = ((Methods == Method::Set) || ...);
};

/// A described structure that is an attribute.
template <class T>
concept attribute = wire<T> && requires { attribute_of<T>::attributeID; };

} // namespace comad::iba
