// SPDX-License-Identifier: MIT
// caches.cpp - fuzzes cache files of subnets with corrected checksums. A subnet that was read must stay equal when it
// is written and read again.
#include "fuzz.hpp"
#include <comad/discovery/formats/reports.hpp>
#include <comad/discovery/formats/subnet_file.hpp>
#include <comad/iba/detail/bits.hpp>

#include <boost/crc.hpp>

#include <stdexcept>
#include <vector>

using namespace comad;

extern "C" int LLVMFuzzerTestOneInput(const u8* data, std::size_t size) {
    std::vector<u8> bytes(data, data + size);
    if (size >= 4 && data[0] != 0x2b) { // the files of libibnetdisc have no checksum
        boost::crc_32_type sum;
        sum.process_bytes(bytes.data(), size - 4);
        iba::store_be<u32>(bytes.data() + size - 4, sum.checksum());
    }
    try {
        const auto read = discovery::read_cache(bytes);
        fuzz::require(!discovery::json_text(read.found).empty());
        const std::string written = discovery::cache_bytes(read.found, {});
        const auto again = discovery::read_cache({reinterpret_cast<const u8*>(written.data()), written.size()});
        fuzz::require(discovery::json_text(again.found) == discovery::json_text(read.found));
    } catch (const std::runtime_error& e) {
        fuzz::require(fuzz::is_one_line(e.what()));
    }
    return 0;
}
