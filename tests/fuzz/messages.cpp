// SPDX-License-Identifier: MIT
// messages.cpp - fuzzes everything that `ibtool decode` does with a file (captures, hex text, binary MADs), and hiding
// the keys of a MAD.
#include "fuzz.hpp"
#include "input/dissect_message.hpp"
#include "input/mad_files.hpp"
#include <comad/iba/detail/keys.hpp>

#include <stdexcept>
#include <vector>

using namespace comad;

extern "C" int LLVMFuzzerTestOneInput(const u8* data, std::size_t size) {
    std::vector<u8> mad(data, data + size);
    iba::hide_keys(mad);
    fuzz::require(!iba::hide_keys(mad)); // no key is left
    try {
        std::string problem;
        const std::string contents(reinterpret_cast<const char*>(data), size);
        for (const ibtool::message& m : ibtool::messages_in(contents, "input", problem)) {
            for (const auto kind :
                 {ibtool::message_kind::automatic, ibtool::message_kind::umad, ibtool::message_kind::packet,
                  ibtool::message_kind::grh, ibtool::message_kind::bth}) {
                try {
                    const ibtool::dissection d = ibtool::dissect(m, kind);
                    ibtool::format_dump(m, d);
                    ibtool::format_dotted(m, d);
                    fuzz::require(fuzz::is_one_line(ibtool::message_json(m, d)));
                } catch (const std::runtime_error& e) {
                    fuzz::require(fuzz::is_one_line(e.what()));
                }
            }
        }
        fuzz::require(fuzz::is_one_line(problem));
    } catch (const std::runtime_error& e) {
        fuzz::require(fuzz::is_one_line(e.what()));
    }
    return 0;
}
