#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "sort/files/readers.hpp"

namespace spikeweave::sort {
namespace {

// Calls `take(value, column, is_masked)` for every value of the table.
template <class Take>
void for_each_value(number_table& table, const spike_masks& masks, const Take& take) {
    for (std::size_t n = 0; n < table.rows(); ++n) {
        std::uint64_t next = masks.offsets[n];
        for (std::size_t i = 0; i < table.columns; ++i) {
            const bool unmasked = next < masks.offsets[n + 1] && masks.columns[next] == i;
            next += unmasked ? 1 : 0;
            take(table.values[n * table.columns + i], i, !unmasked);
        }
    }
}

// Fills in missing features, which are masked. Values alternate between one SD above and below the
// mean of the feature's other masked values, so that mean and variance of the noise do not change.
void fill_missing(number_table& table, const spike_masks& masks) {
    bool any = false;
    for (const double x : table.values) any = any || std::isnan(x);
    if (!any) return;
    std::vector<double> counts(table.columns);
    std::vector<double> means(table.columns);
    std::vector<double> deviations(table.columns);
    for_each_value(table, masks, [&](double x, std::size_t i, bool masked) {
        if (!masked || std::isnan(x)) return;
        ++counts[i];
        means[i] += x;
    });
    for (std::size_t i = 0; i < table.columns; ++i)
        if (counts[i] > 0) means[i] /= counts[i];
    for_each_value(table, masks, [&](double x, std::size_t i, bool masked) {
        if (masked && !std::isnan(x)) deviations[i] += (x - means[i]) * (x - means[i]);
    });
    for (std::size_t i = 0; i < table.columns; ++i)
        if (counts[i] > 0) deviations[i] = std::sqrt(deviations[i] / counts[i]);
    for_each_value(table, masks, [&](double& x, std::size_t i, bool) {
        if (!std::isnan(x)) return;
        x = means[i] + deviations[i];
        deviations[i] = -deviations[i];
    });
}

}  // namespace

spike_features with_made_masks(number_table table, mask_rule rule, std::size_t features_per_channel,
                               feature_file& file, const execution& run) {
    const mask_result made =
        make_masks(table.values, table.columns,
                   {.rule = rule, .features_per_channel = features_per_channel}, run);
    fill_missing(table, made.masks);
    file.masks_from = to_string(rule);
    if (rule == mask_rule::seed)
        file.warnings.emplace_back(
            "Masks from the standard deviation over all spikes miss units that fire often: the "
            "more spikes a feature has, the more of them are masked.");
    if (made.without_mask > 0 && rule == mask_rule::mad)
        file.warnings.push_back(
            fmt::format("{} of {} spikes are below the threshold of masks on all channels; each "
                        "keeps its largest channel.",
                        made.without_mask, table.rows()));
    if (made.constant_features > 0)
        file.warnings.push_back(
            fmt::format("{} of {} features do not vary (or for most spikes do not) and are masked.",
                        made.constant_features, table.columns));
    return {table.columns, std::move(table.values), made.masks};
}

}  // namespace spikeweave::sort
