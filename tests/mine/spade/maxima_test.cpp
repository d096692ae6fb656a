#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "spikeweave/assess/surrogates.hpp"
#include "spikeweave/mine/spade.hpp"
#include "spikeweave/spikes/files.hpp"
#include "support/brute_force_patterns.hpp"
#include "support/run_length.hpp"
#include "support/shared_data.hpp"

// The maxima that branch and bound finds equal those of all patterns, on surrogates of a real
// recording: the input of Porrmann et al. 2021 (doi:10.3389/fninf.2021.723406).
namespace spikeweave {
namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t published_window = 20;
const char* const movement_recording = "spade/movement_pghf.spikes.tsv.gz";

// These are higher than the published thresholds of 88, 25, 12 and 10, which take longer to
// enumerate.
const std::vector<pattern_rule> high_rules{
    {.min_occ = 150, .min_spikes = 2, .max_spikes = 2, .min_neu = 2},
    {.min_occ = 60, .min_spikes = 3, .max_spikes = 3, .min_neu = 3},
    {.min_occ = 28, .min_spikes = 4, .max_spikes = 4, .min_neu = 4},
    {.min_occ = 15, .min_spikes = 5, .min_neu = 5}};

// With SPIKEWEAVE_MAXIMA_PUBLISHED=1 the published thresholds are used, which takes minutes.
std::vector<pattern_rule> chosen_rules() {
    std::vector<pattern_rule> chosen = high_rules;
    if (std::getenv("SPIKEWEAVE_MAXIMA_PUBLISHED") == nullptr) return chosen;
    chosen[0].min_occ = 88;
    chosen[1].min_occ = 25;
    chosen[2].min_occ = 12;
    chosen[3].min_occ = 10;
    return chosen;
}

// One, or as many as SPIKEWEAVE_MAXIMA_SURROGATES says.
std::uint32_t surrogates_a_seed() {
    if (const char* const asked = std::getenv("SPIKEWEAVE_MAXIMA_SURROGATES"))
        return static_cast<std::uint32_t>(std::stoul(asked));
    return static_cast<std::uint32_t>(property_cases(1));
}

void raise(occurrence_maxima& all, const occurrence_maxima& some) {
    all.durations = some.durations;
    if (all.most.size() < some.most.size()) all.most.resize(some.most.size(), 0);
    for (std::size_t i = 0; i < some.most.size(); ++i)
        all.most[i] = std::max(all.most[i], some.most[i]);
}

TEST(SpadeMaxima, OfSurrogatesAreThoseOfAllPatterns) {
    SPIKEWEAVE_NEEDS_SHARED_DATA(movement_recording);
    const spike_file file = read_spikes(shared_data(movement_recording));
    const pattern_mining_options options{.rules = chosen_rules(), .with_occurrences = false};
    std::uint32_t largest = 0;
    const std::uint64_t seeds = is_shortened_run() ? 1 : is_long_run() ? 5 : 3;
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        const surrogate_maker maker(
            file.spikes,
            {.method = surrogate_method::dither_spikes_with_refractory_period,
             .dither = 15ms,
             .seed = seed},
            {.bin = 5ms});
        for (std::uint32_t which = 0; which < surrogates_a_seed(); ++which) {
            const spade_windows windows(maker.make(which), published_window);
            occurrence_maxima by_count;
            occurrence_maxima by_duration;
            mine_patterns(windows, options, [&](const pattern_table& block) {
                raise(by_count, maxima_of(block, spectrum_kind::size_count));
                raise(by_duration, maxima_of(block, spectrum_kind::size_count_duration));
            });
            EXPECT_EQ(find_occurrence_maxima(windows, options, spectrum_kind::size_count), by_count)
                << seed << ' ' << which;
            EXPECT_EQ(find_occurrence_maxima(windows, options, spectrum_kind::size_count_duration),
                      by_duration)
                << seed << ' ' << which;
            largest = std::max(largest, by_count.sizes());
        }
    }
    EXPECT_GT(largest, 4U);
}

}  // namespace
}  // namespace spikeweave
