#include "spikeweave/assess/spade/reduction.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "spikeweave/core/error.hpp"
#include "support/random_streams.hpp"

namespace spikeweave {
namespace {

struct concept_of {
    std::vector<pattern_item> items;
    std::vector<std::uint32_t> starts;
};

pattern_table table_of(const std::vector<concept_of>& patterns, std::uint32_t window_bins) {
    pattern_table table;
    table.window_bins = window_bins;
    for (concept_of p : patterns) {
        std::sort(p.items.begin(), p.items.end(), [&](pattern_item a, pattern_item b) {
            return std::pair(a % window_bins, a) < std::pair(b % window_bins, b);
        });
        table.append(p.items, static_cast<std::uint32_t>(p.starts.size()), p.starts);
    }
    return table;
}

std::vector<std::size_t> all_of(const pattern_table& table) {
    std::vector<std::size_t> list(table.size());
    std::iota(list.begin(), list.end(), std::size_t{0});
    return list;
}

using indices = std::vector<std::size_t>;

reduction_result reduce(const std::vector<concept_of>& patterns, std::uint32_t window_bins,
                        const reduction_options& options,
                        const std::vector<pattern_signature>& not_significant = {}) {
    const pattern_table table = table_of(patterns, window_bins);
    return reduce_patterns(table, all_of(table), not_significant, options);
}

// Windows have six bins. b is a without its last spike and occurs once more; c is longer and
// contains a two bins later; d shares nothing.
const concept_of a{{12, 19, 26}, {2, 10, 18}};
const concept_of b{{12, 19}, {2, 10, 18, 26}};
const concept_of c{{0, 7, 14, 21}, {0, 8}};
const concept_of d{{1, 6}, {0, 8}};

void expect_kept(const std::vector<concept_of>& patterns, const reduction_options& options,
                 const std::vector<pattern_signature>& not_significant, const indices& kept,
                 const std::vector<rejected_pattern>& rejected) {
    for (const auto compat : {compatibility::none, compatibility::elephant}) {
        reduction_options how = options;
        how.compat = compat;
        const reduction_result got = reduce(patterns, 6, how, not_significant);
        EXPECT_EQ(got.kept, kept);
        EXPECT_EQ(got.rejected, rejected);
    }
}

// Each size has its own threshold. Signatures below it were not searched for, and are in no list of
// those that surrogates reached.
TEST(ReducePatterns, TakesWhatNoRuleTakesForChance) {
    // b occurs once more than a, which with h makes 3 times: enough for the lowest `min_occ`, but
    // not for that of two spikes.
    const reduction_options options{.h_subset_filtering = 2,
                                    .k_superset_filtering = 2,
                                    .rules = {{.min_occ = 4, .min_spikes = 2, .max_spikes = 2},
                                              {.min_occ = 2, .min_spikes = 3}}};
    EXPECT_EQ(reduce({a, b}, 6, options).kept, (indices{0}));
    reduction_options without = options;
    without.rules.clear();
    EXPECT_EQ(reduce({a, b}, 6, without).kept, (indices{0, 1}));
    reduction_options as_elephant = options;
    as_elephant.compat = compatibility::elephant;
    EXPECT_EQ(reduce({a, b}, 6, as_elephant).kept, (indices{0, 1}));
}

TEST(ReducePatterns, DropsASubsetThatOccursTooSeldomBeyondItsSuperset) {
    expect_kept({a, b}, {.k_superset_filtering = 1}, {}, {0}, {{1, 0, reduction_rule::subset}});
    expect_kept({b, a}, {.k_superset_filtering = 1}, {}, {1}, {{0, 1, reduction_rule::subset}});
    expect_kept({a, b}, {.h_subset_filtering = 2, .k_superset_filtering = 1}, {}, {0, 1}, {});
    expect_kept({a, b}, {.h_subset_filtering = 1, .k_superset_filtering = 1}, {{2, 2, 0}}, {0},
                {{1, 0, reduction_rule::subset}});
}

TEST(ReducePatterns, DropsASupersetWithTooFewSpikesBeyondItsSubset) {
    expect_kept({a, b}, {.h_subset_filtering = 2}, {}, {1}, {{0, 1, reduction_rule::superset}});
    expect_kept({a, b}, {.h_subset_filtering = 3, .k_superset_filtering = 1}, {{2, 3, 0}}, {1},
                {{0, 1, reduction_rule::superset}});
}

TEST(ReducePatterns, KeepsWhatCoversMoreSpikesWhereBothRulesReject) {
    expect_kept({a, b}, {}, {{2, 2, 0}}, {0}, {{1, 0, reduction_rule::covered}});
    // a and b cover 9 and 8 spikes, in either order.
    expect_kept({b, a}, {}, {{2, 2, 0}}, {1}, {{0, 1, reduction_rule::covered}});
}

TEST(ReducePatterns, JudgesPatternsThatOverlapByTheSpikesBeyondTheOverlap) {
    expect_kept({a, c}, {}, {}, {1}, {{0, 1, reduction_rule::superset}});
    expect_kept({a, c}, {.k_superset_filtering = 1}, {}, {0, 1}, {});
    expect_kept({a, c}, {.k_superset_filtering = 1}, {{3, 2, 0}}, {0},
                {{1, 0, reduction_rule::superset}});
    expect_kept({a, c}, {.k_superset_filtering = 1}, {{3, 2, 0}, {2, 3, 0}}, {0},
                {{1, 0, reduction_rule::covered}});
}

TEST(ReducePatterns, KeepsPatternsThatShareNothing) {
    expect_kept({c, d}, {}, {}, {0, 1}, {});
}

TEST(ReducePatterns, LeavesTiesToTheOrderOfTheList) {
    // They share two of three spikes and occur equally often: the earlier one is kept.
    const std::vector<concept_of> patterns{{{0, 7, 14}, {1, 11, 21}}, {{0, 7, 20}, {1, 11, 21}}};
    const pattern_table table = table_of(patterns, 6);
    EXPECT_EQ(reduce_patterns(table, indices{0, 1}, {}).kept, (indices{0}));
    EXPECT_EQ(reduce_patterns(table, indices{1, 0}, {}).kept, (indices{1}));
    // A superset and its subset cover equally many spikes: the superset is kept in any order.
    const std::vector<concept_of> nested{{{0, 7}, {1, 11, 21}}, {{0, 7, 14}, {1, 11}}};
    const reduction_options options{.min_spikes = 3};
    const pattern_table other = table_of(nested, 6);
    EXPECT_EQ(reduce_patterns(other, indices{0, 1}, {}, options).kept, (indices{1}));
    EXPECT_EQ(reduce_patterns(other, indices{1, 0}, {}, options).kept, (indices{1}));
}

TEST(ReducePatterns, CountsCoveredSpikesWithoutL) {
    // 3 × 4 against 2 × 7; with one spike less, 2 × 4 against 1 × 7.
    const std::vector<concept_of> nested{{{0, 7, 14}, {1, 11, 21, 31}},
                                         {{0, 7}, {1, 11, 21, 31, 41, 51, 61}}};
    const std::vector<pattern_signature> unlikely{{2, 3, 0}};
    EXPECT_EQ(reduce(nested, 6, {}, unlikely).kept, (indices{1}));
    EXPECT_EQ(reduce(nested, 6, {.l_covered_spikes = 1}, unlikely).kept, (indices{0}));
}

TEST(ReducePatterns, NeedsEnoughCommonOccurrences) {
    const std::vector<concept_of> apart{{{0, 7, 14}, {1, 11, 21}}, {{0, 7}, {1, 33, 53, 73}}};
    EXPECT_EQ(reduce(apart, 6, {.min_occ = 2}).kept, (indices{0, 1}));
    EXPECT_EQ(reduce(apart, 6, {.min_occ = 1}).rejected.size(), 1);
}

TEST(ReducePatterns, NamesTheRuleOfTheEarliestShift) {
    // Two bins later they share one spike; one bin earlier the second is part of the first.
    const std::vector<concept_of> patterns{{{0, 3, 9}, {10, 20, 30}}, {{2, 8}, {8, 11, 18, 21}}};
    expect_kept(patterns, {}, {}, {0}, {{1, 0, reduction_rule::superset}});
}

TEST(ReducePatterns, LooksForDurationsWithTheSpectrumThatHasThem) {
    const reduction_options three{.spectrum = spectrum_kind::size_count_duration,
                                  .h_subset_filtering = 1,
                                  .k_superset_filtering = 1};
    // b has a duration of one bin.
    EXPECT_EQ(reduce({a, b}, 6, three, {{2, 2, 1}}).kept, (indices{0}));
    EXPECT_EQ(reduce({a, b}, 6, three, {{2, 2, 2}, {2, 2, 0}}).kept, (indices{0, 1}));
}

// The published arithmetic mistakes n0's spike before the window for n1's at its end.
TEST(ReducePatterns, TakesNoNeighbourForASpikeOutsideTheWindow) {
    const std::vector<concept_of> patterns{{{0, 9}, {1, 11, 21}}, {{1, 10}, {0, 10, 20}}};
    reduction_options options{.k_superset_filtering = 1};
    EXPECT_EQ(reduce(patterns, 5, options).kept, (indices{0, 1}));
    options.compat = compatibility::elephant;
    EXPECT_EQ(reduce(patterns, 5, options).kept, (indices{0}));
}

std::vector<std::uint32_t> numbers(const std::string& text, char separator) {
    std::istringstream in(text);
    std::vector<std::uint32_t> out;
    for (std::string word; std::getline(in, word, separator);)
        out.push_back(static_cast<std::uint32_t>(std::stoul(word)));
    return out;
}

struct golden_case {
    std::uint32_t window_bins = 1;
    reduction_options options{};
    std::vector<pattern_signature> not_significant{};
    std::vector<concept_of> patterns{};
    indices kept{};
};

// The file is written by tests/golden/make_pattern_reduction.py.
std::vector<golden_case> golden_cases() {
    std::ifstream in(SPIKEWEAVE_SOURCE_DIR "/tests/golden/pattern_reduction.tsv");
    std::vector<golden_case> all;
    for (std::string line; std::getline(in, line);) {
        std::vector<std::string> fields(1);
        for (const char letter : line) {
            if (letter == '\t')
                fields.emplace_back();
            else
                fields.back() += letter;
        }
        golden_case& one = all.emplace_back();
        const auto number = [&](std::size_t field) { return std::stoi(fields.at(field)); };
        one.window_bins = static_cast<std::uint32_t>(number(0));
        one.options = {.spectrum = fields.at(1) == "#" ? spectrum_kind::size_count
                                                       : spectrum_kind::size_count_duration,
                       .h_subset_filtering = number(2),
                       .k_superset_filtering = number(3),
                       .l_covered_spikes = number(4),
                       .min_spikes = static_cast<std::uint32_t>(number(5)),
                       .min_occ = static_cast<std::uint32_t>(number(6)),
                       .compat = compatibility::elephant};
        std::istringstream signatures(fields.at(7));
        for (std::string word; signatures >> word;) {
            const auto values = numbers(word, ',');
            one.not_significant.push_back({values.at(0), values.at(1), values.at(2)});
        }
        std::istringstream patterns(fields.at(8));
        for (std::string word; patterns >> word;) {
            const std::size_t colon = word.find(':');
            one.patterns.push_back(
                {numbers(word.substr(0, colon), ','), numbers(word.substr(colon + 1), ',')});
        }
        for (const std::uint32_t i : numbers(fields.at(9), ' ')) one.kept.push_back(i);
    }
    return all;
}

TEST(ReducePatterns, KeepsWhatElephantKeeps) {
    const std::vector<golden_case> cases = golden_cases();
    ASSERT_EQ(cases.size(), 400);
    std::size_t otherwise = 0;
    for (std::size_t i = 0; i < cases.size(); ++i) {
        const golden_case& one = cases[i];
        const reduction_result got =
            reduce(one.patterns, one.window_bins, one.options, one.not_significant);
        ASSERT_EQ(got.kept, one.kept) << "line " << i + 1;
        ASSERT_EQ(got.kept.size() + got.rejected.size(), one.patterns.size());
        reduction_options options = one.options;
        options.compat = compatibility::none;
        otherwise +=
            reduce(one.patterns, one.window_bins, options, one.not_significant).kept != one.kept
                ? 1
                : 0;
    }
    EXPECT_GT(otherwise, 0);
}

// Implements the definition on pairs of unit and bin in recording time, and counts every difference
// of occurrences.
indices reduce_by_definition(const std::vector<concept_of>& patterns, std::uint32_t window_bins,
                             const reduction_options& options,
                             const std::vector<pattern_signature>& not_significant) {
    using spikes = std::set<std::pair<std::int64_t, std::int64_t>>;
    const std::set<pattern_signature> unlikely(not_significant.begin(), not_significant.end());
    const auto bins = static_cast<std::int64_t>(window_bins);
    const auto spikes_of = [&](const concept_of& p, std::int64_t shift) {
        spikes out;
        for (const pattern_item item : p.items) out.emplace(item / bins, item % bins - shift);
        return out;
    };
    const auto lasts = [&](const concept_of& p) {
        std::uint32_t most = 0;
        for (const pattern_item item : p.items) most = std::max(most, item % window_bins);
        return options.spectrum == spectrum_kind::size_count ? 0 : most;
    };
    const auto size = [](const auto& set) { return static_cast<std::int64_t>(set.size()); };
    const auto is_unlikely = [&](std::int64_t z, std::int64_t n, const concept_of& p) {
        return unlikely.contains(
            {static_cast<std::uint32_t>(z), static_cast<std::uint32_t>(n), lasts(p)});
    };
    std::vector<bool> in(patterns.size(), true);
    for (std::size_t i = 0; i < patterns.size(); ++i)
        for (std::size_t j = i + 1; j < patterns.size(); ++j) {
            const concept_of &p = patterns[i], &q = patterns[j];
            std::map<std::int64_t, std::uint32_t> shifts;
            for (const std::int64_t x : p.starts)
                for (const std::int64_t y : q.starts) ++shifts[y - x];
            for (const auto& [shift, times] : shifts) {
                if (!in[i] && !in[j]) break;
                if (std::abs(shift) >= bins || times < options.min_occ) continue;
                const spikes first = spikes_of(p, shift), second = spikes_of(q, 0);
                spikes both;
                std::set_intersection(first.begin(), first.end(), second.begin(), second.end(),
                                      std::inserter(both, both.end()));
                if (both.empty()) continue;
                const bool q_within = both == second;
                const bool p_within = !q_within && both == first;
                const std::int64_t np = size(p.starts), nq = size(q.starts);
                // A pattern is tested by the spikes beyond the shared ones or, as a part of the
                // other one, by the occurrences beyond those of the other.
                const auto bad = [&](const concept_of& one, bool part, std::int64_t other) {
                    const std::int64_t z = size(one.items), n = size(one.starts);
                    if (part) {
                        const std::int64_t more = n - other + options.h_subset_filtering;
                        return more < options.min_occ || is_unlikely(z, more, one);
                    }
                    const std::int64_t more = z - size(both) + options.k_superset_filtering;
                    return more < options.min_spikes || is_unlikely(more, n, one);
                };
                bool p_bad = bad(p, p_within, nq);
                bool q_bad = bad(q, q_within, np);
                if (p_bad && q_bad) {
                    const std::int64_t covered_p = (size(first) - options.l_covered_spikes) * np;
                    const std::int64_t covered_q = (size(second) - options.l_covered_spikes) * nq;
                    const bool p_stays = p_within ? covered_p > covered_q : covered_p >= covered_q;
                    p_bad = !p_stays;
                    q_bad = p_stays;
                }
                in[i] = in[i] && !p_bad;
                in[j] = in[j] && !q_bad;
            }
        }
    indices kept;
    for (std::size_t i = 0; i < in.size(); ++i)
        if (in[i]) kept.push_back(i);
    return kept;
}

TEST(ReducePatterns, FollowsTheDefinitionByUnitAndTime) {
    const std::vector<golden_case> cases = golden_cases();
    for (std::size_t i = 0; i < cases.size(); ++i) {
        reduction_options options = cases[i].options;
        options.compat = compatibility::none;
        ASSERT_EQ(
            reduce(cases[i].patterns, cases[i].window_bins, options, cases[i].not_significant).kept,
            reduce_by_definition(cases[i].patterns, cases[i].window_bins, options,
                                 cases[i].not_significant))
            << "line " << i + 1;
    }
}

TEST(ReducePatterns, NamesWhoRejectedWhom) {
    for (const golden_case& one : golden_cases()) {
        const reduction_result got =
            reduce(one.patterns, one.window_bins, one.options, one.not_significant);
        for (const rejected_pattern& r : got.rejected) {
            ASSERT_NE(r.pattern, r.by);
            ASSERT_LT(r.by, one.patterns.size());
            // Reduced with its rejecter only, in the order of the list, it is rejected as well.
            const bool later = r.pattern > r.by;
            const std::vector<concept_of> pair{one.patterns[std::min(r.pattern, r.by)],
                                               one.patterns[std::max(r.pattern, r.by)]};
            const reduction_result alone =
                reduce(pair, one.window_bins, one.options, one.not_significant);
            const auto found = std::find_if(
                alone.rejected.begin(), alone.rejected.end(),
                [&](const rejected_pattern& x) { return x.pattern == (later ? 1 : 0); });
            ASSERT_NE(found, alone.rejected.end());
            EXPECT_EQ(found->rule, r.rule);
        }
    }
}

TEST(ReducePatterns, RefusesWhatCannotBe) {
    const pattern_table table = table_of({a, b}, 6);
    EXPECT_THROW(reduce_patterns(table, indices{0, 2}, {}), invalid_argument);
    EXPECT_THROW(reduce_patterns(table, indices{0, 0}, {}), invalid_argument);
    EXPECT_THROW(reduce_patterns(table, indices{0}, {}, {.min_spikes = 0}), invalid_argument);
    EXPECT_THROW(reduce_patterns(table, indices{0}, {}, {.min_occ = 0}), invalid_argument);
    pattern_table without_bins = table;
    without_bins.window_bins = 0;
    EXPECT_THROW(reduce_patterns(without_bins, indices{0, 1}, {}), invalid_argument);
    pattern_table bare = table;
    bare.occurrences.clear();
    bare.occurrence_offsets = {0};
    EXPECT_THROW(reduce_patterns(bare, indices{0}, {}), invalid_argument);
    EXPECT_TRUE(reduce_patterns({}, {}, {}).kept.empty());
    EXPECT_EQ(reduce_patterns(table, indices{1}, {}).kept, (indices{1}));
    std::stop_source stop;
    stop.request_stop();
    EXPECT_THROW(reduce_patterns(table, indices{0, 1}, {}, {}, {.stop = stop.get_token()}),
                 cancelled);
}

// The case has as many spikes and units as the published benchmark, and supports of 88 to 400 in
// 3,602 windows. It is repeated with few units, where every pattern overlaps every other one.
TEST(ReducePatterns, TakesAThousandFrequentPatternsInASecond) {
    for (const std::uint32_t units : {150U, 12U}) {
        std::mt19937_64 random(units);
        std::set<std::vector<pattern_item>> taken;
        std::vector<concept_of> patterns;
        while (patterns.size() < 1000) {
            std::set<pattern_item> items{static_cast<pattern_item>(random() % units * 20)};
            for (std::uint64_t spikes = 1 + random() % 4; spikes > 0; --spikes)
                items.insert(static_cast<pattern_item>(random() % (units * 20)));
            std::set<std::uint32_t> starts;
            for (const std::uint64_t n = 88 + random() % 313; starts.size() < n;)
                starts.insert(static_cast<std::uint32_t>(random() % 3602));
            concept_of p{{items.begin(), items.end()}, {starts.begin(), starts.end()}};
            if (taken.insert(p.items).second) patterns.push_back(std::move(p));
        }
        const pattern_table table = table_of(patterns, 20);
        const indices list = all_of(table);
        for (const std::int32_t slack : {0, 2}) {
            const reduction_options options{.h_subset_filtering = slack,
                                            .k_superset_filtering = slack,
                                            .l_covered_spikes = slack,
                                            .min_occ = 10,
                                            .compat = compatibility::elephant};
            const auto start = std::chrono::steady_clock::now();
            const reduction_result got = reduce_patterns(table, list, {}, options);
            const std::chrono::duration<double> taken_s = std::chrono::steady_clock::now() - start;
            EXPECT_EQ(got.kept.size() + got.rejected.size(), 1000);
            RecordProperty("milliseconds_" + std::to_string(units) + "_" + std::to_string(slack),
                           std::to_string(taken_s.count() * 1000));
            EXPECT_LT(taken_s.count(), 10) << units << " units";
        }
    }
}

}  // namespace
}  // namespace spikeweave
