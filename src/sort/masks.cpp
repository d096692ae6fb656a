#include "spikeweave/sort/masks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/stop.hpp"
#include "parallel/parallel_for.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave {
namespace {

double median(std::vector<double>& values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    if (values.size() % 2 == 1) return *middle;
    return (*std::max_element(values.begin(), middle) + *middle) / 2;
}

// The median absolute deviation of a normal distribution, in SDs.
constexpr double mad_of_normal = 0.6745;

double noise_sd(std::vector<double>& column) {
    const double center = median(column);
    for (double& x : column) x = std::abs(x - center);
    return median(column) / mad_of_normal;
}

double plain_sd(const std::vector<double>& column) {
    const auto n = static_cast<double>(column.size());
    double mean = 0;
    for (const double x : column) mean += x;
    mean /= n;
    double squares = 0;
    for (const double x : column) squares += (x - mean) * (x - mean);
    return std::sqrt(squares / n);
}

std::vector<double> deviations(std::span<const double> values, std::size_t feature_count,
                               mask_rule rule, const execution& run) {
    const std::size_t spikes = values.size() / feature_count;
    std::vector<double> sd(feature_count);
    if (spikes == 0) return sd;
    parallel::parallel_for(feature_count, run, "noise of features", [&](std::size_t i) {
        std::vector<double> column;
        column.reserve(spikes);
        for (std::size_t n = 0; n < spikes; ++n)
            if (const double x = values[n * feature_count + i]; !std::isnan(x)) column.push_back(x);
        if (column.empty()) return;
        sd[i] = rule == mask_rule::seed ? plain_sd(column) : noise_sd(column);
    });
    return sd;
}

// Returns the value in SDs; a feature without deviation carries no information.
double amplitude(double value, double sd) {
    return sd > 0 && !std::isnan(value) ? std::abs(value) / sd : 0;
}

double mask_of(double sds, const mask_options& options) {
    return std::clamp((sds - options.low) / (options.high - options.low), 0.0, 1.0);
}

// Sets the masks of one spike channel by channel. @return whether any channel was above `low`
bool mask_channels(std::span<const double> spike, const std::vector<double>& sd,
                   const mask_options& options, std::vector<double>& row) {
    const std::size_t width = options.features_per_channel;
    std::size_t largest = 0;
    double most = -1;
    for (std::size_t begin = 0; begin < spike.size(); begin += width) {
        double sds = 0;
        for (std::size_t i = begin; i < begin + width; ++i)
            sds = std::max(sds, amplitude(spike[i], sd[i]));
        std::fill_n(row.begin() + static_cast<std::ptrdiff_t>(begin), width, mask_of(sds, options));
        if (sds > most && !std::isnan(spike[begin])) {
            most = sds;
            largest = begin;
        }
    }
    if (most > options.low) return true;
    std::fill_n(row.begin() + static_cast<std::ptrdiff_t>(largest), width, 1.0);
    return false;
}

bool mask_features(std::span<const double> spike, const std::vector<double>& sd,
                   const mask_options& options, std::vector<double>& row) {
    bool any = false;
    for (std::size_t i = 0; i < spike.size(); ++i) {
        row[i] = mask_of(amplitude(spike[i], sd[i]), options);
        any = any || row[i] > 0;
    }
    return any;
}

void mask_missing(std::span<const double> spike, std::vector<double>& row) {
    for (std::size_t i = 0; i < spike.size(); ++i)
        if (std::isnan(spike[i])) row[i] = 0;
}

void check(std::size_t feature_count, const mask_options& options) {
    if (!(options.low >= 0 && options.low < options.high))
        throw invalid_argument(
            fmt::format("masks cannot rise from {} to {} SDs", options.low, options.high));
    if (options.rule == mask_rule::mad &&
        (options.features_per_channel == 0 || feature_count % options.features_per_channel != 0))
        throw invalid_argument(
            fmt::format("{} features are not those of whole channels of {}: give the number of "
                        "features per channel",
                        feature_count, options.features_per_channel));
}

}  // namespace

template <>
enum_table<mask_rule> enum_names<mask_rule>() {
    using enum mask_rule;
    static constexpr named_value<mask_rule> values[]{{mad, "mad"}, {seed, "seed"}, {all, "all"}};
    return {"rule for masks", values};
}

mask_result make_masks(std::span<const double> values, std::size_t feature_count,
                       const mask_options& options, const execution& run) {
    check(feature_count, options);
    mask_result made;
    std::vector<double> row(feature_count, 1.0);
    const std::size_t spikes = values.size() / feature_count;
    if (options.rule == mask_rule::all) {
        for (std::size_t n = 0; n < spikes; ++n) {
            std::fill(row.begin(), row.end(), 1.0);
            mask_missing(values.subspan(n * feature_count, feature_count), row);
            made.masks.append(row);
        }
        return made;
    }
    const std::vector<double> sd = deviations(values, feature_count, options.rule, run);
    made.constant_features = static_cast<std::size_t>(std::count(sd.begin(), sd.end(), 0.0));
    for (std::size_t n = 0; n < spikes; ++n) {
        core::stop_at_times(n, run.stop);
        const auto spike = values.subspan(n * feature_count, feature_count);
        const bool any = options.rule == mask_rule::seed ? mask_features(spike, sd, options, row)
                                                         : mask_channels(spike, sd, options, row);
        mask_missing(spike, row);
        made.without_mask += any ? 0 : 1;
        made.masks.append(row);
    }
    return made;
}

}  // namespace spikeweave
