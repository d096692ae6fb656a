#include "pipeline/sort/unit_warnings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <utility>
#include <vector>

#include "spikeweave/spikes/shared_spikes.hpp"

namespace spikeweave::pipeline {

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
