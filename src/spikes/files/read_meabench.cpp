#include <fmt/format.h>

#include <algorithm>

#include "io/file_error.hpp"
#include "io/input_stream.hpp"
#include "io/little_endian.hpp"
#include "spikes/files/integer_units.hpp"
#include "spikes/files/readers.hpp"
#include "spikes/files/time_scale.hpp"

namespace spikeweave::spikes {
namespace {

// A record is u8 time in samples, i2 channel, i2 height, i2 width, i2 context[74], i2 threshold. If
// written as a C structure on a 64-bit machine, it ends with 4 bytes of padding.
constexpr std::size_t channel_at = 8;
constexpr std::int64_t us_per_sample = 40;  // 25 kHz
constexpr int stimulus_channel = 60;
constexpr int last_channel = 63;

std::uint64_t time_of(const char* record) {
    return io::load<std::uint64_t>(record);
}

int channel_of(const char* record) {
    return io::load<std::int16_t>(record + channel_at);
}

bool looks_like_records(std::string_view bytes, std::size_t stride) {
    constexpr std::uint64_t ten_years = 25'000ULL * 86'400 * 3'650;
    std::uint64_t last = 0;
    std::size_t records = 0;
    for (; bytes.size() >= stride; bytes.remove_prefix(stride), ++records) {
        const std::uint64_t time = time_of(bytes.data());
        const int channel = channel_of(bytes.data());
        if (channel < 0 || channel > last_channel || time > ten_years) return false;
        // MEABench writes spikes as it finds them, by channel within a frame of some ms.
        constexpr std::uint64_t frame = 25'000;
        if (time + frame < last) return false;
        last = time;
    }
    return records > 0;
}

}  // namespace

std::size_t meabench_record_bytes(std::string_view first_bytes, std::uint64_t file_bytes) {
    const bool plain = looks_like_records(first_bytes, meabench_plain_bytes);
    const bool padded = looks_like_records(first_bytes, meabench_padded_bytes);
    if (plain && padded)
        return file_bytes % meabench_plain_bytes != 0 && file_bytes % meabench_padded_bytes == 0
                   ? meabench_padded_bytes
                   : meabench_plain_bytes;
    return plain ? meabench_plain_bytes : padded ? meabench_padded_bytes : 0;
}

spike_file read_meabench(const reading& job) {
    io::input_stream in(job.path);
    const io::progress_meter meter = job.meter(in.size());
    // Whole numbers of records of either size.
    std::vector<char> block(meabench_plain_bytes * meabench_padded_bytes * 16);
    std::size_t filled = in.read(block);
    const std::string_view first{block.data(), std::min<std::size_t>(filled, 1 << 16)};
    std::size_t stride = meabench_record_bytes(first, in.size());
    if (stride == 0)
        stride =
            in.size() % meabench_padded_bytes == 0 ? meabench_padded_bytes : meabench_plain_bytes;

    spike_file file;
    spike_sequence_builder builder;
    integer_units units(builder);
    std::size_t auxiliary = 0;
    for (std::uint64_t record = 0; filled > 0; filled = in.read(block)) {
        for (std::size_t at = 0; at < filled; at += stride, ++record) {
            const auto fail = [&](const std::string& why) {
                return io::file_error(job.path, fmt::format("record {}", record), why);
            };
            if (filled - at < stride)
                throw fail(fmt::format("found {} bytes, expected {}", filled - at, stride));
            const std::uint64_t sample = time_of(block.data() + at);
            const int channel = channel_of(block.data() + at);
            if (sample > static_cast<std::uint64_t>(largest_time_us / us_per_sample))
                throw fail(fmt::format("found the time {}, expected samples at 25 kHz", sample));
            if (channel < 0 || channel > last_channel)
                throw fail(
                    fmt::format("found channel {}, expected 0 to {}", channel, last_channel));
            const std::int64_t us = static_cast<std::int64_t>(sample) * us_per_sample;
            if (channel == stimulus_channel) {
                file.stimulus_us.push_back(us);
            } else {
                builder.append(us, units.find(channel));
            }
            auxiliary += channel > stimulus_channel ? 1 : 0;
        }
        meter.at(in.position());
    }
    if (auxiliary > 0)
        file.warnings.push_back(
            fmt::format("Channels 61 to 63 are auxiliary inputs, not electrodes; {} of the spikes "
                        "are theirs.",
                        auxiliary));
    finish(file, builder, job);
    file.spikes.set_places(places_of_channels(file.spikes.unit_names()));
    return file;
}

}  // namespace spikeweave::spikes
