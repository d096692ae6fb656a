// Sessions in which episodes are armed automatically, recorded, verified and resumed.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "live/arming/planted_chains.hpp"
#include "live/log/recorded_sessions.hpp"
#include "live/log/resume.hpp"
#include "support/run_length.hpp"
#include "support/temporary_folder.hpp"

namespace spikeweave::live {
namespace {

constexpr session_log_options unsafe{.commit_every = std::chrono::milliseconds{1},
                                     .survive_power_failure = false};

session_header arming_header(std::mt19937_64& random) {
    const auto length = static_cast<std::int64_t>(1 + random() % 2) * 100 * ms;
    session_header header{
        named_units_of(4),
        arming_analysis(duration{length}, duration{random() % 2 == 0 ? 0 : length / 2},
                        {.arm_after = 2, .arm_windows = 3})};
    header.analysis.armed = {{{{unit_id{3}, unit_id{1}}, {{duration{0}, duration{5 * ms}}}}}};
    header.analysis.triggers.max_triggers = event_rate{3, duration{100 * ms}};
    return header;
}

std::vector<recorded_arming> armings_of(const std::filesystem::path& path) {
    session_file file(path);
    std::vector<recorded_arming> all;
    while (auto read = file.next_arming()) all.push_back(std::move(*read));
    return all;
}

// Windows take up to 8 ms, so that decisions come late.
struct slow_results : sink {
    std::mt19937_64 draw{5};
    void take(const event& what) override {
        what.visit(handlers{[&](const mined_window&) {
                                std::this_thread::sleep_for(
                                    std::chrono::microseconds{draw() % 8'000});
                            },
                            [](const block_ended&) {
                                std::this_thread::sleep_for(std::chrono::microseconds{300});
                            }});
    }
};

// Some windows are skipped, and the search of some ends early, in a third of the cases each.
session_header slow_header(std::mt19937_64& random, std::size_t number) {
    session_header header = arming_header(random);
    header.analysis.pace = {.beside = true};
    if (number % 3 == 1) header.analysis.pace.budget = std::chrono::milliseconds{3};
    if (number % 3 == 2) header.analysis.pace.max_memory_bytes = 1;
    return header;
}

class ArmingLog : public testing::Test {
protected:
    temporary_folder folder{};
    std::filesystem::path path = folder.path() / "s.session";
    sink nowhere;

    // Records these blocks; the session is interrupted unless it is finished.
    session_counts record(const session_header& header, const std::vector<source_block>& blocks,
                          bool finish, sink& to) {
        session_log log(path, header, unsafe);
        recorded_results results(to, log);
        session through(header.unit_names, header.analysis, results);
        for (const source_block& block : blocks) {
            log.record(block);
            through.take(block, {.threads = 1});
        }
        if (finish) through.finish({.threads = 1});
        return through.counts();
    }

    // What a kill loses is the end of the record, here some results of the last block.
    void cut_record(std::int64_t last_block, std::int64_t time_us) {
        const auto file = io::open_database(path, io::database::access::write);
        for (const auto& [table, time] :
             {std::pair("detection", "end_us"), {"arming", "from_us"}, {"window", "end_us"}})
            file->run(fmt::format("DELETE FROM {} WHERE input = {} AND {} >= {}", table, last_block,
                                  time, time_us));
    }
};

TEST_F(ArmingLog, IsVerified) {
    std::mt19937_64 random(31);
    std::size_t decisions = 0, detections = 0;
    for (std::size_t i = 0; i < std::max<std::size_t>(property_cases(20), 4); ++i) {
        std::filesystem::remove(path);
        const session_counts counts =
            record(arming_header(random), changing_stream(random, 80), true, nowhere);

        for (const int threads : {1, 2}) {
            const verification found = verify_session(path, {.threads = threads});
            ASSERT_EQ(found.difference, "") << "case " << i;
            ASSERT_TRUE(found.late.empty());
            ASSERT_EQ(static_cast<std::size_t>(found.armings), armings_of(path).size());
        }
        decisions += armings_of(path).size();
        detections += counts.arming->armed > 0 ? counts.detections : 0;
    }
    EXPECT_GT(decisions, 20U);
    EXPECT_GT(detections, 100U);
}

// Decisions that came at any time are applied where they were, and only their times differ from the
// rule.
TEST_F(ArmingLog, OfDecisionsThatCameLateIsVerified) {
    std::mt19937_64 random(32);
    std::size_t late = 0, skipped = 0;
    for (std::size_t i = 0; i < std::max<std::size_t>(property_cases(12), 6); ++i) {
        std::filesystem::remove(path);
        slow_results slow;
        const session_counts counts =
            record(slow_header(random, i), changing_stream(random, 80), i % 2 == 0, slow);

        for (const int threads : {1, 2}) {
            const verification found = verify_session(path, {.threads = threads});
            ASSERT_EQ(found.difference, "") << "case " << i;
            ASSERT_EQ(found.late.size(), counts.arming->late);
        }
        late += counts.arming->late;
        skipped += counts.skipped;
    }
    EXPECT_GT(late, 0U);
    EXPECT_GT(skipped, 0U);
}

// Resumed at any place, a session gives what an uninterrupted one gives. The record may end within
// the results of its last block.
TEST_F(ArmingLog, GoesOnAfterAnInterruption) {
    std::mt19937_64 random(33);
    std::size_t armed_before = 0, armed_after = 0, cut_armings = 0;
    for (std::size_t i = 0; i < std::max<std::size_t>(property_cases(20), 6); ++i) {
        const auto blocks = changing_stream(random, 80);
        const session_header header = arming_header(random);
        std::filesystem::remove(path);
        arming_results uninterrupted;
        record(header, blocks, true, uninterrupted);
        const file_content whole = content_of(path);
        const auto whole_armings = armings_of(path);

        auto until = static_cast<std::ptrdiff_t>(1 + random() % blocks.size());
        if (random() % 2 == 0 && !whole_armings.empty())
            until = whole_armings[random() % whole_armings.size()].input;
        std::filesystem::remove(path);
        record(header, {blocks.begin(), blocks.begin() + until}, false, nowhere);
        const auto complete = armings_of(path);
        const auto& last = blocks[static_cast<std::size_t>(until) - 1].spikes;
        if (!last.empty()) cut_record(until, last[random() % last.size()].time_us);
        const auto left = armings_of(path);
        cut_armings += complete.size() - left.size();
        ASSERT_EQ(verify_session(path, {.threads = 1}).difference, "") << "case " << i;
        arming_results after;
        {
            resumed_session resumed = resume_session(path, after, unsafe, {.threads = 1});
            for (auto block = blocks.begin() + until; block != blocks.end(); ++block) {
                resumed.log->record(*block);
                resumed.through->take(*block, {.threads = 1});
            }
            resumed.through->finish({.threads = 1});
        }
        ASSERT_EQ(content_of(path), whole) << "case " << i;
        ASSERT_EQ(armings_of(path), whole_armings) << "case " << i;
        ASSERT_EQ(after.at_end, uninterrupted.at_end);
        for (std::size_t k = 0; k < after.changes.size(); ++k)
            ASSERT_EQ(after.changes[k].was_told, k < left.size());
        ASSERT_EQ(verify_session(path, {.threads = 2}).difference, "");
        for (const recorded_arming& one : left) armed_before += one.armed != "[]" ? 1 : 0;
        for (std::size_t k = left.size(); k < whole_armings.size(); ++k)
            armed_after += whole_armings[k].armed != "[]" ? 1 : 0;
    }
    EXPECT_GT(armed_before, 0U);
    EXPECT_GT(armed_after, 0U);
    EXPECT_GT(cut_armings, 0U);
}

// What had not taken effect before the interruption takes effect after it, and windows that were
// skipped count as skipped.
TEST_F(ArmingLog, GoesOnWhereDecisionsWereLate) {
    std::mt19937_64 random(34);
    std::size_t pending = 0, skipped = 0;
    for (std::size_t i = 0; i < std::max<std::size_t>(property_cases(15), 9); ++i) {
        const auto blocks = changing_stream(random, 80);
        const auto until = static_cast<std::ptrdiff_t>(30 + random() % 50);
        std::filesystem::remove(path);
        slow_results slow;
        skipped +=
            record(slow_header(random, i), {blocks.begin(), blocks.begin() + until}, false, slow)
                .skipped;
        const std::size_t before = armings_of(path).size();
        {
            resumed_session resumed = resume_session(path, nowhere, unsafe, {.threads = 1});
            for (auto block = blocks.begin() + until; block != blocks.end(); ++block) {
                resumed.log->record(*block);
                resumed.through->take(*block, {.threads = 1});
            }
            resumed.through->finish({.threads = 1});
        }
        ASSERT_EQ(verify_session(path, {.threads = 1}).difference, "") << "case " << i;
        const auto after = armings_of(path);
        for (std::size_t k = before; k < after.size(); ++k)
            pending += after[k].is_late && after[k].input <= until + 1 ? 1 : 0;
    }
    EXPECT_GT(pending, 0U);
    EXPECT_GT(skipped, 0U);
}

}  // namespace
}  // namespace spikeweave::live
