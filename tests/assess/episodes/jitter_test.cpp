#include "spikeweave/assess/episodes/jitter.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "spikeweave/core/error.hpp"
#include "spikeweave/core/random.hpp"
#include "spikeweave/simulate/spikes.hpp"
#include "spikeweave/spikes/epochs.hpp"

namespace spikeweave {
namespace {

using namespace std::chrono_literals;

const episode pair{{unit_id{0}, unit_id{1}}, {{1ms, 4ms}}};
const episode three{{unit_id{0}, unit_id{1}, unit_id{2}}, {{1ms, 4ms}, {1ms, 4ms}}};

// The spikes with those of one unit rotated by another amount in each cell of 20 ms.
spike_sequence rotated(const spike_sequence& spikes, unit_id unit, std::uint32_t draw) {
    constexpr std::int64_t cell = 20'000;
    std::vector<std::pair<std::int64_t, unit_id>> out;
    for (std::size_t i = 0; i < spikes.size(); ++i) {
        const std::int64_t time = spikes.times_us()[i];
        const std::int64_t begin = time / cell * cell;
        random_stream by(9, random_purpose::poisson_spikes, draw,
                         static_cast<std::uint32_t>(begin / cell));
        const auto shift = static_cast<std::int64_t>(by.below(cell));
        out.emplace_back(spikes.units()[i] == unit ? begin + (time - begin + shift) % cell : time,
                         spikes.units()[i]);
    }
    return sequence_of(std::move(out), spikes.unit_names(), spikes.span());
}

TEST(ExpectedByJitter, IsTheMeanCountOfRotatedSpikes) {
    const spike_sequence spikes =
        simulate_poisson({.units = 3, .length = 20s, .rate_hz = 25, .seed = 4}).spikes;
    const std::vector<episode> both{pair, three};
    const auto found = expected_by_jitter(spikes, both, 20ms);
    ASSERT_EQ(found.size(), 2U);
    constexpr std::uint32_t draws = 300;
    for (std::size_t i = 0; i < both.size(); ++i) {
        ASSERT_EQ(found[i].size(), both[i].size());
        for (std::size_t turned = 0; turned < both[i].size(); ++turned) {
            double sum = 0;
            for (std::uint32_t draw = 0; draw < draws; ++draw)
                sum += static_cast<double>(
                    count_episodes(rotated(spikes, both[i].units[turned], draw), {&both[i], 1})
                        .counts[0]);
            // The mean of the draws has a standard error of about 0.3 and 0.1; and a count leaves
            // out overlaps across cells.
            EXPECT_NEAR(found[i][turned], sum / draws, i == 0 ? 1.5 : 0.5) << turned;
        }
    }
}

// The first unit as it was recorded, and one occurrence that begins at one of its spikes.
std::optional<spike_sequence> with_one_occurrence(const spike_sequence& spikes, const episode& what,
                                                  std::int64_t first) {
    std::vector<std::pair<std::int64_t, unit_id>> out;
    for (std::size_t i = 0; i < spikes.size(); ++i)
        if (spikes.units()[i] == what.units.front())
            out.emplace_back(spikes.times_us()[i], spikes.units()[i]);
    std::int64_t time = first;
    for (std::size_t k = 1; k < what.size(); ++k) {
        time += (what.delays[k - 1].low.count() + what.delays[k - 1].high.count() + 1) / 2;
        if (time > spikes.span().end.count()) return {};
        out.emplace_back(time, what.units[k]);
    }
    std::ranges::sort(out);
    return sequence_of(std::move(out), spikes.unit_names(), spikes.span());
}

TEST(RemovedByJitter, IsTheSumOverOccurrencesOneByOne) {
    for (const double rate : {15.0, 150.0}) {
        const spike_sequence spikes =
            simulate_poisson({.units = 3, .length = 1s, .rate_hz = rate, .seed = 6}).spikes;
        const std::vector<episode> both{pair, three};
        const auto found = removed_by_jitter(spikes, both, 20ms, tie_rule::time, {.threads = 2});
        ASSERT_EQ(found.size(), 2U);
        for (std::size_t i = 0; i < both.size(); ++i) {
            std::vector<double> sums(both[i].size());
            for (std::size_t s = 0; s < spikes.size(); ++s) {
                if (spikes.units()[s] != unit_id{0}) continue;
                const auto one = with_one_occurrence(spikes, both[i], spikes.times_us()[s]);
                if (!one) continue;
                const auto kept = expected_by_jitter(*one, {&both[i], 1}, 20ms);
                for (std::size_t u = 0; u < sums.size(); ++u)
                    sums[u] += std::max(0.0, 1 - kept[0][u]);
            }
            ASSERT_EQ(found[i].size(), sums.size());
            for (std::size_t u = 0; u < sums.size(); ++u)
                EXPECT_NEAR(found[i][u], sums[u], 1e-9 * sums[u]) << rate << " " << i << " " << u;
        }
    }
}

// Each spike of the first unit is followed with the same probability, by a unit that does not fire
// otherwise; the first one fires alone, or in bursts with intervals of 3 to 20 ms.
TEST(RemovedByJitter, ShowsAProbabilityWhateverTheBurstsAre) {
    constexpr double probability = 0.1;
    const episode what{{unit_id{0}, unit_id{1}}, {{4ms, 8ms}}};
    for (const std::uint64_t burst : {1U, 3U, 9U}) {
        random_stream random(5, random_purpose::poisson_spikes, static_cast<std::uint32_t>(burst));
        std::vector<std::pair<std::int64_t, unit_id>> all;
        std::int64_t time = 0;
        for (std::uint64_t n = 0; n < 18'000; ++n) {
            const std::int64_t gap = n % burst == 0 ? 100'000 : 3'000;
            time += gap + static_cast<std::int64_t>(random.below(17'000));
            all.emplace_back(time, unit_id{0});
            if (random.uniform() < probability)
                all.emplace_back(time + 4'200 + static_cast<std::int64_t>(random.below(1'600)),
                                 unit_id{1});
        }
        std::ranges::sort(all);
        const spike_sequence spikes =
            sequence_of(std::move(all), {"0", "1"}, {0s, duration{time + 10'000}});
        const auto count = static_cast<double>(count_episodes(spikes, {&what, 1}).counts[0]);
        const auto expected = expected_by_jitter(spikes, {&what, 1}, 12ms);
        const auto removed = removed_by_jitter(spikes, {&what, 1}, 12ms);
        // The standard error of the ratio is about 0.003 to 0.006.
        for (std::size_t turned = 0; turned < 2; ++turned)
            EXPECT_NEAR((count - expected[0][turned]) / removed[0][turned], probability, 0.015)
                << burst << " " << turned;
    }
}

TEST(RemovedByJitter, CountsNoOccurrencesThatReachOutOfAnEpoch) {
    const spike_sequence spikes =
        simulate_poisson({.units = 3, .length = 4s, .rate_hz = 40, .seed = 8}).spikes;
    const std::vector<time_span> epochs{{0s, 1s}, {1s, 1500ms}, {3s, 4s}};
    const auto together = removed_by_jitter(within_epochs(spikes, epochs), {&three, 1}, 20ms);
    std::vector<double> sums(3);
    for (const time_span& one : epochs) {
        const auto alone = removed_by_jitter(within_epochs(spikes, {&one, 1}), {&three, 1}, 20ms);
        for (std::size_t u = 0; u < 3; ++u) sums[u] += alone[0][u];
    }
    for (std::size_t u = 0; u < 3; ++u) EXPECT_NEAR(together[0][u], sums[u], 1e-9 * sums[u]);
}

TEST(ExpectedByJitter, RefusesWhatIsNoEpisodeOfTheSpikes) {
    const spike_sequence spikes = simulate_poisson({.units = 2, .length = 1s}).spikes;
    EXPECT_THROW(expected_by_jitter(spikes, {&three, 1}, 20ms), invalid_argument);
    EXPECT_THROW(expected_by_jitter(spikes, {&pair, 1}, 500us), invalid_argument);
    const episode single{{unit_id{0}}, {}};
    EXPECT_THROW(expected_by_jitter(spikes, {&single, 1}, 20ms), invalid_argument);
}

}  // namespace
}  // namespace spikeweave
