#include "spikeweave/mine/spade/named_patterns.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "core/text.hpp"
#include "io/readable_file.hpp"
#include "io/result_table.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/mine/spade.hpp"
#include "spikeweave/mine/spade/detector.hpp"

namespace spikeweave {
namespace {

constexpr std::size_t most_patterns = 10'000;

duration bin_of_result(const std::filesystem::path& folder) {
    const std::filesystem::path path = folder / "run.json";
    std::ifstream in = io::open_found(path);
    try {
        const auto run = nlohmann::json::parse(in);
        const double bin_ms = run.at("windows").at("bin_ms").get<double>();
        if (const duration bin = duration_from_seconds(bin_ms / 1000); bin > duration{0})
            return bin;
    } catch (const nlohmann::json::exception&) {
    } catch (const invalid_argument&) {
    }
    throw io_error(
        fmt::format("{} states no bin width, expected a result of SPADE", path.string()));
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

named_pattern spikes_in(const std::string& units, const std::string& lags, duration bin) {
    const std::vector<std::string_view> names = core::split(units, ",");
    const std::vector<std::string_view> times = core::split(lags, ",");
    if (names.size() != times.size())
        throw invalid_argument(fmt::format(
            "{} names of units and {} lags between commas, expected equal numbers; a name "
            "with a comma cannot be read",
            names.size(), times.size()));
    named_pattern spikes;
    spikes.reserve(names.size());
    for (std::size_t i = 0; i < names.size(); ++i)
        spikes.push_back({std::string(names[i]), lag_in(std::string(times[i]), bin)});
    return spikes;
}

}  // namespace

named_patterns read_named_patterns(const std::filesystem::path& folder,
                                   std::vector<std::size_t>* lines) {
    const std::filesystem::path table = folder / "patterns.tsv";
    io::result_table rows(table);
    const std::size_t units = rows.column("units"), lags = rows.column("lags_ms");
    const bool tested = rows.has("significant");
    const std::size_t significant = tested ? rows.column("significant") : 0;
    named_patterns result{.bin = bin_of_result(folder)};
    while (rows.next()) {
        if (tested && rows[significant] != "yes") continue;
        if (result.patterns.size() == most_patterns)
            throw io_error(fmt::format("{} holds more than the {} patterns that can be used",
                                       table.string(), most_patterns));
        result.patterns.push_back(io::read_line(
            table, rows.line(), [&] { return spikes_in(rows[units], rows[lags], result.bin); }));
        if (lines != nullptr) lines->push_back(rows.line());
    }
    if (result.patterns.empty())
        throw io_error(
            fmt::format("{} holds no {}pattern", table.string(), tested ? "significant " : ""));
    return result;
}

named_patterns joined_patterns(std::span<const named_patterns> results) {
    named_patterns out;
    std::set<named_pattern> known;
    for (const named_patterns& one : results) {
        if (out.patterns.empty()) out.bin = one.bin;
        if (out.bin != one.bin)
            throw invalid_argument(
                fmt::format("the bins of results are {} and {} wide: their patterns differ",
                            format_duration(out.bin), format_duration(one.bin)));
        // Spikes of one lag are in the order of the numbers of their units.
        for (const named_pattern& pattern : one.patterns) {
            named_pattern sorted = pattern;
            std::sort(sorted.begin(), sorted.end());
            if (known.insert(std::move(sorted)).second) out.patterns.push_back(pattern);
        }
    }
    return out;
}

void pattern_table::append(std::span<const pattern_item> pattern, std::uint32_t count,
                           std::span<const std::uint32_t> starts) {
    items.insert(items.end(), pattern.begin(), pattern.end());
    item_offsets.push_back(items.size());
    counts.push_back(count);
    if (starts.empty()) return;
    occurrences.insert(occurrences.end(), starts.begin(), starts.end());
    occurrence_offsets.push_back(occurrences.size());
}

std::vector<signature_count> count_signatures(const pattern_table& table, spectrum_kind kind) {
    std::map<signature_count, std::uint64_t> numbers;
    for (std::size_t i = 0; i < table.size(); ++i)
        ++numbers[{.size = static_cast<std::uint32_t>(table.pattern(i).size()),
                   .count = table.counts[i],
                   .duration = kind == spectrum_kind::size_count ? 0 : table.duration(i)}];
    std::vector<signature_count> out;
    out.reserve(numbers.size());
    for (const auto& [signature, number] : numbers) {
        out.push_back(signature);
        out.back().patterns = number;
    }
    return out;
}

}  // namespace spikeweave
