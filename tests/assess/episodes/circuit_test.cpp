#include "spikeweave/assess/episodes/circuit.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "simulate/coupled_units.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/core/random.hpp"
#include "spikeweave/simulate/spikes.hpp"
#include "spikeweave/spikes/files.hpp"
#include "support/run_length.hpp"
#include "support/shared_data.hpp"

namespace spikeweave {

using simulate::coupling;
using simulate::numbered_names;
using simulate::run_coupled_units;

namespace {

using namespace std::chrono_literals;

struct analysis {
    episode_table table;
    std::vector<episode_test> assessed;
    circuit found;
};

analysis analyse(const spike_sequence& spikes, const std::vector<delay_interval>& delays,
                 std::uint64_t threshold, correction_method method = correction_method::holm) {
    analysis out;
    out.table = mine_episodes(spikes, {.delays = delays, .min_count = threshold});
    out.assessed = test_against_null(spikes, out.table, {.correction = method});
    out.found = find_circuit(spikes, out.table, out.assessed);
    return out;
}

using edge_set = std::set<std::pair<std::size_t, std::size_t>>;

edge_set edges_of(const circuit& found, edge_kind kind) {
    edge_set out;
    for (const circuit_edge& edge : found.edges)
        if (edge.kind == kind) out.insert({to_index(edge.from), to_index(edge.to)});
    return out;
}

edge_set truth_of(const simulated_spikes& simulated) {
    edge_set out;
    for (const planted_edge& edge : simulated.truth)
        out.insert({to_index(edge.from), to_index(edge.to)});
    return out;
}

std::vector<std::vector<unit_id>> chains_of(const analysis& result) {
    std::vector<std::vector<unit_id>> out;
    for (const std::size_t i : result.found.chains)
        out.push_back(result.table.episodes[i].what.units);
    return out;
}

class FindCircuitInSym26 : public ::testing::TestWithParam<std::uint64_t> {
protected:
    simulated_spikes simulated_ = simulate_sym26({.seed = GetParam()});
};

INSTANTIATE_TEST_SUITE_P(Seeds, FindCircuitInSym26,
                         ::testing::Range<std::uint64_t>(0, is_shortened_run() ? 1 : 5));

TEST_P(FindCircuitInSym26, FindsTheTenEdgesAndNoOther) {
    for (const correction_method method :
         {correction_method::holm, correction_method::bonferroni}) {
        const analysis result = analyse(simulated_.spikes, {{4ms, 6ms}}, 200, method);

        EXPECT_EQ(edges_of(result.found, edge_kind::direct), truth_of(simulated_));
        EXPECT_EQ(result.found.edges.size(), 10U);
        for (const circuit_edge& edge : result.found.edges) {
            EXPECT_NEAR(edge.strength, 0.8, 0.1);
            EXPECT_LT(edge.q, 0.01);
            EXPECT_TRUE(edge.via.empty());
            EXPECT_EQ(edge.sign, connection_sign::excitatory);
            EXPECT_GT(edge.gain.low, 1);
            EXPECT_LE(edge.gain.low, edge.gain.value);
            EXPECT_LE(edge.gain.value, edge.gain.high);
            EXPECT_GT(edge.transmission.low, 0);
            EXPECT_LT(edge.transmission.value, edge.strength);
        }
    }
}

TEST_P(FindCircuitInSym26, ReportsBothChainsWhole) {
    const analysis result = analyse(simulated_.spikes, {{4ms, 6ms}}, 190);

    EXPECT_EQ(chains_of(result),
              (std::vector<std::vector<unit_id>>{simulated_.chains[1], simulated_.chains[0]}));
}

TEST_P(FindCircuitInSym26, ExplainsEveryRelationOverTwoSteps) {
    const analysis result =
        analyse(simulated_.spikes, {{1ms, 4ms}, {4ms, 6ms}, {6ms, 8ms}, {8ms, 11ms}}, 300);

    EXPECT_EQ(edges_of(result.found, edge_kind::direct), truth_of(simulated_));
    EXPECT_EQ(edges_of(result.found, edge_kind::indirect),
              (edge_set{{0, 2}, {1, 3}, {4, 6}, {5, 7}, {6, 8}, {7, 9}, {8, 10}, {9, 11}}));
    EXPECT_TRUE(edges_of(result.found, edge_kind::common_input).empty());
    for (const circuit_edge& edge : result.found.edges) {
        if (edge.kind == edge_kind::direct) continue;
        EXPECT_EQ(to_index(edge.via.front()), to_index(edge.from) + 1);
        EXPECT_EQ(edge.best, (delay_interval{8ms, 11ms}));
    }
}

TEST_P(FindCircuitInSym26, CountsInThePublishedBands) {
    const auto run_of = [](std::uint32_t first, std::uint32_t last) {
        episode out;
        for (std::uint32_t u = first; u <= last; ++u) out.units.push_back(unit_id{u});
        out.delays.assign(last - first, {4ms, 6ms});
        return out;
    };
    const auto counts =
        count_episodes(simulated_.spikes, std::vector{run_of(0, 3), run_of(4, 11), run_of(5, 11)})
            .counts;

    EXPECT_GE(counts[0], 500U);
    EXPECT_LE(counts[0], 600U);
    EXPECT_GE(counts[1], 190U);
    EXPECT_LE(counts[1], 270U);
    EXPECT_GE(counts[2], 410U);
    EXPECT_LE(counts[2], 490U);
}

TEST_P(FindCircuitInSym26, FindsNothingWithoutChains) {
    const spike_sequence rest = simulate_sym26({.chains = {}, .seed = GetParam()}).spikes;

    const analysis result = analyse(rest, {{1ms, 4ms}, {4ms, 6ms}, {6ms, 8ms}, {8ms, 11ms}}, 20);

    EXPECT_TRUE(result.found.edges.empty());
    EXPECT_TRUE(result.found.chains.empty());
}

// Makes units at 20 Hz with the given connections.
spike_sequence connected(std::uint32_t n, const std::vector<coupling>& couplings,
                         std::uint64_t seed, duration length = 60s) {
    return run_coupled_units(
        {.names = numbered_names("n", n),
         .couplings = couplings,
         .length = length,
         .seed = seed,
         .spikes = random_purpose::sym26_spikes,
         .base_rates = [](std::int64_t, std::span<double> r) { std::ranges::fill(r, 20.0); }},
        {});
}

const std::vector<delay_interval> fine{{1ms, 4ms}, {4ms, 6ms}, {6ms, 9ms}, {9ms, 11ms}};

TEST(FindCircuit, TellsCommonInputFromAPath) {
    const unit_id a{0};
    const unit_id b{1};
    const unit_id c{2};
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
        const analysis result =
            analyse(connected(5, {{a, b, 5, 0, 0.8}, {a, c, 10, 0, 0.8}}, seed), fine, 50);

        EXPECT_EQ(edges_of(result.found, edge_kind::direct), (edge_set{{0, 1}, {0, 2}})) << seed;
        EXPECT_EQ(edges_of(result.found, edge_kind::common_input), (edge_set{{1, 2}})) << seed;
        for (const circuit_edge& edge : result.found.edges)
            EXPECT_TRUE(edge.kind == edge_kind::direct || edge.via == std::vector{a});
    }
}

TEST(FindCircuit, KeepsAConvergenceAndADivergenceOfTrueEdges) {
    const auto u = [](std::uint32_t i) { return unit_id{i}; };
    // 0→1→2 and 0→3, 4→2: no edge is explained by others.
    const std::vector<coupling> couplings{{u(0), u(1), 5, 0, 0.7},
                                          {u(1), u(2), 5, 0, 0.7},
                                          {u(0), u(3), 3, 0, 0.7},
                                          {u(4), u(2), 8, 0, 0.7}};
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
        const analysis result = analyse(connected(6, couplings, seed), fine, 50);

        const edge_set direct = edges_of(result.found, edge_kind::direct);
        for (const coupling& c : couplings)
            EXPECT_TRUE(direct.contains({to_index(c.from), to_index(c.to)}))
                << seed << ": " << to_index(c.from) << "→" << to_index(c.to);
    }
}

