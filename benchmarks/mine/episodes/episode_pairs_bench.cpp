// All pairs of many units with four intervals: merging the trains of each pair compared with
// looking back from each spike. The crossover depends on how many spikes of all units lie within
// the widest interval of one spike: rate × units × width compared with units.

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <map>
#include <string>
#include <utility>

#include "benchmarks/support/ratios.hpp"
#include "spikeweave/mine/episodes.hpp"
#include "spikeweave/simulate/spikes.hpp"

namespace {

using namespace spikeweave;

struct load {
    std::uint32_t units;
    double rate_hz;
    int widest_ms;
    int seconds;
};

std::vector<delay_interval> four_delays(const load& what) {
    std::vector<delay_interval> delays;
    for (int i = 0; i < 4; ++i)
        delays.push_back(
            {duration{i * what.widest_ms * 250}, duration{(i + 1) * what.widest_ms * 250}});
    return delays;
}

spike_sequence poisson(const load& what) {
    return simulate_poisson({.units = what.units,
                             .length = std::chrono::seconds{what.seconds},
                             .rate_hz = what.rate_hz,
                             .seed = 1})
        .spikes;
}

episode_table mine(const spike_sequence& spikes, const load& what, pair_method method,
                   episode_mining_options options) {
    options.delays = four_delays(what);
    options.max_size = 2;
    options.pairs = method;
    return mine_episodes(spikes, options, {.threads = 1});
}

void count_pairs(benchmark::State& state, const load& what, pair_method method) {
    const spike_sequence spikes = poisson(what);
    static std::map<std::string, bool> agree;
    const std::string key = fmt::format("{} {} {}", what.units, what.rate_hz, what.widest_ms);
    if (!agree.contains(key)) {
        // All counts are compared for few units; for many, only those about as large as by chance.
        const episode_mining_options low{.min_count = what.units > 100 ? 25U : 1U};
        agree[key] = mine(spikes, what, pair_method::merge, low).episodes ==
                     mine(spikes, what, pair_method::look_back, low).episodes;
    }
    if (!agree[key]) {
        state.SkipWithError("the two methods differ");
        return;
    }
    // No pair reaches this threshold, so that only the counting of pairs is measured.
    const episode_mining_options high{.min_fraction = 0.9 / what.units};
    std::int64_t pairs = 0;
    for (auto _ : state)
        pairs += static_cast<std::int64_t>(mine(spikes, what, method, high).levels[1].candidates);
    state.SetItemsProcessed(pairs);
    state.counters["spikes"] = static_cast<double>(spikes.size());
}

std::vector<episode> all_pairs(const load& what) {
    std::vector<episode> pairs;
    for (std::uint32_t from = 0; from < what.units; ++from)
        for (std::uint32_t to = 0; to < what.units; ++to)
            for (const delay_interval& delay : four_delays(what))
                if (from != to) pairs.push_back({{unit_id{from}, unit_id{to}}, {delay}});
    return pairs;
}

// A list of all pairs is what tests by surrogates count in each surrogate.
void count_list(benchmark::State& state, const load& what, episode_strategy strategy) {
    const spike_sequence spikes = poisson(what);
    const std::vector<episode> pairs = all_pairs(what);
    static std::map<episode_strategy, std::vector<std::uint64_t>> counts;
    for (auto _ : state)
        counts[strategy] =
            count_episodes(spikes, pairs, {.strategy = strategy}, {.threads = 1}).counts;
    if (counts[strategy] != counts.begin()->second) state.SkipWithError("the counts differ");
    state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(pairs.size()));
}

std::vector<ratios_to> ratios;

const bool registered = [] {
    for (const load& what :
         {load{64, 5, 20, 600}, load{64, 50, 20, 60}, load{64, 50, 100, 60}, load{64, 50, 400, 30},
          load{64, 50, 1600, 10}, load{1000, 5, 20, 200}}) {
        const std::string group = fmt::format("count_pairs_{}_units_{}_Hz_{}_ms", what.units,
                                              what.rate_hz, what.widest_ms);
        ratios.emplace_back(group, "merge");
        for (const pair_method method : {pair_method::merge, pair_method::look_back}) {
            benchmark::RegisterBenchmark(fmt::format("{}/{}", group, to_string(method)).c_str(),
                                         count_pairs, what, method)
                ->Unit(benchmark::kMillisecond)
                ->Repetitions(what.units > 100 ? 1 : 3);
        }
    }
    ratios.emplace_back("count_list_of_pairs", "two-pass");
    for (const episode_strategy strategy :
         {episode_strategy::two_pass, episode_strategy::latest_start})
        benchmark::RegisterBenchmark(
            fmt::format("count_list_of_pairs/{}", to_string(strategy)).c_str(), count_list,
            load{20, 20, 11, 120}, strategy)
            ->Unit(benchmark::kMillisecond)
            ->Repetitions(3);
    return true;
}();

}  // namespace
