#include "spikeweave/spikes/doubtful_pairs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "io/npy.hpp"
#include "spikeweave/spikes/cleaning.hpp"
#include "spikeweave/spikes/epochs.hpp"
#include "spikeweave/spikes/files.hpp"
#include "spikeweave/spikes/unit_groups.hpp"
#include "support/random_streams.hpp"
#include "support/spike_files.hpp"
#include "support/temporary_folder.hpp"

namespace spikeweave {
namespace {

using namespace std::chrono_literals;
using spike_times = std::vector<std::int64_t>;

constexpr std::int64_t recorded_us = 600'000'000;

// Intervals of at least 4 ms, and of a mean of so many microseconds.
spike_times refractory_train(random_streams& random, double mean_us) {
    constexpr double dead_us = 4'000;
    spike_times out;
    double at = 0;
    while (true) {
        const double share = (static_cast<double>(random.below(1'000'000)) + 0.5) / 1e6;
        at += dead_us - (mean_us - dead_us) * std::log(share);
        if (at >= recorded_us) return out;
        out.push_back(static_cast<std::int64_t>(at));
    }
}

// Moves a share of the spikes of one unit into another.
spike_times take_some(random_streams& random, spike_times& from, std::uint64_t of_hundred) {
    spike_times kept;
    spike_times taken;
    for (const std::int64_t time : from)
        (random.below(100) < of_hundred ? taken : kept).push_back(time);
    from = kept;
    return taken;
}

// A share of the spikes is followed by one of the other unit, after `lag_us` or up to `spread_us`
// more.
spike_times followers(random_streams& random, const spike_times& of, std::uint64_t of_hundred,
                      std::int64_t lag_us, std::uint64_t spread_us) {
    spike_times out;
    for (const std::int64_t time : of)
        if (random.below(100) < of_hundred)
            out.push_back(time + lag_us + static_cast<std::int64_t>(random.below(spread_us)));
    return out;
}

spike_times merged_times(spike_times a, const spike_times& b) {
    a.insert(a.end(), b.begin(), b.end());
    std::ranges::sort(a);
    return a;
}

TEST(OneNeuron, MayBeTwoUnitsThatDivideItsSpikes) {
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
        random_streams random(seed);
        spike_times one = refractory_train(random, 100'000);
        const spike_times other = take_some(random, one, 40);
        EXPECT_TRUE(may_be_one_neuron(0.85, one, other)) << seed;
        EXPECT_FALSE(may_be_one_neuron(0.7, one, other)) << seed;  // their templates differ
    }
}

TEST(OneNeuron, MayBeTwoUnitsOfWhichOneHasTheLaterSpikesOfBursts) {
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
        random_streams random(seed);
        const spike_times first = refractory_train(random, 1'000'000);
        const spike_times second = followers(random, first, 60, 4'000, 3'000);
        EXPECT_TRUE(share_refractory_period(first, second)) << seed;
        EXPECT_TRUE(may_be_one_neuron(0.93, first, second)) << seed;
        EXPECT_FALSE(may_be_one_neuron(0.85, first, second)) << seed;
    }
}

// Spikes of a burst 2 ms apart, so that there is no gap of 2.5 ms.
TEST(OneNeuron, MayBeTwoUnitsIfSomeSpikesOfFastBurstsAreInTheOther) {
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
        random_streams random(seed);
        const spike_times starts = refractory_train(random, 500'000);
        spike_times one = merged_times(starts, followers(random, starts, 60, 1'900, 200));
        const spike_times other =
            merged_times(take_some(random, one, 10), refractory_train(random, 500'000));
        EXPECT_FALSE(share_refractory_period(one, other)) << seed;
        EXPECT_TRUE(may_be_one_neuron(0.95, one, other)) << seed;
    }
}

TEST(OneNeuron, IsNotTwoNeuronsWhoseTemplatesAreAlike) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        random_streams random(seed);
        const spike_times one = refractory_train(random, 100'000);
        const spike_times other = refractory_train(random, 200'000);
        EXPECT_FALSE(may_be_one_neuron(0.99, one, other)) << seed;
        // A synapse relates them, and the chance spikes of the second one show that it is another.
        const spike_times driven = merged_times(other, followers(random, one, 10, 2'000, 3'000));
        EXPECT_FALSE(may_be_one_neuron(0.99, one, driven)) << seed;
    }
    EXPECT_FALSE(may_be_one_neuron(1, {}, {}));
}

TEST(CrossTalk, IsSpikesAtOneLagAfterThoseOfAnotherUnit) {
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
        random_streams random(seed);
        const spike_times one = refractory_train(random, 100'000);
        const spike_times left = followers(random, one, 20, 1'500, 100);
        EXPECT_TRUE(may_be_cross_talk(one, left)) << seed;
        EXPECT_TRUE(may_be_cross_talk(left, one)) << seed;
        EXPECT_TRUE(may_be_cross_talk(one, merged_times(left, refractory_train(random, 200'000))))
            << seed;
    }
}

TEST(CrossTalk, IsNoSynapseAndNoChance) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        random_streams random(seed);
        const spike_times one = refractory_train(random, 100'000);
        const spike_times other = refractory_train(random, 200'000);
        EXPECT_FALSE(may_be_cross_talk(one, other)) << seed;
        const spike_times driven = merged_times(other, followers(random, one, 30, 2'000, 1'500));
        EXPECT_FALSE(may_be_cross_talk(one, driven)) << seed;
    }
    EXPECT_FALSE(may_be_cross_talk({}, {}));
}

const std::vector<std::string> names{"1", "2", "10", "a, b"};

TEST(DoubtfulPairs, AreNamedInAColumnOfEachKind) {
    const std::vector<doubtful_pair> pairs{{"1", "10", unit_doubt::one_neuron},
                                           {"2", "1", unit_doubt::one_neuron},
                                           {"10", "2", unit_doubt::cross_talk},
                                           {"1", "7", unit_doubt::one_neuron}};
    const auto halves = cells_of(pairs, names, unit_doubt::one_neuron);
    const auto residuals = cells_of(pairs, names, unit_doubt::cross_talk);
    EXPECT_EQ(halves, (std::vector<std::string>{"2, 10", "1", "1", ""}));
    EXPECT_EQ(residuals, (std::vector<std::string>{"", "10", "2", ""}));

    EXPECT_EQ(pairs_in(halves, names, unit_doubt::one_neuron),
              (std::vector<doubtful_pair>{{"1", "2", unit_doubt::one_neuron},
                                          {"1", "10", unit_doubt::one_neuron}}));
    EXPECT_EQ(pairs_in(residuals, names, unit_doubt::cross_talk),
              (std::vector<doubtful_pair>{{"2", "10", unit_doubt::cross_talk}}));
    EXPECT_TRUE(
        pairs_in(std::vector<std::string>{"1", "7, x", "", ""}, names, unit_doubt::one_neuron)
            .empty());
}

spike_sequence doubted_units() {
    spike_sequence out({1'000, 2'000, 3'000, 900'000},
                       {unit_id{0}, unit_id{1}, unit_id{2}, unit_id{0}}, {"1", "2", "3"}, {0s, 1s});
    out.set_doubtful_pairs(
        {{"1", "2", unit_doubt::one_neuron}, {"2", "3", unit_doubt::cross_talk}});
    return out;
}

std::vector<doubtful_pair> pairs_of(const spike_sequence& spikes) {
    return {spikes.doubtful_pairs().begin(), spikes.doubtful_pairs().end()};
}

TEST(DoubtfulPairs, StayWithPartsOfTheSpikes) {
    const spike_sequence spikes = doubted_units();
    const auto pairs = pairs_of(spikes);
    const std::vector<time_span> epochs{{0s, 500ms}, {600ms, 1s}};
    EXPECT_EQ(pairs_of(select_units(spikes, std::vector<std::string>{"1", "2"})), pairs);
    EXPECT_EQ(pairs_of(within_epochs(spikes, epochs)), pairs);
    EXPECT_EQ(pairs_of(within_span(spikes, {0s, 500ms})), pairs);
    EXPECT_EQ(pairs_of(separated_epochs(within_epochs(spikes, epochs), 10ms).spikes()), pairs);
    EXPECT_EQ(pairs_of(clean_spikes(spikes, {.drop_synchronous = 2}).spikes), pairs);
    EXPECT_EQ(pairs_of(clean_spikes(spikes, {.max_rate = 1.5}).spikes), pairs);
}

TEST(DoubtfulPairs, BecomeThoseOfGroups) {
    EXPECT_EQ(pairs_of(group_units(doubted_units(), {{"1", "left"}, {"2", "left"}}).spikes),
              (std::vector<doubtful_pair>{{"left", "3", unit_doubt::cross_talk}}));
}

TEST(DoubtfulPairs, StandInArchivesBesideTheUnits) {
    const temporary_folder folder;
    write_spikes(folder.path() / "a.npz", doubted_units());
    EXPECT_EQ(pairs_of(read_spikes(folder.path() / "a.npz").spikes), pairs_of(doubted_units()));
}

TEST(DoubtfulPairs, AreReadFromTheSpikesOfASortedFolder) {
    const temporary_folder folder;
    folder.file("sorting.npz", "");
    write_units(folder.path() / "spikes.npz", doubted_units(),
                std::vector<unit_column>{label_column("a.npz", {"good", "mua", "good"})});
    EXPECT_EQ(pairs_of(read_spikes(folder.path()).spikes), pairs_of(doubted_units()));
    EXPECT_EQ(read_spikes(folder.path()).spikes.unit_names(), (std::vector<std::string>{"1", "3"}));
}

// A Phy folder of units 3 and 5, which divide the spikes of one neuron, and 8; the templates 0 and
// 1 have a correlation of 0.9.
void write_phy(const temporary_folder& folder) {
    random_streams random(3);
    spike_times one = refractory_train(random, 100'000);
    const spike_times other = take_some(random, one, 40);
    std::vector<std::pair<std::int64_t, std::int32_t>> all;
    for (const std::int64_t time : one) all.emplace_back(time, 0);
    for (const std::int64_t time : other) all.emplace_back(time, 1);
    for (const std::int64_t time : refractory_train(random, 100'000)) all.emplace_back(time, 2);
    std::ranges::sort(all);
    std::vector<std::int64_t> samples;
    std::vector<std::int32_t> templates;
    std::vector<std::int32_t> clusters;
    for (const auto& [time, unit] : all) {
        samples.push_back(time / 100);
        templates.push_back(unit);
        clusters.push_back(unit == 0 ? 3 : unit == 1 ? 5 : 8);
    }
    using io::npy_kind;
    const auto add = [&](const char* name, npy_kind kind, const auto& values) {
        folder.file(name, npy_bytes<typename std::decay_t<decltype(values)>::value_type>(
                              kind, values, {values.size()}));
    };
    folder.file("params.py", "sample_rate = 10000.0\n");
    add("spike_times.npy", npy_kind::integer, samples);
    add("spike_templates.npy", npy_kind::integer, templates);
    add("spike_clusters.npy", npy_kind::integer, clusters);
    const std::vector<float> similarity{1, 0.9F, 0.9F, 0.9F, 1, 0.2F, 0.9F, 0.2F, 1};
    folder.file("similar_templates.npy", npy_bytes<float>(npy_kind::real, similarity, {3, 3}));
}

TEST(DoubtfulPairs, FollowFromTheSimilarTemplatesOfPhyFolders) {
    const temporary_folder folder;
    write_phy(folder);
    EXPECT_EQ(pairs_of(read_spikes(folder.path()).spikes),
              (std::vector<doubtful_pair>{{"3", "5", unit_doubt::one_neuron}}));

    folder.file("similar_templates.npy", "nothing");
    const spike_file damaged = read_spikes(folder.path());
    EXPECT_TRUE(damaged.spikes.doubtful_pairs().empty());
    ASSERT_EQ(damaged.warnings.size(), 1U);
    EXPECT_NE(damaged.warnings[0].find("similar_templates.npy"), std::string::npos);
}

TEST(DoubtfulPairs, AreThoseThatTheTableOfClustersNames) {
    const temporary_folder folder;
    write_phy(folder);
    folder.file("cluster_quality.tsv",
                "cluster_id\tpossibly_one_neuron_with\tcross_talk_with\n3\t\t8\n5\t\t\n8\t\t3\n");
    EXPECT_EQ(pairs_of(read_spikes(folder.path()).spikes),
              (std::vector<doubtful_pair>{{"3", "8", unit_doubt::cross_talk}}));
}

}  // namespace
}  // namespace spikeweave