// A path 0→1→2→3 whose units 1 and 2 the sorter doubts.
spike_sequence doubted_path(std::vector<doubtful_pair> doubts) {
    const auto u = [](std::uint32_t i) { return unit_id{i}; };
    spike_sequence spikes = connected(
        5, {{u(0), u(1), 5, 0, 0.8}, {u(1), u(2), 5, 0, 0.8}, {u(2), u(3), 5, 0, 0.8}}, 1);
    spikes.set_doubtful_pairs(std::move(doubts));
    return spikes;
}

TEST(FindCircuit, TakesNoEdgeOfUnitsThatMayBeOneNeuronForAConnection) {
    for (const unit_doubt why : unit_doubts) {
        const spike_sequence spikes =
            doubted_path({{"n2", "n1", why}, {"n0", "n9", unit_doubt::one_neuron}});
        const analysis result = analyse(spikes, fine, 50);

        const edge_kind kind =
            why == unit_doubt::one_neuron ? edge_kind::one_neuron : edge_kind::cross_talk;
        EXPECT_EQ(edges_of(result.found, kind), (edge_set{{1, 2}}));
        EXPECT_EQ(edges_of(result.found, edge_kind::direct), (edge_set{{0, 1}, {2, 3}}));
        EXPECT_EQ(to_string(kind), to_string(why));
        // Chains do not lead over it, but do without the doubt.
        EXPECT_TRUE(result.found.chains.empty());
        EXPECT_FALSE(analyse(doubted_path({}), fine, 50).found.chains.empty());
        const auto warnings = warnings_of(result.found, spikes);
        ASSERT_EQ(warnings.size(), 1U);
        EXPECT_NE(warnings[0].find("1 of 3 connections joins units"), std::string::npos);
        EXPECT_NE(warnings[0].find(": n1 → n2. It is left out of the connections and chains"),
                  std::string::npos);
    }
}

