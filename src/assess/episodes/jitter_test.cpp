#include "assess/episodes/jitter_null.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "assess/episodes/renewal.hpp"
#include "parallel/parallel_for.hpp"
#include "parallel/ranks.hpp"
#include "spikeweave/assess/episodes/jitter.hpp"
#include "spikeweave/assess/episodes/options.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/spikes/epochs.hpp"

namespace spikeweave::assess {
namespace {

// No alpha in use is above this p, so the other units of an episode with it need no test.
constexpr double clearly_chance = 0.05;
constexpr std::size_t piece = 64;

// The verdict of each of n tests; every rank makes a block of them.
template <class Test>
std::vector<jitter_null::verdict> verdicts_of(std::size_t n, const execution& run,
                                              const Test& test) {
    const parallel::rank_block own = parallel::block_of_rank(n, run);
    std::vector<jitter_null::verdict> out(own.size(), {1, 0, 0});
    const std::size_t pieces = (own.size() + piece - 1) / piece;
    parallel::parallel_for(pieces, run, "testing episodes", [&](std::size_t p) {
        for (std::size_t i = p * piece; i < std::min(own.size(), (p + 1) * piece); ++i)
            out[i] = test(own.begin + i);
    });
    parallel::join_ranks(out, run);
    return out;
}

}  // namespace

std::vector<jitter_null::verdict> test_by_jitter(const spike_sequence& spikes,
                                                 const episode_table& table,
                                                 const significance_options& options,
                                                 const execution& run) {
    check_options(options);
    const jitter_null null(spikes, options.jitter_window, table.ties);
    const double enough = std::max(clearly_chance, options.alpha);

    // Every pair, and the steps of longer episodes; in a mined table these are among the pairs.
    std::map<episode, std::size_t> pair_index;
    std::vector<episode> pairs;
    const auto add_pair = [&](const episode& what) {
        if (pair_index.try_emplace(what, pairs.size()).second) pairs.push_back(what);
    };
    for (const counted_episode& counted : table.episodes) {
        if (counted.what.size() == 2) add_pair(counted.what);
        for (std::size_t k = 0; counted.what.size() > 2 && k < counted.what.delays.size(); ++k)
            add_pair(step_of(counted.what, k));
    }
    const std::vector<jitter_null::verdict> of_pair =
        verdicts_of(pairs.size(), run, [&](std::size_t i) { return null.test(pairs[i], enough); });

    return verdicts_of(table.episodes.size(), run, [&](std::size_t i) -> jitter_null::verdict {
        const auto& [what, count] = table.episodes[i];
        if (what.size() < 2) return {1, 0, 0};
        jitter_null::verdict weakest = of_pair[pair_index.at(step_of(what, 0))];
        for (std::size_t k = 1; k < what.delays.size(); ++k)
            if (const auto& step = of_pair[pair_index.at(step_of(what, k))]; step.p > weakest.p)
                weakest = step;
        // An episode with a step that is likely by chance is not significant, whatever the result
        // of its own test. Bursts give many of them, so they are not tested any further.
        jitter_null::verdict out = weakest;
        if (what.size() > 2 && weakest.p < enough) {
            out = null.test(what, enough);
            out.p = std::max(out.p, weakest.p);
        }
        // The count expected in the cells, in proportion to the count of the whole recording.
        out.expected *= static_cast<double>(count) / std::max(1.0, out.counted);
        return out;
    });
}

}  // namespace spikeweave::assess

namespace spikeweave {
namespace {

void check_jitter(const spike_sequence& spikes, std::span<const episode> episodes,
                  duration window) {
    check_options(significance_options{.jitter_window = window});
    for (const episode& what : episodes) {
        if (what.size() < 2 || what.delays.size() + 1 != what.size())
            throw invalid_argument("an episode needs two units, and one delay fewer than units");
        for (const unit_id unit : what.units)
            if (to_index(unit) >= spikes.unit_count())
                throw invalid_argument("an episode has a unit that the spikes do not have");
    }
}

// For each episode, a figure for each of its units, whose spikes are rotated.
using figure = double (assess::jitter_null::*)(const episode&, std::size_t) const;

std::vector<std::vector<double>> by_turned_unit(figure of, const spike_sequence& spikes,
                                                std::span<const episode> episodes, duration window,
                                                tie_rule ties, const execution& run) {
    check_jitter(spikes, episodes, window);
    const separated_epochs apart(spikes, assess::reach_of(episodes));
    const assess::jitter_null null(apart.spikes(), window, ties);
    std::vector<std::vector<double>> out(episodes.size());
    parallel::parallel_for(episodes.size(), run, "rotating units", [&](std::size_t i) {
        for (std::size_t turned = 0; turned < episodes[i].size(); ++turned)
            out[i].push_back((null.*of)(episodes[i], turned));
    });
    return out;
}

}  // namespace

std::vector<std::vector<double>> expected_by_jitter(const spike_sequence& spikes,
                                                    std::span<const episode> episodes,
                                                    duration window, tie_rule ties,
                                                    const execution& run) {
    return by_turned_unit(&assess::jitter_null::expected, spikes, episodes, window, ties, run);
}

std::vector<std::vector<double>> removed_by_jitter(const spike_sequence& spikes,
                                                   std::span<const episode> episodes,
                                                   duration window, tie_rule ties,
                                                   const execution& run) {
    return by_turned_unit(&assess::jitter_null::removed, spikes, episodes, window, ties, run);
}

}  // namespace spikeweave
