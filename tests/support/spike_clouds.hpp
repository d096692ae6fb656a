#pragma once

// Features of spikes whose units are known, without a recording around them.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <random>
#include <utility>
#include <vector>

#include "spikeweave/sort/spike_features.hpp"

/// Random numbers that do not depend on the standard library's distributions.
class cloud_random {
public:
    explicit cloud_random(std::uint64_t seed) : engine_(seed) {}

    double uniform() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }
    double normal() {
        const double radius = std::sqrt(-2 * std::log(1 - uniform()));
        return radius * std::cos(2 * std::numbers::pi * uniform());
    }
    std::size_t below(std::size_t bound) { return engine_() % bound; }

private:
    std::mt19937_64 engine_;
};

struct spike_cloud {
    spikeweave::spike_features features;
    std::vector<std::uint32_t> truth{};  ///< units from 1; 0 is a spike of no unit
};

struct cloud_options {
    std::size_t spikes = 1000;
    std::size_t units = 5;
    std::size_t channels = 8;
    std::size_t per_channel = 3;
    double of_no_unit = 0.03;
    std::uint64_t seed = 1;
};

namespace spike_clouds {

struct unit {
    double centre = 0;
    double height = 0;
    std::vector<double> shape{};
};

inline unit random_unit(cloud_random& random, const cloud_options& options, double lowest,
                        double highest) {
    unit made{random.uniform() * static_cast<double>(options.channels),
              lowest + random.uniform() * (highest - lowest)};
    for (std::size_t c = 0; c < options.per_channel; ++c)
        made.shape.push_back((random.uniform() * 2 - 1) / std::sqrt(1.0 + static_cast<double>(c)));
    made.shape[0] = random.uniform() < 0.5 ? -1 : 1;
    return made;
}

// Draws a spike of the unit around its centre, with noise of SD 1 on every feature.
inline std::vector<double> spike_of(const unit& from, cloud_random& random,
                                    const cloud_options& options) {
    constexpr double width = 1.2;
    constexpr double jitter = 0.12;
    const double height = from.height * (1 + jitter * random.normal());
    std::vector<double> row;
    for (std::size_t ch = 0; ch < options.channels; ++ch) {
        const double away = (static_cast<double>(ch) + 0.5 - from.centre) / width;
        for (const double part : from.shape)
            row.push_back(height * part * std::exp(-away * away / 2) + random.normal());
    }
    return row;
}

// Makes masks with limits of 2 SD and 4.5 SD, on the channels connected with the largest one.
inline std::vector<double> masks_of(const std::vector<double>& row, const cloud_options& options) {
    std::vector<double> channel;
    for (std::size_t ch = 0; ch < options.channels; ++ch) {
        double most = 0;
        for (std::size_t c = 0; c < options.per_channel; ++c)
            most = std::max(most, std::abs(row[ch * options.per_channel + c]));
        channel.push_back(std::clamp((most - 2) / 2.5, 0.0, 1.0));
    }
    const std::size_t peak = static_cast<std::size_t>(
        std::max_element(channel.begin(), channel.end()) - channel.begin());
    std::size_t begin = peak;
    std::size_t end = peak + 1;
    while (begin > 0 && channel[begin - 1] > 0) --begin;
    while (end < channel.size() && channel[end] > 0) ++end;
    std::vector<double> masks(row.size());
    for (std::size_t ch = begin; ch < end; ++ch)
        std::fill_n(masks.begin() + static_cast<std::ptrdiff_t>(ch * options.per_channel),
                    options.per_channel, channel[ch]);
    return masks;
}

}  // namespace spike_clouds

/// Units with a bell of amplitudes over neighbouring channels, and spikes of no unit among them.
inline spike_cloud make_cloud(const cloud_options& options) {
    cloud_random random(options.seed);
    std::vector<spike_clouds::unit> units;
    for (std::size_t u = 0; u < options.units; ++u)
        units.push_back(spike_clouds::random_unit(random, options, 8, 20));
    spike_cloud cloud;
    std::vector<double> values;
    spikeweave::spike_masks masks;
    for (std::size_t n = 0; n < options.spikes; ++n) {
        const bool of_no_unit = random.uniform() < options.of_no_unit;
        const std::size_t u = random.below(options.units);
        const spike_clouds::unit from =
            of_no_unit ? spike_clouds::random_unit(random, options, 5, 9) : units[u];
        const std::vector<double> row = spike_clouds::spike_of(from, random, options);
        values.insert(values.end(), row.begin(), row.end());
        masks.append(spike_clouds::masks_of(row, options));
        cloud.truth.push_back(of_no_unit ? 0 : static_cast<std::uint32_t>(u) + 1);
    }
    cloud.features = {options.channels * options.per_channel, std::move(values), std::move(masks)};
    return cloud;
}

/// Agreement of two labellings beyond chance, 1 when they are the same up to names (Hubert, Arabie
/// 1985, doi:10.1007/BF01908075).
inline double adjusted_rand(const std::vector<std::uint32_t>& a,
                            const std::vector<std::uint32_t>& b) {
    const std::size_t rows = *std::max_element(a.begin(), a.end()) + 1;
    const std::size_t columns = *std::max_element(b.begin(), b.end()) + 1;
    std::vector<double> both(rows * columns);
    std::vector<double> of_a(rows);
    std::vector<double> of_b(columns);
    for (std::size_t n = 0; n < a.size(); ++n) {
        ++both[a[n] * columns + b[n]];
        ++of_a[a[n]];
        ++of_b[b[n]];
    }
    const auto pairs = [](const std::vector<double>& counts) {
        double sum = 0;
        for (const double c : counts) sum += c * (c - 1) / 2;
        return sum;
    };
    const double expected = pairs(of_a) * pairs(of_b) / pairs({static_cast<double>(a.size())});
    const double largest = (pairs(of_a) + pairs(of_b)) / 2;
    return (pairs(both) - expected) / (largest - expected);
}
