// Reads features, sortings and models in which single bytes were changed. HDF5 files have their own
// test.

#include <gtest/gtest.h>

#include <algorithm>

#include "io/zip.hpp"
#include "spikeweave/sort/files.hpp"
#include "spikeweave/sort/sorting_model.hpp"
#include "support/damaged_files.hpp"
#include "support/spike_clouds.hpp"
#include "support/spike_files.hpp"

namespace spikeweave {
namespace {

void write_feature_archive(const std::filesystem::path& path) {
    io::zip_writer archive(path);
    const auto add = [&](const char* name, const std::string& bytes) {
        archive.begin(std::string(name) + ".npy");
        archive.write(bytes);
    };
    add("features", npy_bytes<double>(io::npy_kind::real, {1, 2, 3, 4, 5, 6}, {3, 2}));
    add("masks", npy_bytes<float>(io::npy_kind::real, {1, 0, 0.5F, 1, 0, 1}, {3, 2}));
    add("samples", npy_bytes<std::int64_t>(io::npy_kind::integer, {5, 9, 12}));
    archive.commit();
}

TEST(DamagedFeatures, OfAnArchiveAreFoundOutByTheirChecksum) {
    const temporary_folder folder;
    const auto path = folder.path() / "features.npz";
    write_feature_archive(path);
    const feature_file whole = read_features(path);

    int refused = 0;
    read_with_changed_bytes(folder, "features.npz", damage_rounds(1000), [&] {
        ++refused;
        const feature_file file = read_features(path);
        --refused;
        EXPECT_EQ(file.features.values().size(), 6U);
        EXPECT_TRUE(std::equal(file.features.values().begin(), file.features.values().end(),
                               whole.features.values().begin()));
    });

    EXPECT_GT(refused, damage_rounds(1000) / 2);
}

TEST(DamagedSortings, AreFoundOutByTheirChecksum) {
    const temporary_folder folder;
    const auto path = folder.path() / "sorting.npz";
    const sorting written{
        .labels = {1, 0, 2, 2}, .unit_count = 2, .samples = {5, 9, 12, 30}, .sample_rate = 20000};
    write_sorting(path, written);

    int refused = 0;
    read_with_changed_bytes(folder, "sorting.npz", damage_rounds(1000), [&] {
        ++refused;
        const sorting read = read_sorting(path);
        --refused;
        EXPECT_EQ(read.labels, written.labels);
    });

    EXPECT_GT(refused, damage_rounds(1000) / 2);
}

TEST(DamagedModels, AreFoundOutByTheirChecksum) {
    const temporary_folder folder;
    const auto path = folder.path() / "model.npz";
    spike_masks masks;
    std::vector<double> values;
    std::vector<std::uint32_t> labels;
    cloud_random random(3);
    for (std::uint32_t n = 0; n < 60; ++n) {
        labels.push_back(1 + n % 2);
        for (int feature = 0; feature < 2; ++feature)
            values.push_back(random.normal() + 8 * labels.back());
        masks.append(std::vector<double>{1, n % 3 == 0 ? 0.5 : 1});
    }
    write_model(path, fit_model(spike_features(2, values, masks), labels));
    const std::vector<std::uint32_t> units = read_model(path).units();
    ASSERT_EQ(units.size(), 2U);

    int refused = 0;
    read_with_changed_bytes(folder, "model.npz", damage_rounds(1000), [&] {
        ++refused;
        const sorting_model model = read_model(path);
        --refused;
        EXPECT_EQ(model.units(), units);
    });

    EXPECT_GT(refused, damage_rounds(1000) / 2);
}

TEST(DamagedPhyFolders, GiveAnErrorOrOtherNumbers) {
    const temporary_folder folder;
    folder.file("params.py", "sample_rate = 20000.\n");
    folder.file("spike_times.npy", npy_bytes<std::int64_t>(io::npy_kind::integer, {5, 9, 9}));
    folder.file("spike_templates.npy", npy_bytes<std::uint32_t>(io::npy_kind::natural, {0, 1, 0}));
    folder.file("spike_clusters.npy", npy_bytes<std::int32_t>(io::npy_kind::integer, {12, 3, 40}));
    folder.file("channel_map.npy", npy_bytes<std::int32_t>(io::npy_kind::integer, {7, 8, 9}));
    folder.file("channel_positions.npy",
                npy_bytes<double>(io::npy_kind::real, {0, 0, 1, 20, 2, 40}, {3, 2}));
    folder.file("pc_feature_ind.npy",
                npy_bytes<std::int32_t>(io::npy_kind::integer, {2, 0, 1, -1}, {2, 2}));
    folder.file(
        "pc_features.npy",
        npy_bytes<float>(io::npy_kind::real, {1, 2, 3, 4, 5, 0, 6, 0, 7, 8, 9, 10}, {3, 2, 2}));
    const feature_file whole = read_features(folder.path());

    for (const std::string& name : names_in(folder.path()))
        read_with_changed_bytes(folder, name, damage_rounds(300), [&] {
            const feature_file file = read_features(folder.path());
            EXPECT_EQ(file.features.size(), file.samples.size());
            EXPECT_EQ(file.labels.size(), file.samples.size());
        });

    EXPECT_EQ(read_features(folder.path()).features, whole.features);
}

}  // namespace
}  // namespace spikeweave
