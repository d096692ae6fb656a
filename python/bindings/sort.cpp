#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include <cmath>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "arrays.hpp"
#include "bindings.hpp"
#include "described_arguments.hpp"
#include "fields.hpp"
#include "recording.hpp"
#include "sorted_data.hpp"
#include "spikes.hpp"
#include "spikeweave/pipeline/sort.hpp"
#include "spikeweave/simulate/features.hpp"
#include "spikeweave/sort/files.hpp"
#include "spikeweave/sort/masks.hpp"
#include "spikeweave/sort/phy.hpp"

namespace spikeweave::python {
namespace {

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

nb::dict to_python(sort_result made) {
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
    out["data"] = nb::cast(std::make_shared<const sort_result>(std::move(made)));
    return out;
}

nb::dict sort_traces(const held_recording& from, const nb::dict& arguments) {
    keyword_arguments how(arguments);
    sort_options options;
    take_described(how, describe(options));
    const call_options call = how.take_progress();
    how.check_all_known();
    sort_result made = run_for_result(
        call, [&](const execution& run) { return sort_recording(from.what, options, run); });
    nb::dict parameters = arguments_of(describe(made.options));
    nb::dict out = to_python(std::move(made));
    out["parameters"] = parameters;
    return out;
}

// What a call of `sort_features` says of its features, beside the options of sorting.
struct feature_arguments {
    feature_read_options how{};
    bool has_width = false;  ///< features_per_channel was given
    double sample_rate = 0;
    std::vector<std::int64_t> samples{};
};

feature_arguments take_feature_arguments(keyword_arguments& how, const nb::object& samples) {
    feature_arguments out;
    how.take("mask", out.how.mask, value_named<mask_rule>);
    out.has_width = how.find("features_per_channel").has_value();
    how.take("features_per_channel", out.how.features_per_channel);
    if (out.how.features_per_channel == 0)
        throw invalid_argument("features_per_channel: expected at least 1, found 0");
    const bool has_rate = how.find("sample_rate").has_value();
    how.take("sample_rate", out.sample_rate);
    if (has_rate && !(out.sample_rate > 0 && std::isfinite(out.sample_rate)))
        throw invalid_argument("sample_rate: expected a number above 0, found " +
                               std::to_string(out.sample_rate));
    if (samples.is_none()) return out;
    const auto given_samples = nb::cast<array_in<std::int64_t>>(samples);
    const auto span = span_of(given_samples);
    out.samples.assign(span.begin(), span.end());
    return out;
}

// Features that a caller holds in memory, before their masks are made.
struct held_features {
    std::size_t width = 0;
    std::vector<double> values{};
    std::optional<spike_masks> masks{};
};

held_features take_values(const matrix_in<double>& values, const nb::object& masks,
                          const feature_arguments& about) {
    held_features out{.width = values.shape(1), .values = doubles(values)};
    if (out.width == 0)
        throw invalid_argument("features: expected at least one feature, found none");
    if (!masks.is_none()) out.masks = masks_of(nb::cast<matrix_in<double>>(masks));
    const std::size_t of_channel = about.how.features_per_channel;
    const bool comes_out_even = out.width % of_channel == 0;
    if (!comes_out_even && (!out.masks || about.has_width))
        throw invalid_argument("features_per_channel: expected a divisor of the " +
                               std::to_string(out.width) + " features, found " +
                               std::to_string(of_channel));
    return out;
}

feature_file file_of(held_features held, const feature_arguments& about, const execution& run) {
    const std::size_t of_channel = about.how.features_per_channel;
    // Without being told, features that do not come out even count as a channel each.
    feature_file file{.features_per_channel = held.width % of_channel == 0 ? of_channel : 1};
    const mask_options rule{.rule = about.how.mask.value_or(mask_rule::mad),
                            .features_per_channel = of_channel};
    if (!held.masks) {
        held.masks = make_masks(held.values, held.width, rule, run).masks;
        file.masks_from = to_string(rule.rule);
    }
    file.features = spike_features(held.width, std::move(held.values), std::move(*held.masks));
    return file;
}

nb::dict sorted_features(
    keyword_arguments& how, const nb::object& samples,
    const std::function<feature_file(const feature_arguments&, const execution&)>& features_of) {
    sort_options options;
    take_described(how, describe_feature_sort(options));
    const feature_arguments about = take_feature_arguments(how, samples);
    const call_options call = how.take_progress();
    how.check_all_known();
    sort_result made = run_for_result(call, [&](const execution& run) {
        feature_file file = features_of(about, run);
        if (!about.samples.empty()) file.samples = about.samples;
        if (about.sample_rate > 0) file.sample_rate = about.sample_rate;
        return sort_features(std::move(file), options, run);
    });
    nb::dict parameters = arguments_of(describe_feature_sort(made.options));
    parameters["mask"] = nb::none();
    for (const std::string& rule : names_of<mask_rule>())
        if (made.masks_from == rule) parameters["mask"] = rule;
    parameters["features_per_channel"] = made.features_per_channel;
    parameters["sample_rate"] = nb::none();
    if (made.sorted.sample_rate > 0) parameters["sample_rate"] = made.sorted.sample_rate;
    nb::dict out = to_python(std::move(made));
    out["parameters"] = parameters;
    return out;
}

nb::dict sort_given_features(const matrix_in<double>& values, const nb::object& masks,
                             const nb::object& samples, const nb::dict& arguments) {
    keyword_arguments how(arguments);
    const feature_arguments about = take_feature_arguments(how, nb::none());
    held_features held = take_values(values, masks, about);
    return sorted_features(how, samples, [&](const feature_arguments& all, const execution& run) {
        return file_of(std::move(held), all, run);
    });
}

nb::dict sort_feature_file(const std::string& path, const nb::object& masks,
                           const nb::object& samples, const nb::dict& arguments) {
    keyword_arguments how(arguments);
    std::optional<spike_masks> rows;
    if (!masks.is_none()) rows = masks_of(nb::cast<matrix_in<double>>(masks));
    return sorted_features(how, samples, [&](const feature_arguments& about, const execution& run) {
        feature_file file = read_features(path, about.how, run);
        if (about.has_width || file.features_per_channel == 0)
            file.features_per_channel = about.how.features_per_channel;
        if (file.features.feature_count() % file.features_per_channel != 0)
            file.features_per_channel = 1;
        if (!rows) return file;
        const auto values = file.features.values();
        file.features = spike_features(file.features.feature_count(),
                                       {values.begin(), values.end()}, std::move(*rows));
        file.masks_from = "masks";
        return file;
    });
}

void to_phy(const std::shared_ptr<const sort_result>& data, const std::string& folder) {
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
        .raw = data->raw,
        .raw_offset_bytes = data->raw_offset_bytes};
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
    nb::class_<sort_result>(m, "SortedData")
        .def("__len__", [](const sort_result& data) { return data.sorted.labels.size(); })
        .def("__getstate__", &state_of)
        .def("__setstate__", [](sort_result& data, const nb::dict& state) {
            new (&data) sort_result(data_of(state));
        });
    m.def("sort_recording", &sort_traces, nb::arg("recording"), nb::arg("given"));
    m.def("sort_features", &sort_given_features, nb::arg("features"), nb::arg("masks").none(),
          nb::arg("samples").none(), nb::arg("given"));
    m.def("sort_feature_file", &sort_feature_file, nb::arg("path"), nb::arg("masks").none(),
          nb::arg("samples").none(), nb::arg("given"));
    m.def("write_phy", &to_phy, nb::arg("data"), nb::arg("folder"));
    m.def("simulate_features", &simulated_features, nb::arg("given"));
    m.def("sort_options", &description<sort_options>);
    m.def("sort_features_options", [] {
        sort_options options;
        return description_of(describe_feature_sort(options));
    });
    m.def("features_defaults", &default_fields<feature_options>);
}

}  // namespace spikeweave::python
