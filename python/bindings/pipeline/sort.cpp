#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "bindings/bindings.hpp"
#include "bindings/core/arrays.hpp"
#include "bindings/core/options.hpp"
#include "bindings/core/spikes.hpp"
#include "bindings/pipeline/sorted_data.hpp"
#include "spikeweave/pipeline/sort/features.hpp"

namespace spikeweave::python {
namespace {

nb::dict search_facts(const clustering_result& search) {
    nb::dict out;
    out["stopped"] = std::string(to_string(search.stopped));
    out["score"] = search.iterations.empty() ? nb::object(nb::none()) : nb::cast(search.score());
    using iteration = std::remove_cvref_t<decltype(search.iterations.front())>;
    out["iterations"] = table_of(search.iterations, "clusters", &iteration::clusters, "changed",
                                 &iteration::changed, "deleted", &iteration::deleted, "splits",
                                 &iteration::splits, "score", &iteration::score);
    return out;
}

nb::object samples_or_none(const std::vector<std::int64_t>& samples) {
    return samples.empty() ? nb::object(nb::none()) : nb::cast(to_numpy(std::span{samples}));
}

nb::dict motion_arrays(const probe_motion& motion) {
    nb::dict out;
    out["time"] = to_numpy(std::span{motion.times_s});
    out["depth"] = to_numpy(std::span{motion.depths_um});
    out["displacement"] = to_numpy(std::vector<double>(motion.displacement_um),
                                   {motion.times_s.size(), motion.depths_um.size()});
    return out;
}

// The columns of merges.tsv.
nb::dict decision_columns(const std::vector<cluster_decision>& made) {
    const auto figure = [](std::optional<double> cluster_decision::*which) {
        return [which](const cluster_decision& one) {
            return (one.*which).value_or(std::numeric_limits<double>::quiet_NaN());
        };
    };
    nb::dict out = table_of(made, "cluster", &cluster_decision::cluster);
    out["decision"] =
        list_of(made, [](const cluster_decision& one) { return std::string(to_string(one.fate)); });
    add_columns(out, made, "other", &cluster_decision::other, "spikes", &cluster_decision::spikes,
                "distance", figure(&cluster_decision::distance), "similarity",
                figure(&cluster_decision::similarity), "difference",
                figure(&cluster_decision::difference), "coincidences",
                figure(&cluster_decision::coincidences), "expected_coincidences",
                figure(&cluster_decision::expected_coincidences));
    out["reason"] = list_of(made, [](const cluster_decision& one) { return one.reason; });
    return out;
}

nb::dict to_python(sort_result made) {
    nb::dict out;
    out["labels"] = to_numpy(std::span<const std::uint32_t>{made.sorted.labels});
    out["samples"] = samples_or_none(made.sorted.samples);
    out["units"] = unit_columns(made);
    out["search"] = search_facts(made.search);
    out["warnings"] = made.warnings;
    const mean_waveforms& mean = made.waveforms;
    if (mean.group_count() > 0) {
        out["waveforms"] = to_numpy(std::vector<float>(mean.values),
                                    {mean.group_count(), mean.frame_count, mean.channel_count});
        out["waveform_peak"] = mean.before;
        out["noise"] = to_numpy(std::span{mean.noise});
    }
    if (!made.motion.empty()) out["motion"] = motion_arrays(made.motion);
    if (!made.decisions.empty()) out["merges"] = decision_columns(made.decisions);
    if (made.sorted.has_times()) {
        sorted_spikes spikes = to_spikes(made.sorted);
        out["duplicates"] = spikes.duplicates;
        out["spikes"] = share(std::move(spikes.spikes), made.sorted.sample_count > 0);
    }
    out["data"] = nb::cast(std::make_shared<const sort_result>(std::move(made)));
    return out;
}

nb::dict sort_traces(const recording& from, const nb::dict& arguments) {
    sort_options options;
    const call_options call = take_options(arguments, describe(options));
    sort_result made = run_for_result(
        call, [&](const execution& run) { return sort_recording(from, options, run); });
    nb::dict parameters = arguments_of(describe(made.options));
    nb::dict out = to_python(std::move(made));
    out["parameters"] = parameters;
    return out;
}

// Sorts by the features of a file, or by these.
nb::dict sort_given_features(const std::variant<std::filesystem::path, matrix_in<double>>& features,
                             const nb::object& masks, const nb::object& samples,
                             const nb::dict& arguments) {
    feature_sort_options options;
    const call_options call = take_options(arguments, describe(options));
    known_of_features known;
    if (!masks.is_none()) known.masks = masks_of(nb::cast<matrix_in<double>>(masks));
    if (!samples.is_none()) known.samples = copied(nb::cast<array_in<std::int64_t>>(samples));
    feature_sort_result made = run_for_result(call, [&](const execution& run) {
        if (const auto* path = std::get_if<std::filesystem::path>(&features))
            return sort_features(*path, std::move(known), options, run);
        const auto& values = std::get<matrix_in<double>>(features);
        return sort_features(span_of(values), values.shape(1), std::move(known), options, run);
    });
    nb::dict out = to_python(std::move(made.sorted));
    out["parameters"] = arguments_of(describe(made.options));
    return out;
}

void to_phy(const std::shared_ptr<const sort_result>& data, const std::string& folder) {
    run_unlocked({}, [&](const execution& run) { write_phy(folder, *data, run); });
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
    m.def("write_phy", &to_phy, nb::arg("data"), nb::arg("folder"));
    m.def("sort_options", &description<sort_options>);
    m.def("sort_features_options", &description<feature_sort_options>);
    m.def("read_features_options", &description<feature_read_options>);
}

}  // namespace spikeweave::python
