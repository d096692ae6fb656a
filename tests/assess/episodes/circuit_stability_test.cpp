#include "spikeweave/assess/episodes/circuit_stability.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "spikeweave/core/error.hpp"

namespace spikeweave {
namespace {

using circuit_pairs = std::vector<directed_pair>;

circuit_pairs pairs_between(std::initializer_list<std::pair<std::uint32_t, std::uint32_t>> edges) {
    circuit_pairs out;
    for (const auto& [from, to] : edges) out.emplace_back(unit_id{from}, unit_id{to});
    std::ranges::sort(out);
    return out;
}

circuit_pairs random_pairs(std::uint32_t units, std::size_t edges, std::uint32_t seed) {
    std::mt19937 random(seed);
    std::set<directed_pair> out;
    while (out.size() < edges) {
        const directed_pair one{unit_id{static_cast<std::uint32_t>(random() % units)},
                                unit_id{static_cast<std::uint32_t>(random() % units)}};
        if (one.first != one.second) out.insert(one);
    }
    return {out.begin(), out.end()};
}

using degrees = std::map<unit_id, std::pair<int, int>>;

degrees degrees_of(const circuit_pairs& edges) {
    degrees out;
    for (const auto& [from, to] : edges) {
        ++out[from].first;
        ++out[to].second;
    }
    return out;
}

// The mean Jaccard index over all circuits of so many units that have the degrees of `before`.
double expected_by_listing(const circuit_pairs& before, const circuit_pairs& after,
                           std::uint32_t units) {
    circuit_pairs possible;
    for (std::uint32_t from = 0; from < units; ++from)
        for (std::uint32_t to = 0; to < units; ++to)
            if (from != to) possible.emplace_back(unit_id{from}, unit_id{to});
    std::vector<bool> chosen(possible.size());
    std::fill_n(chosen.begin(), before.size(), true);
    const degrees wanted = degrees_of(before);
    double sum = 0;
    double number = 0;
    do {
        circuit_pairs edges;
        for (std::size_t i = 0; i < possible.size(); ++i)
            if (chosen[i]) edges.push_back(possible[i]);
        if (degrees_of(edges) != wanted) continue;
        circuit_pairs common;
        std::ranges::set_intersection(edges, after, std::back_inserter(common));
        const auto both = static_cast<double>(edges.size() + after.size() - common.size());
        sum += static_cast<double>(common.size()) / both;
        ++number;
    } while (std::prev_permutation(chosen.begin(), chosen.end()));
    return sum / number;
}

TEST(CircuitStability, IsOneForEqualCircuits) {
    const circuit_pairs edges = random_pairs(10, 15, 1);
    const circuit_stability both = measure_stability(edges, edges);

    EXPECT_EQ(both.common, 15U);
    EXPECT_EQ(both.jaccard, 1);
    ASSERT_TRUE(both.index);
    EXPECT_DOUBLE_EQ(*both.index, 1);
    EXPECT_LE(both.p, 0.005);
}

// The expectation is that of all circuits of these degrees, also where only the reversal of a
// cycle leads to some of them.
TEST(CircuitStability, ExpectsTheMeanOfAllCircuitsOfTheseDegrees) {
    const circuit_pairs cycle = pairs_between({{0, 1}, {1, 2}, {2, 0}});
    EXPECT_NEAR(*measure_stability(cycle, cycle, {.exchanges = 5000}).expected, 0.5, 0.03);
    for (std::uint32_t seed = 1; seed < 6; ++seed) {
        const circuit_pairs before = random_pairs(5, 6, seed);
        const circuit_pairs after = random_pairs(5, 7, seed + 100);
        const circuit_stability both =
            measure_stability(before, after, {.exchanges = 5000, .seed = seed});
        EXPECT_NEAR(*both.expected, expected_by_listing(before, after, 5), 0.02) << seed;
    }
}

TEST(CircuitStability, IsZeroOnAverageForCircuitsOfTheSameRoles) {
    double sum = 0;
    for (std::uint32_t seed = 0; seed < 60; ++seed)
        sum += *measure_stability(random_pairs(12, 30, seed), random_pairs(12, 25, 1000 + seed),
                                  {.seed = seed})
                    .index;
    EXPECT_NEAR(sum / 60, 0, 0.03);
}

TEST(CircuitStability, IsUnknownWithoutEdgesOrExchanges) {
    const circuit_pairs edge = pairs_between({{0, 1}});

    EXPECT_FALSE(measure_stability({}, edge).index);
    EXPECT_FALSE(measure_stability(edge, {}).jaccard);
    EXPECT_EQ(measure_stability(edge, edge).expected, 1);
    EXPECT_FALSE(measure_stability(edge, edge).index);
    EXPECT_EQ(measure_stability(edge, edge).p, 1);
    EXPECT_FALSE(measure_stability(edge, pairs_between({{0, 1}, {2, 1}})).index);
    EXPECT_THROW(measure_stability(edge, edge, {.exchanges = 0}), invalid_argument);
}

TEST(CircuitStability, IsOfPairsWithADirectEdge) {
    circuit found;
    const auto add = [&](std::uint32_t from, std::uint32_t to, edge_kind kind) {
        circuit_edge edge{};
        edge.from = unit_id{from};
        edge.to = unit_id{to};
        edge.kind = kind;
        found.edges.push_back(edge);
    };
    add(2, 1, edge_kind::direct);
    add(0, 1, edge_kind::direct);
    add(0, 1, edge_kind::direct);
    add(0, 2, edge_kind::indirect);

    EXPECT_EQ(direct_pairs(found), pairs_between({{0, 1}, {2, 1}}));
}

TEST(CircuitStability, CanBeStopped) {
    const circuit_pairs edges = random_pairs(10, 15, 1);
    std::stop_source source;
    source.request_stop();
    EXPECT_THROW(measure_stability(edges, edges, {}, {.stop = source.get_token()}), cancelled);
}

}  // namespace
}  // namespace spikeweave
