#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "core/text.hpp"
#include "spikes/files/time_scale.hpp"
#include "spikes/wells.hpp"
#include "spikeweave/spikes/files.hpp"

namespace spikeweave {
namespace {

// Numbers of intervals of one unit by length, as the checks need them.
struct unit_facts {
    std::uint64_t intervals = 0;
    std::uint64_t doubled = 0;  // 0.1 to 0.2 ms: the same spike detected twice
    std::uint64_t near = 0;     // 0.2 to 2 ms
    std::int64_t last_us = INT64_MIN;
};

std::vector<unit_facts> facts_of_units(const spike_sequence& spikes) {
    std::vector<unit_facts> facts(spikes.unit_count());
    for (std::size_t i = 0; i < spikes.size(); ++i) {
        unit_facts& unit = facts[to_index(spikes.units()[i])];
        const std::int64_t now = spikes.times_us()[i];
        if (unit.last_us != INT64_MIN) {
            const std::int64_t interval = now - unit.last_us;
            ++unit.intervals;
            unit.doubled += interval >= 100 && interval <= 200 ? 1 : 0;
            unit.near += interval > 200 && interval <= 2'000 ? 1 : 0;
        }
        unit.last_us = now;
    }
    return facts;
}

// A refractory neuron has no such intervals, and a burst has more of the longer ones. The band is
// 0.1 ms wide, the longer ones cover 1.8 ms.
void check_doubled(const spike_sequence& spikes, const std::vector<unit_facts>& facts,
                   std::vector<std::string>& out) {
    constexpr std::uint64_t enough = 20;
    constexpr double excess = 5;
    constexpr double band_share = 0.1 / 1.8;
    constexpr std::size_t most_named = 10;
    std::size_t found = 0;
    for (std::size_t u = 0; u < facts.size(); ++u) {
        const auto doubled = static_cast<double>(facts[u].doubled);
        const double expected = static_cast<double>(facts[u].near) * band_share;
        if (facts[u].doubled < enough || doubled < excess * expected) continue;
        if (++found <= most_named)
            out.push_back(fmt::format(
                "Unit {} has {} of its {} intervals ({:.1f} %) between 0.1 and 0.2 ms, shorter "
                "than any neuron's: spikes may have been counted twice.",
                spikes.unit_names()[u], facts[u].doubled, facts[u].intervals,
                100 * doubled / static_cast<double>(facts[u].intervals)));
    }
    if (found > most_named)
        out.push_back(fmt::format("The same holds for {} more units.", found - most_named));
}

// Returns whether the spikes follow each other faster than those of neurons do.
bool check_time_unit(const spike_sequence& spikes, std::vector<std::string>& out) {
    const double recorded_s = to_seconds(spikes.span().length());
    constexpr std::size_t enough = 50;
    if (spikes.size() < enough || recorded_s <= 0) return false;
    std::vector<std::uint64_t> counts(spikes.unit_count());
    for (const unit_id unit : spikes.units()) ++counts[to_index(unit)];
    std::erase(counts, 0U);
    const auto middle = counts.begin() + static_cast<std::ptrdiff_t>(counts.size() / 2);
    std::nth_element(counts.begin(), middle, counts.end());
    const double rate = static_cast<double>(*middle) / recorded_s;
    // Milliseconds read as seconds turn 20 Hz into 0.02 Hz and give a recording of many hours.
    constexpr double slowest_hz = 0.005;
    constexpr double slow_hz = 0.05;
    constexpr double long_s = 4 * 3600;
    constexpr double fastest_hz = 1'000;
    const bool whole_ms = std::all_of(spikes.times_us().begin(), spikes.times_us().end(),
                                      [](std::int64_t us) { return us % 1'000'000 == 0; });
    if (rate < slowest_hz || (rate < slow_hz && recorded_s > long_s) || (whole_ms && rate < 1))
        out.push_back(
            fmt::format("The median unit fires at {:.2g} Hz{}: the times may be milliseconds or "
                        "samples taken for seconds. If so, give `time_unit` ms, or `time_unit` "
                        "samples:RATE with the number of samples a second.",
                        rate, whole_ms ? " and every time is a whole number of seconds" : ""));
    // A file may state a span that is right.
    const std::int64_t between_us = spikes.times_us().back() - spikes.times_us().front();
    const double among_spikes =
        static_cast<double>(*middle) / to_seconds(duration{std::max<std::int64_t>(between_us, 1)});
    if (!(among_spikes > fastest_hz)) return false;
    out.push_back(
        fmt::format("The median unit fires at {} Hz, faster than any neuron: the times may be "
                    "seconds taken for milliseconds. If so, give `time_unit` s.",
                    core::grouped(static_cast<std::uint64_t>(std::llround(among_spikes)))));
    return true;
}

// Cultures of different wells have no connections.
void check_wells(const spike_sequence& spikes, std::vector<std::string>& out) {
    std::set<std::string_view> wells;
    for (const std::string& name : spikes.unit_names()) {
        const std::string_view well = spikes::well_of(name);
        if (well.empty()) return;
        wells.insert(well);
    }
    if (wells.size() < 2) return;
    const std::vector<std::string> names(wells.begin(), wells.end());
    out.push_back(
        fmt::format("The units come from {} wells of a plate, which are separate cultures ({}), "
                    "and are treated as one culture: `only_units` {} uses those of one well.",
                    wells.size(), core::listed(names), names.front()));
}

void check_stimulus_channel(const spike_sequence& spikes, std::vector<std::string>& out) {
    constexpr int stimulus = 60;
    constexpr int last_input = 63;
    constexpr int enough = 30;
    int electrodes = 0;
    bool has_stimulus = false;
    bool has_more = false;  // more channels than such an array has
    for (const std::string& name : spikes.unit_names()) {
        int channel = -1;
        const auto [end, code] = std::from_chars(name.data(), name.data() + name.size(), channel);
        if (code != std::errc{} || end != name.data() + name.size()) continue;
        electrodes += channel >= 0 && channel < stimulus ? 1 : 0;
        has_stimulus = has_stimulus || channel == stimulus;
        has_more = has_more || channel > last_input;
    }
    if (has_stimulus && !has_more && electrodes >= enough)
        out.push_back(fmt::format(
            "There is a unit 60 beside {} of the channels 0 to 59: on arrays of 60 electrodes that "
            "is the stimulus, not a neuron (read the file as 'wagenaar' to keep it apart).",
            electrodes));
}

// Whether as many units as these fire in a window that has so many spikes on average, somewhere
// among all windows, by chance (Chernoff's bound of a Poisson distribution).
bool may_be_chance(std::size_t units, double mean, std::size_t windows) {
    constexpr double rarely = 0.01;
    const auto n = static_cast<double>(units);
    if (mean >= n) return true;
    const double log_p = n - mean - n * std::log(n / mean);
    return log_p + std::log(static_cast<double>(windows)) > std::log(rarely);
}

// The spikes around a window, in a window's length on average; at least one is taken to be there.
double mean_around(std::span<const std::int64_t> times, std::size_t begin, std::size_t end,
                   std::int64_t window_us) {
    constexpr std::int64_t on_each_side = 10;
    std::size_t first = begin;
    while (first > 0 && times[begin] - times[first - 1] <= on_each_side * window_us) --first;
    std::size_t last = end;
    while (last < times.size() && times[last] - times[begin] <= (on_each_side + 1) * window_us)
        ++last;
    const std::size_t around = (begin - first) + (last - end);
    return static_cast<double>(std::max<std::size_t>(around, 1)) / (2.0 * on_each_side);
}

// Reports windows of 1 ms in which half of all units fire: even a network burst takes longer, so
// there are more spikes around it.
void check_artefacts(const spike_sequence& spikes, std::vector<std::string>& out) {
    constexpr std::int64_t window_us = 1'000;
    constexpr std::size_t fewest_units = 10;
    const std::size_t threshold = std::max(fewest_units, spikes.unit_count() / 2);
    if (spikes.unit_count() < fewest_units) return;
    const auto times = spikes.times_us();
    std::vector<std::size_t> seen(spikes.unit_count(), 0);  // number of the last window, from 1
    std::size_t windows = 0;
    std::size_t artefacts = 0;
    std::size_t events = 0;
    std::int64_t first_us = 0;
    for (std::size_t begin = 0; begin < times.size();) {
        std::size_t end = begin;
        std::size_t units = 0;
        ++windows;
        for (; end < times.size() && times[end] - times[begin] < window_us; ++end)
            units += std::exchange(seen[to_index(spikes.units()[end])], windows) != windows ? 1 : 0;
        // Another window is tried only if it begins at a later time; steps by distinct times are
        // exact enough for a warning.
        if (units >= threshold &&
            !may_be_chance(units, mean_around(times, begin, end, window_us), times.size())) {
            if (artefacts++ == 0) first_us = times[begin];
            events += end - begin;
            begin = end;
        } else {
            const std::int64_t tick = times[begin];
            while (begin < end && times[begin] == tick) ++begin;
        }
    }
    if (artefacts > 0)
        out.push_back(
            fmt::format("In {} intervals of 1 ms at least {} units fire together, first at {}: {} "
                        "events look like electrical artefacts.",
                        artefacts, threshold, format_duration(duration{first_us}), events));
}

void check_zeros(const spike_sequence& spikes, std::vector<std::string>& out) {
    const auto times = spikes.times_us();
    const auto [first, last] = std::equal_range(times.begin(), times.end(), std::int64_t{0});
    const auto zeros = static_cast<std::size_t>(last - first);
    constexpr std::size_t enough = 3;
    if (zeros >= enough && zeros * 4 >= spikes.unit_count())
        out.push_back(
            fmt::format("{} units fire at exactly time 0: the file may have been padded "
                        "with zeros.",
                        zeros));
}

}  // namespace

std::vector<std::string> check_spikes(const spike_sequence& spikes, bool are_clusters) {
    std::vector<std::string> out;
    const bool is_too_fast = check_time_unit(spikes, out);
    check_wells(spikes, out);
    if (!are_clusters) check_stimulus_channel(spikes, out);
    check_zeros(spikes, out);
    if (is_too_fast) return out;  // whatever is near in time may be far apart
    check_doubled(spikes, facts_of_units(spikes), out);
    check_artefacts(spikes, out);
    for (std::string& warning : warnings_of(spikes, find_shared_spikes(spikes)))
        out.push_back(std::move(warning));
    return out;
}

std::vector<std::string> warnings_of(const spike_file& file) {
    std::vector<std::string> out = file.warnings;
    for (std::string& warning : check_spikes(file.spikes, file.are_clusters))
        out.push_back(std::move(warning));
    for (std::string& warning : warnings_of(file.dropped)) out.push_back(std::move(warning));
    for (std::string& warning : warnings_of(file.left_out)) out.push_back(std::move(warning));
    if (file.merged > 0)
        out.push_back(fmt::format("{} spike{} not counted, because the group had just fired.",
                                  core::grouped(file.merged),
                                  file.merged == 1 ? " of a group is" : "s of groups are"));
    if (file.duplicates > 0)
        out.push_back(
            file.duplicates == 1
                ? "1 spike is listed twice (same unit, same microsecond) and was counted once."
                : fmt::format("{} spikes are listed twice (same unit, same microsecond) and were "
                              "counted once.",
                              core::grouped(file.duplicates)));
    if (!file.stimulus_us.empty())
        out.push_back(fmt::format("{} stimulus marker{} not mined.",
                                  core::grouped(file.stimulus_us.size()),
                                  file.stimulus_us.size() == 1 ? " is" : "s are"));
    return out;
}

std::string warning_of_trials(const repeated_begins& begins, std::string_view trial_column) {
    if (begins.units == 0 || (trial_column.empty() && !begins.look_like_trials)) return {};
    const std::string column =
        trial_column.empty() ? "" : fmt::format("The column {} is not used. ", trial_column);
    const bool one = begins.units == 1;
    const std::string often = begins.most == 1
                                  ? "once"
                                  : fmt::format("{}{} times{}", one ? "" : "up to ",
                                                core::grouped(begins.most), one ? "" : " each");
    return fmt::format(
        "{}The times of {} begin again, {}, as if trials or recordings were listed one after "
        "another. They are read as times of one recording, in which trials overlap: add the "
        "beginning of its trial to each time.",
        column, one ? "a unit" : core::grouped(begins.units) + " units", often);
}

std::string warning_of_32_bits(double largest_s) {
    return spikes::warning_of_32_bits(largest_s, spikes::time_scale::seconds());
}

namespace spikes {

std::string warning_of_32_bits(double largest, const time_scale& scale) {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    const double next = std::nextafter(static_cast<float>(largest), infinity);
    const auto at = scale.from_real(largest);
    const auto after = scale.from_real(next);
    // Finer steps than this change no analysis here: they are as long as a sample or two.
    constexpr std::int64_t fine_us = 50;
    if (!at || !after || *after - *at <= fine_us) return {};
    return fmt::format(
        "The times are numbers of 32 bits, which are {} apart at {}: spikes were moved by up to "
        "half of that, and spikes of a unit at one time count as one. Write times as numbers of 64 "
        "bits.",
        format_duration(duration{*after - *at}), format_duration(duration{*at}));
}

}  // namespace spikes

}  // namespace spikeweave
