// Windows that decide what is armed, and whose search or test had ended early before the session
// was interrupted, decide as they would have.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "live/arming/planted_chains.hpp"
#include "live/log/recorded_sessions.hpp"
#include "live/log/resume.hpp"
#include "support/temporary_folder.hpp"

namespace spikeweave::live {
namespace {

constexpr std::int64_t window_us = 200 * ms;

session_header header_of_deciding_windows() {
    return {named_units_of(4),
            arming_analysis(duration{window_us}, duration{0}, {.arm_after = 1, .arm_windows = 1})};
}

// A chain in each window, in blocks of a quarter of one.
std::vector<source_block> blocks_with_a_chain() {
    std::mt19937_64 random(41);
    std::vector<spike_event> spikes;
    for (std::int64_t begin = 0; begin < 5 * window_us; begin += 21 * ms)
        for (std::uint32_t unit = 0; unit < 3; ++unit)
            spikes.push_back({begin + 5 * ms * unit, unit_id{unit}});
    for (const std::int64_t time : poisson_times(random, 50, 0, 5 * window_us))
        spikes.push_back({time, unit_id{3}});
    put_in_order(spikes);
    std::vector<source_block> blocks;
    for (const spike_event& spike : spikes) {
        while (static_cast<std::int64_t>(blocks.size()) <= spike.time_us / (window_us / 4))
            blocks.emplace_back();
        blocks.back().spikes.push_back(spike);
    }
    return blocks;
}

class ArmingResume : public testing::Test {
protected:
    temporary_folder folder{};
    std::filesystem::path path = folder.path() / "s.session";
    sink nowhere;
    const std::vector<source_block> blocks = blocks_with_a_chain();
    // The first window has been recorded by then, and its decision has not taken effect.
    static constexpr std::ptrdiff_t until = 6;

    void record_the_beginning() {
        const session_header header = header_of_deciding_windows();
        session_log log(path, header, {.survive_power_failure = false});
        recorded_results results(nowhere, log);
        session through(header.unit_names, header.analysis, results);
        for (std::ptrdiff_t i = 0; i < until; ++i) {
            log.record(blocks[static_cast<std::size_t>(i)]);
            through.take(blocks[static_cast<std::size_t>(i)], {.threads = 1});
        }
    }

    void change_first_window(const std::function<void(recorded_window&)>& change) {
        recorded_window window = *session_file(path).next_window();
        change(window);
        const auto file = io::open_database(path, io::database::access::write);
        const auto row = file->prepare(
            "UPDATE window SET complete_to = ?, was_tested = ?, digest = ?, episodes = ? "
            "WHERE seq = 1");
        std::optional<std::int64_t> size, was_tested;
        if (window.complete_to) size = static_cast<std::int64_t>(*window.complete_to);
        if (window.was_tested) was_tested = *window.was_tested ? 1 : 0;
        const std::string digest = digest_of(window);  // as long as it is bound
        row->bind(1, size).bind(2, was_tested).bind_text(3, digest);
        row->bind_text(4, window.episodes).run();
    }

    session_counts resume_and_end() {
        arming_results after;
        resumed_session resumed = resume_session(path, after, {.survive_power_failure = false});
        for (auto block = blocks.begin() + until; block != blocks.end(); ++block) {
            resumed.log->record(*block);
            resumed.through->take(*block, {.threads = 1});
        }
        resumed.through->finish({.threads = 1});
        return after.at_end;
    }

    // What the first window, and the second one, have armed.
    std::vector<bool> have_armed() {
        session_file file(path);
        std::vector<bool> all;
        while (const auto read = file.next_arming()) all.push_back(read->armed != "[]");
        return all;
    }
};

TEST_F(ArmingResume, DecidesByWhatWasFound) {
    record_the_beginning();
    ASSERT_EQ(content_of(path).windows.size(), 1U);
    ASSERT_EQ(content_of(path).windows.front().was_tested, true);
    ASSERT_TRUE(have_armed().empty());

    const session_counts counts = resume_and_end();

    ASSERT_GE(have_armed().size(), 2U);
    EXPECT_TRUE(have_armed()[0]);
    EXPECT_FALSE(have_armed()[1]) << "it is armed already";
    EXPECT_EQ(counts.untested, 0U);
    EXPECT_EQ(verify_session(path).difference, "");
}

// Had it been mined in full, its chain would have been armed.
TEST_F(ArmingResume, DecidesByTheSizesThatWereSearched) {
    record_the_beginning();
    change_first_window([](recorded_window& window) {
        window.complete_to = 1;
        auto units = nlohmann::json::array();
        for (const auto& one : nlohmann::json::parse(window.episodes))
            if (one[1].size() == 1) units.push_back(one);
        ASSERT_FALSE(units.empty());
        window.episodes = units.dump();
    });

    const session_counts counts = resume_and_end();

    ASSERT_GE(have_armed().size(), 2U);
    EXPECT_FALSE(have_armed()[0]);
    EXPECT_TRUE(have_armed()[1]) << "the second window was searched to the end";
    EXPECT_EQ(counts.incomplete, 1U);
    EXPECT_EQ(verify_session(path).difference, "");
}

TEST_F(ArmingResume, DecidesNothingByAWindowThatWasNotTested) {
    record_the_beginning();
    change_first_window([](recorded_window& window) { window.was_tested = false; });

    const session_counts counts = resume_and_end();

    ASSERT_GE(have_armed().size(), 2U);
    EXPECT_FALSE(have_armed()[0]);
    EXPECT_TRUE(have_armed()[1]);
    EXPECT_EQ(counts.untested, 1U);
    EXPECT_EQ(counts.windows, 4U);
    EXPECT_EQ(verify_session(path).difference, "");
}

}  // namespace
}  // namespace spikeweave::live
