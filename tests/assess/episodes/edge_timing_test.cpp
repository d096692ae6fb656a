#include "spikeweave/assess/episodes/edge_timing.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "spikeweave/assess/episodes/circuit.hpp"
#include "spikeweave/assess/episodes/pair_tests.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/spikes/epochs.hpp"
#include "spikeweave/spikes/files.hpp"
#include "support/random_streams.hpp"
#include "support/run_length.hpp"
#include "support/shared_data.hpp"

namespace spikeweave {
namespace {

using namespace std::chrono_literals;

using timed_spikes = std::vector<std::pair<std::int64_t, unit_id>>;

constexpr unit_id unit_a{0};
constexpr unit_id unit_b{1};
constexpr unit_id unit_c{2};

class timing_recording {
public:
    explicit timing_recording(std::uint64_t seed, duration length = 200s)
        : random_(seed), length_(length) {}

    // Poisson spikes of a unit.
    std::vector<std::int64_t> fire(unit_id unit, double rate_hz) {
        std::exponential_distribution<> gap(rate_hz / 1e6);
        std::vector<std::int64_t> times;
        for (double time = gap(random_); time < static_cast<double>(length_.count());
             time += gap(random_)) {
            times.push_back(std::llround(time));
            spikes_.push_back({times.back(), unit});
        }
        return times;
    }

    // A unit fires with this probability after each of these times, at a normal delay.
    void follow(const std::vector<std::int64_t>& times, unit_id unit, double probability,
                double mean_us, double deviation_us) {
        std::normal_distribution<> delay(mean_us, deviation_us);
        for (const std::int64_t time : times) {
            const bool follows = uniform() < probability;
            const double after = delay(random_);
            if (follows)
                spikes_.push_back({std::max<std::int64_t>(0, time + std::llround(after)), unit});
        }
    }

    spike_sequence finish() {
        spike_sequence_builder builder;
        for (const char* const name : {"a", "b", "c"}) builder.unit(name);
        for (const auto& [time, unit] : spikes_) builder.append(time, unit);
        return builder.finish({0us, length_ + 1s});
    }

private:
    double uniform() { return std::uniform_real_distribution<>()(random_); }

