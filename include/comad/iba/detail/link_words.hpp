// SPDX-License-Identifier: MIT
// link_words.hpp - names of link widths and speeds, as ibnetdiscover prints them after a link: `4xEDR`. All code that
// parses or writes these names uses this header.
#pragma once
#include <comad/iba/detail/enums.hpp>
#include <comad/iba/types.hpp>

#include <optional>
#include <string_view>

namespace comad::iba {

/// A set of lane speeds, one bit each, in ascending order (IBA 14.2.5.6): LinkSpeed in bits 0 to 2, LinkSpeedExt from
/// bit 3, LinkSpeedExt2 from bit 7. FDR10 is not part of the IBA and has the highest bit here: PortInfo reports QDR,
/// and only MlnxExtPortInfo distinguishes FDR10 from QDR.
using lane_speeds = u32;
namespace lane_speed {
inline constexpr lane_speeds SDR = 1, DDR = 2, QDR = 4, FDR = 8, EDR = 16, HDR = 32, NDR = 64, XDR = 128,
                             FDR10 = 0x8000;
inline constexpr unsigned first_extended_bit = 3, first_extended2_bit = 7;
} // namespace lane_speed

/// Returns the name of one width: `4x`. `??` for anything else, as in ibnetdiscover.
std::string_view width_name(LinkWidth) noexcept;
/// Returns the name of one speed: `EDR`. `???` for anything else, including a set of several speeds, as in
/// ibnetdiscover.
std::string_view speed_name(lane_speeds) noexcept;
/// Returns the width or speed with this name, in any letter case; nullopt if there is none.
std::optional<LinkWidth> width_of_name(std::string_view) noexcept;
std::optional<lane_speeds> speed_of_name(std::string_view) noexcept;

/// A parsed word of a line about a link.
struct link_word {
    enum class kind : u8 {
        other,   ///< not about width and speed: `lid`, `w=3`
        known,   ///< `4xEDR`; also a word in which only the width or only the speed is a question mark
        unknown, ///< `?????`: the writer did not know the width and the speed
        invalid, ///< has the form of a width and a speed, and at least one of the two does not exist: `4xABC`, `3xEDR`
    };
    kind what = kind::other;
    LinkWidth width{};     ///< 0 if the word has question marks there
    lane_speeds speed = 0; ///< one bit; 0 if the word has question marks there
};
/// Parses one word without blanks. The name of a width and the name of a speed follow each other directly.
link_word parse_link_word(std::string_view) noexcept;

/// Returns the names of all speeds for messages, slowest first: `SDR, DDR, QDR, FDR10, ...`; or of all widths: `1x,
/// 2x, ...`.
std::string_view all_speed_names() noexcept;
std::string_view all_width_names() noexcept;

} // namespace comad::iba
