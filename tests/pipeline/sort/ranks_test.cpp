// Sorting on several ranks gives the same results as one process.

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <utility>

#include "spikeweave/core/error.hpp"
#include "spikeweave/pipeline/sort.hpp"
#include "spikeweave/simulate/recording.hpp"
#include "support/error_text.hpp"
#include "support/on_ranks.hpp"
#include "support/run_length.hpp"
#include "support/spike_files.hpp"

namespace spikeweave {
namespace {

using namespace std::chrono_literals;

class SortOnRanks : public testing::Test {
protected:
    void SetUp() override { SPIKEWEAVE_NEEDS_RANKS(); }
};

recording made(duration length, std::uint32_t units) {
    return simulate_recording(
               {.channels = 6, .length = length, .units = units, .low_hz = 10, .seed = 4})
        .traces;
}

void expect_same(const sort_result& found, const sort_result& expected) {
    EXPECT_EQ(found.sorted, expected.sorted);
    EXPECT_EQ(found.amplitudes, expected.amplitudes);
    EXPECT_EQ(found.features, expected.features);
    EXPECT_EQ(found.motion, expected.motion);
    EXPECT_EQ(found.clustered_spikes, expected.clustered_spikes);
    EXPECT_EQ(found.warnings, expected.warnings);
    EXPECT_EQ(found.waveforms.values, expected.waveforms.values);
    ASSERT_EQ(found.decisions.size(), expected.decisions.size());
    for (std::size_t i = 0; i < found.decisions.size(); ++i) {
        EXPECT_EQ(found.decisions[i].cluster, expected.decisions[i].cluster);
        EXPECT_EQ(found.decisions[i].spikes, expected.decisions[i].spikes);
        EXPECT_EQ(found.decisions[i].distance, expected.decisions[i].distance);
        EXPECT_EQ(found.decisions[i].difference, expected.decisions[i].difference);
        EXPECT_EQ(found.decisions[i].reason, expected.decisions[i].reason);
    }
}

TEST_F(SortOnRanks, FindsWhatOneProcessFinds) {
    const recording from = made(is_shortened_run() ? 3s : 8s, 4);
    sort_options options{.run = {.threads = 1}};
    for (const std::uint64_t kept : {std::uint64_t{0}, template_options{}.kept_traces_bytes}) {
        // The tests of templates filter traces again, too, in one process.
        if (kept == 0 && is_shortened_run()) continue;
        options.templates.kept_traces_bytes = kept;
        const sort_result expected = sort_recording(from, options);
        ASSERT_GE(expected.sorted.unit_count, 2U);
        ASSERT_FALSE(expected.decisions.empty());
        on_ranks([&](int rank, std::shared_ptr<communicator> all) {
            const sort_result found = sort_recording(from, options, {.ranks = std::move(all)});
            if (rank == 0) expect_same(found, expected);
        });
    }
}

// Fewer blocks than ranks, and too few spikes for templates: all are then clustered once more.
TEST_F(SortOnRanks, FindsWhatOneProcessFindsInASecond) {
    const recording from = made(400ms, 2);
    const sort_options options{.run = {.threads = 1}};
    const sort_result expected = sort_recording(from, options);
    on_ranks([&](int rank, std::shared_ptr<communicator> all) {
        const sort_result found = sort_recording(from, options, {.ranks = std::move(all)});
        if (rank == 0) expect_same(found, expected);
    });
}

TEST_F(SortOnRanks, RefusesWhatOneRankWouldDoAlone) {
    const recording from = made(400ms, 2);
    sort_options clusters{.run = {.threads = 1}};
    clusters.templates.stages = sort_stages::cluster;
    on_ranks([&](int, std::shared_ptr<communicator> all) {
        const execution run{.ranks = std::move(all)};
        if (run.ranks->size() == 1) return;
        EXPECT_SAYS(text_of([&] { sort_recording(from, clusters, run); }),
                    "processes can only share");
        EXPECT_SAYS(text_of([&] { sort_features({}, {}, run); }), "processes can only share");
    });
}

}  // namespace
}  // namespace spikeweave
