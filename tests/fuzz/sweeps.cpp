// SPDX-License-Identifier: MIT
// sweeps.cpp - fuzzes sweep files with corrected checksums. Sweeps that were read must stay equal when they are written and read again.
#include "fuzz.hpp"
#include <comad/counters/detail/sweep_file.hpp>
#include <comad/iba/detail/bits.hpp>

#include <boost/crc.hpp>

#include <vector>

using namespace comad;

namespace {

void correct(std::vector<u8>& bytes, std::size_t begin, std::size_t end) {
    boost::crc_32_type sum;
    sum.process_bytes(bytes.data() + begin, end - begin);
    iba::store_be<u32>(bytes.data() + end, sum.checksum());
}

std::vector<counters::saved_sweep> sweeps_of(std::string_view bytes) {
    counters::sweep_file_reader reader;
    std::vector<counters::saved_sweep> all;
    reader.take(bytes);
    while (auto found = reader.next()) all.push_back(std::move(*found));
    return all;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const u8* data, std::size_t size) {
    std::vector<u8> bytes(data, data + size);
    constexpr std::size_t header = 16, checksum = 4, frame = 5;
    if (size >= header) correct(bytes, 0, header - checksum);
    for (std::size_t at = header; at + frame + checksum <= size;) {
        const std::size_t length = iba::load_be<u32>(bytes.data() + at + 1);
        if (length > size - at - frame - checksum) break;
        correct(bytes, at, at + frame + length);
        at += frame + length + checksum;
    }
    try {
        const auto read = sweeps_of({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
        counters::sweep_file_writer writer;
        std::string written = counters::sweep_file_writer::header();
        for (const auto& s : read) written += writer.add(s.values, *s.subnet, s.values.begin.time_since_epoch());
        const auto again = sweeps_of(written);
        fuzz::require(again.size() == read.size());
        for (std::size_t i = 0; i < read.size(); ++i) {
            fuzz::require(again[i].values.begin == read[i].values.begin && again[i].values.end == read[i].values.end);
            for (std::size_t p = 0; p < read[i].values.ports.size(); ++p) {
                const counters::reading &a = read[i].values.ports[p], &b = again[i].values.ports[p];
                fuzz::require(a.valid == b.valid && a.counters.at == b.counters.at &&
                              a.counters.counters == b.counters.counters);
            }
        }
    } catch (const counters::sweep_file_error& e) {
        fuzz::require(fuzz::is_one_line(e.what()));
    }
    return 0;
}
