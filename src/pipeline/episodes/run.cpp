#include "spikeweave/pipeline/episodes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "core/text.hpp"
#include "parallel/ranks.hpp"
#include "pipeline/call_facts.hpp"
#include "pipeline/episodes/search_and_test.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave {

using pipeline::add_new_warnings;
using pipeline::counting_on;
using pipeline::find_and_test;
using pipeline::find_in_divided_time;
using pipeline::warning_of_untested_units;

namespace {

// The options name what ran in place of what they had left open.
void resolve(episode_options& options, const episode_table& table) {
    options.mining.strategy = table.ran_on;
    options.mining.compaction = table.compacted_by;
    options.run.devices = table.ran_on_devices;
}

// Surrogates are counted where the recording was. Each rank takes one of the devices.
std::vector<int> devices_for_surrogates(const episode_options& options, const execution& run) {
    return parallel::devices_of_this_rank(options.run.devices.value_or(std::vector<int>{}), run);
}

void test(const spike_sequence& spikes, const choice_of_pairs& pairs, episode_result& result,
          execution run, const surrogate_tally* counted = nullptr) {
    run.devices = devices_for_surrogates(result.options, run);
    run.threads = result.options.run.threads;
    episode_test_result tests =
        test_episodes(spikes, result.table, pairs, result.options.significance,
                      result.options.surrogates, run, counted);
    result.assessed = std::move(tests.assessed);
    result.surrogates = std::move(tests.surrogates);
    result.pairs = std::move(tests.pairs);
    result.circuit = std::move(tests.circuit);
    add_new_warnings(result.warnings, result.table.warnings);
    add_new_warnings(result.warnings, tests.warnings);
}

// Spikes may be in epochs.
void check(const spike_sequence& spikes, const episode_options& options) {
    check_options(options);
    if (options.surrogates.surrogates == 0) return;
    const bool has_epochs =
        !spikes.epochs().empty() || !options.time.epochs.empty() || options.time.trial_length;
    const surrogate_method method = options.surrogates.method;
    if (method == surrogate_method::trial_shifting && !has_epochs)
        throw invalid_argument(
            "surrogate_method",
            "trial-shifting needs to know the trials: give `epochs` or `trial_length`");
    if (method == surrogate_method::bin_shuffling && (has_epochs || options.hold_out > 0))
        throw invalid_argument("surrogate_method",
                               "bin-shuffling does not keep spikes in their epochs or blocks");
}

// The spikes to be analysed. The result keeps them if they are a part of the recording.
const spike_sequence& take_part(const spike_sequence& recording, episode_result& result) {
    chosen_time chosen = choose_time(recording, result.options.time);
    result.chosen = std::move(chosen.spikes);
    add_new_warnings(result.warnings, chosen.warnings);
    return result.chosen ? *result.chosen : recording;
}

void warn_of_high_threshold(const spike_sequence& spikes, episode_result& result) {
    const episode_table& table = result.table;
    if (spikes.empty() || table.levels.empty() || table.levels.front().frequent > 0) return;
    std::vector<std::uint64_t> counts(spikes.unit_count());
    for (const unit_id unit : spikes.units()) ++counts[to_index(unit)];
    result.warnings.push_back(
        fmt::format("No unit has the {} spikes that `min_count` requires, so no {} can be found: "
                    "the largest number is {}.",
                    core::grouped(table.threshold), result.pairs ? "chain" : "episode",
                    core::grouped(std::ranges::max(counts))));
}

// Warns of units that the threshold left out of all tests.
episode_result with_untested_units(const spike_sequence& recording, episode_result result,
                                   const episode_options& asked) {
    const spike_sequence& spikes = result.chosen ? *result.chosen : recording;
    if (asked.hold_out == 0) warn_of_high_threshold(spikes, result);
    if (asked.hold_out > 0 || result.pairs) return result;
    if (const auto warning = warning_of_untested_units(spikes, result.table, asked.mining))
        result.warnings.push_back(*warning);
    return result;
}

constexpr const char* device_help =
    "where to count: cpu, cuda (the first GPU), cuda:0,1 (these), cuda:all, or automatic (the "
    "first GPU for many spikes)";

// Describes what a search and a count of given episodes have both.
void describe_tests(option_list& list, significance_options& significance,
                    surrogate_options& surrogates) {
    list.add_all(describe(significance));
    list.add_all(describe_episode_surrogates(surrogates));
}

// The options of an analysis that counts and tests likewise.
episode_options as_analysis(const given_episode_options& options) {
    const episode_count_options& counting = options.counting.counting;
    return {.time = options.time,
            .mining = {.delays = default_delays(),
                       .ties = counting.ties,
                       .strategy = counting.strategy,
                       .compaction = counting.compaction,
                       .split = counting.split},
            .significance = options.significance,
            .surrogates = options.surrogates,
            .run = options.counting.run};
}

std::vector<delay_interval> delays_of(std::span<const episode> given) {
    std::vector<delay_interval> all;
    for (const episode& one : given) all.insert(all.end(), one.delays.begin(), one.delays.end());
    std::ranges::sort(all);
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
}

}  // namespace

