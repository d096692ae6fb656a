#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/variant.h>

#include <filesystem>
#include <variant>

#include "bindings/core/arguments.hpp"
#include "bindings/core/held_report.hpp"
#include "bindings/core/options.hpp"
#include "bindings/core/spikes.hpp"
#include "spikeweave/pipeline/sort/features.hpp"
#include "spikeweave/report/sort.hpp"

namespace spikeweave {

// Pickles and copies keep what `write_phy` needs of a result.
template <>
struct members_of<sorting> {
    static void list(const auto& to) {
        to("labels", &sorting::labels);
        to("unit_count", &sorting::unit_count);
        to("samples", &sorting::samples);
        to("sample_rate", &sorting::sample_rate);
        to("sample_count", &sorting::sample_count);
        to("begin", &sorting::begin);
        to("fractions", &sorting::fractions);
    }
};
template <>
struct members_of<mean_waveforms> {
    static void list(const auto& to) {
        to("channels", &mean_waveforms::channel_count);
        to("frames", &mean_waveforms::frame_count);
        to("before", &mean_waveforms::before);
        to("values", &mean_waveforms::values);
        to("deviations", &mean_waveforms::deviations);
        to("spikes", &mean_waveforms::spikes);
        to("noise", &mean_waveforms::noise);
    }
};
template <>
struct members_of<sort_result> {
    static void list(const auto& to) {
        to("sorted", &sort_result::sorted);
        to("units", &sort_result::units);
        to("waveforms", &sort_result::waveforms);
        to("channels", &sort_result::channels);
        to("features_per_channel", &sort_result::features_per_channel);
        to("raw", &sort_result::raw);
        to("raw_offset_bytes", &sort_result::raw_offset_bytes);
        to("amplitudes", &sort_result::amplitudes);
    }
};

}  // namespace spikeweave

