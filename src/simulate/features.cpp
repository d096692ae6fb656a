#include "spikeweave/simulate/features.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "io/npy.hpp"
#include "io/zip.hpp"
#include "parallel/ordered_for.hpp"
#include "simulate/random_values.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/core/random.hpp"

namespace spikeweave {

using simulate::between;
using simulate::check_range;
using simulate::nearly_normal;

namespace {

constexpr std::size_t block_spikes = 1024;
constexpr double masked_up_to = 2;
constexpr double unmasked_from = 4.5;

// Returns exp(-x * x / 2), accurate to 1e-3 of its largest value, from operations that give the
// same result everywhere.
double bell(double x) {
    constexpr int doublings = 10;
    double value = std::max(0.0, 1 - x * x / 2 * 0x1p-10);
    for (int i = 0; i < doublings; ++i) value *= value;
    return value;
}

void check(const feature_options& options) {
    constexpr std::uint64_t most_features = 1U << 20;
    check_options(options);
    const std::uint64_t wide = std::uint64_t{options.channels} * options.features_per_channel;
    if (wide > most_features)
        throw invalid_argument(
            fmt::format("{} features of a spike are more than {}", wide, most_features));
    check_range("low_height", options.low_height, "high_height", options.high_height);
}

// Draws the mean features of a unit.
std::vector<double> random_unit(const feature_options& options, random_stream& random, double low,
                                double high) {
    const double centre = between(random, 0, options.channels);
    const double height = between(random, low, high);
    std::vector<double> shape;
    for (std::uint32_t c = 0; c < options.features_per_channel; ++c)
        shape.push_back(between(random, -1, 1) / std::sqrt(1.0 + c));
    shape[0] = random.uniform() < 0.5 ? -1 : 1;
    std::vector<double> mean;
    for (std::uint32_t ch = 0; ch < options.channels; ++ch) {
        const double here = height * bell((ch + 0.5 - centre) / options.width);
        for (const double part : shape) mean.push_back(here * part);
    }
    return mean;
}

double product(const std::vector<double>& a, const std::vector<double>& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    return sum;
}

// Returns the distance of the smaller of two units from the line through the other one and the
// origin, along which that unit's spikes vary in size.
double distance(const std::vector<double>& a, const std::vector<double>& b) {
    const double aa = product(a, a);
    const double bb = product(b, b);
    const double ab = product(a, b);
    const double line = std::max(aa, bb);
    return std::sqrt(std::max(0.0, std::min(aa, bb) - (line > 0 ? ab * ab / line : 0)));
}

std::vector<std::vector<double>> make_units(const feature_options& options) {
    constexpr int most_tries = 10'000;
    random_stream random(options.seed, random_purpose::feature_units, 0);
    std::vector<std::vector<double>> units;
    for (int tries = 0; units.size() < options.units; ++tries) {
        if (tries == most_tries)
            throw invalid_argument(
                fmt::format("no room for unit {} of {} at a separation of {} SDs of the noise: use "
                            "fewer units, more channels or less separation",
                            units.size() + 1, options.units, options.separation));
        std::vector<double> one =
            random_unit(options, random, options.low_height, options.high_height);
        const bool apart = std::all_of(units.begin(), units.end(), [&](const auto& other) {
            return distance(one, other) >= options.separation;
        });
        if (!apart) continue;
        units.push_back(std::move(one));
        tries = -1;
    }
    return units;
}

struct block {
    std::vector<double> values{};
    std::vector<std::uint32_t> truth{};
};

block make_block(const feature_options& options, const std::vector<std::vector<double>>& units,
                 std::size_t index) {
    block made;
    const std::size_t begin = index * block_spikes;
    const std::size_t end = std::min<std::size_t>(begin + block_spikes, options.spikes);
    made.values.reserve((end - begin) * units.front().size());
    made.truth.reserve(end - begin);
    for (std::size_t n = begin; n < end; ++n) {
        random_stream random(options.seed, random_purpose::feature_spikes,
                             static_cast<std::uint32_t>(n));
        const bool of_none = random.uniform() < options.of_no_unit;
        const auto u = static_cast<std::uint32_t>(random.below(units.size()));
        // The lower bound is about the smallest amplitude that a detector finds.
        constexpr double low = 5;
        constexpr double high = 9;
        const std::vector<double> mean =
            of_none ? random_unit(options, random, low, high) : units[u];
        const double size = 1 + options.amplitude_jitter * nearly_normal(random);
        for (const double part : mean) made.values.push_back(size * part + nearly_normal(random));
        made.truth.push_back(of_none ? 0 : u + 1);
    }
    return made;
}

std::vector<double> masks_of(std::span<const double> row, const feature_options& options) {
    const std::size_t per_channel = options.features_per_channel;
    std::vector<double> channel;
    channel.reserve(options.channels);
    for (std::size_t at = 0; at < row.size(); at += per_channel) {
        double most = 0;
        for (std::size_t c = 0; c < per_channel; ++c) most = std::max(most, std::abs(row[at + c]));
        channel.push_back(
            std::clamp((most - masked_up_to) / (unmasked_from - masked_up_to), 0.0, 1.0));
    }
    const auto peak = static_cast<std::size_t>(std::max_element(channel.begin(), channel.end()) -
                                               channel.begin());
    std::size_t begin = peak;
    std::size_t end = peak + 1;
    while (begin > 0 && channel[begin - 1] > 0) --begin;
    while (end < channel.size() && channel[end] > 0) ++end;
    std::vector<double> masks(row.size());
    for (std::size_t ch = begin; ch < end; ++ch)
        std::fill_n(masks.begin() + static_cast<std::ptrdiff_t>(ch * per_channel), per_channel,
                    channel[ch]);
    return masks;
}

template <class Item>
void write_array(io::zip_writer& archive, const char* name, io::npy_kind kind,
                 std::vector<std::uint64_t> shape, std::span<const Item> items) {
    archive.begin(fmt::format("{}.npy", name));
    archive.write(io::format_npy_header({kind, sizeof(Item), false, std::move(shape)}));
    archive.write({reinterpret_cast<const char*>(items.data()), items.size_bytes()});
}

}  // namespace

simulated_features simulate_features(const feature_options& options, const execution& run) {
    check(options);
    const std::vector<std::vector<double>> units = make_units(options);
    simulated_features out{.rate_hz = options.rate_hz};
    std::vector<double> values;
    spike_masks masks;
    values.reserve(options.spikes * units.front().size());
    out.truth.reserve(options.spikes);
    parallel::for_each_in_order(
        (options.spikes + block_spikes - 1) / block_spikes, run, "simulating",
        [&](std::size_t i) { return make_block(options, units, i); },
        [&](std::size_t, const block& made) {
            const std::size_t width = units.front().size();
            for (std::size_t at = 0; at < made.values.size(); at += width)
                masks.append(masks_of(std::span{made.values}.subspan(at, width), options));
            values.insert(values.end(), made.values.begin(), made.values.end());
            out.truth.insert(out.truth.end(), made.truth.begin(), made.truth.end());
        });
    random_stream random(options.seed, random_purpose::feature_times, 0);
    double time = 0;
    out.samples.reserve(options.spikes);
    for (std::uint32_t n = 0; n < options.spikes; ++n) {
        time += random.exponential() / options.spike_rate_hz;
        out.samples.push_back(static_cast<std::int64_t>(time * options.rate_hz));
    }
    out.features = {units.front().size(), std::move(values), std::move(masks)};
    return out;
}

void write_simulated_features(const std::filesystem::path& path, const simulated_features& what,
                              bool overwrite) {
    const std::uint64_t spikes = what.features.size();
    const std::uint64_t width = what.features.feature_count();
    io::zip_writer archive(path, overwrite);
    write_array<double>(archive, "features", io::npy_kind::real, {spikes, width},
                        what.features.values());
    archive.begin("masks.npy");
    archive.write(
        io::format_npy_header({io::npy_kind::real, sizeof(double), false, {spikes, width}}));
    std::vector<double> row(width);
    for (std::size_t n = 0; n < spikes; ++n) {
        what.features.write_masks(n, row);
        archive.write({reinterpret_cast<const char*>(row.data()), row.size() * sizeof(double)});
    }
    write_array<std::int64_t>(archive, "samples", io::npy_kind::integer, {spikes}, what.samples);
    write_array<double>(archive, "sample_rate", io::npy_kind::real, {1}, {&what.rate_hz, 1});
    write_array<std::uint32_t>(archive, "truth", io::npy_kind::natural, {spikes}, what.truth);
    archive.commit();
}

}  // namespace spikeweave
