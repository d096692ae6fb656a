#include "spikeweave/pipeline/episodes/windows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <map>
#include <utility>

#include "core/stop.hpp"
#include "parallel/parallel_for.hpp"
#include "pipeline/call_facts.hpp"
#include "pipeline/episodes/search_and_test.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/spikes/epochs.hpp"

namespace spikeweave {
namespace {

// Merges the warnings of single windows into one, which names the first window.
class window_warnings {
public:
    explicit window_warnings(std::vector<std::string> said) : said_(std::move(said)) {}

    void add(const window_bounds& bounds, const std::vector<std::string>& warnings) {
        std::string text;
        for (const std::string& one : warnings)
            if (std::ranges::find(said_, one) == said_.end())
                text += (text.empty() ? "" : " ") + one;
        if (text.empty()) return;
        if (++windows_ > 1) return;
        first_ = fmt::format("The first, from {} to {}: {}", format_duration(bounds.begin),
                             format_duration(bounds.end), text);
    }

    std::vector<std::string> all(std::size_t windows) && {
        if (windows_ > 0)
            said_.push_back(
                fmt::format("Warnings in {} of {} windows. {}", windows_, windows, first_));
        return std::move(said_);
    }

private:
    std::vector<std::string> said_;
    std::size_t windows_ = 0;
    std::string first_{};
};

tested_window tested(const window_spikes& taken, const spike_sequence& recording,
                     episode_table table, const windowed_episode_options& options,
                     window_warnings& warnings, const execution& run) {
    spike_sequence spikes = taken.sequence();
    spikes.set_doubtful_pairs(
        {recording.doubtful_pairs().begin(), recording.doubtful_pairs().end()});
    // Tables that were mined from the window before have the work of that in their levels.
    restore_levels(table, spikes.unit_count(), options.search.mining);
    episode_test_result tests =
        test_episodes(spikes, table, pipeline::pairs_of(options.search.mining),
                      options.search.significance, options.search.surrogates, run);
    tested_window window{.bounds = taken.bounds(), .spikes = taken.size()};
    std::ranges::copy(table.warnings, std::back_inserter(tests.warnings));
    if (!tests.pairs)
        if (const auto warning =
                pipeline::warning_of_untested_units(spikes, table, options.search.mining))
            tests.warnings.push_back(*warning);
    warnings.add(window.bounds, tests.warnings);
    window.tests = tests.surrogates.empty()
                       ? std::move(tests.assessed)
                       : with_surrogate_tests(tests.assessed, tests.surrogates);
    window.table = std::move(table);
    window.circuit = std::move(tests.circuit);
    return window;
}

void measure_stabilities(std::vector<tested_window>& windows, const execution& run) {
    std::vector<std::vector<directed_pair>> pairs;
    pairs.reserve(windows.size());
    for (const tested_window& one : windows) pairs.push_back(direct_pairs(one.circuit));
    parallel::parallel_for(windows.size(), run, "comparing circuits", [&](std::size_t w) {
        std::size_t since = w;
        while (since > 0 && windows[since].bounds.end > windows[w].bounds.begin) --since;
        if (windows[since].bounds.end > windows[w].bounds.begin) return;
        windows[w].stability = {since, measure_stability(pairs[since], pairs[w], {}, run)};
    });
}

circuit_changes changes_over(std::span<const tested_window> windows, const spike_sequence& spikes,
                             const windowed_episode_options& options, const execution& run) {
    std::vector<time_span> all;
    for (const tested_window& one : windows) all.push_back({one.bounds.begin, one.bounds.end});
    return find_circuit_changes(spikes, windows_apart(all), options.search, options.changes, run);
}

// Options of a search that has the time of the whole recording.
constexpr std::array of_whole_recordings{"epochs", "trial_length", "trial_separation", "hold_out",
                                         "hold_out_block"};

void check(windowed_episode_options options) {
    describe(options).check();
    const option_list of_search = describe(options.search);
    for (const char* const name : of_whole_recordings)
        if (const option& one = of_search.find(name); one.may_be_unset && one.is_set())
            throw invalid_argument(name, "it does not apply to windows of a recording");
}

// About as many as there will be.
std::size_t number_of_windows(const time_span& span, const windowed_episode_options& options) {
    const duration hop = options.hop > duration{0} ? options.hop : options.window;
    return static_cast<std::size_t>(
        std::max<std::int64_t>(0, (span.length() - options.window) / hop + 1));
}

}  // namespace

option_list describe(windowed_episode_options& options) {
    option_list list = describe(options.search);
    for (const char* const name : of_whole_recordings) list.remove(name);
    list.begin_group("Windows");
    list.add("window", options.window, "length of a window; windows follow one after another")
        .basic()
        .unset_is("")
        .required();
    list.add("hop", options.hop,
             "time from the beginning of one window to the beginning of the next")
        .basic()
        .unset_is("as long as the window");
    list.add("change_points", options.change_points,
             "find the times at which the circuit changes, and separately those at which only the "
             "firing rates do")
        .basic();
    option_list changes = describe(options.changes);
    for (const char* const name : {"change_permutations", "change_alpha", "change_seed"}) {
        changes.change(name).group = "Windows";
        changes.change(name).only_with("change_points");
    }
    list.add_all(std::move(changes));
    return list;
}

windowed_episode_result find_episodes_in_windows(const spike_sequence& recording,
                                                 const windowed_episode_options& options,
                                                 const execution& run) {
    const pipeline::stop_watch watch;
    check(options);
    if (options.change_points && options.search.surrogates.surrogates > 0 &&
        options.search.surrogates.method == surrogate_method::bin_shuffling)
        throw invalid_argument("surrogate_method",
                               "bin-shuffling does not keep spikes in their windows, which "
                               "`change_points` needs");
    windowed_episode_result result{.options = options};
    window_warnings warnings(check_episodes(recording, options.search));
    result.chosen = choose_time(recording, options.search.time).spikes;
    const spike_sequence& spikes = result.chosen ? *result.chosen : recording;
    const execution counting =
        pipeline::counting_on(spikes, options.search.mining.strategy, options.search.run, run);
    result.options.search.run.devices = counting.devices;
    execution testing = counting;
    testing.devices.clear();
    testing.on_progress = {};
    const episode_window_options cut{options.window, options.hop, options.search.mining};
    episode_windows windows(spikes.unit_names(), cut);
    windows.add(spikes.times_us(), spikes.units());
    windows.advance(spikes.span().end.count() + 1);
    episode_window_miner miner(cut);
    execution mining = counting;
    mining.on_progress = {};
    const std::size_t expected = number_of_windows(spikes.span(), options);
    while (const auto taken = windows.take()) {
        core::throw_if_stopped(run.stop);
        // The time before the chosen part was not observed.
        if (result.chosen && taken->bounds().begin < spikes.span().begin) continue;
        if (run.on_progress)
            run.on_progress({"analysing windows", result.windows.size(),
                             std::max(expected, result.windows.size() + 1)});
        result.windows.push_back(
            tested(*taken, spikes, miner.mine(*taken, mining), options, warnings, testing));
    }
    if (result.windows.empty())
        throw invalid_argument("window", "the recording is shorter than a window");
    result.warnings = std::move(warnings).all(result.windows.size());
    measure_stabilities(result.windows, testing);
    if (options.change_points) {
        result.changes = changes_over(result.windows, spikes, options, testing);
        for (const std::string& one : result.changes->warnings)
            if (std::ranges::find(result.warnings, one) == result.warnings.end())
                result.warnings.push_back(one);
    }
    result.seconds = watch.seconds();
    return result;
}

std::optional<double> mean_stability(std::span<const tested_window> windows) {
    double sum = 0;
    double known = 0;
    for (const tested_window& one : windows)
        if (one.stability && one.stability->both.index) {
            sum += *one.stability->both.index;
            ++known;
        }
    return known > 0 ? std::optional(sum / known) : std::nullopt;
}

void restore_levels(episode_table& table, std::size_t units,
                    const episode_mining_options& options) {
    std::map<std::size_t, std::vector<const episode*>> frequent;
    for (const auto& [what, count] : table.episodes) frequent[what.size()].push_back(&what);
    const auto part = [](const episode& what, std::ptrdiff_t from) {
        return episode{{what.units.begin() + from, what.units.end() - 1 + from},
                       {what.delays.begin() + from, what.delays.end() - 1 + from}};
    };
    table.levels = {{1, units, frequent[1].size(), 0, 0, 0}};
    for (std::size_t size = 2; frequent.contains(size); ++size) {
        const std::vector<const episode*>& before = frequent[size - 1];
        std::uint64_t candidates = 0;
        if (size == 2) {
            const std::size_t next = options.self_repeats ? before.size() : before.size() - 1;
            candidates = before.size() * options.delays.size() * next;
        } else {
            std::map<episode, std::uint64_t> beginning_with;
            for (const episode* const one : before) ++beginning_with[part(*one, 0)];
            for (const episode* const one : before) {
                const auto found = beginning_with.find(part(*one, 1));
                if (found != beginning_with.end()) candidates += found->second;
            }
        }
        table.levels.push_back({size, candidates, frequent[size].size(), 0, 0, 0});
    }
}

}  // namespace spikeweave