namespace pipeline {

execution counting_on(const spike_sequence& spikes, episode_strategy strategy,
                      const run_options& how, execution run) {
    run.threads = how.threads;
    const auto on_gpus = available_episode_strategies(device_kind::cuda);
    const bool may_be_gpu = strategy == episode_strategy::automatic ||
                            std::ranges::find(on_gpus, strategy) != on_gpus.end();
    if (how.devices)
        run.devices = *how.devices;
    else
        run.devices = may_be_gpu ? recommended_devices(spikes) : std::vector<int>{};
    return run;
}

}  // namespace pipeline

option_list describe(episode_options& options) {
    option_list list = describe(options.time);
    list.add_all(describe(options.mining));
    describe_tests(list, options.significance, options.surrogates);
    list.begin_group("Significance");
    list.add("hold_out", options.hold_out,
             "hold out this share of the recorded time: search the rest, and test the episodes "
             "with p below alpha again in the held-out time, corrected for these episodes only")
        .unset_is("nothing; the whole recording is searched and tested")
        .at_most(0.95)
        .written("SHARE");
    list.add("hold_out_block", options.hold_out_block,
             "time is held out in blocks of this length; an epoch is held out as a whole or not at "
             "all")
        .above(0)
        .only_with("hold_out");
    list.add_all(describe(options.run, device_help));
    list.add_moved({"count_only"}, "spikeweave count FILE EPISODES does this");
    list.add_moved(
        {"window", "hop", "change_points", "change_permutations", "change_alpha", "change_seed"},
        "spikeweave windows FILE --window TIME does this");
    return list;
}

std::vector<episode_test> deciding_tests(const episode_result& result) {
    return result.surrogates.empty() ? result.assessed
                                     : with_surrogate_tests(result.assessed, result.surrogates);
}

std::vector<std::string> check_episodes(const spike_sequence& recording,
                                        const episode_options& options) {
    check(recording, options);
    const chosen_time chosen = choose_time(recording, options.time);
    const spike_sequence& spikes = chosen.of(recording);
    std::vector<std::string> warnings = chosen.warnings;
    add_new_warnings(warnings, check_delays(spikes, options.mining.delays));
    add_new_warnings(warnings, check_tests(spikes, options.significance, options.surrogates));
    return warnings;
}

surrogate_tally count_part(const spike_sequence& recording, const episode_options& options,
                           const surrogate_part& part, const execution& run) {
    check(recording, options);
    check_part(part, options.surrogates);
    if (options.hold_out > 0)
        throw invalid_argument("surrogates cannot be divided if a part is held out");
    const chosen_time chosen = choose_time(recording, options.time);
    const spike_sequence& spikes = chosen.of(recording);
    const episode_table table = mine_episodes(
        spikes, options.mining, counting_on(spikes, options.mining.strategy, options.run, run));
    execution counting = run;
    counting.threads = options.run.threads;
    counting.devices = devices_for_surrogates(options, run);
    return count_in_surrogates(spikes, table, options.surrogates, counting, part);
}

