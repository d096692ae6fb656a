#include "spikeweave/pipeline/sort/features.hpp"

#include <fmt/format.h>

#include <utility>

#include "spikeweave/core/error.hpp"
#include "spikeweave/sort/masks.hpp"

namespace spikeweave {
namespace {

std::size_t features_of_channel(const feature_sort_options& options) {
    return options.features_per_channel.value_or(options.reading.features_per_channel);
}

feature_sort_result sort_file(feature_file file, known_of_features known,
                              feature_sort_options options, const execution& run) {
    if (!known.samples.empty()) file.samples = std::move(known.samples);
    if (options.sample_rate) file.sample_rate = *options.sample_rate;
    auto sorted = sort_features(std::move(file), options.sorting, run);
    feature_sort_result out{.sorted = std::move(sorted), .options = std::move(options)};
    feature_sort_options& resolved = out.options;
    resolved.sorting = out.sorted.options;
    resolved.reading.mask.reset();
    for (const mask_rule rule : values_of<mask_rule>())
        if (out.sorted.masks_from == to_string(rule)) resolved.reading.mask = rule;
    resolved.features_per_channel = out.sorted.features_per_channel;
    resolved.sample_rate.reset();
    if (out.sorted.sorted.sample_rate > 0) resolved.sample_rate = out.sorted.sorted.sample_rate;
    return out;
}

}  // namespace

option_list describe(feature_sort_options& options) {
    option_list list = describe(options.reading);
    list.remove("masks");
    list.add("features_per_channel", options.features_per_channel,
             "number of features of each channel, for the masks")
        .at_least(1)
        .by_default("as stated in the file, else 3");
    list.add("sample_rate", options.sample_rate, "samples per second, for times in seconds")
        .above(0)
        .by_default("as stated in the file")
        .written("HZ");
    list.add_all(describe_feature_sort(options.sorting));
    return list;
}

feature_sort_result sort_features(std::span<const double> values, std::size_t width,
                                  known_of_features known, feature_sort_options options,
                                  const execution& run) {
    const std::size_t of_channel = features_of_channel(options);
    if (width == 0) throw invalid_argument("features: expected at least one feature, found none");
    if (width % of_channel != 0 && (!known.masks || options.features_per_channel))
        throw invalid_argument(
            fmt::format("features_per_channel: expected a divisor of the {} features, found {}",
                        width, of_channel));
    // By default, features whose number is not divisible count as a channel each.
    feature_file file{.features_per_channel = width % of_channel == 0 ? of_channel : 1};
    if (!known.masks) {
        const mask_options rule{.rule = options.reading.mask.value_or(mask_rule::mad),
                                .features_per_channel = of_channel};
        known.masks = make_masks(values, width, rule, run).masks;
        file.masks_from = to_string(rule.rule);
    }
    file.features = spike_features(width, {values.begin(), values.end()}, std::move(*known.masks));
    return sort_file(std::move(file), std::move(known), std::move(options), run);
}

feature_sort_result sort_features(const std::filesystem::path& path, known_of_features known,
                                  feature_sort_options options, const execution& run) {
    options.reading.features_per_channel = features_of_channel(options);
    feature_file file = read_features(path, options.reading, run);
    const std::size_t width = file.features.feature_count();
    if (options.features_per_channel || file.features_per_channel == 0)
        file.features_per_channel = features_of_channel(options);
    if (width % file.features_per_channel != 0) file.features_per_channel = 1;
    if (known.masks) {
        file.features =
            spike_features(width, file.features.dense_values(), std::move(*known.masks));
        file.masks_from = "masks";
    }
    return sort_file(std::move(file), std::move(known), std::move(options), run);
}

}  // namespace spikeweave
