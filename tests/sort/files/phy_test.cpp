#include "spikeweave/sort/phy.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include "spikeweave/sort/files.hpp"
#include "spikeweave/spikes/files.hpp"
#include "support/error_text.hpp"
#include "support/spike_clouds.hpp"
#include "support/spike_files.hpp"
#include "support/temporary_folder.hpp"

namespace spikeweave {
namespace {

std::string refusal_of(const std::filesystem::path& path, const feature_read_options& how = {}) {
    return text_of([&] { static_cast<void>(read_features(path, how)); });
}

// Three spikes of two templates on three channels with two components; each template has features
// of two channels, the first of 2 and 0, the second only of 1.
struct small_folder {
    temporary_folder folder{};
    std::vector<float> features{/* channel 2, 0 of both components */ 1,
                                2,
                                3,
                                4,
                                /* of channel 1 */ 5,
                                0,
                                6,
                                0,
                                7,
                                8,
                                9,
                                10};
    std::vector<std::int32_t> where{2, 0, 1, -1};

    small_folder() {
        folder.file("params.py", "dat_path = []\nsample_rate = 20000.\n");
        write("spike_times", io::npy_kind::integer, std::vector<std::int64_t>{5, 9, 9});
        write("spike_templates", io::npy_kind::natural, std::vector<std::uint32_t>{0, 1, 0});
        write("channel_map", io::npy_kind::integer, std::vector<std::int32_t>{7, 8, 9});
        write("channel_positions", io::npy_kind::real, std::vector<double>{0, 0, 1, 20, 2, 40},
              {3, 2});
        write("pc_feature_ind", io::npy_kind::integer, where, {2, 2});
        write("pc_features", io::npy_kind::real, features, {3, 2, 2});
    }
    template <class Item>
    void write(const std::string& name, io::npy_kind kind, const std::vector<Item>& items,
               const std::vector<std::uint64_t>& shape = {}) const {
        folder.file(name + ".npy", npy_bytes(kind, items, shape));
    }
    std::filesystem::path path() const { return folder.path(); }
};

// Returns the same bytes with a header that makes the first dimension the fastest.
std::string in_fortrans_order(std::string bytes) {
    const std::string c_order = "'fortran_order': False";
    const std::size_t at = bytes.find(c_order);
    return bytes.replace(at, c_order.size(), "'fortran_order': True ");
}

TEST(PhyFeatures, AreReadChannelByChannel) {
    const small_folder phy;

    for (const auto& path : {phy.path(), phy.path() / "params.py"}) {
        const feature_file file = read_features(path, {.mask = mask_rule::all});

        EXPECT_EQ(file.features.size(), 3U);
        EXPECT_EQ(file.features.feature_count(), 6U);
        EXPECT_EQ(file.features_per_channel, 2U);
        EXPECT_EQ(file.samples, (std::vector<std::int64_t>{5, 9, 9}));
        EXPECT_EQ(file.sample_rate, 20'000);
        ASSERT_EQ(file.channels.size(), 3U);
        EXPECT_EQ(file.channels[1].y_um, 20);
        EXPECT_EQ(file.channels[1].name, "8");
        const auto is = [&](std::size_t spike, std::vector<std::uint32_t> columns,
                            std::vector<double> values) {
            const auto own = file.features.unmasked(spike);
            EXPECT_EQ(std::vector(own.begin(), own.end()), columns);
            for (std::size_t a = 0; a < values.size(); ++a)
                EXPECT_EQ(file.features.values(spike)[columns[a]], values[a]);
        };
        // Features that are present are unmasked, and no others.
        is(0, {0, 1, 4, 5}, {2, 4, 1, 3});
        is(1, {2, 3}, {5, 6});
        is(2, {0, 1, 4, 5}, {8, 10, 7, 9});
        EXPECT_EQ(file.labels, (std::vector<std::uint32_t>{1, 2, 1}));
    }
}

TEST(PhyFeatures, AreReadInFortransOrderToo) {
    const small_folder phy;
    const spike_features expected = read_features(phy.path(), {.mask = mask_rule::all}).features;
    std::vector<float> turned;
    for (std::size_t l = 0; l < 2; ++l)
        for (std::size_t p = 0; p < 2; ++p)
            for (std::size_t n = 0; n < 3; ++n) turned.push_back(phy.features[(n * 2 + p) * 2 + l]);
    phy.folder.file("pc_features.npy",
                    in_fortrans_order(npy_bytes(io::npy_kind::real, turned, {3, 2, 2})));
    const std::vector<std::int32_t> where{phy.where[0], phy.where[2], phy.where[1], phy.where[3]};
    phy.folder.file("pc_feature_ind.npy",
                    in_fortrans_order(npy_bytes(io::npy_kind::integer, where, {2, 2})));

    EXPECT_EQ(read_features(phy.path(), {.mask = mask_rule::all}).features, expected);
}

TEST(PhyFeatures, TakeClustersThatAPersonMade) {
    const small_folder phy;
    phy.write("spike_clusters", io::npy_kind::integer, std::vector<std::int32_t>{12, 3, 40});
    phy.folder.file("cluster_group.tsv", "cluster_id\tgroup\n3\tgood\n12\tnoise\n");

    EXPECT_EQ(read_features(phy.path()).labels, (std::vector<std::uint32_t>{0, 1, 2}));
}

TEST(PhyFeatures, AreDenseWithoutAListOfChannels) {
    const small_folder phy;
    std::filesystem::remove(phy.path() / "pc_feature_ind.npy");
    EXPECT_SAYS(refusal_of(phy.path()), "holds features of 2 channels, expected 3");
    phy.write("pc_features", io::npy_kind::real, std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8, 9},
              {3, 1, 3});

    const feature_file file = read_features(phy.path(), {.mask = mask_rule::all});

    EXPECT_EQ(file.features.feature_count(), 3U);
    EXPECT_EQ(file.features.values(1)[2], 6);
}

// Missing features must not change the mean and the deviation of the noise.
TEST(PhyFeatures, MissingOnesAreLikeTheMaskedOnesThatAreThere) {
    constexpr std::size_t spikes = 4000;
    const small_folder phy;
    cloud_random random(5);
    std::vector<float> features;
    for (std::size_t n = 0; n < spikes; ++n)
        for (std::size_t i = 0; i < 4; ++i)
            features.push_back(
                static_cast<float>(3 * random.normal() + (n % 8 == 0 && i == 0 ? 40 : 1)));
    std::vector<std::uint32_t> shapes(spikes);
    for (std::size_t n = 0; n < spikes; ++n) shapes[n] = n % 4 < 2 ? 0 : 1;
    phy.write("spike_times", io::npy_kind::integer, std::vector<std::int64_t>(spikes, 1));
    phy.write("spike_templates", io::npy_kind::natural, shapes);
    phy.write("pc_features", io::npy_kind::real, features, {spikes, 2, 2});

    const spike_features read = read_features(phy.path()).features;

    for (const std::size_t column : {0, 1, 4, 5}) {
        double there[3] = {0, 0, 0};
        double all[3] = {0, 0, 0};
        for (std::size_t n = 0; n < spikes; ++n) {
            const auto unmasked = read.unmasked(n);
            if (std::find(unmasked.begin(), unmasked.end(), column) != unmasked.end()) continue;
            const double x = read.values(n)[column];
            for (double* sums : {all, there}) {
                if (sums == there && shapes[n] == 1) continue;
                ++sums[0];
                sums[1] += x;
                sums[2] += x * x;
            }
        }
        ASSERT_GT(all[0], there[0] + 1900);
        EXPECT_NEAR(all[1] / all[0], there[1] / there[0], 0.01);
        EXPECT_NEAR(std::sqrt(all[2] / all[0]), std::sqrt(there[2] / there[0]), 0.01);
    }
}

TEST(PhyFeatures, SayWhatIsWrong) {
    const auto says = [](const std::function<void(const small_folder&)>& spoil, const char* words) {
        const small_folder phy;
        spoil(phy);
        EXPECT_SAYS(refusal_of(phy.path()), words);
    };
    says([](const auto& f) { std::filesystem::remove(f.path() / "pc_features.npy"); },
         "has no pc_features.npy");
    says([](const auto& f) { f.folder.file("pc_feature_spike_ids.npy", "x"); }, "some spikes only");
    says(
        [](const auto& f) {
            f.write("pc_features", io::npy_kind::real, std::vector<float>(8), {2, 2, 2});
        },
        "holds features of 2 spikes, expected all 3");
    says(
        [](const auto& f) {
            f.write("pc_features", io::npy_kind::real, std::vector<float>(12), {3, 4});
        },
        "found 3 x 4, expected reals");
    says(
        [](const auto& f) {
            f.write("pc_feature_ind", io::npy_kind::integer, std::vector<std::int32_t>{0, 1, 3, 0},
                    {2, 2});
        },
        "item 3: found 3, expected a channel below 3");
    says(
        [](const auto& f) {
            f.write("spike_templates", io::npy_kind::natural, std::vector<std::uint32_t>{0, 2, 0});
        },
        "spike 2: found template 2, expected one of the 2");
    says(
        [](const auto& f) {
            f.write("spike_templates", io::npy_kind::natural, std::vector<std::uint32_t>{0, 1});
        },
        "holds 2 templates, expected 3");
    says(
        [](const auto& f) {
            f.write("spike_times", io::npy_kind::integer, std::vector<std::int64_t>{-1, 2, 3});
        },
        "spike 1: found the time -1 before zero");
    says(
        [](const auto& f) {
            auto features = f.features;
            features[5] = std::nanf("");
            f.write("pc_features", io::npy_kind::real, features, {3, 2, 2});
        },
        "spike 2: found nan, expected a finite number");
    says(
        [](const auto& f) {
            f.write("channel_positions", io::npy_kind::real, std::vector<double>{1, 2}, {1, 2});
        },
        "found 1 x 2, expected 3 x 2 positions");
    const small_folder phy;
    EXPECT_SAYS(refusal_of(phy.path(), {.masks = "a.fmask.1"}), "a folder of Phy, which has no");
    EXPECT_SAYS(refusal_of(phy.path(), {.channel_group = 1}), "is not a .kwik or .kwx");
}

TEST(PhyFolder, ComesBackAsItWasWritten) {
    const spike_cloud cloud = make_cloud({.spikes = 400, .units = 3, .channels = 5, .seed = 8});
    sorting sorted{.labels = cloud.truth, .unit_count = 3, .sample_rate = 25'000};
    for (std::size_t n = 0; n < sorted.labels.size(); ++n)
        sorted.samples.push_back(static_cast<std::int64_t>(n * 977 % 4000));  // not in order
    std::vector<sorted_unit> units(3);
    units[1].quality.l_ratio = 0.25;
    units[1].verdict = {unit_label::mua, "contamination 0.2, limit 0.1"};
    const temporary_folder folder;
    const auto path = folder.path() / "phy";

    write_phy(path, {.features = cloud.features, .sorted = sorted, .units = units});
    const feature_file file = read_features(path, {.mask = mask_rule::all});

    EXPECT_TRUE(std::is_sorted(file.samples.begin(), file.samples.end()));
    EXPECT_EQ(file.sample_rate, 25'000);
    EXPECT_EQ(file.channels.size(), 5U);
    EXPECT_EQ(file.features.feature_count(), 15U);
    // Features identify a spike: each is there once, with its time and unit.
    std::set<std::vector<double>> before;
    std::set<std::vector<double>> after;
    const auto note = [](const spike_features& features, std::size_t n, std::int64_t sample,
                         std::uint32_t label, std::set<std::vector<double>>& into) {
        std::vector<double> row{static_cast<double>(sample), static_cast<double>(label)};
        for (const double x : features.values(n)) row.push_back(static_cast<float>(x));
        into.insert(row);
    };
    for (std::size_t n = 0; n < 400; ++n) {
        note(cloud.features, n, sorted.samples[n], sorted.labels[n], before);
        note(file.features, n, file.samples[n], file.labels[n], after);
    }
    EXPECT_EQ(before.size(), 400U);
    EXPECT_EQ(before, after);
    EXPECT_EQ(read_bytes(path / "cluster_quality.tsv"),
              "cluster_id\trate_hz\tl_ratio\tisolation_distance\trefractory_violations\t"
              "contamination\tsnr\tpresence_ratio\tfiring_range\tamplitude_median\tamplitude_cv\t"
              "amplitude_cutoff\tseparation\treason\tpossibly_one_neuron_with\tcross_talk_with\n"
              "0\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\n1\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\n"
              "2\t\t0.25\t\t\t\t\t\t\t\t\t\t\tcontamination 0.2, limit "
              "0.1\t\t\n3\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\n");
    EXPECT_EQ(read_bytes(path / "cluster_group.tsv"),
              "cluster_id\tgroup\n0\tnoise\n1\tgood\n2\tmua\n3\tgood\n");
    const spike_file all = read_spikes(path, {.labels = {"all"}});
    EXPECT_EQ(all.spikes.size() + all.duplicates, 400U);
    EXPECT_SAYS(text_of([&] {
                    write_phy(path, {.features = cloud.features, .sorted = sorted, .units = units});
                }),
                "exists already");
}

// Phy has no clock, so that a line of our own keeps the time of the first sample.
TEST(PhyFolder, KeepsWhenTheRecordingBegan) {
    const spike_cloud cloud = make_cloud({.spikes = 40, .units = 1, .channels = 2, .seed = 8});
    sorting sorted{.labels = std::vector<std::uint32_t>(40, 1),
                   .unit_count = 1,
                   .sample_rate = 30'000,
                   .sample_count = 4000,
                   .begin = std::chrono::microseconds{12'500'001}};
    for (std::int64_t n = 0; n < 40; ++n) sorted.samples.push_back(100 * n);
    const std::vector<sorted_unit> units(1);
    const temporary_folder folder;
    const auto path = folder.path() / "phy";

    write_phy(path, {.features = cloud.features, .sorted = sorted, .units = units});
    write_sorting(folder.path() / "sorting.npz", sorted);

    const spike_sequence spikes = to_spikes(sorted).spikes;
    EXPECT_EQ(spikes.span().begin, sorted.begin);
    EXPECT_EQ(spikes.times_us()[3], 12'510'001);
    const spike_sequence read = read_spikes(path).spikes;
    EXPECT_TRUE(std::ranges::equal(read.times_us(), spikes.times_us()));
    EXPECT_EQ(read_features(path, {.mask = mask_rule::all}).begin, sorted.begin);
    EXPECT_EQ(read_sorting(folder.path() / "sorting.npz").begin, sorted.begin);
    for (const char* wrong : {"x", "nan", "1e300", ""}) {
        folder.file("phy/params.py", std::string("sample_rate = 3e4\nt_start = ") + wrong + "\n");
        EXPECT_SAYS(text_of([&] { static_cast<void>(read_spikes(path)); }),
                    "params.py', line 2: found ");
    }
}

TEST(PhyFolder, KeepsFeaturesWhereTheUnitIsLarge) {
    // 20 channels with two components; unit 1 is unmasked on channel 17, unit 2 on channel 3.
    spike_masks masks;
    std::vector<double> values;
    for (std::size_t n = 0; n < 4; ++n) {
        std::vector<double> mask(40);
        const std::size_t own = n % 2 == 0 ? 17 : 3;
        mask[2 * own] = mask[2 * own + 1] = 1;
        masks.append(mask);
        for (std::size_t i = 0; i < 40; ++i) values.push_back(static_cast<double>(100 * n + i));
    }
    const spike_features features(40, values, masks);
    const temporary_folder folder;
    const auto path = folder.path() / "phy";
    const std::vector<sorted_unit> units(2);

    write_phy(path, {.features = features,
                     .sorted = {{1, 2, 1, 2}, 2, {1, 2, 3, 4}, 1000},
                     .units = units,
                     .features_per_channel = 2});
    const feature_file file = read_features(path, {.mask = mask_rule::all});

    EXPECT_EQ(file.features.unmasked(0).size(), 32U);
    EXPECT_EQ(file.features.values(0)[34], 34);
    EXPECT_EQ(file.features.values(0)[35], 35);
    EXPECT_EQ(file.features.values(3)[6], 306);
}

TEST(PhyFolder, RefusesWhatDoesNotBelongTogether) {
    const spike_features features(3, {1, 2, 3, 4, 5, 6}, {{0, 1, 2}, {0, 1}, {1, 1}});
    const std::vector<sorted_unit> one_unit(1);
    const std::vector<recording_channel> two(2);
    const temporary_folder folder;
    const auto refused = [&](const sorting& sorted, std::span<const sorted_unit> units,
                             std::span<const recording_channel> channels = {}) {
        EXPECT_THROW(
            write_phy(
                folder.path() / "phy",
                {.features = features, .sorted = sorted, .units = units, .channels = channels}),
            invalid_argument);
        EXPECT_FALSE(std::filesystem::exists(folder.path() / "phy"));
    };
    refused({{1, 1}, 1, {1, 2}, 0}, one_unit);
    refused({{1, 1}, 1, {1}, 1000}, one_unit);
    refused({{1, 1}, 1, {1, 2}, 1000}, {});
    refused({{1, 2}, 1, {1, 2}, 1000}, one_unit);
    refused({{1, 1}, 1, {1, 2}, 1000}, one_unit, two);
}

}  // namespace
}  // namespace spikeweave