TEST(FindCircuit, SaysNothingOfDoubtfulPairsWithoutAnEdge) {
    const spike_sequence spikes = doubted_path({{"n0", "n4", unit_doubt::one_neuron}});
    EXPECT_TRUE(warnings_of(analyse(spikes, fine, 50).found, spikes).empty());
}

// In intervals of 4 ms, two thirds of the pairs of connections of probability 0.3 are chance.
const std::vector<delay_interval> broad_intervals{{1ms, 4ms}, {4ms, 8ms}, {8ms, 12ms}};

// The circuit of all pairs, without a search.
circuit circuit_of_pairs(const spike_sequence& spikes) {
    return find_circuit(spikes, {}, {}, test_pairs(spikes, default_delays()).pairs);
}

TEST(FindCircuit, ExplainsRelationsThatAreMostlyChance) {
    std::size_t wrong = 0;
    for (std::uint64_t seed = 11; seed < 19; ++seed) {
        const simulated_spikes simulated =
            simulate_sym26({.length = 120s, .probability = 0.3, .seed = seed});

        const edge_set found = edges_of(circuit_of_pairs(simulated.spikes), edge_kind::direct);

        const edge_set truth = truth_of(simulated);
        EXPECT_TRUE(std::ranges::includes(found, truth)) << seed;
        wrong += found.size() - truth.size();
    }
    // On average, one in a hundred of the 80 may be false.
    EXPECT_LE(wrong, 3U);
}

TEST(FindCircuit, KeepsAWeakConnectionBesideAPath) {
    const unit_id a{0};
    const unit_id b{1};
    const unit_id c{2};
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
        const analysis result =
            analyse(connected(5, {{a, b, 5, 0, 0.3}, {b, c, 5, 0, 0.3}, {a, c, 10, 0, 0.3}}, seed),
                    broad_intervals, 50);

        EXPECT_EQ(edges_of(result.found, edge_kind::direct), (edge_set{{0, 1}, {1, 2}, {0, 2}}))
            << seed;
    }
}

