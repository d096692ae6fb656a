#include "values.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "spikeweave/core/error.hpp"

namespace spikeweave::cli {
namespace {

template <class Value, std::size_t Size>
using names_of = std::array<std::pair<std::string_view, Value>, Size>;

template <class Number>
std::optional<Number> number_in(std::string_view text) {
    Number value{};
    const char* const end = text.data() + text.size();
    const auto [stopped, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc{} || stopped != end) return std::nullopt;
    return value;
}

double parse_real(std::string_view text, const char* expected, bool (*fits)(double)) {
    const auto value = number_in<double>(text);
    if (!value || !std::isfinite(*value) || !fits(*value))
        throw invalid_argument(fmt::format("'{}' is not {}", text, expected));
    return *value;
}

std::vector<std::string_view> split(std::string_view text, char at) {
    std::vector<std::string_view> parts;
    for (;;) {
        const std::size_t end = text.find(at);
        parts.push_back(text.substr(0, end));
        if (end == std::string_view::npos) return parts;
        text.remove_prefix(end + 1);
    }
}

}  // namespace

std::uint64_t parse_whole(std::string_view text, std::uint64_t least) {
    const auto value = number_in<std::uint64_t>(text);
    if (!value || *value < least)
        throw invalid_argument(
            fmt::format("'{}' is not a whole number of at least {}", text, least));
    return *value;
}

std::uint32_t parse_whole_32(std::string_view text, std::uint32_t least) {
    const std::uint64_t value = parse_whole(text, least);
    if (value > std::numeric_limits<std::uint32_t>::max())
        throw invalid_argument(fmt::format("'{}' is too large", text));
    return static_cast<std::uint32_t>(value);
}

std::uint32_t parse_count(std::string_view text) {
    return parse_whole_32(text, 1);
}

int parse_threads(std::string_view text) {
    constexpr std::uint64_t most = 4096;
    const std::uint64_t value = parse_whole(text, 0);
    if (value > most)
        throw invalid_argument(fmt::format("'{}' is more than {} threads", text, most));
    return static_cast<int>(value);
}

double parse_positive(std::string_view text) {
    return parse_real(text, "a number above 0", [](double x) { return x > 0; });
}

double parse_not_negative(std::string_view text) {
    return parse_real(text, "a number of at least 0", [](double x) { return x >= 0; });
}

double parse_fraction(std::string_view text) {
    return parse_real(text, "a number above 0 and at most 1",
                      [](double x) { return x > 0 && x <= 1; });
}

double parse_share(std::string_view text) {
    const double value = parse_not_negative(text);
    if (value > 1) throw invalid_argument(fmt::format("'{}' is above 1", text));
    return value;
}

duration parse_positive_duration(std::string_view text) {
    const duration value = parse_duration(text);
    if (value <= duration{0}) throw invalid_argument(fmt::format("'{}' is not above 0", text));
    return value;
}

std::uint64_t parse_memory(std::string_view text) {
    constexpr names_of<double, 7> units{{{"B", 1.0},
                                         {"kB", 1e3},
                                         {"MB", 1e6},
                                         {"GB", 1e9},
                                         {"KiB", 0x1p10},
                                         {"MiB", 0x1p20},
                                         {"GiB", 0x1p30}}};
    const std::size_t unit_at = std::min(text.find_first_not_of("0123456789."), text.size());
    const auto number = number_in<double>(text.substr(0, unit_at));
    std::string_view unit = text.substr(unit_at);
    unit.remove_prefix(std::min(unit.find_first_not_of(' '), unit.size()));
    for (const auto& [name, bytes] : units) {
        if (name != unit || !number) continue;
        const double value = *number * bytes;
        if (value >= 1 && value < 0x1p63) return static_cast<std::uint64_t>(value);
    }
    throw invalid_argument(fmt::format(
        "'{}' is not an amount of memory (expected a number with its unit, such as 2GB or 512MiB)",
        text));
}

std::string parse_path(std::string_view text) {
    if (text.empty()) throw invalid_argument("the name is empty");
    return std::string(text);
}

std::vector<std::string> parse_names(std::string_view text) {
    std::vector<std::string> names;
    for (const std::string_view part : split(text, ',')) {
        if (part.empty()) throw invalid_argument(fmt::format("a name is empty in '{}'", text));
        if (std::find(names.begin(), names.end(), part) != names.end())
            throw invalid_argument(fmt::format("'{}' is given twice", part));
        names.emplace_back(part);
    }
    return names;
}

std::vector<std::uint32_t> parse_chains(std::string_view text) {
    std::vector<std::uint32_t> chains;
    if (text == "none") return chains;
    for (const std::string_view part : split(text, ',')) chains.push_back(parse_whole_32(part, 2));
    return chains;
}

spike_sequence only_units(const spike_sequence& spikes, const std::vector<std::string>& names) {
    constexpr unit_id left_out{std::numeric_limits<std::uint32_t>::max()};
    std::vector<unit_id> kept;
    kept.reserve(names.size());
    for (const std::string& name : names) kept.push_back(spikes.unit(name));
    // In the file's order of units, so that the order of the option has no effect.
    std::sort(kept.begin(), kept.end());
    std::vector<unit_id> renumbered(spikes.unit_count(), left_out);
    std::vector<std::string> kept_names;
    kept_names.reserve(kept.size());
    for (const unit_id unit : kept) {
        renumbered[index(unit)] = unit_id{static_cast<std::uint32_t>(kept_names.size())};
        kept_names.push_back(spikes.name(unit));
    }

    std::vector<std::int64_t> times_us;
    std::vector<unit_id> units;
    for (std::size_t i = 0; i < spikes.size(); ++i) {
        const unit_id unit = renumbered[index(spikes.units()[i])];
        if (unit == left_out) continue;
        times_us.push_back(spikes.times_us()[i]);
        units.push_back(unit);
    }
    return {std::move(times_us), std::move(units), std::move(kept_names), spikes.span()};
}

}  // namespace spikeweave::cli
