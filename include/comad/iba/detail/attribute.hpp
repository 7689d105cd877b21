// SPDX-License-Identifier: MIT
// attribute.hpp - what the RPC layer must know of an attribute: its id, its classes, its methods. Knows no attribute.
#pragma once
#include <comad/iba/detail/enums.hpp>
#include <comad/iba/detail/table.hpp>

#include <array>

namespace comad::iba {

/// An attribute in one management class: the request methods that the IBA gives it there.
struct attribute_use {
    MgmtClass mgmt_class; ///< SubnLID stands for both routings of SMPs, Vend and VendOUI for their whole ranges
    u8 class_version;
    u32 methods; ///< bit n: method n
    u32 OUI = 0; ///< whose attribute it is, in a vendor class that tells its OUI; 0: everybody's

    /// True if what stands here is said of the class.
    constexpr bool covers(MgmtClass c) const noexcept {
        if (c == mgmt_class) return true;
        if (mgmt_class == MgmtClass::SubnLID) return c == MgmtClass::SubnDirected;
        if (mgmt_class == MgmtClass::Vend) return is_vendor(c);
        return mgmt_class == MgmtClass::VendOUI && OUI == 0 && is_vendor_oui(c);
    }
    constexpr bool allows(Method m) const noexcept { return value(m) < 32 && (methods >> value(m) & 1) != 0; }
};

/// The methods of an attribute in a class, for attribute_traits.
template <MgmtClass Class, u8 ClassVersion, Method... Methods>
inline constexpr attribute_use in_class{Class, ClassVersion, ((u32{1} << value(Methods)) | ... | 0)};

/// The same of an attribute in a vendor class that tells its OUI.
template <MgmtClass Class, u8 ClassVersion, u32 OUI, Method... Methods>
inline constexpr attribute_use in_vendor_class{Class, ClassVersion, in_class<Class, ClassVersion, Methods...>.methods,
                                               OUI};

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

/// The id of an attribute.
template <attribute T> inline constexpr u16 attribute_id = attribute_of<T>::attributeID;

/// How T is used in a class; not allowing any method if it is not.
template <attribute T> constexpr attribute_use use_of(MgmtClass mgmt_class) noexcept {
    for (const attribute_use& use : attribute_of<T>::uses)
        if (use.covers(mgmt_class)) return use;
    return {mgmt_class, 0, 0};
}

/// True if the IBA knows the method for T in the class.
template <class T, MgmtClass Class, Method M>
concept allows = attribute<T> && use_of<T>(Class).allows(M);

} // namespace comad::iba