TEST(FindCircuit, WidensADelayOverTouchingIntervals) {
    // A delay of 5 ± 2 ms spans several intervals.
    const simulated_spikes simulated =
        simulate_sym26({.units = 4, .chains = {2}, .jitter = 2ms, .seed = 1});

    const analysis result =
        analyse(simulated.spikes, {{1ms, 4ms}, {4ms, 6ms}, {6ms, 8ms}, {20ms, 22ms}}, 20);

    ASSERT_EQ(result.found.edges.size(), 1U);
    EXPECT_EQ(result.found.edges[0].delay, (delay_interval{1ms, 8ms}));
    EXPECT_EQ(result.found.edges[0].best, (delay_interval{4ms, 6ms}));
}

TEST(CircuitOfPairs, ExplainsAPathAndACommonInput) {
    const unit_id a{0};
    const unit_id b{1};
    const unit_id c{2};
    const unit_id d{3};
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
        // 0→1→2, and 3 fires 3 ms after 1, before 2.
        const circuit found = circuit_of_pairs(
            connected(6, {{a, b, 2, 0, 0.5}, {b, c, 5, 0, 0.5}, {b, d, 3, 0, 0.5}}, seed));

        EXPECT_EQ(edges_of(found, edge_kind::direct), (edge_set{{0, 1}, {1, 2}, {1, 3}})) << seed;
        const edge_set indirect = edges_of(found, edge_kind::indirect);
        EXPECT_TRUE(indirect.contains({0, 2})) << seed;
        EXPECT_TRUE(edges_of(found, edge_kind::common_input).contains({3, 2})) << seed;
        for (const circuit_edge& edge : found.edges) {
            if (edge.kind != edge_kind::indirect && edge.kind != edge_kind::common_input) continue;
            EXPECT_EQ(edge.via.front(), b) << seed;
        }
    }
}

// Without the spikes of a unit that follow one of another unit within `low` to `high` microseconds.
spike_sequence silenced(const spike_sequence& spikes, unit_id silent, unit_id by, std::int64_t low,
                        std::int64_t high) {
    std::vector<std::pair<std::int64_t, unit_id>> kept;
    std::vector<std::int64_t> causes;
    for (std::size_t i = 0; i < spikes.size(); ++i) {
        const std::int64_t time = spikes.times_us()[i];
        const unit_id unit = spikes.units()[i];
        const auto cause = std::ranges::lower_bound(causes, time - high);
        if (unit == silent && cause != causes.end() && *cause <= time - low) continue;
        kept.emplace_back(time, unit);
        if (unit == by) causes.push_back(time);
    }
    return sequence_of(std::move(kept), spikes.unit_names(), spikes.span());
}

TEST(CircuitOfPairs, ExplainsInhibitionOverAnotherUnit) {
    const unit_id a{0};
    const unit_id b{1};
    const unit_id c{2};
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
        const circuit found = circuit_of_pairs(
            silenced(connected(6, {{a, b, 2, 0, 0.5}}, seed, 300s), c, b, 1000, 5000));

        EXPECT_EQ(edges_of(found, edge_kind::direct), (edge_set{{0, 1}, {1, 2}})) << seed;
        EXPECT_EQ(edges_of(found, edge_kind::indirect), (edge_set{{0, 2}})) << seed;
    }
}

