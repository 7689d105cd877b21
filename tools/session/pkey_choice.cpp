// SPDX-License-Identifier: MIT
// pkey_choice.cpp - from an option to an entry of a P_Key table.
#include "session/pkey_choice.hpp"

#include "comad.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace ibtool {

void choose_pkey(mad::port_tables& tables, const global_options& o) {
    if (o.pkey_index) tables.use_pkey_index(static_cast<comad::u16>(*o.pkey_index));
    else if (o.pkey) tables.use_pkey(*o.pkey);
    else return;
    const mad::IBPath any;
    if (tables.find(any).miss == mad::table_miss::none) return;
    const std::string option =
        o.pkey_index ? fmt::format("-Y {}", *o.pkey_index) : fmt::format("--pkey {:#06x}", *o.pkey);
    throw std::runtime_error(fmt::format("cannot use {}: {}", option, tables.text_of_miss(any)));
}

comad::u16 chosen_pkey_index(const comad::transports::end_port& port, const global_options& o) {
    if (!o.pkey_index && !o.pkey) return mad::path_headers::look_up;
    mad::port_tables tables(port.PKeys, port.gids);
    choose_pkey(tables, o);
    return tables.find(mad::IBPath{}).pkey_index;
}

} // namespace ibtool
