#include <gtest/gtest.h>

#include "io/database.hpp"
#include "io/little_endian.hpp"
#include "io/session_schema.hpp"
#include "support/spike_files.hpp"
#include "support/temporary_folder.hpp"

namespace spikeweave {
namespace {

std::string spike_bytes(const std::vector<std::pair<std::int64_t, std::uint32_t>>& spikes) {
    std::string bytes;
    for (const auto& [time, unit] : spikes) {
        io::append(bytes, time);
        io::append(bytes, unit);
    }
    return bytes;
}

class SessionFiles : public testing::Test {
protected:
    temporary_folder folder{};
    std::filesystem::path path = folder.path() / "today.session";
    std::unique_ptr<io::database> file{};

    void SetUp() override {
        file = io::open_database(path, io::database::access::create);
        file->run("PRAGMA synchronous = OFF");
        io::create_session_tables(*file);
        file->run("INSERT INTO unit VALUES (0, 'b', 0), (1, 'a', 0), (2, 'silent', 1)");
    }

    void add_block(int epoch, const std::string& spikes, std::string_view left_out = {}) {
        const auto row = file->prepare(
            "INSERT INTO input(arrived_us, epoch, missing, belated, repeated, unreadable, "
            "unrecorded, spikes, left_out) VALUES (0, ?, 0, 0, 0, 0, 0, ?, ?)");
        row->bind(1, std::int64_t{epoch}).bind_bytes(2, spikes).bind_bytes(3, left_out).run();
    }

    std::string error() {
        file.reset();
        return error_of(path);
    }
};

TEST_F(SessionFiles, HoldTheSpikesThatWereAnalysed) {
    using namespace std::string_view_literals;
    add_block(0, spike_bytes({{7, 0}, {5, 1}, {6, 9}, {3, 0}}), "\2\0\0\0\3\0\0\0"sv);
    add_block(0, "");
    add_block(0, spike_bytes({{9, 0}, {9, 0}}));

    const spike_file read = read_spikes(path);

    EXPECT_EQ(read.format, spike_format::session);
    EXPECT_EQ(named(read.spikes), (named_spikes{{5, "a"}, {7, "b"}, {9, "b"}}));
    EXPECT_EQ(read.spikes.unit_names(), (std::vector<std::string>{"a", "b", "silent"}));
    EXPECT_EQ(read.duplicates, 1U);
    EXPECT_TRUE(read.warnings.empty());
}

TEST_F(SessionFiles, AreReadWhereTheClockDidNotStartAgain) {
    add_block(0, spike_bytes({{7, 0}}));
    add_block(1, spike_bytes({{1, 0}, {2, 1}}));
    file->run("UPDATE input SET unrecorded = 3 WHERE seq = 2");

    const spike_file read = read_spikes(path);

    EXPECT_EQ(named(read.spikes), (named_spikes{{1, "b"}, {2, "a"}}));
    EXPECT_EQ(read.warnings,
              (std::vector<std::string>{
                  "3 blocks and results of the session are not in the file, because the disk was "
                  "too slow.",
                  "The clock started again during the session, so times are comparable only within "
                  "its 2 epochs; epoch 1 with 2 of 3 spikes is read."}));
}

TEST_F(SessionFiles, MayHaveTimesBeforeZero) {
    add_block(0, spike_bytes({{-7, 0}}));
    EXPECT_EQ(named(read_spikes(path, {.allow_negative = true}).spikes), (named_spikes{{-7, "b"}}));
    EXPECT_SAYS(error(), "table input, row 1: found the time -7 us before zero");
}

TEST_F(SessionFiles, SayWhatIsWrong) {
    EXPECT_SAYS(error(), "holds no spikes");
    const auto error_with = [&](const std::string& spikes, std::string_view left_out,
                                const std::string& sql = "") {
        std::filesystem::remove(path);
        SetUp();
        add_block(0, spikes, left_out);
        file->run(sql);
        return error();
    };
    EXPECT_SAYS(error_with("12345", ""), "row 1: found 5 bytes of spikes, expected 12 for each");
    EXPECT_SAYS(error_with("", "1"), "row 1: found 1 bytes of numbers of spikes, expected 4");
    EXPECT_SAYS(error_with(spike_bytes({{1, 3}}), ""),
                "row 1: found a spike of unit 3, but there are 3 units");
    EXPECT_SAYS(error_with(spike_bytes({{1, 0}}), "aaaa"),
                "row 1: found 1633771873 as the number of a spike that was left out");
    EXPECT_SAYS(error_with(spike_bytes({{INT64_MAX, 0}}), ""), "expected one within 73,000 years");
    EXPECT_SAYS(error_with("", "", "UPDATE unit SET name = char(7) WHERE id = 1"),
                "found the id 1 and the name '\\x07', expected the id 1 and a printable name");
    EXPECT_SAYS(error_with("", "", "PRAGMA user_version = 9"),
                "is a session of version 9, expected version 2 or 4");
    EXPECT_SAYS(error_with("", "", "UPDATE input SET spikes = 'text'"),
                "column spikes: found 'text', expected bytes");
}

// A file that is cut or damaged anywhere is read or refused in one line.
TEST_F(SessionFiles, MayBeDamagedAnywhere) {
    for (std::int64_t i = 0; i < 300; ++i) add_block(0, spike_bytes({{i, 0}, {i, 1}}));
    file.reset();
    const std::string whole = read_bytes(path);
    std::size_t refused = 0;
    for (std::size_t at = 16; at < whole.size(); at += 97) {
        std::string bytes = whole;
        if (at % 2 == 0)
            bytes.resize(at);
        else
            bytes[at] = static_cast<char>(~bytes[at]);
        const auto damaged = folder.file("damaged.session", bytes);
        try {
            static_cast<void>(read_spikes(damaged, {.format = spike_format::session}));
        } catch (const io_error& error) {
            ++refused;
            EXPECT_SAYS(std::string(error.what()), damaged.string());
        }
    }
    EXPECT_GT(refused, whole.size() / 97 / 2);
}

}  // namespace
}  // namespace spikeweave