TEST(CircuitOfPairs, TakesNoRefractorinessForInhibition) {
    const unit_id a{0};
    const unit_id b{1};
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
        const circuit found = circuit_of_pairs(
            silenced(connected(6, {{b, a, 2, 0, 0.9}}, seed, 300s), b, b, 1, 10'000));

        EXPECT_EQ(edges_of(found, edge_kind::direct), (edge_set{{1, 0}})) << seed;
    }
}

TEST(CircuitOfPairs, LeavesUndecidedWhatNoSpikesAreLeftOf) {
    // 1 fires 2 ms after each spike of 0, and both seem to drive 2; no spike of 0 is without 1.
    std::vector<std::pair<std::int64_t, unit_id>> all;
    random_stream random(5, random_purpose::poisson_spikes, 3);
    for (std::int64_t k = 0; k < 3000; ++k) {
        const auto at = k * 100'000 + static_cast<std::int64_t>(random.below(50'000));
        all.emplace_back(at, unit_id{0});
        all.emplace_back(at + 2'000, unit_id{1});
        if (k % 10 == 0)
            all.emplace_back(at + 30'000 + static_cast<std::int64_t>(random.below(20'000)),
                             unit_id{1});
        if (k % 3 == 0)
            all.emplace_back(at + 6'000 + static_cast<std::int64_t>(random.below(300)), unit_id{2});
        all.emplace_back(k * 100'000 + static_cast<std::int64_t>(random.below(99'000)), unit_id{2});
    }
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    const circuit found =
        circuit_of_pairs(sequence_of(std::move(all), {"a", "b", "c"}, {0s, 301s}));

    EXPECT_FALSE(edges_of(found, edge_kind::direct).contains({0, 2}));
    const auto edge = std::ranges::find_if(found.edges, [](const circuit_edge& one) {
        return one.from == unit_id{0} && one.to == unit_id{2};
    });
    ASSERT_NE(edge, found.edges.end());
    EXPECT_EQ(edge->kind, edge_kind::undecided);
    EXPECT_EQ(edge->via, std::vector{unit_id{1}});
}

TEST(CircuitOfPairs, NamesUnitsThatExciteSomeAndInhibitOthers) {
    circuit found;
    const auto add = [&](std::uint32_t from, std::uint32_t to, connection_sign sign,
                         edge_kind kind) {
        circuit_edge edge{};
        edge.from = unit_id{from};
        edge.to = unit_id{to};
        edge.sign = sign;
        edge.kind = kind;
        found.edges.push_back(edge);
    };
    add(0, 1, connection_sign::excitatory, edge_kind::direct);
    add(0, 2, connection_sign::excitatory, edge_kind::direct);
    add(1, 2, connection_sign::excitatory, edge_kind::direct);
    add(1, 0, connection_sign::inhibitory, edge_kind::direct);
    add(2, 0, connection_sign::excitatory, edge_kind::direct);
    add(2, 1, connection_sign::inhibitory, edge_kind::indirect);
    EXPECT_EQ(units_of_both_signs(found), std::vector{unit_id{1}});
    EXPECT_TRUE(units_of_both_signs({}).empty());
}

// An integrate-and-fire network of 20 of 340 units, with known synapses (Ren et al. 2020, as in
// spycon).
TEST(CircuitOfPairs, FindsSynapsesOfAPublishedNetwork) {
    SPIKEWEAVE_NEEDS_SHARED_DATA("connectivity/spycon20.tsv.gz");
    const spike_sequence spikes = read_spikes(shared_data("connectivity/spycon20.tsv.gz")).spikes;
    std::ifstream truth(shared_data("connectivity/spycon20.truth.tsv"));
    std::string line;
    std::getline(truth, line);
    std::set<std::pair<std::string, std::string>> synapses;
    std::string from;
    std::string to;
    while (truth >> from >> to >> line) synapses.insert({"n" + from, "n" + to});
    ASSERT_EQ(synapses.size(), 18U);

    std::size_t right = 0;
    std::size_t wrong = 0;
    for (const circuit_edge& edge : circuit_of_pairs(spikes).edges) {
        if (!edge.is_connection()) continue;
        const bool is_true = synapses.contains({spikes.name(edge.from), spikes.name(edge.to)}) &&
                             edge.sign == connection_sign::excitatory;
        ++(is_true ? right : wrong);
    }
    EXPECT_GE(right, 15U);
    EXPECT_EQ(wrong, 0U);
}

TEST(FindCircuit, DoesNotDependOnThreads) {
    const spike_sequence spikes = simulate_sym26({.length = 20s}).spikes;
    const episode_table table = mine_episodes(spikes, {.delays = fine, .min_count = 100});
    const auto assessed = test_against_null(spikes, table);

    const circuit_options rules;
    const circuit one = find_circuit(spikes, table, assessed, rules, {.threads = 1});
    const circuit four = find_circuit(spikes, table, assessed, rules, {.threads = 4});

    ASSERT_EQ(one.edges.size(), four.edges.size());
    for (std::size_t e = 0; e < one.edges.size(); ++e) {
        EXPECT_EQ(one.edges[e].kind, four.edges[e].kind);
        EXPECT_EQ(one.edges[e].via, four.edges[e].via);
    }
    EXPECT_EQ(one.chains, four.chains);
}