namespace spikeweave::python {
namespace {

nb::dict unit_columns(const sort_result& data) {
    nb::dict out = table_of(data.units, "spikes", &sorted_unit::spikes);
    out["peak_channel"] = to_numpy(peak_channels(data));
    nb::dict quality = table_of(qualities_of(data.units));
    quality["rate"] = quality.attr("pop")("rate_hz");  // names have no units in Python
    out.update(quality);
    add_columns(out, data.units, "label", of(&sorted_unit::verdict, &unit_verdict::label), "reason",
                of(&sorted_unit::verdict, &unit_verdict::reason), "possibly_one_neuron_with",
                &sorted_unit::one_neuron_with, "cross_talk_with", &sorted_unit::cross_talk_with,
                "origin", &sorted_unit::origin);
    return out;
}

nb::dict search_facts(const clustering_result& search) {
    nb::dict out;
    out["stopped"] = plain(search.stopped);
    out["score"] = search.iterations.empty() ? nb::none() : nb::cast(search.score());
    using iteration = masked_gmm_iteration;
    out["iterations"] = table_of(search.iterations, "clusters", &iteration::clusters, "changed",
                                 &iteration::changed, "deleted", &iteration::deleted, "splits",
                                 &iteration::splits, "score", &iteration::score);
    return out;
}

nb::dict motion_arrays(const probe_motion& motion) {
    nb::dict out;
    out["time"] = column(motion.times_s);
    out["depth"] = column(motion.depths_um);
    out["displacement"] = to_numpy(std::vector<double>(motion.displacement_um),
                                   {motion.times_s.size(), motion.depths_um.size()});
    return out;
}

nb::dict to_python(sort_result result, const nb::dict& parameters) {
    nb::dict out;
    out["labels"] = to_numpy(std::span<const std::uint32_t>{result.sorted.labels});
    out["samples"] =
        result.sorted.samples.empty() ? nb::none() : nb::cast(column(result.sorted.samples));
    out["units"] = unit_columns(result);
    out["search"] = search_facts(result.search);
    out["warnings"] = result.warnings;
    out["parameters"] = parameters;
    const mean_waveforms& mean = result.waveforms;
    if (mean.group_count() > 0) {
        out["waveforms"] = to_numpy(std::vector<float>(mean.values),
                                    {mean.group_count(), mean.frame_count, mean.channel_count});
        out["waveform_peak"] = mean.before;
        out["noise"] = column(mean.noise);
    }
    if (!result.motion.empty()) out["motion"] = motion_arrays(result.motion);
    if (!result.decisions.empty()) out["merges"] = table_of(result.decisions);
    if (result.sorted.has_times()) {
        sorted_spikes spikes = to_spikes(result.sorted);
        spikes.spikes.set_doubtful_pairs(doubtful_pairs_of(result.units));
        out["duplicates"] = spikes.duplicates;
        out["spikes"] = share(std::move(spikes.spikes), result.sorted.sample_count > 0);
    }
    const auto held = std::make_shared<const sort_result>(std::move(result));
    out["report"] = held_report([held] { return report_of(*held); });
    out["data"] = held;
    return out;
}

nb::dict sort_traces(const recording& from, const nb::dict& given) {
    sort_result result = call(sort_recording, from, given);
    const nb::dict parameters = arguments_of(describe(result.options));
    return to_python(std::move(result), parameters);
}

spike_masks masks_of(const matrix_in<double>& rows) {
    return spike_masks::of_rows(span_of(rows), rows.shape(1));
}

// Sorts by the features of a file, or by these.
nb::dict sort_given_features(const std::variant<std::filesystem::path, matrix_in<double>>& features,
                             const std::optional<matrix_in<double>>& masks,
                             const std::optional<array_in<std::int64_t>>& samples,
                             const nb::dict& given) {
    known_of_features known;
    if (masks) known.masks = masks_of(*masks);
    if (samples) known.samples = copied(*samples);
    feature_sort_result result =
        call_with<feature_sort_options>(given, [&](const auto& options, const execution& run) {
            if (const auto* path = std::get_if<std::filesystem::path>(&features))
                return sort_features(*path, std::move(known), options, run);
            const auto& values = std::get<matrix_in<double>>(features);
            return sort_features(span_of(values), values.shape(1), std::move(known), options, run);
        });
    return to_python(std::move(result.sorted), arguments_of(describe(result.options)));
}

nb::dict state_of(const sort_result& data) {
    nb::dict out = plain(data);
    const auto shape = {data.features.size(), data.features.feature_count()};
    out["features"] = to_numpy(data.features.dense_values(), shape);
    out["masks"] = to_numpy(data.features.dense_masks(), shape);
    return out;
}

void set_state(sort_result* self, const nb::dict& state) {
    new (self) sort_result;
    restore("data", state, *self);
    const auto values = nb::cast<matrix_in<double>>(state["features"]);
    self->features = spike_features(values.shape(1), copied(values),
                                    masks_of(nb::cast<matrix_in<double>>(state["masks"])));
}

void to_phy(const std::shared_ptr<const sort_result>& data, const std::string& folder) {
    run_unlocked([&](const execution& run) { write_phy(folder, *data, run); });
}

}  // namespace

void bind_sort(nb::module_& m) {
    nb::class_<sort_result>(m, "SortedData")
        .def("__len__", [](const sort_result& data) { return data.sorted.labels.size(); })
        .def("__getstate__", &state_of)
        .def("__setstate__", &set_state);
    m.def("sort_recording", &sort_traces, "recording"_a, "given"_a);
    m.def("sort_features", &sort_given_features, "features"_a, "masks"_a.none(), "samples"_a.none(),
          "given"_a);
    m.def("write_phy", &to_phy, "data"_a, "folder"_a);
    m.def("sort_arguments", &recorded_arguments<sort_options>);
    m.def("sort_features_arguments", &recorded_arguments<feature_sort_options>);
    m.def("sort_options", &description<sort_options>);
    m.def("sort_features_options", &description<feature_sort_options>);
    m.def("read_features_options", &description<feature_read_options>);
}

}  // namespace spikeweave::python
