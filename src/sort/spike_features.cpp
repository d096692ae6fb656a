#include "spikeweave/sort/spike_features.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
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
    if (feature_count_ == 0) throw invalid_argument("a spike without features cannot be sorted");
    if (masks_.offsets.empty() || masks_.offsets.front() != 0 ||
        masks_.offsets.back() != masks_.columns.size() ||
        masks_.columns.size() != masks_.values.size())
        throw invalid_argument("the masks' parts are not as long as each other");
    if (values_.size() != size() * feature_count_)
        throw invalid_argument(fmt::format("there are {} values for {} spikes of {} features",
                                           values_.size(), size(), feature_count_));
    if (size() >= std::numeric_limits<std::uint32_t>::max())
        throw invalid_argument(fmt::format("{} spikes are more than 2^32 - 2", size()));
    for (std::size_t spike = 0; spike < size(); ++spike) {
        if (masks_.offsets[spike] > masks_.offsets[spike + 1])
            throw invalid_argument(fmt::format("spike {}: its masks end before they begin", spike));
        check_row(masks_, spike, feature_count_);
    }
    for (std::size_t i = 0; i < values_.size(); ++i) {
        if (!(std::abs(values_[i]) <= largest))
            throw invalid_argument(fmt::format("spike {}, feature {}: {} is not within +-{}",
                                               i / feature_count_, i % feature_count_, values_[i],
                                               largest));
    }
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
    std::vector<double> values;
    values.reserve(spikes.size() * from.feature_count());
    spike_masks masks;
    masks.offsets.reserve(spikes.size() + 1);
    for (const std::uint32_t n : spikes) {
        if (n >= from.size())
            throw invalid_argument(fmt::format("there is no spike {} of {}", n, from.size()));
        const auto row = from.values(n);
        const auto columns = from.unmasked(n);
        const auto own = from.mask_values(n);
        values.insert(values.end(), row.begin(), row.end());
        masks.columns.insert(masks.columns.end(), columns.begin(), columns.end());
        masks.values.insert(masks.values.end(), own.begin(), own.end());
        masks.offsets.push_back(masks.columns.size());
    }
    return {from.feature_count(), std::move(values), std::move(masks)};
}

}  // namespace spikeweave
