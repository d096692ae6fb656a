#include "bindings/pipeline/sorted_data.hpp"

#include <nanobind/stl/string.h>

#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "bindings/core/recording.hpp"

namespace spikeweave::python {
namespace {

constexpr std::array<std::pair<const char*, std::optional<double> unit_quality::*>, 6> measures{
    {{"rate", &unit_quality::rate_hz},
     {"l_ratio", &unit_quality::l_ratio},
     {"isolation_distance", &unit_quality::isolation_distance},
     {"isi_violations", &unit_quality::refractory_violations},
     {"contamination", &unit_quality::contamination},
     {"snr", &unit_quality::snr}}};

// Visits the members that are kept as they are.
template <class Data, class Visit>
void each_kept(Data& data, Visit visit) {
    visit("labels", data.sorted.labels);
    visit("unit_count", data.sorted.unit_count);
    visit("samples", data.sorted.samples);
    visit("sample_rate", data.sorted.sample_rate);
    visit("sample_count", data.sorted.sample_count);
    visit("fractions", data.sorted.fractions);
    visit("waveform_channels", data.waveforms.channel_count);
    visit("waveform_frames", data.waveforms.frame_count);
    visit("waveform_before", data.waveforms.before);
    visit("waveforms", data.waveforms.values);
    visit("waveform_spikes", data.waveforms.spikes);
    visit("noise", data.waveforms.noise);
    visit("features_per_channel", data.features_per_channel);
    visit("raw_offset_bytes", data.raw_offset_bytes);
}

template <class Value>
std::vector<Value> vector_of(nb::handle array) {
    return copied(nb::cast<array_in<Value>>(array));
}

std::vector<sorted_unit> units_of(const nb::dict& state) {
    const nb::object columns = state["quality"];
    const auto spikes = vector_of<std::int64_t>(columns["spikes"]);
    const auto features = vector_of<std::uint32_t>(state["quality_features"]);
    std::vector<sorted_unit> out(spikes.size());
    for (std::size_t u = 0; u < out.size(); ++u) {
        out[u].spikes = out[u].quality.spikes = static_cast<std::uint64_t>(spikes[u]);
        out[u].quality.features = features[u];
    }
    for (const auto& [name, measure] : measures) {
        const auto values = vector_of<double>(columns[name]);
        for (std::size_t u = 0; u < out.size(); ++u)
            if (!std::isnan(values[u])) out[u].quality.*measure = values[u];
    }
    return out;
}

}  // namespace

nb::dict unit_columns(const sort_result& data) {
    nb::dict out = table_of(data.units, "spikes", &sorted_unit::spikes);
    out["peak_channel"] = to_numpy(peak_channels(data));
    for (const auto& [name, measure] : measures)
        out[name] = column<double>(data.units, [which = measure](const sorted_unit& unit) {
            return (unit.quality.*which).value_or(std::numeric_limits<double>::quiet_NaN());
        });
    return out;
}

nb::dict dense_arrays(const spike_features& features) {
    const auto shape = {features.size(), features.feature_count()};
    nb::dict out;
    out["features"] = to_numpy(features.dense_values(), shape);
    out["masks"] = to_numpy(features.dense_masks(), shape);
    return out;
}

spike_masks masks_of(const matrix_in<double>& rows) {
    return spike_masks::of_rows(span_of(rows), rows.shape(1));
}

nb::dict state_of(const sort_result& data) {
    nb::dict out = dense_arrays(data.features);
    each_kept(data, [&]<class Member>(const char* name, const Member& member) {
        if constexpr (std::is_arithmetic_v<Member>)
            out[name] = member;
        else
            out[name] = to_numpy(std::span{member});
    });
    out["quality"] = unit_columns(data);
    out["quality_features"] =
        column<std::uint32_t>(data.units, [](const auto& unit) { return unit.quality.features; });
    out["channels"] = channel_dicts(data.channels);
    out["raw"] = data.raw.string();
    return out;
}

sort_result data_of(const nb::dict& state) {
    sort_result out;
    const auto values = nb::cast<matrix_in<double>>(state["features"]);
    out.features = spike_features(values.shape(1), copied(values),
                                  masks_of(nb::cast<matrix_in<double>>(state["masks"])));
    each_kept(out, [&]<class Member>(const char* name, Member& member) {
        if constexpr (std::is_arithmetic_v<Member>)
            member = nb::cast<Member>(state[name]);
        else
            member = vector_of<typename Member::value_type>(state[name]);
    });
    out.units = units_of(state);
    out.channels = channels_of(nb::cast<nb::list>(state["channels"]));
    out.raw = nb::cast<std::string>(state["raw"]);
    return out;
}

}  // namespace spikeweave::python
