#include "sorted_data.hpp"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "recording.hpp"

namespace spikeweave::python {
namespace {

template <class Get>
array_out<double> quality_column(const sort_result& data, Get get) {
    return column<double>(data.units, [&](const sorted_unit& unit) {
        return get(unit.quality).value_or(std::numeric_limits<double>::quiet_NaN());
    });
}

// Where each unit's mean waveform is largest; without one, where most of its spikes have a mask.
array_out<std::uint32_t> peak_channels(const sort_result& data) {
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

template <class Value>
std::vector<Value> vector_of(nb::handle array) {
    const auto values = nb::cast<array_in<Value>>(array);
    const auto span = span_of(values);
    return {span.begin(), span.end()};
}

std::optional<double> known(const std::vector<double>& column, std::size_t unit) {
    return std::isnan(column[unit]) ? std::nullopt : std::optional(column[unit]);
}

std::vector<sorted_unit> units_of(const nb::dict& state) {
    const nb::object quality = state["quality"];
    const auto numbers = [&](const char* name) { return vector_of<double>(quality[name]); };
    const auto spikes = vector_of<std::int64_t>(quality["spikes"]);
    const auto features = vector_of<std::uint32_t>(state["quality_features"]);
    const auto rate = numbers("rate");
    const auto l_ratio = numbers("l_ratio");
    const auto distance = numbers("isolation_distance");
    const auto violations = numbers("isi_violations");
    const auto contamination = numbers("contamination");
    const auto snr = numbers("snr");
    std::vector<sorted_unit> out(spikes.size());
    for (std::size_t u = 0; u < out.size(); ++u) {
        out[u].spikes = static_cast<std::uint64_t>(spikes[u]);
        out[u].quality = {.spikes = out[u].spikes,
                          .features = features[u],
                          .rate_hz = known(rate, u),
                          .l_ratio = known(l_ratio, u),
                          .isolation_distance = known(distance, u),
                          .refractory_violations = known(violations, u),
                          .contamination = known(contamination, u),
                          .snr = known(snr, u)};
    }
    return out;
}

}  // namespace

nb::dict unit_columns(const sort_result& data) {
    const auto& units = data.units;
    nb::dict out;
    out["spikes"] = column<std::int64_t>(units, [](const auto& unit) { return unit.spikes; });
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

nb::dict state_of(const sort_result& data) {
    nb::dict out = dense_arrays(data.features);
    out["labels"] = to_numpy(std::span<const std::uint32_t>{data.sorted.labels});
    out["unit_count"] = data.sorted.unit_count;
    out["samples"] = to_numpy(std::span<const std::int64_t>{data.sorted.samples});
    out["sample_rate"] = data.sorted.sample_rate;
    out["sample_count"] = data.sorted.sample_count;
    out["fractions"] = to_numpy(std::span<const float>{data.sorted.fractions});
    out["quality"] = unit_columns(data);
    out["quality_features"] =
        column<std::uint32_t>(data.units, [](const auto& unit) { return unit.quality.features; });
    const mean_waveforms& mean = data.waveforms;
    out["waveforms"] = nb::make_tuple(mean.channel_count, mean.frame_count, mean.before,
                                      to_numpy(std::span<const float>{mean.values}),
                                      to_numpy(std::span<const std::uint64_t>{mean.spikes}),
                                      to_numpy(std::span<const double>{mean.noise}));
    out["channels"] = channel_dicts(data.channels);
    out["features_per_channel"] = data.features_per_channel;
    out["raw"] = data.raw.string();
    out["raw_offset_bytes"] = data.raw_offset_bytes;
    return out;
}

sort_result data_of(const nb::dict& state) {
    sort_result out;
    const auto values = nb::cast<matrix_in<double>>(state["features"]);
    out.features = spike_features(values.shape(1), doubles(values),
                                  masks_of(nb::cast<matrix_in<double>>(state["masks"])));
    out.sorted = {.labels = vector_of<std::uint32_t>(state["labels"]),
                  .unit_count = nb::cast<std::uint32_t>(state["unit_count"]),
                  .samples = vector_of<std::int64_t>(state["samples"]),
                  .sample_rate = nb::cast<double>(state["sample_rate"]),
                  .sample_count = nb::cast<std::int64_t>(state["sample_count"]),
                  .fractions = vector_of<float>(state["fractions"])};
    out.units = units_of(state);
    const nb::object waveforms = state["waveforms"];
    out.waveforms = {.channel_count = nb::cast<std::size_t>(waveforms[0]),
                     .frame_count = nb::cast<std::size_t>(waveforms[1]),
                     .before = nb::cast<std::size_t>(waveforms[2]),
                     .values = vector_of<float>(waveforms[3]),
                     .spikes = vector_of<std::uint64_t>(waveforms[4]),
                     .noise = vector_of<double>(waveforms[5])};
    out.channels = channels_of(nb::cast<nb::list>(state["channels"]));
    out.features_per_channel = nb::cast<std::size_t>(state["features_per_channel"]);
    out.raw = nb::cast<std::string>(state["raw"]);
    out.raw_offset_bytes = nb::cast<std::uint64_t>(state["raw_offset_bytes"]);
    return out;
}

}  // namespace spikeweave::python
