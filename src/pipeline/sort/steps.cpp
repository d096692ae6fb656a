#include "pipeline/sort/steps.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "spikeweave/pipeline/sort.hpp"
#include "spikeweave/sort/phy.hpp"
#include "spikeweave/spikes/shared_spikes.hpp"

namespace spikeweave::pipeline {
namespace {

// Interpolation changes waveforms by more than so small a displacement does.
constexpr double least_range_um = 5;

}  // namespace

bool may_follow_motion(const recording& from, const sort_options& options) {
    return options.motion.model != motion_model::none &&
           (options.motion.model != motion_model::automatic ||
            motion_model_for(from.description()) != motion_model::none);
}

probe_motion follow_motion(const recording& from, sort_options& options, const execution& run) {
    probe_motion found = estimate_motion(from, options.detection, options.motion, run);
    const bool is_asked = options.motion.model != motion_model::automatic;
    options.motion.model = found.model;
    if (found.empty()) return found;
    if (is_asked || found.range_um() >= least_range_um) {
        options.detection.preprocessing.moved = std::make_shared<const probe_motion>(found);
    } else {
        options.motion.model = motion_model::none;
    }
    return found;
}

void warn_of_repeated_units(sort_result& result) {
    if (!result.sorted.has_times()) return;
    const spike_sequence spikes = to_spikes(result.sorted).spikes;
    for (std::string& warning : warnings_of(spikes, find_shared_spikes(spikes)))
        result.warnings.push_back(std::move(warning));
}

void warn_of_mains(sort_result& result) {
    std::vector<std::string> units;
    double frequency = 0;
    for (std::size_t u = 0; u < result.units.size(); ++u) {
        if (result.units[u].quality.mains_hz == 0) continue;
        units.push_back(std::to_string(u + 1));
        frequency = result.units[u].quality.mains_hz;
    }
    if (units.empty()) return;
    result.warnings.push_back(fmt::format(
        "{} in step with the mains ({:g} Hz), as interference does, and {} labelled noise: {}.",
        units.size() == 1 ? "1 unit fires" : fmt::format("{} units fire", units.size()), frequency,
        units.size() == 1 ? "is" : "are", fmt::join(units, ", ")));
}

}  // namespace spikeweave::pipeline

namespace spikeweave {

std::vector<std::uint32_t> peak_channels(const sort_result& result) {
    const mean_waveforms& mean = result.waveforms;
    std::vector<std::uint32_t> peaks;
    if (mean.group_count() == 0) {
        for (const sorted_unit& unit : result.units)
            peaks.push_back(
                static_cast<std::uint32_t>(unit.peak_feature / result.features_per_channel));
        return peaks;
    }
    // Group 0 is noise.
    for (std::size_t u = 1; u < mean.group_count(); ++u) {
        const std::span<const float> values = mean.of(u);
        const auto largest =
            std::ranges::max_element(values, {}, [](float value) { return std::abs(value); });
        peaks.push_back(static_cast<std::uint32_t>(
            static_cast<std::size_t>(largest - values.begin()) % mean.channel_count));
    }
    return peaks;
}

void write_phy(const std::filesystem::path& folder, const sort_result& result,
               const execution& run) {
    write_phy(folder,
              {.features = result.features,
               .sorted = result.sorted,
               .units = result.units,
               .features_per_channel = result.features_per_channel,
               .channels = result.channels,
               .waveforms = result.waveforms.group_count() > 0 ? &result.waveforms : nullptr,
               .raw = result.raw,
               .raw_offset_bytes = result.raw_offset_bytes},
              run);
}

}  // namespace spikeweave
