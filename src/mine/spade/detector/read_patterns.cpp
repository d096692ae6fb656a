#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <utility>

#include "mine/result_table.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/mine/spade/detector.hpp"

namespace spikeweave {
namespace {

constexpr std::size_t most_patterns = 10'000;

// A spike of a pattern as it stands in the table.
struct named_spike {
    std::string unit;
    std::uint32_t lag;
};

struct pattern_line {
    std::size_t number;
    std::vector<named_spike> spikes;
};

struct named_patterns {
    std::filesystem::path table;
    duration bin{0};
    std::vector<pattern_line> lines{};
};

duration bin_of_result(const std::filesystem::path& folder) {
    const std::filesystem::path path = folder / "run.json";
    std::ifstream in = mine::open_text(path);
    try {
        const auto run = nlohmann::json::parse(in);
        const double bin_ms = run.at("windows").at("bin_ms").get<double>();
        if (const duration bin = duration_from_seconds(bin_ms / 1000); bin > duration{0})
            return bin;
    } catch (const nlohmann::json::exception&) {
    } catch (const invalid_argument&) {
    }
    throw io_error(
        fmt::format("{} says no width of bins, expected a result of SPADE", path.string()));
}

// Lags are written in milliseconds.
std::uint32_t lag_in(const std::string& cell, duration bin) {
    const duration lag = parse_duration(cell + "ms");
    if (lag < duration{0} || lag % bin != duration{0} || lag / bin > pattern_detector::most_lag)
        throw invalid_argument(
            fmt::format("the lag {} ms is not a multiple of the bin, {}, up to "
                        "{} bins",
                        cell, format_duration(bin), pattern_detector::most_lag));
    return static_cast<std::uint32_t>(lag / bin);
}

std::vector<named_spike> spikes_in(const std::string& units, const std::string& lags,
                                   duration bin) {
    const std::vector<std::string> names = mine::split_text(units, ",");
    const std::vector<std::string> times = mine::split_text(lags, ",");
    if (names.size() != times.size())
        throw invalid_argument(
            fmt::format("{} names of units and {} lags between commas, expected as many; a name "
                        "with a comma cannot be read",
                        names.size(), times.size()));
    std::vector<named_spike> spikes;
    for (std::size_t i = 0; i < names.size(); ++i)
        spikes.push_back({names[i], lag_in(times[i], bin)});
    return spikes;
}

// Makes an error of the file of what is wrong in a line.
template <class Read>
auto read_line(const std::filesystem::path& table, std::size_t number, const Read& read) {
    try {
        return read();
    } catch (const invalid_argument& error) {
        throw io_error(fmt::format("{}, line {}: {}", table.string(), number, error.what()));
    }
}

named_patterns read_result_of_spade(const std::filesystem::path& folder) {
    named_patterns result{.table = folder / "patterns.tsv"};
    mine::result_table rows(result.table);
    const std::size_t units = rows.column("units"), lags = rows.column("lags_ms");
    const bool tested = rows.has("significant");
    const std::size_t significant = tested ? rows.column("significant") : 0;
    result.bin = bin_of_result(folder);
    while (rows.next()) {
        if (tested && rows[significant] != "yes") continue;
        if (result.lines.size() == most_patterns)
            throw io_error(fmt::format("{} holds more than the {} patterns that can be armed",
                                       result.table.string(), most_patterns));
        result.lines.push_back({rows.line(), read_line(result.table, rows.line(), [&] {
                                    return spikes_in(rows[units], rows[lags], result.bin);
                                })});
    }
    if (result.lines.empty())
        throw io_error(fmt::format("{} holds no {}pattern", result.table.string(),
                                   tested ? "significant " : ""));
    return result;
}

}  // namespace

// Units may have other numbers than in the recording of the result.
armed_patterns read_patterns(const std::filesystem::path& folder, const spike_sequence& spikes) {
    const named_patterns result = read_result_of_spade(folder);
    armed_patterns armed{.bin = result.bin};
    for (const pattern_line& line : result.lines) {
        std::vector<pattern_spike>& pattern = armed.patterns.emplace_back();
        read_line(result.table, line.number, [&] {
            for (const auto& [unit, lag] : line.spikes) pattern.push_back({spikes.unit(unit), lag});
        });
        std::sort(pattern.begin(), pattern.end(), [](const auto& one, const auto& other) {
            return std::pair(one.lag, one.unit) < std::pair(other.lag, other.unit);
        });
    }
    try {
        static_cast<void>(pattern_detector(armed, spikes.unit_count()));
    } catch (const invalid_argument& error) {
        throw io_error(fmt::format("{}: {}", result.table.string(), error.what()));
    }
    return armed;
}

std::vector<std::string> units_of_patterns(const std::filesystem::path& folder) {
    std::vector<std::string> names;
    const named_patterns result = read_result_of_spade(folder);
    for (const pattern_line& line : result.lines)
        for (const named_spike& spike : line.spikes) names.push_back(spike.unit);
    std::sort(names.begin(), names.end(), natural_less);
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
}

}  // namespace spikeweave
