#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <random>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "io/hdf5.hpp"
#include "io/hdf5_output.hpp"
#include "io/hdf5_schemas.hpp"
#include "support/damaged_files.hpp"
#include "support/error_text.hpp"
#include "support/spike_files.hpp"
#include "support/temporary_folder.hpp"

namespace spikeweave {
namespace {

namespace h5 = io::hdf5;

// Requests a stop unless it is destroyed in time.
class alarm_clock {
public:
    alarm_clock(std::stop_source source, std::chrono::minutes after)
        : thread_([source, after](const std::stop_token& over) mutable {
              std::mutex access;
              std::condition_variable_any woken;
              std::unique_lock lock(access);
              if (!woken.wait_for(lock, over, after, [&] { return over.stop_requested(); }) &&
                  !over.stop_requested())
                  source.request_stop();
          }) {}

private:
    std::jthread thread_;
};

enum class outcome { same, warned, refused, came_to_no_end, other_numbers, other_names };

outcome read_damaged(const std::filesystem::path& path, const spike_sequence& written) {
    std::stop_source source;
    const alarm_clock bell(source, std::chrono::minutes(5));
    try {
        const spike_file file =
            read_spikes(path, {.allow_negative = true}, {.stop = source.get_token()});
        if (!file.warnings.empty()) return outcome::warned;
        if (file.spikes == written) return outcome::same;
        return file.spikes.unit_names() == written.unit_names() ? outcome::other_numbers
                                                                : outcome::other_names;
    } catch (const io_error& error) {
        EXPECT_SAYS(std::string(error.what()), path.filename().string());
        return outcome::refused;
    } catch (const cancelled&) {
        return outcome::came_to_no_end;
    }
}

spike_sequence four_units() {
    std::vector<std::int64_t> times;
    std::vector<unit_id> units;
    for (std::uint32_t i = 0; i < 60; ++i) {
        times.push_back(1000 * i + i % 7);
        units.push_back(unit_id{i % 4});
    }
    return {times, units, {"n0", "n1", "n2", "n10"}, {duration{0}, duration{61'000}}};
}

// Writes the spikes in HDF5's first format, which has no checksums.
void write_without_checksums(const std::filesystem::path& path, const spike_sequence& spikes) {
    const h5::handle file{H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT),
                          H5Fclose};
    const h5::handle units{H5Gcreate2(file.get(), "units", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                           H5Gclose};
    h5::write_attribute(units.get(), "colnames",
                        std::vector<std::string>{"spike_times", "obs_intervals", "unit_name"});
    const auto add = [&](const char* name, std::vector<hsize_t> shape, hid_t type,
                         const void* items) {
        const h5::handle space{
            H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr), H5Sclose};
        const h5::handle made{
            H5Dcreate2(units.get(), name, type, space.get(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
            H5Dclose};
        EXPECT_GE(H5Dwrite(made.get(), type, H5S_ALL, H5S_ALL, H5P_DEFAULT, items), 0);
    };
    std::vector<double> times;
    std::vector<std::int64_t> ends;
    std::vector<std::int64_t> ids;
    std::vector<double> observed;
    for (std::uint32_t u = 0; u < spikes.unit_count(); ++u) {
        for (std::size_t i = 0; i < spikes.size(); ++i)
            if (spikes.units()[i] == unit_id{u})
                times.push_back(static_cast<double>(spikes.times_us()[i]) / 1e6);
        ends.push_back(static_cast<std::int64_t>(times.size()));
        ids.push_back(u);
        observed.insert(observed.end(), {0.0, 0.061});
    }
    add("spike_times", {times.size()}, H5T_NATIVE_DOUBLE, times.data());
    add("spike_times_index", {ends.size()}, H5T_NATIVE_INT64, ends.data());
    add("id", {ids.size()}, H5T_NATIVE_INT64, ids.data());
    add("obs_intervals", {ends.size(), 2}, H5T_NATIVE_DOUBLE, observed.data());
    const h5::handle names = h5::write_texts(units.get(), "unit_name", spikes.unit_names());
    h5::write_attribute(names.get(), "description",
                        std::string("name of the unit as spikeweave knows it"));
}

// Half of the changes are those that caused most failures: all bits of a byte, or a small number.
std::string with_one_byte_changed(std::string bytes, std::mt19937_64& random) {
    char& byte = bytes[random() % bytes.size()];
    const char before = byte;
    constexpr unsigned char likely[] = {255, 0, 8, 1};
    while (byte == before)
        byte = static_cast<char>(random() % 2 == 0 ? likely[random() % 4] : random() % 256);
    return bytes;
}

TEST(DamagedNwb, IsTheSameOrAnErrorWhereverAByteOfOursChanges) {
    const temporary_folder folder;
    const auto path = folder.path() / "a.nwb";
    const spike_sequence spikes = four_units();
    write_spikes(path, spikes);
    const std::string bytes = read_bytes(path);
    std::mt19937_64 random(11);
    for (int round = 0; round < damage_rounds(150); ++round) {
        const auto damaged = folder.file("damaged.nwb", with_one_byte_changed(bytes, random));
        const outcome found = read_damaged(damaged, spikes);
        EXPECT_TRUE(found == outcome::same || found == outcome::refused || found == outcome::warned)
            << "round " << round << ": outcome " << static_cast<int>(found);
    }
}

// Numbers may change, because no checksum covers them, but names may not, and the process must
// survive.
TEST(DamagedNwb, OfOthersLosesNoNamesAndCrashesNothing) {
    const temporary_folder folder;
    const auto path = folder.path() / "a.nwb";
    const spike_sequence spikes = four_units();
    write_without_checksums(path, spikes);
    ASSERT_EQ(read_damaged(path, spikes), outcome::same);
    const std::string bytes = read_bytes(path);
    std::mt19937_64 random(12);
    int refused = 0;
    const int rounds = damage_rounds(300);
    for (int round = 0; round < rounds; ++round) {
        const auto damaged = folder.file("damaged.nwb", with_one_byte_changed(bytes, random));
        const outcome found = read_damaged(damaged, spikes);
        refused += found == outcome::refused ? 1 : 0;
        if (found != outcome::other_names) continue;
        // Only a letter of a name may change: there are as many names, all different, none of them
        // a number.
        const spike_sequence others = read_spikes(damaged).spikes;
        for (const std::string& name : others.unit_names())
            EXPECT_NE(name.find_first_not_of("0123456789"), std::string::npos) << "round " << round;
    }
    EXPECT_GT(refused, rounds / 30);
}

struct table_of_units {
    std::vector<std::string> names{"a", "b"};
    std::string description = "made by hand";
    std::string mark{};
    std::vector<std::string> listed{};
    std::vector<double> real_ends{};
    std::vector<std::int64_t> ends{1, 2};
    std::vector<std::uint64_t> ids{7, 9};
    bool has_ids = true;
};

template <class Item>
void add_column(hid_t file, const std::string& name, hid_t type, const std::vector<Item>& items) {
    const h5::handle made = h5::create_dataset(file, "units/" + name, type, {items.size()});
    h5::write_block(made.get(), 0, items.size(), type, items.data());
}

std::filesystem::path write_table(const temporary_folder& folder, const table_of_units& what) {
    const auto path = folder.path() / "t.nwb";
    h5::output file(path);
    h5::create_group(file.get(), "units");
    if (!what.listed.empty()) {
        const h5::handle group{H5Gopen2(file.get(), "units", H5P_DEFAULT), H5Gclose};
        h5::write_attribute(group.get(), "colnames", what.listed);
    }
    add_column(file.get(), "spike_times", H5T_NATIVE_DOUBLE, std::vector{0.5, 0.75});
    if (what.real_ends.empty())
        add_column(file.get(), "spike_times_index", H5T_NATIVE_INT64, what.ends);
    else
        add_column(file.get(), "spike_times_index", H5T_NATIVE_DOUBLE, what.real_ends);
    if (what.has_ids) add_column(file.get(), "id", H5T_NATIVE_UINT64, what.ids);
    if (!what.names.empty()) {
        const h5::handle names = h5::write_texts(file.get(), "units/unit_name", what.names);
        h5::write_attribute(names.get(), "description", what.description);
        if (!what.mark.empty()) h5::write_attribute(names.get(), "spikeweave_digest", what.mark);
    }
    file.commit();
    return path;
}

using names_of_units = std::vector<std::string>;

TEST(NwbUnits, HaveTheirNamesWhoeverWroteThem) {
    const temporary_folder folder;
    const spike_file file = read_spikes(write_table(folder, {}));
    EXPECT_EQ(file.spikes.unit_names(), (names_of_units{"a", "b"}));
    EXPECT_TRUE(file.warnings.empty());
}

TEST(NwbUnits, HaveTheirIdsWithAWarningWhereNamesCannotBe) {
    const temporary_folder folder;
    const std::vector<std::pair<names_of_units, std::string>> ways{
        {{"good", "good"}, "has names that repeat"},
        {{"a", ""}, "has names that are empty or do not print"},
        {{"a", "b\x1b[31m"}, "has names that are empty or do not print"}};
    for (const auto& [names, says] : ways) {
        const spike_file file = read_spikes(write_table(folder, {.names = names}));
        EXPECT_EQ(file.spikes.unit_names(), (names_of_units{"7", "9"}));
        ASSERT_EQ(file.warnings.size(), 1U);
        EXPECT_SAYS(file.warnings[0], "The column unit_name " + says);
    }
    const auto ours = write_table(
        folder, {.names = {"a", "a"}, .description = "name of the unit as spikeweave knows it"});
    EXPECT_SAYS(error_of(ours), "/units/unit_name: has names that repeat");
    EXPECT_SAYS(error_of(write_table(folder, {.names = {"a", "b", "c"}})), "found 3 names");
}

TEST(NwbUnits, AreNumberedWithAWarningWithoutNamesAndIds) {
    const temporary_folder folder;
    const spike_file file = read_spikes(write_table(folder, {.names = {}, .has_ids = false}));
    EXPECT_EQ(file.spikes.unit_names(), (names_of_units{"0", "1"}));
    ASSERT_EQ(file.warnings.size(), 1U);
    EXPECT_SAYS(file.warnings[0], "numbered from 0");
}

TEST(NwbUnits, WarnOfNamesThatAreNotThoseThatWereWritten) {
    const temporary_folder folder;
    const spike_file file =
        read_spikes(write_table(folder, {.mark = "00000000-0000-8000-8000-000000000000"}));
    EXPECT_EQ(file.spikes.unit_names(), (names_of_units{"a", "b"}));
    ASSERT_EQ(file.warnings.size(), 1U);
    EXPECT_SAYS(file.warnings[0], "was edited, or it is damaged");
}

TEST(NwbUnits, AreRefusedWhenAListedColumnIsNotThere) {
    const temporary_folder folder;
    for (const char* name : {"unit_name", "obs_intervals"})
        EXPECT_SAYS(error_of(write_table(folder, {.names = {}, .listed = {"spike_times", name}})),
                    std::string("lists a column ") + name + ", which is not there");
}

TEST(NwbUnits, AreCountedInWholeNumbersFromZeroOn) {
    const temporary_folder folder;
    EXPECT_SAYS(error_of(write_table(folder, {.real_ends = {1.5, 2.0}})),
                "/units/spike_times_index: does not hold whole numbers");
    EXPECT_SAYS(error_of(write_table(folder, {.ends = {-1, 2}})), "found -1");
    const std::uint64_t large = std::uint64_t{1} << 63;
    EXPECT_EQ(read_spikes(write_table(folder, {.names = {}, .ids = {large, large + 5}}))
                  .spikes.unit_names(),
              (names_of_units{"9223372036854775808", "9223372036854775813"}));
}

TEST(NwbUnits, AreNumberedIfTheirIdsRepeat) {
    const temporary_folder folder;
    const spike_file file = read_spikes(write_table(folder, {.names = {}, .ids = {7, 7}}));
    EXPECT_EQ(file.spikes.unit_names(), (names_of_units{"0", "1"}));
    ASSERT_EQ(file.warnings.size(), 1U);
    EXPECT_SAYS(file.warnings[0], "The ids of the units repeat");
}

}  // namespace
}  // namespace spikeweave
