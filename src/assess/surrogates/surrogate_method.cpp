#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "spikeweave/assess/surrogates.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave {
namespace {

using enum surrogate_method;

constexpr std::array<std::pair<surrogate_method, std::string_view>, 12> names{{
    {interval_jitter, "interval-jitter"},
    {spike_dithering, "spike-dithering"},
    {dither_spikes, "dither_spikes"},
    {dither_spikes_with_refractory_period, "dither_spikes_with_refractory_period"},
    {dither_spike_train, "dither_spike_train"},
    {jitter_spikes, "jitter_spikes"},
    {randomise_spikes, "randomise_spikes"},
    {shuffle_isis, "shuffle_isis"},
    {joint_isi_dithering, "joint_isi_dithering"},
    {isi_dithering, "isi_dithering"},
    {trial_shifting, "trial_shifting"},
    {bin_shuffling, "bin_shuffling"},
}};

bool same_name(std::string_view a, std::string_view b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](char x, char y) { return (x == '-' ? '_' : x) == (y == '-' ? '_' : y); });
}

}  // namespace

std::string_view to_string(surrogate_method method) {
    for (const auto& [value, name] : names)
        if (value == method) return name;
    return "?";
}

surrogate_method surrogate_method_from(std::string_view name) {
    for (const auto& [value, known] : names)
        if (same_name(known, name)) return value;
    std::array<std::string_view, names.size()> all;
    std::transform(names.begin(), names.end(), all.begin(), [](const auto& n) { return n.second; });
    throw invalid_argument(
        fmt::format("no surrogate method is named '{}'; there are {}", name, fmt::join(all, ", ")));
}

std::vector<surrogate_method> surrogate_methods() {
    std::vector<surrogate_method> out;
    out.reserve(names.size());
    for (const auto& [value, name] : names) out.push_back(value);
    return out;
}

}  // namespace spikeweave
