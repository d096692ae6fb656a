#include "recording.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "arrays.hpp"
#include "bindings.hpp"
#include "described_arguments.hpp"
#include "fields.hpp"
#include "spikes.hpp"
#include "spikeweave/record/sample_source.hpp"
#include "spikeweave/simulate/recording.hpp"

namespace spikeweave::python {
namespace {

using frames_out = nb::ndarray<const std::int16_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// Samples that a function of Python reads: get(begin, end) gives frames × channels of int16. Its
// caller holds no lock, and may be any thread.
class samples_of_function final : public sample_source {
public:
    samples_of_function(nb::object get, std::uint64_t frames, std::size_t channels)
        : get_(std::move(get)), frames_(frames), channels_(channels) {}
    ~samples_of_function() override {
        const nb::gil_scoped_acquire locked;
        get_.reset();
    }
    samples_of_function(const samples_of_function&) = delete;
    samples_of_function& operator=(const samples_of_function&) = delete;
    samples_of_function(samples_of_function&&) = delete;
    samples_of_function& operator=(samples_of_function&&) = delete;

    std::uint64_t frame_count() const override { return frames_; }

    void read(std::uint64_t first, std::span<std::int16_t> into) const override {
        const std::uint64_t frames = into.size() / channels_;
        const nb::gil_scoped_acquire locked;
        const nb::object got = get_(first, first + frames);
        frames_out samples;
        if (!nb::try_cast(got, samples, false) || samples.shape(0) != frames ||
            samples.shape(1) != channels_)
            throw invalid_argument("recording: frames " + std::to_string(first) + " to " +
                                   std::to_string(first + frames) + " did not come as " +
                                   std::to_string(frames) + " x " + std::to_string(channels_) +
                                   " int16");
        std::copy_n(samples.data(), into.size(), into.begin());
    }

private:
    nb::object get_;
    std::uint64_t frames_;
    std::size_t channels_;
};

}  // namespace

std::vector<recording_channel> channels_of(const nb::list& channels) {
    std::vector<recording_channel> out;
    for (const nb::handle one : channels) {
        keyword_arguments how{nb::borrow<nb::dict>(one)};
        recording_channel channel;
        how.take("name", channel.name);
        how.take("gain_uv", channel.gain_uv);
        how.take("offset_uv", channel.offset_uv);
        how.take("x_um", channel.x_um);
        how.take("y_um", channel.y_um);
        how.take("shank", channel.shank);
        how.check_all_known();
        out.push_back(std::move(channel));
    }
    return out;
}

nb::list channel_dicts(const std::vector<recording_channel>& channels) {
    nb::list out;
    for (const recording_channel& channel : channels) {
        nb::dict one;
        one["name"] = nb::str(channel.name.data(), channel.name.size());
        one["gain_uv"] = channel.gain_uv;
        one["offset_uv"] = channel.offset_uv;
        one["x_um"] = channel.x_um;
        one["y_um"] = channel.y_um;
        one["shank"] = channel.shank;
        out.append(one);
    }
    return out;
}

namespace {

held_recording from_function(nb::object get, std::uint64_t frames, const nb::list& channels,
                             double sample_rate, bool has_positions) {
    recording_description about{.channels = channels_of(channels), .rate_hz = sample_rate};
    about.positions = has_positions ? position_source::file : position_source::assumed;
    const std::size_t count = about.channels.size();
    return {recording(std::move(about),
                      std::make_shared<const samples_of_function>(std::move(get), frames, count))};
}

held_recording open(const std::string& path, const nb::dict& arguments) {
    keyword_arguments how(arguments);
    recording_read_options reading;
    how.take("format", reading.format, value_named<recording_format>);
    take_described(how, describe(reading));
    how.check_all_known();
    return {read_recording(path, reading)};
}

array_out<std::int16_t> read_samples(const held_recording& from, std::uint64_t begin,
                                     std::uint64_t end) {
    if (begin > end || end > from.what.frame_count())
        throw invalid_argument("frames: expected a part of 0 to " +
                               std::to_string(from.what.frame_count()) + ", found " +
                               std::to_string(begin) + " to " + std::to_string(end));
    const std::size_t channels = from.what.channel_count();
    std::vector<std::int16_t> samples((end - begin) * channels);
    {
        const nb::gil_scoped_release unlocked;
        from.what.read(begin, samples);
    }
    return to_numpy(std::move(samples), {end - begin, channels});
}

}  // namespace

template <class Each>
void each_field(recording_options& options, Each each) {
    each("length", options.length);
    each("channels", options.channels);
    each("columns", options.columns);
    each("pitch", options.pitch_um);
    each("sample_rate", options.rate_hz);
    each("gain", options.gain_uv);
    each("units", options.units);
    each("low_rate", options.low_hz);
    each("high_rate", options.high_hz);
    each("dead_time", options.refractory);
    each("low_peak", options.low_uv);
    each("high_peak", options.high_uv);
    each("jitter", options.amplitude_jitter);
    each("noise", options.noise_uv);
    each("noise_reach", options.noise_reach_um);
    each("drift", options.drift_um);
    each("seed", options.seed);
}

namespace {

nb::dict simulated_recording(const nb::dict& arguments) {
    keyword_arguments how(arguments);
    const auto options = read_fields<recording_options>(how);
    const call_options call = how.take_call();
    how.check_all_known();
    spikeweave::simulated_recording made = run_for_result(
        call, [&](const execution& run) { return simulate_recording(options, run); });
    const auto& units = made.truth.units;
    nb::dict out;
    out["channel"] = column<std::uint32_t>(units, [](const auto& unit) { return unit.channel; });
    out["peak_uv"] = column<double>(units, [](const auto& unit) { return unit.peak_uv; });
    out["rate"] = column<double>(units, [](const auto& unit) { return unit.rate_hz; });
    out["spikes"] = nb::cast(share(std::move(made.truth.spikes)));
    out["recording"] = nb::cast(held_recording{std::move(made.traces)});
    return out;
}

}  // namespace

void bind_recording(nb::module_& m) {
    nb::class_<held_recording>(m, "Recording")
        .def_prop_ro("frames", [](const held_recording& r) { return r.what.frame_count(); })
        .def_prop_ro("sample_rate", [](const held_recording& r) { return r.what.rate_hz(); })
        .def_prop_ro("channels",
                     [](const held_recording& r) { return channel_dicts(r.what.channels()); })
        .def_prop_ro("format",
                     [](const held_recording& r) {
                         return std::string(to_string(r.what.description().format));
                     })
        .def_prop_ro("has_positions",
                     [](const held_recording& r) {
                         return r.what.description().positions != position_source::assumed;
                     })
        .def_prop_ro("warnings",
                     [](const held_recording& r) { return r.what.description().warnings; })
        .def("read", &read_samples, nb::arg("begin"), nb::arg("end"));
    m.def("read_recording", &open, nb::arg("path"), nb::arg("given"));
    m.def("recording_of", &from_function, nb::arg("get"), nb::arg("frames"), nb::arg("channels"),
          nb::arg("sample_rate"), nb::arg("has_positions"));
    m.def("is_recording",
          [](const std::string& path) { return find_recording_format(path).has_value(); });
    m.def("simulate_recording", &simulated_recording, nb::arg("given"));
    m.def("recording_defaults", &default_fields<recording_options>);
}

}  // namespace spikeweave::python
