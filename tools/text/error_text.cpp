// SPDX-License-Identifier: MIT
// error_text.cpp - selects the text that describes an error to the user.
#include "text/error_text.hpp"

#include "comad.hpp"
#include "text/output.hpp"

namespace ibtool {

std::string format_error(const mad::mad_error& e, const global_options& options) {
    return options.shows_all() ? to_string(e) : plain_text(e);
}

void print_error(const mad::mad_error& e, const global_options& options) {
    if (options.debug) print_error(mad::dump(e, options.debug, fmt::format("{}: ", program_name())));
    else print_message("{}", format_error(e, options));
}

} // namespace ibtool
