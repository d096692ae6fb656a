#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "arrays.hpp"
#include "bindings.hpp"
#include "fields.hpp"
#include "recording.hpp"
#include "sorted_data.hpp"
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

struct sort_call {
    detection_options detection{};
    masked_gmm_options search{};
    quality_options quality{};
    call_options call{};
};

template <class Each>
void each_field(masked_gmm_options& options, Each each) {
    each("max_clusters", options.max_clusters);
    each("max_iterations", options.max_iterations);
    each("stop", options.stop, value_named<em_stop_rule>);
    each("points_for_cluster_mask", options.points_for_cluster_mask);
    each("exact_variances", options.exact_variances);
    each("prior_point", options.prior_point);
    each("noise_point", options.noise_point);
    each("penalty_k", options.penalty_k);
    each("penalty_k_log_n", options.penalty_k_log_n);
    each("split_first", options.split_first);
    each("split_every", options.split_every);
    each("splits", options.split_clusters);
    each("seed", options.seed);
    each("strategy", options.strategy, value_named<sort_strategy>);
    each("precision", options.precision, value_named<sort_precision>);
}

void take_search(keyword_arguments& how, masked_gmm_options& into) {
    if (const auto start = how.find("starting_clusters");
        start && nb::isinstance<nb::str>(*start) && nb::cast<std::string>(*start) == "auto")
        into.starting_clusters = 0;
    else
        field_reader(how).above_zero("starting_clusters", into.starting_clusters);
    each_field(into, field_reader(how));
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
}

sort_call take_call(keyword_arguments& how) {
    sort_call out;
    take_search(how, out.search);
    how.take("refractory", out.quality.refractory);
    out.call = how.take_call();
    return out;
}

// As the arguments of a call that does the same.
nb::dict arguments_of(sort_call options) {
    nb::dict out;
    masked_gmm_options& search = options.search;
    each_field(search, field_writer(out));
    out["starting_clusters"] = search.starting_clusters == 0 ? nb::object(nb::str("auto"))
                                                             : nb::cast(search.starting_clusters);
    out["deletions"] = !search.delete_clusters ? "none" : search.delete_many ? "all" : "one";
    out["split_start"] = search.random_splits ? "random" : "principal";
    out["refractory"] = to_seconds(options.quality.refractory);
    write_call(options.call, out);
    return out;
}

