// SPDX-License-Identifier: MIT
// attribute.hpp - the properties of an attribute that RPCs need: its ID, its management classes and its methods.
#pragma once
#include <comad/iba/detail/enums.hpp>
#include <comad/iba/detail/table.hpp>

#include <array>

namespace comad::iba {

/// An attribute in one management class, with the request methods that the IBA defines for it.
struct attribute_use {
    MgmtClass mgmt_class; ///< SubnLID stands for both routings of SMPs; Vend and VendOUI stand for their whole ranges
    u8 class_version;
    u32 methods; ///< bit n: method n
    u32 OUI = 0; ///< OUI of the vendor that defines the attribute, in a vendor class with OUI; 0: any vendor

    /// Returns true if this use applies to the class.
    constexpr bool covers(MgmtClass c) const noexcept {
        if (c == mgmt_class) return true;
        if (mgmt_class == MgmtClass::SubnLID) return c == MgmtClass::SubnDirected;
        if (mgmt_class == MgmtClass::Vend) return is_vendor(c);
        return mgmt_class == MgmtClass::VendOUI && OUI == 0 && is_vendor_oui(c);
    }
    constexpr bool allows(Method m) const noexcept { return value(m) < 32 && (methods >> value(m) & 1) != 0; }
};

/// The methods of an attribute in a management class, for attribute_traits.
template <MgmtClass Class, u8 ClassVersion, Method... Methods>
inline constexpr attribute_use in_class{Class, ClassVersion, ((u32{1} << value(Methods)) | ... | 0)};

/// The methods of an attribute in a vendor class with OUI, for attribute_traits.
template <MgmtClass Class, u8 ClassVersion, u32 OUI, Method... Methods>
inline constexpr attribute_use in_vendor_class{Class, ClassVersion, in_class<Class, ClassVersion, Methods...>.methods,
                                               OUI};

/// Specialized for every attribute that requests can have: derives from attribute_traits. An RPC with a method that
/// the IBA does not define for the attribute does not compile, because no node would reply.
template <class T> struct attribute_of;

/// The properties of one attribute. Its ID is the same in every class that has it (ClassPortInfo, Notice).
template <u16 AttributeID, attribute_use... Uses> struct attribute_traits {
    static constexpr u16 attributeID = AttributeID;
    static constexpr std::array<attribute_use, sizeof...(Uses)> uses{Uses...};
};

/// A described structure that is an attribute.
template <class T>
concept attribute = wire<T> && requires { attribute_of<T>::attributeID; };

/// The ID of an attribute.
template <attribute T> inline constexpr u16 attribute_id = attribute_of<T>::attributeID;

/// Returns the use of T in a class. If the class does not have T, the use allows no methods.
template <attribute T> constexpr attribute_use use_of(MgmtClass mgmt_class) noexcept {
    for (const attribute_use& use : attribute_of<T>::uses)
        if (use.covers(mgmt_class)) return use;
    return {mgmt_class, 0, 0};
}

/// Whether the IBA defines the method for T in the class.
template <class T, MgmtClass Class, Method M>
concept allows = attribute<T> && use_of<T>(Class).allows(M);

} // namespace comad::iba
