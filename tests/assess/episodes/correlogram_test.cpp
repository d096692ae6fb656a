#include "spikeweave/assess/episodes/correlogram.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "spikeweave/core/error.hpp"
#include "spikeweave/spikes/epochs.hpp"
#include "support/random_streams.hpp"
#include "support/run_length.hpp"

namespace spikeweave {
namespace {

using namespace std::chrono_literals;

// Compares each spike with each one.
std::vector<std::uint64_t> counted_slowly(const spike_sequence& spikes, const lags_of_pair& pair) {
    const std::int64_t reach = pair.bins.reach().count();
    std::vector<std::uint64_t> out(2 * pair.bins.each_side, 0);
    for (std::size_t i = 0; i < spikes.size(); ++i)
        for (std::size_t j = 0; j < spikes.size(); ++j) {
            if (i == j || spikes.units()[i] != pair.from || spikes.units()[j] != pair.to) continue;
            for (std::size_t bin = 0; bin < out.size(); ++bin) {
                const std::int64_t low =
                    static_cast<std::int64_t>(bin) * pair.bins.width.count() - reach;
                const std::int64_t lag = spikes.times_us()[j] - spikes.times_us()[i];
                if (lag > low && lag <= low + pair.bins.width.count()) ++out[bin];
            }
        }
    return out;
}

TEST(CrossCorrelogram, CountsEveryPairOfSpikesInItsBin) {
    for (std::size_t seed = 0; seed < property_cases(400); ++seed) {
        random_streams draw(seed);
        const spike_sequence spikes = draw.spikes(40, 3);
        std::vector<lags_of_pair> pairs;
        for (std::uint32_t from = 0; from < 3; ++from)
            for (std::uint32_t to = 0; to < 3; ++to)
                pairs.push_back({unit_id{from},
                                 unit_id{to},
                                 {duration{1 + static_cast<std::int64_t>(draw.below(4))},
                                  1 + static_cast<std::size_t>(draw.below(6))}});
        const auto counts = cross_correlograms(spikes, pairs, {.threads = 2});
        for (std::size_t i = 0; i < pairs.size(); ++i)
            ASSERT_EQ(counts[i], counted_slowly(spikes, pairs[i])) << "seed " << seed << ", " << i;
    }
}

TEST(CrossCorrelogram, TakesNoLagFromOneEpochIntoAnother) {
    spike_sequence_builder builder;
    const unit_id a = builder.unit("a");
    const unit_id b = builder.unit("b");
    builder.append(1000, a);
    builder.append(2500, b);
    builder.append(3000, a);
    builder.append(4500, b);
    const spike_sequence whole = builder.finish();
    const std::vector<time_span> epochs{{0ms, 2ms}, {2ms, 10ms}};
    const lags_of_pair pair{a, b, {1ms, 5}};

    EXPECT_EQ(cross_correlograms(whole, {&pair, 1}).front(),
              (std::vector<std::uint64_t>{0, 0, 0, 0, 1, 0, 2, 0, 1, 0}));
    EXPECT_EQ(cross_correlograms(within_epochs(whole, epochs), {&pair, 1}).front(),
              (std::vector<std::uint64_t>{0, 0, 0, 0, 1, 0, 1, 0, 0, 0}));
}

TEST(CrossCorrelogram, TakesBinsThatReachFarBeyondTheDelay) {
    EXPECT_EQ(bins_for({1ms, 4ms}).width, 200us);
    EXPECT_EQ(bins_for({0ms, 1ms}).width, 200us);  // 10 ms at least
    EXPECT_EQ(bins_for({4ms, 6ms}).width, 500us);
    EXPECT_EQ(bins_for({50ms, 150ms}).width, 10ms);
    EXPECT_EQ(bins_for({1s, 1000s}).reach(), 3000s);
}

TEST(CrossCorrelogram, RefusesUnitsAndBinsThatDoNotExist) {
    spike_sequence_builder builder;
    builder.append(1000, builder.unit("a"));
    const spike_sequence spikes = builder.finish();
    for (const lags_of_pair& wrong :
         {lags_of_pair{unit_id{0}, unit_id{1}, {1ms, 5}}, lags_of_pair{unit_id{0}, unit_id{0}, {}},
          lags_of_pair{unit_id{0}, unit_id{0}, {1ms, 0}}})
        EXPECT_THROW(cross_correlograms(spikes, {&wrong, 1}), invalid_argument);
}

}  // namespace
}  // namespace spikeweave
