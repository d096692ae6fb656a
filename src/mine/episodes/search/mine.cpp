// Mines level by level: pairs of frequent units, then joins of frequent episodes, until none is
// frequent. A join needs both its prefix and its suffix to be frequent. This loses no episode,
// because neither can have a lower count than the whole.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <utility>

#include "core/stop.hpp"
#include "core/text.hpp"
#include "mine/episodes/devices/backend.hpp"
#include "mine/episodes/devices/counters.hpp"
#include "mine/episodes/devices/device_set.hpp"
#include "mine/episodes/search/level_table.hpp"
#include "mine/episodes/search/strategy.hpp"
#include "mine/episodes/search/threshold.hpp"
#include "parallel/ranks.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/spikes/epochs.hpp"

namespace spikeweave {
namespace {

using episodes::interval_us;

// Each rank counts a block of the candidates.
episodes::counting shared_among_ranks(episodes::counting count, const execution& run) {
    return [count = std::move(count), &run](const episodes::candidate_set& candidates,
                                            std::uint64_t at_least) {
        const parallel::rank_block own = parallel::block_of_rank(candidates.count(), run);
        episodes::count_result result =
            count(episodes::part_of(candidates, own.begin, own.end), at_least);
        parallel::join_ranks(result.counts, run);
        parallel::sum_ranks(result.merge_misses, run);
        return result;
    };
}

// `problem`: that of this rank alone; `all`: that of all ranks.
std::unique_ptr<episodes::level_counter> counter_for(
    episode_strategy strategy, const episodes::counting_problem& problem,
    const episodes::counting_problem& all, const episodes::level_rules& rules,
    const std::optional<episodes::device_set>& devices) {
    const bool shared = parallel::is_shared(all.run);
    const auto by_lists = [&](episodes::counting count, bool beside) {
        // Ranks exchange counts, which they have to do in one order.
        if (shared) count = shared_among_ranks(std::move(count), all.run);
        return episodes::levels_of_lists(problem, rules, std::move(count), beside && !shared);
    };
    if (devices) {
        if (strategy == episode_strategy::latest_start && !shared)
            return episodes::cuda().levels_of_latest_start(devices->problems(), rules);
        const auto count = episodes::device_counter_of(strategy);
        return by_lists(
            [&devices, count](const episodes::candidate_set& candidates, std::uint64_t at_least) {
                return episodes::count_on_devices(devices->problems(), count, candidates, at_least);
            },
            true);
    }
    if (strategy == episode_strategy::latest_start)
        return episodes::levels_of_latest_start(all, rules);
    const auto count = episodes::counter_of(strategy);
    return by_lists(
        [&problem, count](const episodes::candidate_set& candidates, std::uint64_t at_least) {
            return count(problem, candidates, at_least);
        },
        false);
}

// The probability that a unit follows within an interval by chance, if it fires at a constant rate.
struct chance_step {
    double log_p;   // of the probability that it does
    double mean_s;  // after how long, if it does
};

chance_step chance_step_of(double rate_hz, const interval_us& interval) {
    const double width_s = static_cast<double>(interval.high - interval.low) / 1e6;
    const double p = -std::expm1(-rate_hz * width_s);
    const double within_s = 1 / rate_hz - width_s * (1 - p) / p;
    return {std::log(p),
            static_cast<double>(std::max<std::int64_t>(interval.low, 0)) / 1e6 + within_s};
}

// About how many episodes are frequent by chance, if units fire independently at constant rates. Of
// N occurrences of a unit, N p^(k-1) reach size k, and occurrences of one episode do not overlap.
double frequent_by_chance(const spike_sequence& spikes, std::span<const std::uint64_t> spikes_of,
                          std::span<const interval_us> intervals, std::uint64_t threshold) {
    const double seconds = to_seconds(spikes.observed_time() + duration{1});
    double units = 0;
    double most = 0;
    chance_step all{};
    for (const std::uint64_t count : spikes_of) {
        if (count < threshold) continue;
        ++units;
        most = std::max(most, static_cast<double>(count));
        for (const interval_us& interval : intervals) {
            const chance_step one = chance_step_of(static_cast<double>(count) / seconds, interval);
            all.log_p += one.log_p;
            all.mean_s += one.mean_s;
        }
    }
    if (units == 0) return 0;
    const double branches = units * static_cast<double>(intervals.size());
    const auto least = static_cast<double>(threshold);
    const double by_counts = std::log(most / least) / std::max(-all.log_p / branches, 1e-9);
    const double by_length = seconds / (least * all.mean_s / branches);
    const double steps = std::floor(std::min(by_counts, by_length));
    return units * std::pow(branches, std::max(steps, 0.0));
}

// Everything would be frequent, at every size: all memory is needed, and nothing is learned.
void check_thresholds(const spike_sequence& spikes, std::span<const std::uint64_t> spikes_of,
                      std::span<const interval_us> intervals, std::uint64_t threshold,
                      const episode_mining_options& options) {
    constexpr double most = 1e9;
    if (options.max_size > 0 ||
        !(frequent_by_chance(spikes, spikes_of, intervals, threshold) > most))
        return;
    throw invalid_argument(
        "delays", fmt::format("they are so long for these rates that chains of any size occur {} "
                              "times by chance: give shorter `delays`, a larger `min_count` or a "
                              "`max_size`",
                              core::grouped(threshold)));
}

// Fills a table level by level.
// @param is_unbounded  neither time nor memory ends the search with the sizes that it has
void mine_levels(const spike_sequence& spikes, const episode_mining_options& options,
                 bool is_unbounded, const execution& run, episode_table& table) {
    const std::vector<delay_interval> delays = episodes::sorted_delays(options.delays);
    const std::vector<interval_us> intervals = episodes::checked_intervals(delays);
    episodes::begin_table(spikes, options, run, table);
    execution alone = parallel::without_ranks(run);
    alone.devices = parallel::devices_of_this_rank(run.devices, run);
    const episodes::counting_problem all{spikes, intervals,     options.ties,
                                         run,    options.split, table.compacted_by};
    const episodes::counting_problem problem{spikes, intervals,     options.ties,
                                             alone,  options.split, table.compacted_by};
    episodes::check_split(options.split, table.ran_on);
    const episodes::level_rules rules{table.threshold, options.self_repeats, options.pairs,
                                      options.max_memory_bytes};

    std::optional<episodes::device_set> devices;
    if (!run.devices.empty()) devices.emplace(problem);

    auto begin = std::chrono::steady_clock::now();
    const auto record = [&](const episodes::mined_level& level) {
        const auto end = std::chrono::steady_clock::now();
        episodes::append_level(table, level, delays, std::chrono::duration<double>(end - begin),
                               run.stop);
        begin = end;
        return level.frequent.count() > 0 &&
               (options.max_size == 0 || level.frequent.size < options.max_size);
    };

    episodes::mined_level level;
    const std::vector<std::uint64_t> spikes_of = episodes::spikes_per_unit(spikes, run);
    if (is_unbounded) check_thresholds(spikes, spikes_of, intervals, table.threshold, options);
    for (std::uint32_t u = 0; u < spikes_of.size(); ++u) {
        if (spikes_of[u] < table.threshold) continue;
        level.frequent.units.push_back(unit_id{u});
        level.counts.push_back(spikes_of[u]);
    }
    level.candidates = spikes.unit_count();
    if (!record(level)) return;

    const auto counter = counter_for(table.ran_on, problem, all, rules, devices);
    level = counter->pairs(level.frequent.units, options.max_size == 2);
    while (record(level))
        level = counter->extend(level, level.frequent.size + 1 == options.max_size);
    table.pairs_by = counter->pairs_by();
    table.merge_misses = counter->merge_misses();
    table.estimated_bytes = counter->estimated_bytes();
}

}  // namespace

void episodes::begin_table(const spike_sequence& spikes, const episode_mining_options& options,
                           const execution& run, episode_table& table) {
    table.threshold = resolve_threshold(spikes, options, run);
    table.ties = options.ties;
    table.ran_on = episodes::chosen(options.strategy, run);
    table.ran_on_devices = run.devices;
    table.compacted_by = episodes::chosen(options.compaction, table.ran_on, run);
    if (table.ran_on == episode_strategy::hybrid)
        table.warnings = episodes::warnings_of_hybrid(run.devices);
    for (std::string& warning : check_delays(spikes, sorted_delays(options.delays)))
        table.warnings.push_back(std::move(warning));
}

void episodes::append_level(episode_table& table, const mined_level& level,
                            std::span<const delay_interval> delays,
                            std::chrono::duration<double> took, const std::stop_token& stop) {
    const std::size_t first = table.episodes.size();
    // Allocates no more than needed: there may be millions.
    table.episodes.reserve(first + level.frequent.count());
    for (std::size_t i = 0; i < level.frequent.count(); ++i) {
        core::stop_at_times(i, stop);
        const auto units = level.frequent.units_of(i);
        counted_episode& row = table.episodes.emplace_back();
        row.what.units.assign(units.begin(), units.end());
        for (const std::uint32_t d : level.frequent.delays_of(i))
            row.what.delays.push_back(delays[d]);
        row.count = level.counts[i];
    }
    try {
        core::sort_unless_stopped(
            table.episodes.begin() + static_cast<std::ptrdiff_t>(first), table.episodes.end(),
            [](const auto& a, const auto& b) { return a.what < b.what; }, stop);
    } catch (const cancelled&) {
        table.episodes.resize(first);  // the level is not complete
        throw;
    }
    table.levels.push_back({level.frequent.size, level.candidates, level.frequent.count(),
                            level.survivor_bytes, took.count(), level.kernel_seconds});
}

void episodes::keep_complete_levels(episode_table& table) {
    const std::size_t size = table.levels.empty() ? 0 : table.levels.back().size;
    table.complete_to_size = size;
    std::erase_if(table.episodes,
                  [size](const counted_episode& one) { return one.what.size() > size; });
}

episode_table mine_episodes(const spike_sequence& spikes, const episode_mining_options& options,
                            const execution& run, const std::stop_token& enough) {
    const separated_epochs apart(spikes, episodes::longest_delay(options.delays));
    return episodes::mine_until(enough, run, [&](const execution& until, episode_table& table) {
        mine_levels(apart.spikes(), options, !enough.stop_possible(), until, table);
    });
}

}  // namespace spikeweave
