// SPDX-License-Identifier: MIT
// attribute.hpp - what the RPC layer must know of an attribute: its id, its classes, its methods. Knows no attribute.
#pragma once
#include <comad/iba/enums.hpp>
#include <comad/iba/table.hpp>

#include <array>

namespace comad::iba {

/// An attribute in one management class: the request methods that the IBA gives it there.
struct attribute_use {
    MgmtClass mgmt_class; ///< SubnLID stands for both routings of SMPs, VendOUI for all classes that tell an OUI
    u8 class_version;
    u32 methods; ///< bit n: method n
    u32 OUI = 0; ///< of VendOUI: whose attribute it is

    constexpr bool allows(Method m) const noexcept { return value(m) < 32 && (methods >> value(m) & 1) != 0; }
};

/// The methods of an attribute in a class, for attribute_traits.
template <MgmtClass Class, u8 ClassVersion, Method... Methods>
inline constexpr attribute_use in_class{Class, ClassVersion, ((u32{1} << value(Methods)) | ... | 0)};

/// Specialised for every attribute that can be asked for: derives from attribute_traits. An RPC with a method that the
/// IBA does not give an attribute, so that no node would answer, does not compile.
template <class T> struct attribute_of;

/// The facts of one attribute; its id is the same in every class that has it (ClassPortInfo, Notice).
template <u16 AttributeID, attribute_use... Uses> struct attribute_traits {
    static constexpr u16 attributeID = AttributeID;
    static constexpr std::array<attribute_use, sizeof...(Uses)> uses{Uses...};
};

/// A described structure that is an attribute.
template <class T>
concept attribute = wire<T> && requires { attribute_of<T>::attributeID; };

/// How T is used in a class; not allowing any method if it is not.
template <attribute T> constexpr attribute_use use_of(MgmtClass mgmt_class) noexcept {
    for (const attribute_use& use : attribute_of<T>::uses)
        if (use.mgmt_class == mgmt_class) return use;
    return {mgmt_class, 0, 0};
}

/// True if the IBA knows the method for T in the class.
template <class T, MgmtClass Class, Method M>
concept allows = attribute<T> && use_of<T>(Class).allows(M);

} // namespace comad::iba
