#include "spikeweave/sort/spike_features.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include "spikeweave/core/error.hpp"

namespace spikeweave {
namespace {

// Features are limited so that the difference of two is finite.
constexpr double largest = 1e300;

void check_row(const spike_masks& masks, std::size_t spike, std::size_t feature_count) {
    for (std::uint64_t at = masks.offsets[spike]; at < masks.offsets[spike + 1]; ++at) {
        const std::uint32_t column = masks.columns[at];
        if (column >= feature_count)
            throw invalid_argument(fmt::format("spike {}: there is a mask for feature {} of {}",
                                               spike, column, feature_count));
        if (at > masks.offsets[spike] && column <= masks.columns[at - 1])
            throw invalid_argument(
                fmt::format("spike {}: the masks' features do not ascend", spike));
        if (!(masks.values[at] > 0 && masks.values[at] <= 1))
            throw invalid_argument(fmt::format("spike {}, feature {}: the mask {} is not in (0, 1]",
                                               spike, column, masks.values[at]));
    }
}

}  // namespace

spike_masks spike_masks::of_rows(std::span<const double> rows, std::size_t feature_count) {
    spike_masks out;
    for (std::size_t at = 0; at + feature_count <= rows.size() && feature_count > 0;
         at += feature_count)
        out.append(rows.subspan(at, feature_count));
    return out;
}

void spike_masks::append(std::span<const double> row) {
    for (std::size_t i = 0; i < row.size(); ++i) {
        if (row[i] == 0) continue;
        columns.push_back(static_cast<std::uint32_t>(i));
        values.push_back(row[i]);
    }
    offsets.push_back(columns.size());
}

spike_features::spike_features(std::size_t feature_count, std::vector<double> values,
                               spike_masks masks)
    : feature_count_(feature_count), values_(std::move(values)), masks_(std::move(masks)) {
    check_masks();
    if (values_.size() != size() * feature_count_)
        throw invalid_argument(fmt::format("there are {} values for {} spikes of {} features",
                                           values_.size(), size(), feature_count_));
    for (std::size_t i = 0; i < values_.size(); ++i) {
        if (!(std::abs(values_[i]) <= largest))
            throw invalid_argument(fmt::format("spike {}, feature {}: {} is not within +-{}",
                                               i / feature_count_, i % feature_count_, values_[i],
                                               largest));
    }
}

spike_features spike_features::known_around(std::size_t feature_count, local_values values,
                                            spike_masks masks) {
    spike_features out;
    out.feature_count_ = feature_count;
    out.local_ = std::move(values);
    out.masks_ = std::move(masks);
    out.check_masks();
    out.find_places();
    out.check_local_values();
    return out;
}

void spike_features::set_noise(std::vector<double> noise) {
    if (noise.size() != feature_count_)
        throw invalid_argument(
            fmt::format("there are {} standard deviations of noise for {} "
                        "features",
                        noise.size(), feature_count_));
    noise_ = std::move(noise);
}

void spike_features::check_local_values() const {
    if (local_.patch_of.size() != size() || local_.values.size() != size() * local_count())
        throw invalid_argument(
            fmt::format("there are {} values and lists of {} for {} spikes of {} features",
                        local_.values.size(), local_.patch_of.size(), size(), local_count()));
    for (std::size_t spike = 0; spike < size(); ++spike) {
        if (local_.patch_of[spike] >= local_.patches.size())
            throw invalid_argument(fmt::format("spike {} belongs to list {} of {}", spike,
                                               local_.patch_of[spike], local_.patches.size()));
        for (const std::uint32_t column : unmasked(spike))
            if (!is_known(spike, column))
                throw invalid_argument(fmt::format(
                    "spike {}: there is a mask for feature {}, which is not known", spike, column));
    }
    for (std::size_t i = 0; i < local_.values.size(); ++i)
        if (!std::isfinite(local_.values[i]))
            throw invalid_argument(
                fmt::format("spike {}: {} is not finite", i / local_count(), local_.values[i]));
}

void spike_features::check_masks() const {
    if (feature_count_ == 0) throw invalid_argument("a spike without features cannot be sorted");
    if (masks_.offsets.empty() || masks_.offsets.front() != 0 ||
        masks_.offsets.back() != masks_.columns.size() ||
        masks_.columns.size() != masks_.values.size())
        throw invalid_argument("the masks' parts are not as long as each other");
    if (size() >= std::numeric_limits<std::uint32_t>::max())
        throw invalid_argument(fmt::format("{} spikes are more than 2^32 - 2", size()));
    for (std::size_t spike = 0; spike < size(); ++spike) {
        if (masks_.offsets[spike] > masks_.offsets[spike + 1])
            throw invalid_argument(fmt::format("spike {}: its masks end before they begin", spike));
        check_row(masks_, spike, feature_count_);
    }
}

void spike_features::find_places() {
    const std::size_t width = local_.features_per_channel;
    if (width == 0 || feature_count_ % width != 0 || local_.patches.empty())
        throw invalid_argument(fmt::format("{} features, {} for each channel, in {} lists",
                                           feature_count_, width, local_.patches.size()));
    const std::size_t channels = feature_count_ / width;
    places_.assign(local_.patches.size() * channels, UINT32_MAX);
    for (std::size_t p = 0; p < local_.patches.size(); ++p) {
        const std::vector<std::uint32_t>& patch = local_.patches[p];
        const bool is_ascending =
            std::ranges::adjacent_find(patch, std::ranges::greater_equal{}) == patch.end();
        if (patch.empty() || patch.size() != local_.patches.front().size() || !is_ascending ||
            patch.back() >= channels)
            throw invalid_argument(fmt::format("list {} of channels is not {} ascending ones of {}",
                                               p, local_.patches.front().size(), channels));
        for (std::size_t i = 0; i < patch.size(); ++i)
            places_[p * channels + patch[i]] = static_cast<std::uint32_t>(i * width);
    }
}

void spike_features::write_values(std::size_t spike, std::span<double> row) const {
    std::ranges::fill(row, 0.0);
    for_each_known(spike, [&](std::size_t feature, double value) { row[feature] = value; });
}

std::vector<double> spike_features::dense_values() const {
    std::vector<double> out(size() * feature_count_);
    for (std::size_t n = 0; n < size(); ++n)
        write_values(n, std::span{out}.subspan(n * feature_count_, feature_count_));
    return out;
}

void spike_features::write_masks(std::size_t spike, std::span<double> row) const {
    std::ranges::fill(row, 0.0);
    const auto columns = unmasked(spike);
    const auto masks = mask_values(spike);
    for (std::size_t i = 0; i < columns.size(); ++i) row[columns[i]] = masks[i];
}

std::vector<double> spike_features::dense_masks() const {
    std::vector<double> out(size() * feature_count_);
    for (std::size_t n = 0; n < size(); ++n)
        write_masks(n, std::span{out}.subspan(n * feature_count_, feature_count_));
    return out;
}

spike_features select_spikes(const spike_features& from, std::span<const std::uint32_t> spikes) {
    const local_values& all = from.local();
    const std::size_t width = from.is_local()
                                  ? all.patches.front().size() * all.features_per_channel
                                  : from.feature_count();
    local_values local{.features_per_channel = all.features_per_channel, .patches = all.patches};
    std::vector<double> values;
    spike_masks masks;
    masks.offsets.reserve(spikes.size() + 1);
    const auto add = [width](const auto& rows, std::size_t n, auto& to) {
        const auto begin = rows.begin() + static_cast<std::ptrdiff_t>(n * width);
        to.insert(to.end(), begin, begin + static_cast<std::ptrdiff_t>(width));
    };
    for (const std::uint32_t n : spikes) {
        if (n >= from.size())
            throw invalid_argument(fmt::format("there is no spike {} of {}", n, from.size()));
        if (from.is_local()) {
            add(all.values, n, local.values);
            local.patch_of.push_back(all.patch_of[n]);
        } else {
            add(from.values(), n, values);
        }
        const auto columns = from.unmasked(n);
        const auto own = from.mask_values(n);
        masks.columns.insert(masks.columns.end(), columns.begin(), columns.end());
        masks.values.insert(masks.values.end(), own.begin(), own.end());
        masks.offsets.push_back(masks.columns.size());
    }
    if (from.is_local())
        return spike_features::known_around(from.feature_count(), std::move(local),
                                            std::move(masks));
    return {from.feature_count(), std::move(values), std::move(masks)};
}

}  // namespace spikeweave
