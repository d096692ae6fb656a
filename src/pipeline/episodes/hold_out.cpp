#include "pipeline/episodes/hold_out.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>
#include <vector>

#include "spikeweave/core/error.hpp"
#include "spikeweave/spikes/epochs.hpp"

namespace spikeweave::pipeline {
namespace {

// The epochs, or blocks of the recorded span.
std::vector<time_span> blocks_of(const spike_sequence& spikes, duration length) {
    if (!spikes.epochs().empty()) return {spikes.epochs().begin(), spikes.epochs().end()};
    std::vector<time_span> blocks = regular_trials(spikes.span(), length, duration{0});
    if (!blocks.empty()) blocks.back().end = spikes.span().end + duration{1};
    return blocks;
}

struct divided_time {
    std::vector<time_span> searched{};
    std::vector<time_span> held_out{};
};

// Of the first n blocks, share × n are held out, rounded down.
divided_time divide(const spike_sequence& spikes, const episode_options& options) {
    divided_time out;
    double held_out = 0;
    double blocks = 0;
    for (const time_span& block : blocks_of(spikes, options.hold_out_block)) {
        constexpr double rounding = 1e-9;
        const double now = std::floor(options.hold_out * ++blocks + rounding);
        (now > held_out ? out.held_out : out.searched).push_back(block);
        held_out = now;
    }
    if (out.searched.empty() || out.held_out.empty())
        throw invalid_argument("hold_out",
                               "the recording has too few epochs or blocks (`hold_out_block`) to "
                               "hold out this share of them");
    return out;
}

}  // namespace

episode_result find_in_divided_time(const spike_sequence& spikes, const episode_options& options,
                                    const execution& run) {
    const auto began = std::chrono::steady_clock::now();
    const divided_time time = divide(spikes, options);
    episode_options search = options;
    search.time = {};
    search.hold_out = 0;
    search.surrogates.surrogates = 0;
    const spike_sequence searched = within_epochs(spikes, time.searched);
    episode_result found = find_episodes(searched, search, run);

    const double alpha = options.significance.alpha;
    std::vector<episode> chosen;
    search_part part{.observed = searched.observed_time()};
    for (std::size_t i = 0; i < found.assessed.size(); ++i) {
        if (found.table.episodes[i].what.size() < 2 || !(found.assessed[i].p < alpha)) continue;
        chosen.push_back(found.table.episodes[i].what);
        part.counts.push_back(found.table.episodes[i].count);
        part.tests.push_back(found.assessed[i]);
    }

    search.surrogates = options.surrogates;
    spike_sequence held_out = within_epochs(spikes, time.held_out);
    episode_result result = count_and_test_episodes(held_out, chosen, search, run);
    const std::vector<episode_test> tests = deciding_tests(result);
    for (std::size_t i = 0; i < chosen.size(); ++i) {
        const bool was_significant = part.tests[i].q < alpha;
        part.significant += was_significant ? 1 : 0;
        part.replicated += was_significant && tests[i].q < alpha ? 1 : 0;
    }
    result.part = std::move(held_out);
    result.searched = std::move(part);
    result.table.threshold = found.table.threshold;
    result.table.pairs_by = found.table.pairs_by;
    result.options = std::move(found.options);
    result.options.time = options.time;
    result.options.hold_out = options.hold_out;
    result.options.surrogates = options.surrogates;
    for (const std::string& warning : found.warnings)
        if (std::ranges::find(result.warnings, warning) == result.warnings.end())
            result.warnings.push_back(warning);
    result.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    return result;
}

}  // namespace spikeweave::pipeline
