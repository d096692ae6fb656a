#include "spikeweave/assess/episodes/jitter.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "spikeweave/core/error.hpp"
#include "spikeweave/core/random.hpp"
#include "spikeweave/simulate/spikes.hpp"

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

TEST(ExpectedByJitter, RefusesWhatIsNoEpisodeOfTheSpikes) {
    const spike_sequence spikes = simulate_poisson({.units = 2, .length = 1s}).spikes;
    EXPECT_THROW(expected_by_jitter(spikes, {&three, 1}, 20ms), invalid_argument);
    EXPECT_THROW(expected_by_jitter(spikes, {&pair, 1}, 500us), invalid_argument);
    const episode single{{unit_id{0}}, {}};
    EXPECT_THROW(expected_by_jitter(spikes, {&single, 1}, 20ms), invalid_argument);
}

}  // namespace
}  // namespace spikeweave
