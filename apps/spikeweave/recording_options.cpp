#include "recording_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "output.hpp"

namespace spikeweave::cli {
namespace {

// "0.195 uV a count", or the two ends when channels differ.
std::string gain_text(const recording& what) {
    const auto& channels = what.channels();
    const auto [least, most] =
        std::minmax_element(channels.begin(), channels.end(),
                            [](const recording_channel& a, const recording_channel& b) {
                                return a.gain_uv < b.gain_uv;
                            });
    if (least->gain_uv == most->gain_uv) return fmt::format("{:.6g} uV a count", least->gain_uv);
    return fmt::format("{:.6g} to {:.6g} uV a count", least->gain_uv, most->gain_uv);
}

std::string probe_text(const recording& what) {
    const auto& channels = what.channels();
    double lowest[2] = {channels[0].x_um, channels[0].y_um};
    double highest[2] = {channels[0].x_um, channels[0].y_um};
    std::uint32_t shanks = 0;
    for (const recording_channel& channel : channels) {
        const double at[2] = {channel.x_um, channel.y_um};
        for (int axis = 0; axis < 2; ++axis) {
            lowest[axis] = std::min(lowest[axis], at[axis]);
            highest[axis] = std::max(highest[axis], at[axis]);
        }
        shanks = std::max(shanks, channel.shank + 1);
    }
    return fmt::format("{:g} by {:g} um, {} {}, positions: {}", highest[0] - lowest[0],
                       highest[1] - lowest[1], shanks, shanks == 1 ? "shank" : "shanks",
                       to_string(what.description().positions));
}

}  // namespace

bool is_recording(const std::string& path, const recording_read_options& how,
                  const execution& run) {
    return how.sample_rate != 0 || how.channels != 0 ||
           find_recording_format(path, run).has_value();
}

std::string describe_text(const recording& what) {
    const recording_description& about = what.description();
    std::string text =
        fmt::format("file           {} ({})\n", about.path.string(), to_string(about.format));
    text += fmt::format("recording      {} channels, {:g} samples a second each\n",
                        grouped(what.channel_count()), what.rate_hz());
    text += fmt::format("length         {} samples, {}\n", grouped(what.frame_count()),
                        format_duration(what.length()));
    text += fmt::format("gain           {}\n", gain_text(what));
    text += fmt::format("probe          {}\n", probe_text(what));
    for (const std::string& warning : about.warnings) text += fmt::format("warning: {}\n", warning);
    return text;
}

std::string describe_json(const recording& what) {
    const recording_description& about = what.description();
    nlohmann::ordered_json channels = nlohmann::ordered_json::array();
    for (const recording_channel& channel : what.channels())
        channels.push_back({{"name", channel.name},
                            {"gain_uv", channel.gain_uv},
                            {"offset_uv", channel.offset_uv},
                            {"x_um", channel.x_um},
                            {"y_um", channel.y_um},
                            {"shank", channel.shank}});
    const nlohmann::ordered_json document = {
        {"file", about.path.string()},
        {"format", std::string(to_string(about.format))},
        {"sample_rate_hz", what.rate_hz()},
        {"samples", what.frame_count()},
        {"length_s", to_seconds(what.length())},
        {"channel_count", what.channel_count()},
        {"positions", std::string(to_string(about.positions))},
        {"warnings", about.warnings},
        {"channels", channels},
    };
    // A channel's name may be any bytes; JSON may not.
    return document.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace spikeweave::cli
