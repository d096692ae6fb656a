#include "bindings/core/recording.hpp"

#include <nanobind/stl/function.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>

#include "bindings/bindings.hpp"
#include "bindings/core/arguments.hpp"
#include "bindings/core/arrays.hpp"
#include "bindings/core/options.hpp"
#include "spikeweave/record/sample_source.hpp"

namespace spikeweave::python {
namespace {

using frames_out = nb::ndarray<const std::int16_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// get(begin, end) gives frames × channels of int16.
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
            throw invalid_argument("recording: frames " + std::to_string(first) + " to " +
                                   std::to_string(first + frames) + " did not come as " +
                                   std::to_string(frames) + " x " + std::to_string(channels_) +
                                   " int16");
        std::copy_n(samples.data(), into.size(), into.begin());
    }

private:
    frames_reader get_;
    std::uint64_t frames_;
    std::size_t channels_;
};

recording from_function(frames_reader get, std::uint64_t frames, const nb::list& channels,
                        double sample_rate, bool has_positions) {
    recording_description about{.channels = channels_of(channels), .rate_hz = sample_rate};
    about.positions = has_positions ? position_source::file : position_source::assumed;
    const std::size_t count = about.channels.size();
    return {std::move(about),
            std::make_shared<const samples_of_function>(std::move(get), frames, count)};
}

recording open(const std::string& path, const nb::dict& arguments) {
    recording_read_options reading;
    option_list options = describe(reading);
    options.add("format", reading.format, "format of the recording");
    take_options(arguments, options);
    return read_recording(path, reading);
}

array_out<std::int16_t> read_samples(const recording& from, std::uint64_t begin,
                                     std::uint64_t end) {
    if (begin > end || end > from.frame_count())
        throw invalid_argument("frames: expected a part of 0 to " +
                               std::to_string(from.frame_count()) + ", found " +
                               std::to_string(begin) + " to " + std::to_string(end));
    const std::size_t channels = from.channel_count();
    std::vector<std::int16_t> samples((end - begin) * channels);
    {
        const nb::gil_scoped_release unlocked;
        from.read(begin, samples);
    }
    return to_numpy(std::move(samples), {end - begin, channels});
}

}  // namespace

std::vector<recording_channel> channels_of(const nb::list& channels) {
    std::vector<recording_channel> out;
    for (const nb::handle one : channels)
        out.push_back(
            {.name = nb::cast<std::string>(one["name"]),
             .gain_uv = nb::cast<double>(one["gain_uv"]),
             .offset_uv = nb::cast<double>(one["offset_uv"]),
             .x_um = nb::cast<double>(one["x_um"]),
             .y_um = nb::cast<double>(one["y_um"]),
             .shank = static_cast<std::uint32_t>(whole_of("shank", one["shank"], 0, UINT32_MAX))});
    return out;
}

nb::list channel_dicts(const std::vector<recording_channel>& channels) {
    return dicts_of(channels, "name", &recording_channel::name, "gain_uv",
                    &recording_channel::gain_uv, "offset_uv", &recording_channel::offset_uv, "x_um",
                    &recording_channel::x_um, "y_um", &recording_channel::y_um, "shank",
                    &recording_channel::shank);
}

void bind_recording(nb::module_& m) {
    nb::class_<recording>(m, "Recording")
        .def_prop_ro("frames", &recording::frame_count)
        .def_prop_ro("sample_rate", &recording::rate_hz)
        .def_prop_ro("channels", [](const recording& r) { return channel_dicts(r.channels()); })
        .def_prop_ro("has_positions",
                     [](const recording& r) {
                         return r.description().positions != position_source::assumed;
                     })
        .def_prop_ro("warnings", [](const recording& r) { return r.description().warnings; })
        .def("read", &read_samples, nb::arg("begin"), nb::arg("end"));
    m.def("read_recording", &open, nb::arg("path"), nb::arg("given"));
    m.def("read_recording_options", &description<recording_read_options>);
    m.def("recording_of", &from_function, nb::arg("get"), nb::arg("frames"), nb::arg("channels"),
          nb::arg("sample_rate"), nb::arg("has_positions"));
    m.def("is_recording",
          [](const std::string& path) { return find_recording_format(path).has_value(); });
}

}  // namespace spikeweave::python
