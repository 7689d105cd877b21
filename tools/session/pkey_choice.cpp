// SPDX-License-Identifier: MIT
// pkey_choice.cpp - converts an option to an index in a P_Key table.
#include "session/pkey_choice.hpp"

#include "comad.hpp"
#include <comad/mad/detail/port_tables.hpp>

#include <fmt/format.h>

#include <stdexcept>

namespace ibtool {

std::string pkey_option(const global_options& o) {
    return o.pkey_index ? fmt::format("-Y {}", *o.pkey_index) : fmt::format("--pkey {:#06x}", *o.pkey);
}

comad::u16 chosen_pkey_index(const comad::transports::end_port& port, const global_options& o) {
    if (!o.pkey_index && !o.pkey) return mad::path_headers::look_up;
    mad::port_tables tables(port.PKeys, port.gids);
    if (o.pkey_index) tables.use_pkey_index(static_cast<comad::u16>(*o.pkey_index));
    else tables.use_pkey(*o.pkey);
    const mad::table_entries entries = tables.find(mad::IBPath{});
    if (entries.miss != mad::table_miss::none)
        throw std::runtime_error(fmt::format("cannot use {}: {}", pkey_option(o), tables.text_of_miss(mad::IBPath{})));
    return entries.pkey_index;
}

} // namespace ibtool
