#include "live/log/resume.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <thread>

#include "live/log/recorded_blocks.hpp"
#include "live/log/recorded_sessions.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/live/feed.hpp"
#include "support/error_text.hpp"
#include "support/run_length.hpp"
#include "support/temporary_folder.hpp"

namespace spikeweave::live {
namespace {

constexpr session_log_options quick{.ring_bytes = 4096,
                                    .commit_every = std::chrono::milliseconds{1},
                                    .survive_power_failure = false};

// Takes blocks one after another, as a source gives them, from the given one on.
void take_blocks(session& through, session_log& log, const std::vector<source_block>& blocks,
                 std::size_t from, const auto& after_each) {
    for (std::size_t i = from; i < blocks.size(); ++i) {
        log.record(blocks[i]);
        through.take(blocks[i], {.threads = 1});
        after_each();
    }
}

void record_all(const std::filesystem::path& path, const session_header& header,
                const std::vector<source_block>& blocks) {
    sink nowhere;
    session_log log(path, header, quick);
    recorded_results results(nowhere, log);
    session through(header.unit_names, header.analysis, results);
    take_blocks(through, log, blocks, 0, [] {});
    through.finish({.threads = 1});
}

// What another process records until it is killed; returns how many blocks it was told were on the
// disk.
std::int64_t record_until_killed(const std::filesystem::path& path, const session_header& header,
                                 const std::vector<source_block>& blocks,
                                 std::chrono::microseconds lifetime) {
    using counter = std::atomic<std::int64_t>;
    void* const shared =
        mmap(nullptr, sizeof(counter), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    auto* const durable = new (shared) counter(-1);
    const pid_t child = fork();
    if (child == 0) {
        sink nowhere;
        session_log log(path, header, quick);
        recorded_results results(nowhere, log);
        session through(header.unit_names, header.analysis, results);
        durable->store(0);
        take_blocks(through, log, blocks, 0, [&] {
            durable->store(log.durable_inputs());
            std::this_thread::sleep_for(std::chrono::microseconds{100});
        });
        std::this_thread::sleep_for(std::chrono::seconds{100});
        _exit(0);
    }
    while (durable->load() < 0) std::this_thread::yield();
    std::this_thread::sleep_for(lifetime);
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    const std::int64_t told = durable->load();
    munmap(shared, sizeof(counter));
    return told;
}

class Resume : public testing::Test {
protected:
    temporary_folder folder{};
    std::filesystem::path path = folder.path() / "s.session";
    sink nowhere;
};

// Killed at any moment, the file holds the first blocks, with those that were told to be on the
// disk. Resumed with the others, it holds what an uninterrupted session records.
TEST_F(Resume, GivesTheResultsOfAnUninterruptedSession) {
    std::mt19937_64 random(5);
    std::size_t detections = 0, windows = 0, partly = 0, suppressed = 0;
    const std::size_t cases = property_cases(20);
    for (std::size_t i = 0; i < cases; ++i) {
        const auto blocks = random_stream(random, 60);
        const session_header header = header_with_triggers(random_policy(random));
        const auto lifetime = std::chrono::microseconds{random() % 15'000};
        std::filesystem::remove_all(folder.path());
        std::filesystem::create_directory(folder.path());
        const std::int64_t told = record_until_killed(path, header, blocks, lifetime);

        const file_content left = content_of(path);
        ASSERT_GE(left.blocks.size(), static_cast<std::size_t>(told));
        ASSERT_LE(left.blocks.size(), blocks.size());
        ASSERT_TRUE(std::equal(left.blocks.begin(), left.blocks.end(), blocks.begin()));
        ASSERT_EQ(verify_session(path, {.threads = 1}).difference, "") << "case " << i;
        {
            resumed_session resumed = resume_session(path, nowhere, quick, {.threads = 1});
            ASSERT_EQ(static_cast<std::size_t>(resumed.inputs), left.blocks.size());
            take_blocks(*resumed.through, *resumed.log, blocks, left.blocks.size(), [] {});
            resumed.through->finish({.threads = 1});
        }
        const auto uninterrupted = folder.path() / "whole.session";
        record_all(uninterrupted, header, blocks);

        const file_content whole = content_of(path);
        ASSERT_EQ(whole, content_of(uninterrupted)) << "case " << i;
        ASSERT_EQ(session_file(path).counts_at_end(), session_file(uninterrupted).counts_at_end());
        ASSERT_EQ(verify_session(path, {.threads = static_cast<int>(1 + i % 2)}).difference, "");
        detections += whole.detections.size();
        windows += whole.windows.size();
        for (const recorded_detection& one : whole.detections)
            suppressed += one.suppressed == suppression::none ? 0 : 1;
        partly += left.blocks.size() < blocks.size() ? 1 : 0;
    }
    EXPECT_GT(detections, cases);
    EXPECT_GT(windows, cases);
    EXPECT_GT(suppressed, cases);
    EXPECT_GT(partly, cases / 4);
}

// Windows that were skipped are not mined when the record is replayed, and others only as far as
// they were then.
TEST_F(Resume, VerificationDoesWhatWasDoneInTime) {
    std::mt19937_64 random(8);
    std::size_t skipped = 0, windows = 0;
    for (std::size_t i = 0; i < std::max<std::size_t>(property_cases(6), 3); ++i) {
        const auto blocks = random_stream(random, 100);
        session_header header = header_of(random_policy(random));
        header.analysis.pace = {.beside = true};
        if (i % 3 == 0) header.analysis.pace.budget = std::chrono::milliseconds{2};
        if (i % 3 == 1) header.analysis.pace.max_memory_bytes = 1;
        if (i % 3 == 2) header.analysis.pace.budget = std::chrono::hours{1};
        std::filesystem::remove(path);
        struct slow_results : sink {
            std::size_t windows = 0;
            void take(const event& what) override {
                what.visit(handlers{[&](const mined_window&) {
                    if (++windows % 4 == 0)
                        std::this_thread::sleep_for(std::chrono::milliseconds{4});
                }});
            }
        } slow;
        session_log log(path, header, quick);
        recorded_results results(slow, log);
        session through(header.unit_names, header.analysis, results);
        take_blocks(through, log, blocks, 0, [] {});
        through.finish({.threads = 1});
        skipped += through.counts().skipped;
        windows += through.counts().windows;

        const file_content content = content_of(path);
        ASSERT_EQ(content.windows.size(), through.counts().windows + through.counts().skipped);
        ASSERT_EQ(verify_session(path, {.threads = 1}).difference, "") << "case " << i;
    }
    EXPECT_GT(skipped, 0U);
    EXPECT_GT(windows, 0U);
}

// Those that waited when the program was killed are mined when it goes on.
TEST_F(Resume, MinesTheWindowsThatWereNotRecorded) {
    std::mt19937_64 random(9);
    for (std::size_t i = 0; i < property_cases(6); ++i) {
        const auto blocks = random_stream(random, 100);
        const session_header header = header_of(random_policy(random));
        std::filesystem::remove_all(folder.path());
        std::filesystem::create_directory(folder.path());
        const auto uninterrupted = folder.path() / "whole.session";
        record_all(uninterrupted, header, blocks);
        const file_content whole = content_of(uninterrupted);
        {
            session_log log(path, header, quick);
            recorded_results results(nowhere, log);
            session through(header.unit_names, header.analysis, results);
            take_blocks(through, log, {blocks.begin(), blocks.begin() + 50}, 0, [] {});
        }
        {
            const auto file = io::open_database(path, io::database::access::write);
            file->run("DELETE FROM window WHERE seq > " + std::to_string(random() % 10));
        }
        ASSERT_EQ(verify_session(path, {.threads = 1}).difference, "");
        const bool beside = i % 2 == 0;
        {
            resumed_session resumed =
                resume_session(path, nowhere, quick, {.threads = 1}, {.pace = {.beside = beside}});
            take_blocks(*resumed.through, *resumed.log, blocks, 50, [] {});
            resumed.through->finish({.threads = 1});
        }
        ASSERT_EQ(content_of(path), whole) << "case " << i;
        ASSERT_EQ(session_file(path).counts_at_end(), session_file(uninterrupted).counts_at_end());
    }
}

TEST_F(Resume, GoesOnAfterAnInterruptionThatWasNoKill) {
    const std::vector<source_block> blocks{{.spikes = {{1, unit_id{0}}}},
                                           {.spikes = {{3, unit_id{1}}}}};
    {
        session_log log(path, header_of(), quick);
        log.record(blocks[0]);
    }
    {
        resumed_session resumed = resume_session(path, nowhere, quick, {.threads = 1});
        EXPECT_EQ(resumed.log->durable_inputs(), 1);
        take_blocks(*resumed.through, *resumed.log, blocks, 1, [] {});
        resumed.through->finish();
    }

    EXPECT_EQ(content_of(path).detections.front(), (recorded_detection{2, 0, 0, {1, 3}}));
    EXPECT_EQ(text_of([&] { resume_session(path, nowhere); }),
              "'" + path.string() + "': is a session that was ended, expected an interrupted one");
}

TEST_F(Resume, RefusesASessionThatLacksRecords) {
    {
        session_log log(path, header_of(),
                        {.ring_bytes = 256,
                         .commit_every = std::chrono::milliseconds{50},
                         .full = when_full::leave_out});
        for (int i = 0; i < 100; ++i) log.record(source_block{});
        std::this_thread::sleep_for(std::chrono::milliseconds{200});
        log.record(source_block{});
    }
    const std::string text = text_of([&] { resume_session(path, nowhere); });
    EXPECT_NE(text.find("because the disk was too slow"), std::string::npos) << text;
    EXPECT_NE(verify_session(path).difference.find("records were left out"), std::string::npos);
}

TEST_F(Resume, VerificationSaysTheFirstDifference) {
    const auto difference_after = [&](const std::string& sql) {
        std::filesystem::remove(path);
        record_all(path, header_of(),
                   {{.spikes = {{1, unit_id{0}}, {3, unit_id{1}}}, .watermark_us = 30}});
        EXPECT_EQ(verify_session(path, {.threads = 1}).difference, "");
        const auto file = io::open_database(path, io::database::access::write);
        file->run(sql);
        return verify_session(path, {.threads = 1}).difference;
    };

    EXPECT_EQ(difference_after("UPDATE detection SET armed = 1 WHERE seq = 1"),
              "detection 1: armed 1 at 1, 3 us in epoch 0, after block 1 was recorded, armed 0 "
              "at 1, 3 us in epoch 0, after block 1 was computed");
    EXPECT_EQ(difference_after("UPDATE detection SET suppressed = 2 WHERE seq = 1"),
              "detection 1: armed 0 at 1, 3 us in epoch 0, after block 1, suppressed by rate was "
              "recorded, armed 0 at 1, 3 us in epoch 0, after block 1 was computed");
    EXPECT_EQ(difference_after("DELETE FROM detection WHERE seq = 2"),
              "detection 2: nothing was recorded, armed 1 at 1, 3 us in epoch 0, after block 1 "
              "was computed");
    EXPECT_EQ(difference_after("INSERT INTO detection VALUES (3, 1, 0, 0, 1, 1, x'', 0)"),
              "detection 3: armed 0 at  us in epoch 0, after block 1 was recorded, nothing was "
              "computed");
    EXPECT_EQ(
        difference_after("UPDATE window SET complete_to = 1").find("window 1: its digest is "), 0U);
    EXPECT_EQ(difference_after("UPDATE window SET spikes = 3").find("window 1: its digest is "),
              0U);
    EXPECT_EQ(difference_after("DELETE FROM window")
                  .find("window 1: nothing was recorded, window 0 of epoch 0 with 2 spikes"),
              0U);
    EXPECT_EQ(difference_after("UPDATE meta SET value = 'x' WHERE name = 'counts'")
                  .find("the counts at the end: x was recorded, {\"accepted\":2"),
              0U);
}

// At any speed, and on any number of threads.
TEST_F(Resume, ReplayGivesTheRecordedBlocks) {
    std::mt19937_64 random(3);
    const auto blocks = random_stream(random, 40);
    record_all(path, header_of(), blocks);
    for (const double speed : {0.0, 1.0, 100.0}) {
        session_file file(path);
        recorded_blocks from(file, speed);
        std::vector<source_block> came;
        while (auto block = from.next()) came.push_back(std::move(*block));
        EXPECT_EQ(came, blocks) << "at speed " << speed;
    }
    session_file file(path);
    EXPECT_EQ(text_of([&] { recorded_blocks(file, -1); }), "`speed`: it is negative");
    std::stop_source stop;
    stop.request_stop();
    EXPECT_FALSE(recorded_blocks(file, 1, stop.get_token()).next());
}

// Fails at the first result that is given because the session ends.
struct failing_end : sink {
    bool is_ending = false;
    void take(const event& what) override {
        what.visit(handlers{[&](const session_ends&) { is_ending = true; },
                            [&](const detection&) {
                                if (is_ending) throw io_error("no room");
                            }});
    }
};

// If the session went on, more spikes could come before those that the end gives out.
TEST_F(Resume, HasNoResultsOfAnEndThatFailed) {
    const session_header header =
        header_of({.policy = order_policy::lateness, .lateness = duration{100}});
    {
        failing_end to;
        session_log log(path, header, quick);
        recorded_results results(to, log);
        session through(header.unit_names, header.analysis, results);
        take_blocks(through, log, {{.spikes = {{1, unit_id{0}}, {3, unit_id{1}}}}}, 0, [] {});
        EXPECT_THROW(through.finish(), io_error);
        std::this_thread::sleep_for(20 * quick.commit_every);
    }
    EXPECT_EQ(content_of(path).blocks.size(), 1U);
    EXPECT_TRUE(content_of(path).detections.empty());
    EXPECT_EQ(verify_session(path).difference, "");
}

TEST_F(Resume, GoesOnWithTheSessionOfAFeedThatWasNotEnded) {
    const auto record = [](const std::filesystem::path& to, const auto& leave) {
        live_options options;
        options.speed = 0;
        options.armed = {{{"a", "b"}, {{duration{0}, duration{5}}}}};
        options.windows = false;
        options.record = to;
        live_feed feed(options);
        const auto next = [&] { return feed.next(std::chrono::milliseconds{20}); };
        while (!feed.wants_block()) EXPECT_FALSE(next());
        feed.add({.times_us = {1, 3}, .units = {unit_id{0}, unit_id{1}}, .unit_names = {"a", "b"}});
        while (!next()) EXPECT_FALSE(feed.is_over());
        leave(feed);
    };
    record(path, [](live_feed&) {});
    EXPECT_EQ(resume_session(path, nowhere).inputs, 1);

    const auto ended = folder.path() / "ended.session";
    record(ended, [](live_feed& feed) {
        feed.end();
        while (!feed.is_over()) feed.next(std::chrono::milliseconds{20});
    });
    EXPECT_NE(text_of([&] { resume_session(ended, nowhere); }).find("was ended"),
              std::string::npos);
}

}  // namespace
}  // namespace spikeweave::live