    std::mt19937_64 random_;
    duration length_;
    timed_spikes spikes_{};
};

episode pair_of(unit_id from, unit_id to, duration low, duration high) {
    return {{from, to}, {{low, high}}};
}

edge_timing timing_of(const spike_sequence& spikes, const episode& pair) {
    return time_edges(spikes, std::vector{pair}).front();
}

spike_sequence scaled(const spike_sequence& spikes, std::int64_t scale) {
    timed_spikes out;
    for (std::size_t i = 0; i < spikes.size(); ++i)
        out.push_back({scale * spikes.times_us()[i], spikes.units()[i]});
    return sequence_of(std::move(out), spikes.unit_names(),
                       {scale * spikes.span().begin, scale * spikes.span().end});
}

// Lags of all pairs, one by one.
std::vector<std::int64_t> lags_of(const spike_sequence& spikes, unit_id from, unit_id to) {
    std::vector<std::int64_t> lags;
    for (std::size_t i = 0; i < spikes.size(); ++i)
        for (std::size_t j = 0; j < spikes.size(); ++j)
            if (i != j && spikes.units()[i] == from && spikes.units()[j] == to)
                lags.push_back(spikes.times_us()[j] - spikes.times_us()[i]);
    return lags;
}

double number_in(const std::vector<std::int64_t>& lags, std::int64_t low, std::int64_t high) {
    return static_cast<double>(
        std::ranges::count_if(lags, [&](auto lag) { return low < lag && lag <= high; }));
}

TEST(TimeEdges, CountsAsTheDefinitionsDo) {
    for (std::uint64_t seed = 0; seed < property_cases(300); ++seed) {
        random_streams random(seed);
        const std::int64_t scale = random.below(2) == 0 ? 1 : 100;
        const spike_sequence spikes = scaled(random.spikes(60, 3), scale);
        const unit_id from{static_cast<std::uint32_t>(random.below(3))};
        const unit_id to{static_cast<std::uint32_t>(random.below(3))};
        const delay_interval drawn = random.interval();
        const duration low = scale * drawn.low;
        const duration high = scale * drawn.high;

        const edge_timing timing = timing_of(spikes, pair_of(from, to, low, high));

        const auto lags = lags_of(spikes, from, to);
        const std::int64_t l = low.count();
        const std::int64_t h = high.count();
        const double forward = number_in(lags, l, h);
        const double backward = number_in(lags, -h - 1, -l - 1);
        EXPECT_DOUBLE_EQ(timing.asymmetry,
                         forward + backward > 0 ? (forward - backward) / (forward + backward) : 0);
        const double chance =
            (number_in(lags, l - (h - l), l) + number_in(lags, h, h + (h - l))) / 2;
        ASSERT_EQ(timing.delay.has_value(), forward > chance) << seed;
        if (timing.delay) {
            const double middle = static_cast<double>(l + h) / 2;
            double sum = 0;
            for (const std::int64_t lag : lags)
                if (l < lag && lag <= h) sum += static_cast<double>(lag);
            EXPECT_NEAR(timing.delay->mean_us, (sum - chance * middle) / (forward - chance), 1e-6);
        }
        const double synchronous = from == to ? 0 : number_in(lags, -501, 500);
        EXPECT_EQ(static_cast<double>(timing.synchronous), synchronous);
        const std::int64_t first = l < 5000 && h > 500 ? h : 500;
        const double fewer = from == to ? 0
                                        : std::min(number_in(lags, first, first + 4500),
                                                   number_in(lags, -first - 4501, -first - 1));
        const double expected = fewer * 1001 / 4500;
        EXPECT_DOUBLE_EQ(timing.synchronous_expected, expected);
        EXPECT_EQ(timing.lacks_synchrony,
                  synchronous < expected / 2 && expected - synchronous > 3 * std::sqrt(expected));
    }
}

// 95 % of 400 intervals, within four standard deviations.
TEST(TimeEdges, ConfidenceIntervalsHoldTheTrueDelay) {
    SPIKEWEAVE_NEEDS_FULL_RUN();
    constexpr int recordings = 400;
    int held = 0;
    for (int seed = 0; seed < recordings; ++seed) {
        timing_recording recording(static_cast<std::uint64_t>(seed), 60s);
        recording.follow(recording.fire(unit_a, 10), unit_b, 0.3, 3'400, 400);
        recording.fire(unit_b, 10);
        const edge_timing timing = timing_of(recording.finish(), pair_of(unit_a, unit_b, 1ms, 6ms));
        ASSERT_TRUE(timing.delay.has_value());
        held += timing.delay->low_us <= 3'400 && 3'400 <= timing.delay->high_us ? 1 : 0;
    }
    RecordProperty("held", held);
    EXPECT_GE(held, 362);
    EXPECT_LE(held, 397);
}

TEST(TimeEdges, SaysWhereAnIntervalCutsThePeak) {
    timing_recording recording(1, 600s);
    recording.follow(recording.fire(unit_a, 10), unit_b, 0.6, 4'000, 600);
    recording.fire(unit_b, 10);
    const spike_sequence spikes = recording.finish();
    const auto cut = [&](duration low, duration high) {
        return timing_of(spikes, pair_of(unit_a, unit_b, low, high)).cut;
    };

    EXPECT_EQ(cut(1ms, 7ms), cut_peak::none);
    EXPECT_EQ(cut(1ms, 4ms), cut_peak::high);
    EXPECT_EQ(cut(4ms, 7ms), cut_peak::low);
    EXPECT_EQ(cut(3500us, 4500us), cut_peak::both);
}

TEST(TimeEdges, TellsADirectionFromASymmetricCorrelation) {
    timing_recording recording(2);
    const auto times = recording.fire(unit_c, 10);
    recording.follow(times, unit_a, 0.5, 5'000, 3'000);
    recording.follow(times, unit_b, 0.5, 5'000, 3'000);
    recording.follow(recording.fire(unit_c, 5), unit_b, 0.5, 3'000, 300);
    const spike_sequence spikes = recording.finish();

    EXPECT_NEAR(timing_of(spikes, pair_of(unit_a, unit_b, 1ms, 5ms)).asymmetry, 0, 0.1);
    EXPECT_GT(timing_of(spikes, pair_of(unit_c, unit_b, 1ms, 5ms)).asymmetry, 0.7);
}

// A connection has no fewer synchronous pairs than chance gives, wherever its peak is.
TEST(TimeEdges, ExpectsAsManySynchronousPairsAsThereAreBesideAConnection) {
    for (const double mean_us : {1'500.0, 2'500.0, 4'000.0, 6'000.0}) {
        timing_recording recording(6, 600s);
        recording.follow(recording.fire(unit_a, 10), unit_b, 0.8, mean_us, 300);
        recording.fire(unit_b, 10);
        const spike_sequence spikes = recording.finish();
        for (const delay_interval within : {delay_interval{1ms, 4ms}, delay_interval{3ms, 5ms},
                                            delay_interval{0ms, 8ms}, delay_interval{5ms, 20ms}}) {
            const edge_timing timing =
                timing_of(spikes, pair_of(unit_a, unit_b, within.low, within.high));
            const auto synchronous = static_cast<double>(timing.synchronous);
            EXPECT_NEAR(timing.synchronous_expected, synchronous, 4 * std::sqrt(synchronous))
                << mean_us << ' ' << within.low.count();
            EXPECT_FALSE(timing.lacks_synchrony);
        }
    }
}

TEST(TimeEdges, TakesNoLagFromOneEpochIntoAnother) {
    spike_sequence_builder builder;
    const unit_id first = builder.unit("a");
    const unit_id second = builder.unit("b");
    for (std::int64_t i = 0; i < 50; ++i) {
        builder.append(10'000 * i + 4'000, first);
        builder.append(10'000 * i + 7'000, second);
    }
    const spike_sequence whole = builder.finish({0us, 1s});
    std::vector<time_span> halves;
    for (std::int64_t i = 0; i < 50; ++i) {
        halves.push_back({duration{10'000 * i}, duration{10'000 * i + 5'000}});
        halves.push_back({duration{10'000 * i + 5'000}, duration{10'000 * i + 10'000}});
    }
    const episode pair = pair_of(first, second, 2ms, 4ms);

    EXPECT_EQ(timing_of(whole, pair).asymmetry, 1);
    ASSERT_TRUE(timing_of(whole, pair).delay.has_value());
    EXPECT_EQ(timing_of(whole, pair).delay->mean_us, 3'000);
    EXPECT_FALSE(timing_of(within_epochs(whole, halves), pair).delay.has_value());
}

// The lags that say how many pairs would be synchronous reach further than the interval.
TEST(TimeEdges, ExpectsNoPairsOfTwoEpochs) {
    spike_sequence_builder builder;
    const unit_id first = builder.unit("a");
    const unit_id second = builder.unit("b");
    std::vector<time_span> epochs;
    for (std::int64_t i = 0; i < 50; ++i) {
        const std::int64_t begin = 10'000 * i;
        epochs.push_back({duration{begin}, duration{begin + 10'000}});
        builder.append(begin + 100, second);
        builder.append(begin + 3'900, second);
        builder.append(begin + 9'900, first);
    }
    const spike_sequence apart = within_epochs(builder.finish({0us, 500ms}), epochs);

    // Only backwards, b fires 6 ms before a.
    EXPECT_EQ(timing_of(apart, pair_of(first, second, 4ms, 5ms)).synchronous_expected, 0);
}

TEST(TimeEdges, RefusesWhatIsNoPairOfUnits) {
    const spike_sequence spikes = timing_recording(3).finish();
    EXPECT_THROW(timing_of(spikes, {{unit_a}, {}}), invalid_argument);
    EXPECT_THROW(timing_of(spikes, pair_of(unit_a, unit_id{3}, 1ms, 2ms)), invalid_argument);
    EXPECT_TRUE(time_edges(spikes, {}).empty());
}

std::vector<circuit_edge> edges_in(const spike_sequence& spikes) {
    const episode_table table = mine_episodes(
        spikes, {.delays = {{0ms, 2ms}, {2ms, 4ms}, {4ms, 8ms}}, .min_count = 50, .max_size = 3});
    return find_circuit(spikes, table, test_against_null(spikes, table)).edges;
}

edge_kind kind_between(const std::vector<circuit_edge>& edges, unit_id from, unit_id to) {
    for (const circuit_edge& edge : edges)
        if (edge.from == from && edge.to == to) return edge.kind;
    ADD_FAILURE() << "no edge from " << to_index(from) << " to " << to_index(to);
    return edge_kind::direct;
}

TEST(CircuitArtefacts, CallsNoConnectionWhatTwoElectrodesRecordAtOnce) {
    timing_recording recording(4);
    recording.follow(recording.fire(unit_a, 10), unit_b, 0.3, 0, 200);
    recording.fire(unit_b, 10);
    recording.follow(recording.fire(unit_c, 10), unit_a, 0.3, 1'500, 200);

    const auto edges = edges_in(recording.finish());

    EXPECT_EQ(kind_between(edges, unit_a, unit_b), edge_kind::synchronous);
    EXPECT_EQ(kind_between(edges, unit_b, unit_a), edge_kind::synchronous);
    EXPECT_EQ(kind_between(edges, unit_c, unit_a), edge_kind::direct);
}

// A unit cannot have two spikes at one time.
spike_sequence recorded(timed_spikes spikes) {
    std::ranges::sort(spikes);
    spikes.erase(std::unique(spikes.begin(), spikes.end()), spikes.end());
    return sequence_of(std::move(spikes), {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"},
                       {0s, 301s});
}

std::vector<circuit_edge> edges_of_pairs(const spike_sequence& spikes) {
    return find_circuit(spikes, {}, {}, test_pairs(spikes, default_delays()).pairs).edges;
}

// An unrecorded unit drives both, one a little sooner. A synapse of 1.3 ms has a similar peak.
TEST(CircuitArtefacts, CallsNoConnectionWhatIsSoonerThanASynapse) {
    for (std::uint64_t seed = 0; seed < property_cases(10); ++seed) {
        timing_recording recording(seed, 300s);
        const auto drive = recording.fire(unit_c, 10);
        recording.follow(drive, unit_a, 0.4, 3'000, 300);
        recording.follow(drive, unit_b, 0.4, 3'600, 300);
        recording.fire(unit_a, 5);
        recording.fire(unit_b, 5);
        const spike_sequence driven = recording.finish();
        timed_spikes without_drive;
        for (std::size_t i = 0; i < driven.size(); ++i)
            if (driven.units()[i] != unit_c)
                without_drive.push_back({driven.times_us()[i], driven.units()[i]});
        timing_recording synapse(seed, 300s);
        synapse.follow(synapse.fire(unit_a, 10), unit_b, 0.2, 1'300, 300);
        synapse.fire(unit_b, 5);
        const spike_sequence connected = synapse.finish();
        timed_spikes rounded;
        for (std::size_t i = 0; i < connected.size(); ++i)
            rounded.push_back(
                {(connected.times_us()[i] + 500) / 1000 * 1000, connected.units()[i]});

        const auto sooner = edges_of_pairs(recorded(without_drive));
        const auto direct = edges_of_pairs(connected);
        const auto on_a_clock = edges_of_pairs(recorded(rounded));

        EXPECT_EQ(kind_between(sooner, unit_a, unit_b), edge_kind::synchronous) << seed;
        EXPECT_EQ(kind_between(direct, unit_a, unit_b), edge_kind::direct) << seed;
        EXPECT_EQ(kind_between(on_a_clock, unit_a, unit_b), edge_kind::direct) << seed;
    }
}

// Units answer each of 300 stimuli at latencies of their own, and one also excites another.
TEST(CircuitArtefacts, CallsNoConnectionWhatOtherTrialsShowAsWell) {
    for (std::uint64_t seed = 0; seed < property_cases(10); ++seed) {
        constexpr std::uint32_t units = 10;
        std::mt19937_64 random(seed);
        std::uniform_real_distribution<> uniform;
        std::normal_distribution<> normal;
        std::vector<time_span> trials;
        std::vector<std::int64_t> stimuli;
        for (int k = 0; k < 300; ++k) {
            stimuli.push_back(1'000'000 * k + 100'000 + std::llround(50'000 * uniform(random)));
            trials.push_back(
                {duration{stimuli.back() - 50'000}, duration{stimuli.back() + 400'000}});
        }
        timed_spikes all;
        for (std::uint32_t u = 0; u < units; ++u) {
            const double latency = 10'000 + 20'000 * uniform(random);
            for (const std::int64_t stimulus : stimuli) {
                if (uniform(random) < 0.6)
                    all.push_back(
                        {stimulus + std::llround(latency + 1'500 * normal(random)), unit_id{u}});
                for (int k = 0; k < 3; ++k) {
                    const std::int64_t time = stimulus + std::llround(400'000 * uniform(random));
                    all.push_back({time, unit_id{u}});
                    if (u == 0 && uniform(random) < 0.3)
                        all.push_back({time + std::llround(3'000 + 300 * normal(random)), unit_b});
                }
            }
        }
        const spike_sequence spikes = recorded(all);

        const auto whole = edges_of_pairs(spikes);
        const auto of_trials = edges_of_pairs(within_epochs(spikes, trials));

        EXPECT_GT(whole.size(), 10U) << seed;
        EXPECT_EQ(kind_between(of_trials, unit_a, unit_b), edge_kind::direct) << seed;
        EXPECT_LE(std::ranges::count(of_trials, edge_kind::direct, &circuit_edge::kind), 2) << seed;
        EXPECT_GT(std::ranges::count(of_trials, edge_kind::stimulus_locked, &circuit_edge::kind),
                  10);
        // Two halves of each length are no trials.
        std::vector<time_span> uneven = trials;
        for (std::size_t k = 0; k < uneven.size(); k += 2) uneven[k].end -= 100ms;
        EXPECT_EQ(std::ranges::count(edges_of_pairs(within_epochs(spikes, uneven)),
                                     edge_kind::stimulus_locked, &circuit_edge::kind),
                  0);
    }
}

// Without the spikes of units a and b that are at most this long after the last spike kept of
// either, as if one detector recorded both, and without unit c.
spike_sequence through_one_detector(const spike_sequence& spikes, std::int64_t dead_us) {
    timed_spikes kept;
    for (std::size_t i = 0; i < spikes.size(); ++i) {
        const std::int64_t time = spikes.times_us()[i];
        if (spikes.units()[i] != unit_c && (kept.empty() || time > kept.back().first + dead_us))
            kept.push_back({time, spikes.units()[i]});
    }
    return sequence_of(std::move(kept), spikes.unit_names(), spikes.span());
}

TEST(CircuitArtefacts, CallsNoConnectionWhatOneDetectorRecordsOfACommonDrive) {
    for (std::uint64_t seed = 0; seed < property_cases(20); ++seed) {
        timing_recording recording(seed, 600s);
        const auto drive = recording.fire(unit_c, 20);
        for (const unit_id unit : {unit_a, unit_b}) {
            recording.follow(drive, unit, 0.4, 5'000, 1'500);
            recording.fire(unit, 5);
        }
        const spike_sequence spikes = recording.finish();

        const auto seen = edges_in(through_one_detector(spikes, 1'000));
        const auto without_dead_time = edges_in(through_one_detector(spikes, -1));

        EXPECT_EQ(kind_between(seen, unit_a, unit_b), edge_kind::dead_time) << seed;
        EXPECT_EQ(kind_between(seen, unit_b, unit_a), edge_kind::dead_time) << seed;
        EXPECT_NE(kind_between(without_dead_time, unit_a, unit_b), edge_kind::dead_time) << seed;
    }
}

// Tetrodes in the hippocampus (docs/worked-examples.md).
TEST(CircuitArtefacts, CallsNoConnectionWhatFollowsAFastUnitOfTheSameTetrode) {
    SPIKEWEAVE_NEEDS_SHARED_DATA("hippocampus_w-maze.tsv.gz");
    const spike_sequence spikes = read_spikes(shared_data("hippocampus_w-maze.tsv.gz")).spikes;
    const episode_table table =
        mine_episodes(spikes, {.delays = {{1ms, 4ms}}, .min_count = 67, .max_size = 2});

    const auto edges = find_circuit(spikes, table, test_against_null(spikes, table)).edges;

    EXPECT_EQ(std::ranges::count(edges, edge_kind::dead_time, &circuit_edge::kind), 7);
    EXPECT_EQ(std::ranges::count(edges, edge_kind::direct, &circuit_edge::kind), 1);
}

// Both connections of a pair, each on the side of the other one's peak.
TEST(CircuitArtefacts, KeepsConnectionsOfOneToFourMilliseconds) {
    for (std::uint64_t seed = 0; seed < property_cases(20); ++seed) {
        timing_recording recording(seed);
        const auto of_a = recording.fire(unit_a, 15);
        const auto of_b = recording.fire(unit_b, 15);
        recording.follow(of_a, unit_b, 0.6, 2'500, 500);
        recording.follow(of_b, unit_c, 0.3, 3'000, 300);
        recording.fire(unit_c, 15);
        if (seed % 2 == 1) recording.follow(of_b, unit_a, 0.4, 2'500, 500);

        const auto edges = edges_in(recording.finish());

        EXPECT_EQ(kind_between(edges, unit_a, unit_b), edge_kind::direct) << seed;
        EXPECT_EQ(kind_between(edges, unit_b, unit_c), edge_kind::direct) << seed;
        if (seed % 2 == 1) {
            EXPECT_EQ(kind_between(edges, unit_b, unit_a), edge_kind::direct) << seed;
        }
    }
}

// b repeats a, and c follows a: the connection must not count as a path over b.
TEST(CircuitArtefacts, CallsNoConnectionWhatIsOneNeuronInTwoUnits) {
    timing_recording recording(5);
    const auto times = recording.fire(unit_a, 10);
    recording.follow(times, unit_a, 0.3, 3'000, 300);
    recording.follow(times, unit_c, 0.6, 5'000, 300);
    const spike_sequence alone = recording.finish();
    timed_spikes spikes;
    for (std::size_t i = 0; i < alone.size(); ++i) {
        spikes.push_back({alone.times_us()[i], alone.units()[i]});
        if (alone.units()[i] == unit_a && i % 10 != 0)
            spikes.push_back({alone.times_us()[i] + 100, unit_b});
    }

    const auto edges = edges_in(sequence_of(std::move(spikes), {"a", "b", "c"}, alone.span()));

    EXPECT_EQ(kind_between(edges, unit_a, unit_b), edge_kind::shared_spikes);
    EXPECT_EQ(kind_between(edges, unit_a, unit_c), edge_kind::direct);
}

}  // namespace
}  // namespace spikeweave
