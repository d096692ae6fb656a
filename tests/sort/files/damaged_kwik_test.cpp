#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "io/hdf5.hpp"
#include "io/hdf5_output.hpp"
#include "spikeweave/sort/files.hpp"
#include "support/damaged_files.hpp"
#include "support/error_text.hpp"
#include "support/spike_files.hpp"
#include "support/temporary_folder.hpp"

namespace spikeweave {
namespace {

namespace h5 = io::hdf5;

constexpr std::size_t spikes = 12;
constexpr std::size_t features = 6;

struct kwik_choices {
    std::vector<float> channel_order{0, 1};
    std::vector<double> times{};  // as reals, which are invalid
};

template <class Item>
void add_dataset(hid_t group, const char* name, hid_t type, const std::vector<Item>& items,
                 const std::vector<std::uint64_t>& shape) {
    const h5::handle made = h5::create_dataset(group, name, type, shape);
    h5::write_block(made.get(), 0, shape.front(), type, items.data());
}

void write_group(hid_t file, const kwik_choices& how) {
    h5::create_group(file, "channel_groups");
    const h5::handle group = h5::create_group(file, "channel_groups/1");
    h5::write_attribute(group.get(), "channel_order", std::span<const float>(how.channel_order));
    h5::create_group(group.get(), "spikes");
    std::vector<std::uint64_t> times(spikes);
    for (std::size_t i = 0; i < spikes; ++i) times[i] = 100 * i;
    if (how.times.empty())
        add_dataset(group.get(), "spikes/time_samples", H5T_NATIVE_UINT64, times, {spikes});
    else
        add_dataset(group.get(), "spikes/time_samples", H5T_NATIVE_DOUBLE, how.times, {spikes});
    h5::create_group(group.get(), "spikes/clusters");
    const std::vector<std::int32_t> labels(spikes, 2);
    add_dataset(group.get(), "spikes/clusters/main", H5T_NATIVE_INT32, labels, {spikes});
}

std::filesystem::path write_files(const temporary_folder& folder, const kwik_choices& how) {
    {
        h5::output file(folder.path() / "a.kwx");
        h5::create_group(file.get(), "channel_groups");
        h5::create_group(file.get(), "channel_groups/1");
        std::vector<float> items(spikes * features * 2, 1);
        for (std::size_t i = 0; i < items.size(); i += 2) items[i] = static_cast<float>(i);
        add_dataset(file.get(), "channel_groups/1/features_masks", H5T_NATIVE_FLOAT, items,
                    {spikes, features, 2});
        file.commit();
    }
    h5::output file(folder.path() / "a.kwik");
    write_group(file.get(), how);
    file.commit();
    return folder.path() / "a.kwik";
}

std::string said_of(const std::filesystem::path& path) {
    return text_of([&] { static_cast<void>(read_features(path)); });
}

TEST(Kwik, IsReadWithItsChannelsAndTimes) {
    const temporary_folder folder;
    const feature_file file = read_features(write_files(folder, {}));
    EXPECT_EQ(file.features.size(), spikes);
    EXPECT_EQ(file.features.feature_count(), features);
    ASSERT_EQ(file.channels.size(), 2U);
    EXPECT_EQ(file.channels[1].name, "1");
    EXPECT_EQ(file.samples.at(3), 300);
}

TEST(Kwik, RefusesChannelsThatAreNoNumbersOfChannels) {
    const temporary_folder folder;
    for (const float number : {3.4e37F, std::nanf(""), -1.0F, 0.5F, 1e6F})
        EXPECT_SAYS(said_of(write_files(folder, {.channel_order = {0, number}})),
                    "a.kwik', /channel_groups/1@channel_order: found");
}

TEST(Kwik, RefusesTimesThatAreNoWholeNumbers) {
    const temporary_folder folder;
    EXPECT_SAYS(said_of(write_files(folder, {.times = std::vector<double>(spikes, 1.5)})),
                "time_samples: does not hold whole numbers");
}

TEST(Kwik, ShowsNamesOfGroupsThatCannotBePrinted) {
    const temporary_folder folder;
    h5::output file(folder.path() / "a.kwx");
    for (const char* name : {"channel_groups", "channel_groups/\x10", "channel_groups/7"})
        h5::create_group(file.get(), name);
    file.commit();
    EXPECT_SAYS(said_of(folder.path() / "a.kwx"),
                "holds 2 channel groups ('\\x10', 7): select the one to sort with `channel_group`");
}

// libhdf5 1.10 may crash on some of these; this process must survive.
TEST(Kwik, IsReadOrRefusedWhateverByteChanges) {
    const temporary_folder folder;
    const auto kwik = write_files(folder, {});
    const int rounds = damage_rounds(60);
    std::mt19937_64 random(3);
    int refusals = 0;
    for (const char* name : {"a.kwx", "a.kwik"}) {
        const std::string whole = read_bytes(folder.path() / name);
        for (int round = 0; round < rounds; ++round) {
            std::string damaged = whole;
            damaged[random() % damaged.size()] ^= static_cast<char>(1 + random() % 255);
            folder.file(name, damaged);
            try {
                static_cast<void>(read_features(kwik));
            } catch (const io_error& error) {
                EXPECT_SAYS(std::string(error.what()), name);
                ++refusals;
            }
        }
        folder.file(name, whole);
    }
    EXPECT_GT(refusals, is_shortened_run() ? 0 : 20);
}

}  // namespace
}  // namespace spikeweave
