#pragma once

// Byte-exact files for the tests of readers.

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "io/little_endian.hpp"
#include "io/npy.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/spikes/files.hpp"

namespace spikeweave {

/// Spikes as (microseconds, name), in the order of the sequence.
using named_spikes = std::vector<std::pair<std::int64_t, std::string>>;

inline named_spikes named(const spike_sequence& spikes) {
    named_spikes out;
    for (std::size_t i = 0; i < spikes.size(); ++i)
        out.emplace_back(spikes.times_us()[i], spikes.name(spikes.units()[i]));
    return out;
}

/// The message of the error that a read throws; the test fails if it throws none.
inline std::string error_of(const std::filesystem::path& path, const spike_read_options& how = {}) {
    try {
        static_cast<void>(read_spikes(path, how));
    } catch (const io_error& error) {
        return error.what();
    }
    ADD_FAILURE() << path << " was read";
    return {};
}

#define EXPECT_SAYS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

/// A `.npy` file of one dimension.
template <class T>
std::string npy_bytes(io::npy_kind kind, const std::vector<T>& items,
                      std::vector<std::uint64_t> shape = {}) {
    if (shape.empty()) shape = {items.size()};
    std::string out = io::format_npy_header({kind, sizeof(T), false, std::move(shape)});
    out.append(reinterpret_cast<const char*>(items.data()), items.size() * sizeof(T));
    return out;
}

/// One MEABench record, field by field.
inline std::string meabench_record(std::uint64_t sample, std::int16_t channel, bool padded) {
    std::string out;
    io::append(out, sample);
    io::append(out, channel);
    for (int field = 0; field < 2 + 74 + 1; ++field)  // height, width, context, threshold
        io::append(out, static_cast<std::int16_t>(100 + field));
    if (padded) out.append(4, '\0');
    return out;
}

/// Seeded spikes of units in natural order, some of them silent, with ties and a span beyond them.
inline spike_sequence random_spikes(std::uint64_t seed, std::size_t count, bool numbered) {
    std::mt19937_64 random(seed);
    const std::size_t units = 1 + random() % 12;
    spike_sequence_builder builder;
    std::vector<unit_id> ids;
    for (std::size_t u = 0; u < units; ++u)
        ids.push_back(builder.unit(numbered ? std::to_string(u * 3)
                                            : "µ " + std::to_string(u) + " nerve cell"));
    for (std::size_t i = 0; i < count; ++i)
        builder.append(static_cast<std::int64_t>(random() % (count * 700 + 1)),
                       ids[random() % ids.size()]);
    return builder.finish({duration{0}, duration{static_cast<std::int64_t>(count) * 800 + 17}});
}

}  // namespace spikeweave