episode_result pipeline::find_and_test(const spike_sequence& recording,
                                       const episode_options& options, const execution& run,
                                       const surrogate_tally* counted) {
    const pipeline::stop_watch watch;
    check(recording, options);
    episode_result result{.options = options};
    const spike_sequence& spikes = take_part(recording, result);
    if (options.hold_out > 0) {
        if (counted != nullptr)
            throw invalid_argument("surrogates cannot be counted in advance if a part is held out");
        episode_result held_out = find_in_divided_time(spikes, options, run);
        add_new_warnings(held_out.warnings, result.warnings);
        return held_out;
    }
    result.table = mine_episodes(spikes, options.mining,
                                 counting_on(spikes, options.mining.strategy, options.run, run));
    episode_mining_options& mining = result.options.mining;
    mining.min_count = result.table.threshold;
    mining.min_fraction.reset();
    mining.min_rate.reset();
    mining.pairs = result.table.pairs_by;
    resolve(result.options, result.table);
    test(spikes, pipeline::pairs_of(options.mining), result, run, counted);
    result.seconds = watch.seconds();
    return result;
}

episode_result find_episodes(const spike_sequence& spikes, const episode_options& options,
                             const execution& run) {
    return with_untested_units(spikes, find_and_test(spikes, options, run), options);
}

episode_result find_episodes(const spike_sequence& spikes, const episode_options& options,
                             const execution& run, const surrogate_tally& counted) {
    return with_untested_units(spikes, find_and_test(spikes, options, run, &counted), options);
}

episode_result count_and_test_episodes(const spike_sequence& recording,
                                       std::span<const episode> given,
                                       const given_episode_options& options, const execution& run) {
    check_options(options);
    episode_result result =
        pipeline::count_and_test(recording, given, {}, as_analysis(options), run);
    const spike_sequence& spikes = result.chosen ? *result.chosen : recording;
    add_new_warnings(result.warnings, check_delays(spikes, delays_of(given)));
    return result;
}

episode_result pipeline::count_and_test(const spike_sequence& recording,
                                        std::span<const episode> given,
                                        const choice_of_pairs& pairs,
                                        const episode_options& options, const execution& run) {
    const pipeline::stop_watch watch;
    check(recording, options);
    episode_result result{.options = options};
    const spike_sequence& spikes = take_part(recording, result);
    const episode_mining_options& mining = options.mining;
    const episode_count_result counted =
        count_given_episodes(spikes, given, options_for_given(options).counting, run);
    const double seconds = watch.seconds();
    result.table = {.threshold = 0,
                    .ties = mining.ties,
                    .ran_on = counted.ran_on,
                    .merge_misses = counted.merge_misses,
                    .ran_on_devices = counted.ran_on_devices,
                    .compacted_by = counted.compacted_by,
                    .warnings = counted.warnings};
    std::map<std::size_t, std::uint64_t> of_size;
    for (std::size_t i = 0; i < given.size(); ++i) {
        result.table.episodes.push_back({given[i], counted.counts[i]});
        ++of_size[given[i].size()];
    }
    for (const auto& [size, number] : of_size)
        result.table.levels.push_back({size, number, number, 0, seconds, 0});
    resolve(result.options, result.table);
    test(spikes, pairs, result, run);
    result.seconds = watch.seconds();
    return result;
}

option_list describe(episode_counting_options& options) {
    option_list list = describe(options.counting);
    list.add_all(describe(options.run, device_help));
    return list;
}

option_list describe(given_episode_options& options) {
    option_list list = describe(options.time);
    list.add_all(describe(options.counting.counting));
    describe_tests(list, options.significance, options.surrogates);
    list.add_all(describe(options.counting.run, device_help));
    return list;
}

given_episode_options options_for_given(const episode_options& options) {
    const episode_mining_options& mining = options.mining;
    return {.time = options.time,
            .counting = {.counting = {.ties = mining.ties,
                                      .strategy = mining.strategy,
                                      .split = mining.split,
                                      .compaction = mining.compaction},
                         .run = options.run},
            .significance = options.significance,
            .surrogates = options.surrogates};
}

episode_count_result count_given_episodes(const spike_sequence& spikes,
                                          std::span<const episode> given,
                                          const episode_counting_options& options,
                                          const execution& run) {
    check_options(options);
    return count_episodes(spikes, given, options.counting,
                          counting_on(spikes, options.counting.strategy, options.run, run));
}

}  // namespace spikeweave