TEST(FindCircuit, RefusesPartsThatDoNotBelongTogether) {
    const spike_sequence spikes = simulate_poisson({.units = 2, .length = 1s}).spikes;
    episode_table table;
    table.episodes = {{{{unit_id{0}, unit_id{2}}, {{0ms, 5ms}}}, 3}};
    const std::vector<episode_test> assessed(1);

    EXPECT_THROW(find_circuit(spikes, table, assessed), invalid_argument);
    EXPECT_THROW(find_circuit(spikes, table, {}), invalid_argument);
    EXPECT_THROW(find_circuit(spikes, {}, {}, circuit_options{.alpha = 0}), invalid_argument);
    EXPECT_TRUE(find_circuit(spikes, {}, {}).edges.empty());
}

TEST(MaximalEpisodes, LeavesOutWhatLiesInALongerOne) {
    const auto chain = [](std::vector<std::uint32_t> units, std::vector<int> delays_ms) {
        episode out;
        for (const std::uint32_t u : units) out.units.push_back(unit_id{u});
        for (const int d : delays_ms)
            out.delays.push_back({std::chrono::milliseconds{d}, std::chrono::milliseconds{d + 1}});
        return out;
    };
    episode_table table;
    for (const episode& what :
         {chain({0}, {}), chain({9}, {}), chain({1, 2}, {1}), chain({1, 2}, {3}),
          chain({0, 2}, {1}), chain({0, 1, 2, 3}, {1, 1, 1})})
        table.episodes.push_back({what, 5});

    // 1→2 at 1 ms is contained; at 3 ms it is not, and neither is 0→2, which skips a step.
    EXPECT_EQ(maximal_episodes(table), (std::vector<std::size_t>{5, 3, 4, 1}));
    EXPECT_TRUE(maximal_episodes({}).empty());
}

// With constant rates assumed, a bursting culture has hundreds of edges that could explain each
// other.
TEST(FindCircuit, DoesNotDependOnTheNamesOfUnits) {
    SPIKEWEAVE_NEEDS_SHARED_DATA("wagenaar2006/6-2-28.spk.txt");
    const spike_sequence spikes = read_spikes(shared_data("wagenaar2006/6-2-28.spk.txt")).spikes;
    spike_sequence_builder builder;
    const auto count = static_cast<std::uint32_t>(spikes.unit_count());
    const auto mirrored = [&](unit_id unit) {
        return unit_id{count - 1 - static_cast<std::uint32_t>(unit)};
    };
    for (std::uint32_t u = 0; u < count; ++u) builder.unit(std::to_string(u));
    for (std::size_t i = 0; i < spikes.size(); ++i)
        builder.append(spikes.times_us()[i], mirrored(spikes.units()[i]));
    const spike_sequence renamed = builder.finish(spikes.span());
    const episode_mining_options mining{
        .delays = {{1ms, 4ms}, {4ms, 8ms}, {8ms, 12ms}, {12ms, 16ms}},
        .min_count = 300,
        .max_size = 2};
    const auto edges = [&](const spike_sequence& of, auto name) {
        const episode_table table = mine_episodes(of, mining);
        std::map<std::pair<unit_id, unit_id>, std::pair<edge_kind, std::uint64_t>> found;
        const auto assessed = test_against_null(of, table, {.test = significance_test::exact});
        for (const circuit_edge& edge : find_circuit(of, table, assessed).edges)
            found[{name(edge.from), name(edge.to)}] = {edge.kind, edge.count};
        return found;
    };

    const auto expected = edges(spikes, [](unit_id unit) { return unit; });

    const auto found = edges(renamed, mirrored);
    EXPECT_EQ(found.size(), expected.size());
    EXPECT_TRUE(found == expected);
    EXPECT_GT(std::count_if(expected.begin(), expected.end(),
                            [](const auto& e) { return e.second.first != edge_kind::direct; }),
              20);
}

}  // namespace
}  // namespace spikeweave
