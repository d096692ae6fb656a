#include <fmt/format.h>
#include <nanobind/stl/function.h>

#include <algorithm>

#include "bindings/core/arguments.hpp"
#include "bindings/core/options.hpp"
#include "spikeweave/record/detection.hpp"
#include "spikeweave/record/recording.hpp"
#include "spikeweave/record/sample_source.hpp"

namespace spikeweave::python {
namespace {

using frames_out = nb::ndarray<const std::int16_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// get(begin, end) returns frames × channels of int16.
using frames_reader = std::function<nb::object(std::uint64_t, std::uint64_t)>;

// A function of Python reads these samples. The caller holds no lock, and may be any thread.
class samples_of_function final : public sample_source {
public:
    samples_of_function(frames_reader get, std::uint64_t frames, std::size_t channels)
        : get_(std::move(get)), frames_(frames), channels_(channels) {}

    std::uint64_t frame_count() const override { return frames_; }

    void read(std::uint64_t first, std::span<std::int16_t> into) const override {
        const std::uint64_t frames = into.size() / channels_;
        const nb::gil_scoped_acquire locked;
        const nb::object got = get_(first, first + frames);
        frames_out samples;
        if (!nb::try_cast(got, samples, false) || samples.shape(0) != frames ||
            samples.shape(1) != channels_)
            throw invalid_argument(
                fmt::format("recording: frames {} to {} did not arrive as {} x {} int16", first,
                            first + frames, frames, channels_));
        std::copy_n(samples.data(), into.size(), into.begin());
    }

private:
    frames_reader get_;
    std::uint64_t frames_;
    std::size_t channels_;
};

recording from_function(frames_reader get, std::uint64_t frames, const nb::list& channels,
                        double sample_rate, bool has_positions, double t_start) {
    recording_description about{.rate_hz = sample_rate, .begin = duration_from_seconds(t_start)};
    restore("channels", channels, about.channels);
    about.positions = has_positions ? position_source::file : position_source::assumed;
    const std::size_t count = about.channels.size();
    return {std::move(about),
            std::make_shared<const samples_of_function>(std::move(get), frames, count)};
}

recording open(const std::string& path, const nb::dict& given) {
    recording_read_options reading;
    option_list options = describe(reading);
    options.add("format", reading.format, "format of the recording");
    take_options(given, options);
    return read_recording(path, reading);
}

array_out<std::int16_t> read_samples(const recording& from, std::uint64_t begin,
                                     std::uint64_t end) {
    if (begin > end || end > from.frame_count())
        throw invalid_argument(fmt::format("frames: expected a part of 0 to {}, found {} to {}",
                                           from.frame_count(), begin, end));
    const std::size_t channels = from.channel_count();
    std::vector<std::int16_t> samples((end - begin) * channels);
    {
        const nb::gil_scoped_release unlocked;
        from.read(begin, samples);
    }
    return to_numpy(std::move(samples), {end - begin, channels});
}

}  // namespace

void bind_recording(nb::module_& m) {
    nb::class_<recording>(m, "Recording")
        .def_prop_ro("frames", &recording::frame_count)
        .def_prop_ro("sample_rate", &recording::rate_hz)
        .def_prop_ro("t_start",
                     [](const recording& r) { return to_seconds(r.description().begin); })
        .def_prop_ro("channels", [](const recording& r) { return column(r.channels()); })
        .def_prop_ro("has_positions",
                     [](const recording& r) {
                         return r.description().positions != position_source::assumed;
                     })
        .def_prop_ro("warnings", [](const recording& r) { return r.description().warnings; })
        .def(
            "with_probe",
            [](const recording& r, const std::string& probe) { return r.with_probe(probe); },
            "probe"_a)
        .def("read", &read_samples, "begin"_a, "end"_a)
        .def("check", [](const recording& r) {
            return run_for_result(
                [&](const execution& run) { return check_recording(r, {}, run); });
        });
    m.def("read_recording", &open, "path"_a, "given"_a);
    m.def("read_recording_options", &description<recording_read_options>);
    m.def("recording_of", &from_function, "get"_a, "frames"_a, "channels"_a, "sample_rate"_a,
          "has_positions"_a, "t_start"_a = 0.0);
    m.def("is_recording",
          [](const std::string& path) { return find_recording_format(path).has_value(); });
}

}  // namespace spikeweave::python
