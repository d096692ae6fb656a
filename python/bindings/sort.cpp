#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "arrays.hpp"
#include "bindings.hpp"
#include "recording.hpp"
#include "spikes.hpp"
#include "spikeweave/core/device.hpp"
#include "spikeweave/record/mean_waveforms.hpp"
#include "spikeweave/report/sorting.hpp"
#include "spikeweave/simulate/features.hpp"
#include "spikeweave/sort/detected_features.hpp"
#include "spikeweave/sort/files.hpp"
#include "spikeweave/sort/phy.hpp"

namespace spikeweave::python {
namespace {

// What a sorting was made of and came to: enough to write Phy's folder of it later.
struct sorted_data {
    spike_features features{};
    sorting sorted{};
    clustered_spikes search{};
    std::vector<sorted_unit> units{};
    mean_waveforms waveforms{};
    std::vector<recording_channel> channels{};
    std::size_t features_per_channel = 3;
    std::filesystem::path raw{};
    std::vector<std::string> warnings{};
};

struct sort_call {
    detection_options detection{};
    masked_gmm_options search{};
    quality_options quality{};
    call_options call{};
};

void take_search(given& how, masked_gmm_options& into) {
    if (const auto start = how.find("starting_clusters");
        start && nb::isinstance<nb::str>(*start) && nb::cast<std::string>(*start) == "auto")
        into.starting_clusters = 0;
    else
        how.take("starting_clusters", into.starting_clusters);
    how.take("max_clusters", into.max_clusters);
    how.take("max_iterations", into.max_iterations);
    how.take("stop", into.stop, stop_rule_from);
    how.take("points_for_cluster_mask", into.points_for_cluster_mask);
    how.take("exact_variances", into.exact_variances);
    how.take("prior_point", into.prior_point);
    how.take("noise_point", into.noise_point);
    how.take("penalty_k", into.penalty_k);
    how.take("penalty_k_log_n", into.penalty_k_log_n);
    how.take("split_first", into.split_first);
    how.take("split_every", into.split_every);
    how.take("splits", into.split_clusters);
    std::string choice;
    how.take("deletions", choice);
    if (!choice.empty() && choice != "none" && choice != "one" && choice != "all")
        throw invalid_argument("deletions: '" + choice + "' is none of none, one, all");
    if (!choice.empty()) {
        into.delete_clusters = choice != "none";
        into.delete_many = choice == "all";
    }
    how.take("split_start", into.random_splits, [](const std::string& name) {
        if (name != "random" && name != "principal")
            throw invalid_argument("'" + name + "' is neither principal nor random");
        return name == "random";
    });
    how.take("seed", into.seed);
    how.take("strategy", into.strategy, sort_strategy_from);
    how.take("precision", into.precision, sort_precision_from);
}

sort_call take_call(given& how) {
    sort_call out;
    take_search(how, out.search);
    how.take("refractory", out.quality.refractory);
    out.call = how.take_call();
    return out;
}

// Sorting takes one device: the first where nobody says, unless the strategy is one of the CPU.
execution on_device(execution run, const sort_call& how) {
    const sort_strategy asked = how.search.strategy;
    const bool may_be_gpu = asked == sort_strategy::automatic || asked == sort_strategy::cuda;
    if (how.call.devices) {
        run.devices = *how.call.devices;
    } else if (may_be_gpu && !devices().empty()) {
        run.devices = {0};
    }
    return run;
}

void cluster(sorted_data& data, const sort_call& how, const execution& run) {
    data.search = sort_spikes(data.features, how.search, run);
    data.sorted.labels = std::move(data.search.labels);
    data.sorted.unit_count = data.search.units;
    const auto& found = data.search.warnings;
    data.warnings.insert(data.warnings.end(), found.begin(), found.end());
    data.units = describe_units(data.features, data.sorted);
    const std::vector<unit_quality> quality =
        measure_quality(data.features, data.sorted, how.quality, run);
    for (std::size_t u = 0; u < quality.size(); ++u) data.units[u].quality = quality[u];
}

sorted_data sort_recording(const recording& from, const sort_call& how, const execution& run) {
    sorted_data data{.channels = from.channels(),
                     .features_per_channel = how.detection.features_per_channel,
                     .raw = raw_samples_of(from, 0),
                     .warnings = from.description().warnings};
    detected_spikes found = detect_spikes(from, how.detection, run);
    data.warnings.insert(data.warnings.end(), found.warnings.begin(), found.warnings.end());
    data.sorted.sample_rate = from.rate_hz();
    data.sorted.sample_count = static_cast<std::int64_t>(from.frame_count());
    if (found.size() == 0)
        throw invalid_argument("recording: expected spikes, found none beyond " +
                               std::to_string(how.detection.strong) +
                               " standard deviations of a channel's noise");
    detection_options as_detected = how.detection;
    as_detected.preprocessing.reference = found.reference;
    data.features = to_features(found);
    data.sorted.samples = std::move(found.frames);
    data.sorted.fractions = std::move(found.fractions);
    cluster(data, how, run);
    data.waveforms = average_waveforms(from, data.sorted.samples, data.sorted.labels,
                                       std::size_t{data.sorted.unit_count} + 1, as_detected, run);
    for (std::size_t u = 0; u < data.units.size(); ++u)
        data.units[u].quality.snr = data.waveforms.signal_to_noise(u + 1);
    return data;
}

template <class Get>
array_out<double> quality_column(const sorted_data& data, Get get) {
    return column<double>(data.units, [&](const sorted_unit& unit) {
        return get(unit.quality).value_or(std::numeric_limits<double>::quiet_NaN());
    });
}

// Where each unit's mean waveform is largest; without one, where most of its spikes have a mask.
array_out<std::uint32_t> peak_channels(const sorted_data& data) {
    const mean_waveforms& mean = data.waveforms;
    if (mean.group_count() == 0)
        return column<std::uint32_t>(data.units, [&](const sorted_unit& unit) {
            return unit.peak_feature / data.features_per_channel;
        });
    std::vector<std::uint32_t> peaks;
    for (std::size_t u = 1; u < mean.group_count(); ++u) {
        const std::span<const float> values = mean.of(u);
        const auto largest =
            std::ranges::max_element(values, {}, [](float value) { return std::abs(value); });
        peaks.push_back(static_cast<std::uint32_t>(
            static_cast<std::size_t>(largest - values.begin()) % mean.channel_count));
    }
    return to_numpy(std::move(peaks));
}

nb::dict unit_columns(const sorted_data& data) {
    const auto& units = data.units;
    nb::dict out;
    out["spikes"] = column<std::uint64_t>(units, [](const auto& unit) { return unit.spikes; });
    out["peak_channel"] = peak_channels(data);
    out["rate"] = quality_column(data, [](const unit_quality& q) { return q.rate_hz; });
    out["l_ratio"] = quality_column(data, [](const unit_quality& q) { return q.l_ratio; });
    out["isolation_distance"] =
        quality_column(data, [](const unit_quality& q) { return q.isolation_distance; });
    out["isi_violations"] =
        quality_column(data, [](const unit_quality& q) { return q.refractory_violations; });
    out["contamination"] =
        quality_column(data, [](const unit_quality& q) { return q.contamination; });
    out["snr"] = quality_column(data, [](const unit_quality& q) { return q.snr; });
    return out;
}

nb::dict search_facts(const clustered_spikes& search) {
    const auto& iterations = search.iterations;
    nb::dict out;
    out["strategy"] = std::string(to_string(search.ran_on));
    out["stopped"] = std::string(to_string(search.stopped));
    out["score"] = search.score();
    nb::dict table;
    table["clusters"] = column<std::uint32_t>(iterations, [](const auto& i) { return i.clusters; });
    table["changed"] = column<std::uint64_t>(iterations, [](const auto& i) { return i.changed; });
    table["deleted"] = column<std::uint32_t>(iterations, [](const auto& i) { return i.deleted; });
    table["splits"] = column<std::uint32_t>(iterations, [](const auto& i) { return i.splits; });
    table["score"] = column<double>(iterations, [](const auto& i) { return i.score(); });
    out["iterations"] = table;
    return out;
}

nb::object samples_or_none(const std::vector<std::int64_t>& samples) {
    return samples.empty() ? nb::object(nb::none()) : nb::cast(to_numpy(std::span{samples}));
}

nb::dict to_python(sorted_data made) {
    nb::dict out;
    out["labels"] = to_numpy(std::span<const std::uint32_t>{made.sorted.labels});
    out["samples"] = samples_or_none(made.sorted.samples);
    out["units"] = unit_columns(made);
    out["search"] = search_facts(made.search);
    out["warnings"] = text_list(made.warnings);
    const mean_waveforms& mean = made.waveforms;
    if (mean.group_count() > 0) {
        out["waveforms"] = to_numpy(std::vector<float>(mean.values),
                                    {mean.group_count(), mean.frame_count, mean.channel_count});
        out["waveform_peak"] = mean.before;
        out["noise"] = to_numpy(std::span{mean.noise});
    }
    if (made.sorted.has_times()) {
        sorted_spikes spikes = to_spikes(made.sorted);
        out["duplicates"] = spikes.duplicates;
        out["spikes"] = nb::cast(share(std::move(spikes.spikes), made.sorted.sample_count > 0));
    }
    out["data"] = nb::cast(std::make_shared<const sorted_data>(std::move(made)));
    return out;
}

nb::dict sort_traces(const held_recording& from, const nb::dict& arguments) {
    given how(arguments);
    sort_call options = take_call(how);
    take_detection(how, options.detection);
    how.check_all_known();
    return to_python(run_for_result(options.call, [&](const execution& run) {
        return sort_recording(from.what, options, on_device(run, options));
    }));
}

std::vector<double> doubles(const matrix_in<double>& values) {
    const auto span = span_of(values);
    return {span.begin(), span.end()};
}

spike_masks masks_of(const matrix_in<double>& rows) {
    spike_masks out;
    for (std::size_t i = 0; i < rows.shape(0); ++i)
        out.append(std::span{rows.data(), rows.size()}.subspan(i * rows.shape(1), rows.shape(1)));
    return out;
}

nb::dict sort_given_features(const matrix_in<double>& values, const nb::object& masks,
                             const nb::object& samples, const nb::dict& arguments) {
    given how(arguments);
    const sort_call options = take_call(how);
    mask_options rule;
    how.take("mask", rule.rule, mask_rule_from);
    how.take("features_per_channel", rule.features_per_channel);
    sorted_data data{.features_per_channel = rule.features_per_channel};
    how.take("sample_rate", data.sorted.sample_rate);
    how.check_all_known();
    if (!samples.is_none()) {
        const auto given_samples = nb::cast<array_in<std::int64_t>>(samples);
        const auto span = span_of(given_samples);
        data.sorted.samples.assign(span.begin(), span.end());
    }
    const std::size_t width = values.shape(1);
    if (width == 0) throw invalid_argument("features: expected at least one feature, found none");
    const bool comes_out_even =
        rule.features_per_channel > 0 && width % rule.features_per_channel == 0;
    if (!comes_out_even && (masks.is_none() || how.find("features_per_channel")))
        throw invalid_argument("features_per_channel: expected a divisor of the " +
                               std::to_string(width) + " features, found " +
                               std::to_string(rule.features_per_channel));
    // Nobody said what belongs together, and with masks nobody needs to know.
    if (!comes_out_even) data.features_per_channel = 1;
    if (how.find("sample_rate") &&
        !(data.sorted.sample_rate > 0 && std::isfinite(data.sorted.sample_rate)))
        throw invalid_argument("sample_rate: expected a number above 0, found " +
                               std::to_string(data.sorted.sample_rate));
    std::vector<double> numbers = doubles(values);
    std::optional<spike_masks> rows;
    if (!masks.is_none()) rows = masks_of(nb::cast<matrix_in<double>>(masks));
    return to_python(run_for_result(options.call, [&](const execution& run) {
        if (!rows) rows = make_masks(numbers, width, rule, run).masks;
        data.features = spike_features(width, std::move(numbers), std::move(*rows));
        cluster(data, options, on_device(run, options));
        return std::move(data);
    }));
}

// Both as matrices of spikes × features.
nb::dict dense_arrays(const spike_features& features) {
    const std::size_t spikes = features.size();
    const std::size_t width = features.feature_count();
    std::vector<double> masks(spikes * width);
    for (std::size_t n = 0; n < spikes; ++n)
        for (std::size_t i = 0; i < features.unmasked(n).size(); ++i)
            masks[n * width + features.unmasked(n)[i]] = features.mask_values(n)[i];
    const auto values = features.values();
    nb::dict out;
    out["features"] = to_numpy(std::vector<double>(values.begin(), values.end()), {spikes, width});
    out["masks"] = to_numpy(std::move(masks), {spikes, width});
    return out;
}

nb::dict read_spike_features(const std::string& path, const nb::dict& arguments) {
    given how(arguments);
    feature_reading reading;
    how.take("masks", reading.masks, [](const std::string& file) { return file; });
    how.take("features_per_channel", reading.features_per_channel);
    how.take("channel_group", reading.channel_group);
    const call_options call = how.take_call();
    how.check_all_known();
    feature_file file = run_for_result(
        call, [&](const execution& run) { return read_features(path, reading, run); });
    nb::dict out = dense_arrays(file.features);
    out["samples"] = samples_or_none(file.samples);
    out["sample_rate"] = file.sample_rate;
    out["features_per_channel"] = file.features_per_channel;
    out["warnings"] = text_list(file.warnings);
    return out;
}

void to_phy(const std::shared_ptr<const sorted_data>& data, const std::string& folder) {
    std::vector<unit_quality> quality;
    quality.reserve(data->units.size());
    for (const sorted_unit& unit : data->units) quality.push_back(unit.quality);
    const phy_content content{
        .features = data->features,
        .sorted = data->sorted,
        .quality = quality,
        .features_per_channel = data->features_per_channel,
        .channels = data->channels,
        .waveforms = data->waveforms.group_count() > 0 ? &data->waveforms : nullptr,
        .raw = data->raw};
    run_unlocked({}, [&](const execution& run) { write_phy(folder, content, run); });
}

nb::dict simulated_features(const nb::dict& arguments) {
    given how(arguments);
    feature_options options;
    how.take("spikes", options.spikes);
    how.take("units", options.units);
    how.take("channels", options.channels);
    how.take("features_per_channel", options.features_per_channel);
    how.take("separation", options.separation);
    how.take("of_no_unit", options.of_no_unit);
    how.take("seed", options.seed);
    const call_options call = how.take_call();
    how.check_all_known();
    spikeweave::simulated_features made =
        run_for_result(call, [&](const execution& run) { return simulate_features(options, run); });
    nb::dict out = dense_arrays(made.features);
    out["samples"] = to_numpy(std::move(made.samples));
    out["sample_rate"] = made.rate_hz;
    out["truth"] = to_numpy(std::move(made.truth));
    return out;
}

}  // namespace

void bind_sort(nb::module_& m) {
    nb::class_<sorted_data>(m, "SortedData").def("__len__", [](const sorted_data& data) {
        return data.sorted.labels.size();
    });
    m.def("sort_recording", &sort_traces, nb::arg("recording"), nb::arg("given"));
    m.def("sort_features", &sort_given_features, nb::arg("features"), nb::arg("masks").none(),
          nb::arg("samples").none(), nb::arg("given"));
    m.def("read_features", &read_spike_features, nb::arg("path"), nb::arg("given"));
    m.def("write_phy", &to_phy, nb::arg("data"), nb::arg("folder"));
    m.def("simulate_features", &simulated_features, nb::arg("given"));
}

}  // namespace spikeweave::python