// What was decided on the way takes the place of what left it to be decided.
nb::dict arguments_of(sort_call options, const sorted_data& made) {
    options.search.strategy = made.search.ran_on;
    options.call.devices = made.devices;
    return arguments_of(std::move(options));
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
    data.devices = run.devices;
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
    detection_result found = detect_spikes(from, how.detection, run);
    data.warnings.insert(data.warnings.end(), found.warnings.begin(), found.warnings.end());
    data.sorted.sample_rate = from.rate_hz();
    data.sorted.sample_count = static_cast<std::int64_t>(from.frame_count());
    if (found.size() == 0)
        throw invalid_argument("recording: expected spikes, found none beyond " +
                               std::to_string(how.detection.strong) +
                               " standard deviations of a channel's noise");
    detection_options as_detected = how.detection;
    as_detected.preprocessing.reference = found.reference;
    data.reference = found.reference;
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

nb::dict search_facts(const clustering_result& search) {
    const auto& iterations = search.iterations;
    nb::dict out;
    out["stopped"] = std::string(to_string(search.stopped));
    out["score"] = search.score();
    nb::dict table;
    table["clusters"] = column<std::int64_t>(iterations, [](const auto& i) { return i.clusters; });
    table["changed"] = column<std::int64_t>(iterations, [](const auto& i) { return i.changed; });
    table["deleted"] = column<std::int64_t>(iterations, [](const auto& i) { return i.deleted; });
    table["splits"] = column<std::int64_t>(iterations, [](const auto& i) { return i.splits; });
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

sort_call take_recording_call(keyword_arguments& how) {
    sort_call out = take_call(how);
    each_field(out.detection, field_reader(how));
    return out;
}

nb::dict sort_traces(const held_recording& from, const nb::dict& arguments) {
    keyword_arguments how(arguments);
    const sort_call options = take_recording_call(how);
    how.check_all_known();
    sorted_data made = run_for_result(options.call, [&](const execution& run) {
        return sort_recording(from.what, options, on_device(run, options));
    });
    nb::dict parameters = arguments_of(options, made);
    detection_options detected = options.detection;
    detected.preprocessing.reference = made.reference;
    each_field(detected, field_writer(parameters));
    nb::dict out = to_python(std::move(made));
    out["parameters"] = parameters;
    return out;
}

nb::dict sort_defaults() {
    keyword_arguments nothing{nb::dict()};
    sort_call options = take_recording_call(nothing);
    nb::dict out = arguments_of(options);
    each_field(options.detection, field_writer(out));
    return out;
}

nb::dict sort_features_defaults() {
    keyword_arguments nothing{nb::dict()};
    return arguments_of(take_call(nothing));
}

nb::dict sort_given_features(const matrix_in<double>& values, const nb::object& masks,
                             const nb::object& samples, const nb::dict& arguments) {
    keyword_arguments how(arguments);
    const sort_call options = take_call(how);
    mask_options rule;
    how.take("mask", rule.rule, value_named<mask_rule>);
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
    const bool has_masks = rows.has_value();
    sorted_data made = run_for_result(options.call, [&](const execution& run) {
        if (!rows) rows = make_masks(numbers, width, rule, run).masks;
        data.features = spike_features(width, std::move(numbers), std::move(*rows));
        cluster(data, options, on_device(run, options));
        return std::move(data);
    });
    nb::dict parameters = arguments_of(options, made);
    parameters["mask"] = nb::none();
    if (!has_masks) parameters["mask"] = std::string(to_string(rule.rule));
    parameters["features_per_channel"] = made.features_per_channel;
    parameters["sample_rate"] = nb::none();
    if (made.sorted.sample_rate > 0) parameters["sample_rate"] = made.sorted.sample_rate;
    nb::dict out = to_python(std::move(made));
    out["parameters"] = parameters;
    return out;
}

nb::dict read_spike_features(const std::string& path, const nb::dict& arguments) {
    keyword_arguments how(arguments);
    feature_read_options reading;
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

}  // namespace

template <class Each>
void each_field(feature_options& options, Each each) {
    each("spikes", options.spikes);
    each("units", options.units);
    each("channels", options.channels);
    each("features_per_channel", options.features_per_channel);
    each("separation", options.separation);
    each("of_no_unit", options.of_no_unit);
    each("seed", options.seed);
}

namespace {

nb::dict simulated_features(const nb::dict& arguments) {
    keyword_arguments how(arguments);
    const auto options = read_fields<feature_options>(how);
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
    nb::class_<sorted_data>(m, "SortedData")
        .def("__len__", [](const sorted_data& data) { return data.sorted.labels.size(); })
        .def("__getstate__", &state_of)
        .def("__setstate__", [](sorted_data& data, const nb::dict& state) {
            new (&data) sorted_data(data_of(state));
        });
    m.def("sort_recording", &sort_traces, nb::arg("recording"), nb::arg("given"));
    m.def("sort_features", &sort_given_features, nb::arg("features"), nb::arg("masks").none(),
          nb::arg("samples").none(), nb::arg("given"));
    m.def("read_features", &read_spike_features, nb::arg("path"), nb::arg("given"));
    m.def("write_phy", &to_phy, nb::arg("data"), nb::arg("folder"));
    m.def("simulate_features", &simulated_features, nb::arg("given"));
    m.def("sort_defaults", &sort_defaults);
    m.def("sort_features_defaults", &sort_features_defaults);
    m.def("features_defaults", &default_fields<feature_options>);
}

}  // namespace spikeweave::python
