// Laws for every format: what is written is read back unchanged, and damage causes errors only.

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <map>
#include <random>

#include "support/damaged_files.hpp"
#include "support/run_length.hpp"
#include "support/shared_data.hpp"
#include "support/spike_files.hpp"
#include "support/temporary_folder.hpp"

namespace spikeweave {
namespace {

std::vector<std::string> written_extensions() {
    std::vector<std::string> out{".tsv", ".csv", ".txt", ".tsv.gz", ".csv.gz", ".npz"};
#ifdef SPIKEWEAVE_TEST_NWB
    out.emplace_back(".nwb");
#endif
    return out;
}

spike_sequence with_ties_by_unit(const spike_sequence& spikes) {
    std::vector<std::pair<std::int64_t, unit_id>> events;
    for (std::size_t i = 0; i < spikes.size(); ++i)
        events.emplace_back(spikes.times_us()[i], spikes.units()[i]);
    std::sort(events.begin(), events.end());
    std::vector<std::int64_t> times;
    std::vector<unit_id> units;
    for (const auto& [time, unit] : events) {
        times.push_back(time);
        units.push_back(unit);
    }
    return {times, units, spikes.unit_names(), spikes.span()};
}

TEST(SpikeFiles, ReadWhatTheyWrote) {
    const temporary_folder folder;
    for (const std::string& extension : written_extensions()) {
        for (const std::size_t count : {1, 2, 77, 1'000, is_shortened_run() ? 20'000 : 200'000}) {
            for (const bool numbered : {true, false}) {
                const spike_sequence spikes = random_spikes(count, count, numbered);
                const auto path = folder.path() / ("a" + extension);

                write_spikes(path, spikes);

                const spike_file file = read_spikes(path);
                // NWB stores unit by unit, so the order of ties is lost.
                const bool ordered = extension != ".nwb";
                EXPECT_TRUE(file.spikes == (ordered ? spikes : with_ties_by_unit(spikes)))
                    << extension << ' ' << count;
                EXPECT_EQ(file.duplicates, 0U);
                EXPECT_EQ(file.out_of_order, 0U);
                const std::string bytes = read_bytes(path);
                write_spikes(path, spikes);
                EXPECT_TRUE(read_bytes(path) == bytes) << extension << " differs from run to run";
            }
        }
    }
}

TEST(SpikeFiles, ReadASpanWithoutSpikesAndNegativeTimesAsTheyWroteThem) {
    const temporary_folder folder;
    const spike_sequence silent({}, {}, {"a", "b"}, {duration{5}, duration{9'000'001}});
    const spike_sequence early({-2'500'001, 3}, {unit_id{0}, unit_id{1}}, {"0", "7"},
                               {duration{-3'000'000}, duration{4}});
    for (const std::string& extension : written_extensions()) {
        const auto path = folder.path() / ("a" + extension);
        for (const spike_sequence& spikes : {silent, early}) {
            write_spikes(path, spikes);
            EXPECT_EQ(read_spikes(path, {.allow_negative = true}).spikes, spikes) << extension;
        }
        EXPECT_SAYS(error_of(path), "before zero");
    }
}

TEST(SpikeFiles, RefuseNamesThatWouldComeBackAsOthers) {
    const temporary_folder folder;
    const auto with_name = [](const std::string& name) {
        return spike_sequence({1}, {unit_id{0}}, {name}, {duration{0}, duration{1}});
    };
    for (const char* name : {"a\tb", "1.0", "", " a", "a\nb", "\xff"})
        EXPECT_THROW(write_spikes(folder.path() / "a.tsv", with_name(name)), invalid_argument);
    EXPECT_THROW(write_spikes(folder.path() / "a.npz", with_name("\xff")), invalid_argument);
    EXPECT_THROW(write_spikes(folder.path() / "a.xls", with_name("a")), invalid_argument);
    EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(SpikeFiles, LeaveNothingBehindWhenStopped) {
    const temporary_folder folder;
    const spike_sequence spikes = random_spikes(1, 300'000, true);
    for (const std::string& extension : written_extensions()) {
        std::stop_source stop;
        execution run{.on_progress = [&](const progress_report&) { stop.request_stop(); },
                      .stop = stop.get_token()};
        EXPECT_THROW(write_spikes(folder.path() / ("a" + extension), spikes, run), cancelled);
        EXPECT_TRUE(std::filesystem::is_empty(folder.path())) << extension;
    }
}

TEST(SpikeFiles, TellHowFarTheyAreAndStopReading) {
    const temporary_folder folder;
    const spike_sequence spikes = random_spikes(2, 300'000, true);
    for (const std::string& extension : written_extensions()) {
        const auto path = folder.path() / ("a" + extension);
        write_spikes(path, spikes);
        std::uint64_t last = 0;
        std::uint64_t total = 0;
        execution run{.on_progress = [&](const progress_report& now) {
            EXPECT_EQ(now.task, "reading a" + extension);
            EXPECT_GE(now.done, last);
            last = now.done;
            total = now.total;
        }};
        static_cast<void>(read_spikes(path, {}, run));
        EXPECT_GT(total, 0U);
        EXPECT_EQ(last, total);

        std::stop_source stop;
        run.on_progress = [&](const progress_report&) { stop.request_stop(); };
        run.stop = stop.get_token();
        EXPECT_THROW(read_spikes(path, {}, run), cancelled) << extension;
    }
}

TEST(SpikeFiles, AreAbsentWhenTheDiskIsFull) {
    const temporary_folder folder;
    const spike_sequence spikes = random_spikes(3, 100'000, true);
    const auto ignored = std::signal(SIGXFSZ, SIG_IGN);
    rlimit before{};
    getrlimit(RLIMIT_FSIZE, &before);
    const rlimit small{100'000, before.rlim_max};
    for (const std::string& extension : written_extensions()) {
        setrlimit(RLIMIT_FSIZE, &small);
        EXPECT_THROW(write_spikes(folder.path() / ("a" + extension), spikes), io_error);
        setrlimit(RLIMIT_FSIZE, &before);
        EXPECT_TRUE(std::filesystem::is_empty(folder.path())) << extension;
    }
    std::signal(SIGXFSZ, ignored);
}

// Small files of every format, by name.
std::map<std::string, std::string> small_files() {
    const temporary_folder folder;
    std::map<std::string, std::string> out;
    for (const bool numbered : {true, false}) {
        for (const std::string& extension : written_extensions()) {
            const auto path = folder.path() / ((numbered ? "n" : "s") + extension);
            write_spikes(path, random_spikes(5, 6, numbered));
            out[path.filename().string()] = read_bytes(path);
        }
    }
    out["a.spk.txt"] = "0.06012 56\n0.06160 60\n0.15328 12\n";
    out["a.spike"] = meabench_record(25, 12, false) + meabench_record(50, 60, false);
    out["b.spike"] = meabench_record(25, 12, true) + meabench_record(50, 60, true);
    out["a.npy"] = npy_bytes<double>(io::npy_kind::real, {0.5, 3, 0.75, 1}, {2, 2});
    out["a.res.1"] = "20\n40\n60\n";
    return out;
}

// Reading may fail only with the documented errors.
void read_damaged(const std::filesystem::path& path) {
    try {
        static_cast<void>(read_spikes(path));
    } catch (const io_error& error) {
        EXPECT_SAYS(std::string(error.what()), path.parent_path().string());
    } catch (const invalid_argument&) {
    }
}

void flip(std::string& bytes, std::size_t bit) {
    char& byte = bytes[bit / 8];
    byte = static_cast<char>(static_cast<unsigned char>(byte) ^ (1U << bit % 8));
}

TEST(DamagedSpikeFiles, GiveAnErrorWhereverTheyAreCut) {
    const temporary_folder folder;
    folder.file("a.clu.1", "2\n2\n2\n1\n");
    folder.file("a.xml", "<samplingRate>20000</samplingRate>");
    for (const auto& [name, bytes] : small_files()) {
        const std::size_t step = (name.ends_with(".nwb")   ? 97
                                  : name.ends_with(".npz") ? 3
                                                           : 1) *
                                 (is_shortened_run() ? 7 : 1);
        for (std::size_t length = 0; length < bytes.size(); length += step)
            read_damaged(folder.file(name, bytes.substr(0, length)));
        const bool binary = name.ends_with(".npz") || name.ends_with(".gz") ||
                            name.ends_with(".npy") || name.ends_with(".nwb") ||
                            name.ends_with(".spike");
        if (binary) error_of(folder.file(name, bytes.substr(0, bytes.size() - 1)));
    }
}

TEST(DamagedSpikeFiles, GiveAnErrorOrOtherSpikesWhateverBytesChange) {
    const temporary_folder folder;
    folder.file("a.clu.1", "2\n2\n2\n1\n");
    folder.file("a.xml", "<samplingRate>20000</samplingRate>");
    std::mt19937_64 random(7);
    for (const auto& [name, bytes] : small_files()) {
        if (name.ends_with(".nwb")) continue;  // damaged_nwb_test.cpp stops reads that take long
        for (int round = 0; round < damage_rounds(150); ++round) {
            std::string damaged = bytes;
            for (std::uint64_t flips = 1 + random() % 3; flips > 0; --flips)
                flip(damaged, random() % (8 * damaged.size()));
            read_damaged(folder.file(name, damaged));
        }
    }
}

TEST(DamagedSpikeFiles, AreFoundOutByTheirChecksum) {
    const temporary_folder folder;
    const auto path = folder.path() / "a.npz";
    write_spikes(path, random_spikes(9, 500, true));
    std::string bytes = read_bytes(path);
    const std::size_t data = bytes.find("NUMPY", bytes.find("t.npy")) + 400;
    flip(bytes, 8 * data);
    EXPECT_SAYS(error_of(folder.file("b.npz", bytes)), "its checksum is wrong");
}

TEST(RecordedSpikeFiles, HoldTheCountsTheirReadmeSays) {
    SPIKEWEAVE_NEEDS_SHARED_DATA("README.md");
    struct expected {
        const char* name;
        std::size_t units;
        std::size_t spikes;
    };
    for (const expected& file : {expected{"wagenaar2006/2-1-20.spk.txt", 56, 172'267},
                                 {"wagenaar2006/6-1-10.spk.txt", 58, 18'499},
                                 {"wagenaar2006/6-2-28.spk.txt", 58, 145'054},
                                 {"retina_p10_794units.tsv.gz", 794, 827'329},
                                 {"songbird_hvc.tsv.gz", 74, 3'336},
                                 {"hippocampus_linear-track.tsv.gz", 31, 28'829},
                                 {"hippocampus_w-maze.tsv.gz", 25, 518'352},
                                 {"spade/movement_pghf.spikes.tsv.gz", 150, 31'262}}) {
        const spike_file read = read_spikes(shared_data(file.name));
        EXPECT_EQ(read.spikes.unit_count(), file.units) << file.name;
        EXPECT_EQ(read.spikes.size(), file.spikes) << file.name;
        EXPECT_EQ(read.duplicates, 0U) << file.name;
        EXPECT_EQ(read.out_of_order, 0U) << file.name;
    }
}

}  // namespace
}  // namespace spikeweave
