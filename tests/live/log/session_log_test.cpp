#include "live/log/session_log.hpp"

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/resource.h>

#include <csignal>
#include <memory>
#include <thread>

#include "live/log/recorded.hpp"
#include "live/log/recorded_sessions.hpp"
#include "spikeweave/core/error.hpp"
#include "support/error_text.hpp"
#include "support/run_length.hpp"
#include "support/temporary_folder.hpp"

namespace spikeweave::live {
namespace {

execution on_one_thread() {
    return {.threads = 1};
}

// Runs a statement of SQL, as any program may do.
void run_sql(const std::filesystem::path& path, const std::string& sql) {
    sqlite3* file = nullptr;
    ASSERT_EQ(sqlite3_open(path.c_str(), &file), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(file, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
        << sqlite3_errmsg(file);
    sqlite3_close(file);
}

std::string shown_name(const std::filesystem::path& path) {
    return "'" + path.string() + "'";
}

TEST(ByteRing, GivesBytesInOrder) {
    byte_ring ring(8);
    std::string came;

    EXPECT_EQ(ring.give(std::string_view("abcdef")), 6U);
    EXPECT_EQ(ring.take(came), 6U);
    EXPECT_EQ(ring.room(), 8U);
    EXPECT_EQ(ring.give(std::string_view("0123456789")), 8U) << "across the end";
    EXPECT_EQ(ring.room(), 0U);
    ring.take(came);

    EXPECT_EQ(came, "abcdef01234567");
    EXPECT_EQ(text_of([] { byte_ring(12); }), "`ring_bytes`: it is not a power of two");
}

TEST(ByteRing, LosesNothingBetweenThreads) {
    byte_ring ring(64);
    std::string sent;
    for (int i = 0; i < 20'000; ++i) sent += static_cast<char>('a' + i % 26);
    std::jthread giver([&] {
        std::string_view rest = sent;
        for (std::size_t n = 1; !rest.empty(); n = n % 50 + 1)
            rest.remove_prefix(ring.give(rest.substr(0, n)));
    });
    std::string came;
    while (came.size() < sent.size()) ring.take(came);

    EXPECT_EQ(came, sent);
}

class SessionLog : public testing::Test {
protected:
    temporary_folder folder{};
    std::filesystem::path path = folder.path() / "s.session";
    sink nowhere;

    // Records a session of these blocks.
    session_log_counts record(const session_header& header, const std::vector<source_block>& blocks,
                              const session_log_options& options = {}) {
        session_log log(path, header, options);
        recorded_results results(nowhere, log);
        session through(header.unit_names, header.analysis, results);
        for (const source_block& block : blocks) {
            log.record(block);
            through.take(block, on_one_thread());
        }
        through.finish(on_one_thread());
        return log.counts();
    }
};

TEST_F(SessionLog, HoldsWhatTheSessionTookAndFound) {
    const std::vector<source_block> blocks{
        {.spikes = {{1, unit_id{0}}, {3, unit_id{1}}}, .watermark_us = 25},
        {.new_units = {"d"}, .missing = 2, .belated = 1, .spikes = {{26, unit_id{3}}}},
        {.begins_epoch = true, .repeated = 3, .unreadable = 4, .watermark_us = -7},
    };

    record(header_of(), blocks);

    const file_content content = content_of(path);
    EXPECT_EQ(content.blocks, blocks);
    EXPECT_EQ(content.detections,
              (std::vector<recorded_detection>{{1, 0, 0, {1, 3}}, {1, 0, 1, {1, 3}}}));
    ASSERT_EQ(content.windows.size(), 1U);
    EXPECT_EQ(content.windows[0].bounds, (window_bounds{0, duration{0}, duration{20}}));
    EXPECT_EQ(content.windows[0].episodes, R"([[1,["a"]],[1,["b"]],[1,["a",[0,5],"b"]]])");
    EXPECT_EQ(content.windows[0].digest, digest_of(content.windows[0]));
    EXPECT_EQ(session_file(path).counts_at_end(),
              R"({"accepted":3,"late":0,"duplicates":0,"missing":2,"belated":1,"repeated":3,)"
              R"("unreadable":4,"epochs":1,"detections":2,"hold_off":0,"rate":0,"mute":0,)"
              R"("unchecked":0,"windows":1,"incomplete":0,"skipped":0})");
    EXPECT_EQ(names_in(folder.path()), (std::set<std::string>{"s.session"})) << "one file";
}

TEST_F(SessionLog, KeepsTheOptions) {
    session_header header =
        header_with_triggers({order_policy::lateness, duration{7}, duration{9}});
    header.analysis.detector.ties = tie_rule::order;
    header.analysis.windows->mining.min_count = {};
    header.analysis.windows->mining.min_rate = 0.1;
    header.analysis.windows->mining.self_repeats = true;
    { session_log(path, header); }

    const session_header read = session_file(path).header();

    EXPECT_EQ(read.unit_names, header.unit_names);
    EXPECT_EQ(read.analysis.order.policy, order_policy::lateness);
    EXPECT_EQ(read.analysis.order.lateness, duration{7});
    EXPECT_EQ(read.analysis.order.most_margin, duration{9});
    EXPECT_EQ(read.analysis.detector.ties, tie_rule::order);
    ASSERT_EQ(read.analysis.armed.size(), 2U);
    EXPECT_EQ(read.analysis.armed[1].what, header.analysis.armed[1].what);
    EXPECT_EQ(read.analysis.armed[1].fire_at, 2U);
    EXPECT_EQ(read.analysis.patterns.bin, duration{4});
    EXPECT_EQ(read.analysis.patterns.patterns, header.analysis.patterns.patterns);
    EXPECT_EQ(read.analysis.triggers.hold_off, duration{15});
    EXPECT_EQ(read.analysis.triggers.max_triggers, (event_rate{3, duration{40}}));
    EXPECT_EQ(read.analysis.triggers.mute_above, (event_rate{5, duration{9}}));
    EXPECT_EQ(read.analysis.triggers.mute_window, duration{9});
    EXPECT_EQ(read.analysis.triggers.max_false_alarms, std::nullopt);
    EXPECT_EQ(read.analysis.windows->hop, duration{10});
    EXPECT_EQ(read.analysis.windows->mining.delays, header.analysis.windows->mining.delays);
    EXPECT_EQ(read.analysis.windows->mining.min_count, std::nullopt);
    EXPECT_EQ(read.analysis.windows->mining.min_rate, 0.1);
    EXPECT_TRUE(read.analysis.windows->mining.self_repeats);

    header.analysis.windows.reset();
    std::filesystem::remove(path);
    { session_log(path, header); }
    EXPECT_FALSE(session_file(path).header().analysis.windows);
}

TEST_F(SessionLog, NumbersTheSpikesThatWereLeftOut) {
    record(header_of(), {{.spikes = {{5, unit_id{0}}, {4, unit_id{0}}, {6, unit_id{9}}, {7, {}}}}});

    const auto file = io::open_database(path, io::database::access::read);
    const auto row = file->prepare("SELECT hex(left_out) FROM input");
    ASSERT_TRUE(row->next_row());
    EXPECT_EQ(row->text(0), "0100000002000000") << "the late one and that of no unit";
}

TEST_F(SessionLog, KeepsHowFarSendersHaveCome) {
    record(header_of(), {{.senders = {{"left", "rig", 3, false}, {"right", "rig", 7, false}}},
                         {.senders = {{"left", "rig 2", 5, true}}},
                         {.watermark_us = 9}});

    EXPECT_EQ(
        session_file(path).senders(),
        (std::vector<sender_progress>{{"right", "rig", 7, false}, {"left", "rig 2", 5, true}}))
        << "the last one that sent is last";
}

TEST_F(SessionLog, KeepsTheMotionThatIsFollowed) {
    record(header_of(), {{.watermark_us = 5, .motion = {{2, {0.1, -2}}}},
                         {.begins_epoch = true, .motion = {{7, {1.5, 3}}}},
                         {.watermark_us = 9, .motion = {{9, {1.0 / 3, 3}}, {11, {-1e-7, 0}}}}});

    EXPECT_EQ(session_file(path).motion(),
              (std::vector<motion_step>{{7, {1.5, 3}}, {9, {1.0 / 3, 3}}, {11, {-1e-7, 0}}}))
        << "of the last epoch";
    for (const char* const text : {"0\t5\n", "0\t5\tx\n", "0\t5\t1e9\n", "5\n", "\n"}) {
        run_sql(path, std::string("UPDATE meta SET value = '") + text + "' WHERE name = 'motion'");
        EXPECT_NE(text_of([&] {
                      session_file(path).motion();
                  }).find("expected an epoch, a time and displacements"),
                  std::string::npos)
            << text;
    }
    std::filesystem::remove(path);
    record(header_of(), {{.watermark_us = 5}});
    EXPECT_TRUE(session_file(path).motion().empty());
}

TEST_F(SessionLog, WaitsForTheDiskOrLeavesOut) {
    std::vector<source_block> blocks(300);
    for (std::size_t i = 0; i < blocks.size(); ++i) blocks[i].missing = i;
    session_log_options options{.ring_bytes = 1024, .commit_every = std::chrono::milliseconds{30}};

    EXPECT_GT(record(header_of(), blocks, options).waits, 0U);
    EXPECT_EQ(content_of(path).blocks, blocks);
    EXPECT_EQ(session_file(path).unrecorded(), 0U);

    std::filesystem::remove(path);
    options.full = when_full::leave_out;
    const session_log_counts counts = record(header_of(), blocks, options);
    const std::size_t there = content_of(path).blocks.size();
    EXPECT_LE(counts.waits, 1U) << "only the end of a session has to be recorded";
    EXPECT_LT(there, blocks.size());
    EXPECT_EQ(counts.left_out, blocks.size() - there);
    EXPECT_EQ(session_file(path).unrecorded(), counts.left_out);
}

TEST_F(SessionLog, SaysThatTheDiskIsFull) {
    struct rlimit before {};
    getrlimit(RLIMIT_FSIZE, &before);
    auto* const handler = std::signal(SIGXFSZ, SIG_IGN);
    const struct rlimit small { 65'536, before.rlim_max };
    auto log = std::make_unique<session_log>(path, header_of());
    setrlimit(RLIMIT_FSIZE, &small);
    source_block block;
    block.spikes.resize(10'000);

    const std::string text = text_of([&] {
        for (int i = 0; i < 10'000; ++i) {
            log->record(block);
            std::this_thread::sleep_for(std::chrono::milliseconds{1});
        }
    });
    setrlimit(RLIMIT_FSIZE, &before);
    std::signal(SIGXFSZ, handler);
    log.reset();

    EXPECT_EQ(text.find(shown_name(path) + ": "), 0U) << text;
    EXPECT_EQ(session_file(path).counts_at_end(), std::nullopt) << "what was written is there";
}

TEST_F(SessionLog, RefusesFilesThatAreNoSessions) {
    const auto refused = [&] { return text_of([&] { session_file{path}; }); };
    const std::string name = shown_name(path);

    EXPECT_NE(refused().find(name + ": unable to open database file"), std::string::npos);
    folder.file("s.session", "time_s\tunit\n");
    EXPECT_EQ(refused(), name + ": file is not a database");
    EXPECT_EQ(text_of([&] { session_log(path, header_of()); }),
              name + ": exists already, expected a new file");
    std::filesystem::remove(path);
    run_sql(path, "CREATE TABLE input(a)");
    EXPECT_EQ(refused(), name + ": is a database, but no session of spikeweave");
    std::filesystem::remove(path);
    { session_log(path, header_of()); }
    run_sql(path, "PRAGMA user_version = 1");
    EXPECT_EQ(refused(), name + ": is a session of version 1, expected version 2 or 4");
    run_sql(path, "PRAGMA user_version = 2; DROP TABLE window");
    EXPECT_EQ(refused(), name + ": found 'nothing', expected the table 'CREATE TABLE window'");
    run_sql(path, "CREATE VIEW window AS SELECT 1");
    EXPECT_EQ(refused(), name +
                             ": found 'CREATE VIEW window AS SELECT 1', expected the table "
                             "'CREATE TABLE window'");
}

TEST_F(SessionLog, RefusesDamagedRows) {
    const auto refused = [&](const std::string& sql) {
        std::filesystem::remove(path);
        record(header_of(), {{.spikes = {{1, unit_id{0}}, {2, unit_id{1}}}, .watermark_us = 50},
                             {.new_units = {"d"}, .watermark_us = 60}});
        run_sql(path, sql);
        return text_of([&] { content_of(path); }).substr(shown_name(path).size());
    };

    EXPECT_EQ(refused("UPDATE input SET spikes = x'00' WHERE seq = 1"),
              ", table input, row 1: found 1 bytes of spikes, expected 12 for each");
    EXPECT_EQ(refused("UPDATE input SET seq = 7 WHERE seq = 2"),
              ", table input, row 7: found this number, expected 2");
    EXPECT_EQ(refused("UPDATE input SET missing = -1"),
              ", column missing: found '-1', expected a number that is not negative");
    EXPECT_EQ(refused("UPDATE input SET epoch = 1 - seq"),
              ", table input, row 2: its epoch is before that of the row before");
    EXPECT_EQ(refused("UPDATE unit SET name = 'a' WHERE id = 3"),
              ", table unit, row 3: found a name that another unit has");
    EXPECT_EQ(refused("UPDATE unit SET id = 9 WHERE id = 1"),
              ", table unit: found the id 2, expected 1");
    EXPECT_EQ(refused("UPDATE detection SET times = x'0102'"),
              ", table detection, row 1: found 2 bytes of times, expected 8 for each");
    EXPECT_EQ(refused("UPDATE detection SET suppressed = 5"),
              ", table detection, row 1: found 5 as the reason why it is no trigger, expected 0 to "
              "4");
    EXPECT_EQ(refused("UPDATE window SET digest = x'61'"),
              ", column digest: found 'a', expected text");
    EXPECT_EQ(refused("UPDATE meta SET value = '{' WHERE name = 'order'"),
              ", order: found damaged JSON");
    EXPECT_EQ(
        refused("UPDATE meta SET value = '{\"hop\":-5}' WHERE name = 'windows'").substr(0, 10),
        ", windows:");
    EXPECT_EQ(refused("UPDATE armed SET episode = '[\"x\"]'"),
              ", table armed: 'there is no unit x'");
}

TEST_F(SessionLog, RefusesNamesThatCannotStandInAFile) {
    session_header header = header_of();
    header.unit_names[1] = "b\n";
    const std::string text = "the unit 'b\\x0a' cannot stand in the file of a session";
    EXPECT_EQ(text_of([&] { session_log(path, header); }), text);
    EXPECT_TRUE(names_in(folder.path()).empty()) << "what would be no session is removed";
    session_log log(path, header_of());
    EXPECT_EQ(text_of([&] { log.record(source_block{.new_units = {"b\n"}}); }), text);
}

TEST_F(SessionLog, RecordsAnyStream) {
    std::mt19937_64 random(11);
    for (std::size_t i = 0; i < property_cases(10); ++i) {
        const auto blocks = random_stream(random, 1 + random() % 80);
        std::filesystem::remove(path);
        record(header_of(random_policy(random)), blocks, {.survive_power_failure = false});
        ASSERT_EQ(content_of(path).blocks, blocks) << "case " << i;
    }
}

}  // namespace
}  // namespace spikeweave::live
