#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "io/result_table.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/mine/spade/detector.hpp"
#include "spikeweave/mine/spade/named_patterns.hpp"

namespace spikeweave {

// Units may have other numbers than in the recording of the result.
armed_patterns read_patterns(const std::filesystem::path& folder, const spike_sequence& spikes) {
    const std::filesystem::path table = folder / "patterns.tsv";
    std::vector<std::size_t> lines;
    const named_patterns result = read_named_patterns(folder, &lines);
    armed_patterns armed{.bin = result.bin};
    for (std::size_t i = 0; i < lines.size(); ++i) {
        std::vector<pattern_spike>& pattern = armed.patterns.emplace_back();
        io::read_line(table, lines[i], [&] {
            for (const auto& [unit, lag] : result.patterns[i])
                pattern.push_back({spikes.unit(unit), lag});
        });
        std::sort(pattern.begin(), pattern.end(), [](const auto& one, const auto& other) {
            return std::pair(one.lag, one.unit) < std::pair(other.lag, other.unit);
        });
    }
    try {
        static_cast<void>(pattern_detector(armed, spikes.unit_count()));
    } catch (const invalid_argument& error) {
        throw io_error(fmt::format("{}: {}", table.string(), error.what()));
    }
    return armed;
}

std::vector<std::string> units_of_patterns(const std::filesystem::path& folder) {
    std::vector<std::string> names;
    for (const named_pattern& pattern : read_named_patterns(folder).patterns)
        for (const named_spike& spike : pattern) names.push_back(spike.unit);
    std::sort(names.begin(), names.end(), natural_less);
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
}

}  // namespace spikeweave
