#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "io/zip.hpp"
#include "spikeweave/sort/files.hpp"
#include "support/error_text.hpp"
#include "support/spike_files.hpp"
#include "support/temporary_folder.hpp"

namespace spikeweave {
namespace {

const std::string four_spikes = "5\n1 3 5 7 11\n6 7 8 9 10\n11 12 13 14 15\n16 17 18 19 20\n";
const std::string four_masks = "5\n1 0.5 0 0 0\n0 1 1 0 0\n0 1 1 0 0\n0 0 0 1 1\n";

std::string error_of(const std::filesystem::path& path, const feature_read_options& how) {
    return text_of([&] { static_cast<void>(read_features(path, how)); });
}

std::string npz_bytes(const temporary_folder& folder,
                      const std::vector<std::pair<std::string, std::string>>& arrays) {
    const auto path = folder.path() / "made.npz";
    io::zip_writer archive(path);
    for (const auto& [name, bytes] : arrays) {
        archive.begin(name + ".npy");
        archive.write(bytes);
    }
    archive.commit();
    return read_bytes(path);
}

// Makes rows of one feature and ascending times.
std::string timed_rows(int spikes) {
    std::string text = "2\n";
    for (int n = 0; n < spikes; ++n)
        text += std::to_string(n % 7) + ".5 " + std::to_string(100 + 9 * n) + "\n";
    return text;
}

TEST(SpikeMasks, AreTheSameAsRows) {
    const std::vector<double> rows{0, 0.5, 1, 0, 0, 0, 1, 0, 0.25};
    const spike_masks masks = spike_masks::of_rows(rows, 3);
    EXPECT_EQ(masks.size(), 3U);
    EXPECT_EQ(masks.values, (std::vector<double>{0.5, 1, 1, 0.25}));
    const spike_features features(3, std::vector<double>(9), masks);
    EXPECT_EQ(features.dense_masks(), rows);
    std::vector<double> row(3, 7);
    features.write_masks(2, row);
    EXPECT_EQ(row, (std::vector<double>{1, 0, 0.25}));
}

TEST(FeatureFiles, AreReadWithTheMasksBesideThem) {
    const temporary_folder folder;
    const auto fet = folder.file("a.fet.1", four_spikes);
    folder.file("a.fmask.1", four_masks);

    const feature_file file = read_features(fet);

    ASSERT_EQ(file.features.size(), 4U);
    EXPECT_EQ(file.features.feature_count(), 5U);
    EXPECT_EQ(file.features.values(3)[1], 17);
    EXPECT_EQ(file.features.masks(),
              (spike_masks{{0, 2, 4, 6, 8}, {0, 1, 1, 2, 1, 2, 3, 4}, {1, 0.5, 1, 1, 1, 1, 1, 1}}));
    EXPECT_TRUE(file.samples.empty());
    EXPECT_EQ(file.files.size(), 2U);
    EXPECT_SAYS(file.masks_from, "a.fmask.1");
    EXPECT_TRUE(file.warnings.empty());
}

TEST(FeatureFiles, NeedNoLastNewlineAndTakeTheShankInEitherPlace) {
    const temporary_folder folder;
    const auto fet = folder.file("a.2.fet", four_spikes.substr(0, four_spikes.size() - 1));
    folder.file("a.2.fmask", "5\r\n1 0.5 0 0 0\r\n0 1 1 0 0\r\n0 1 1 0 0\r\n0 0 0 1 1");
    folder.file("a.2.res", "10\n20\n20\n40");

    const feature_file file = read_features(fet);

    EXPECT_EQ(file.features.masks().columns.size(), 8U);
    EXPECT_EQ(file.samples, (std::vector<std::int64_t>{10, 20, 20, 40}));
    EXPECT_EQ(file.files.size(), 3U);
}

TEST(FeatureFiles, HaveATimeColumnWhenItNeverFalls) {
    const temporary_folder folder;
    const auto fet = folder.file("a.fet.1", timed_rows(20));
    const feature_read_options all{.mask = mask_rule::all};

    const feature_file file = read_features(fet, all);
    EXPECT_EQ(file.features.feature_count(), 1U);
    EXPECT_EQ(file.samples.at(3), 127);
    ASSERT_EQ(file.warnings.size(), 1U);
    EXPECT_SAYS(file.warnings[0], "Column 2 of 'a.fet.1' never decreases");

    EXPECT_EQ(
        read_features(fet, {.mask = mask_rule::all, .time_column = false}).features.feature_count(),
        2U);
    const auto few = folder.file("b.fet.1", timed_rows(19));
    EXPECT_EQ(read_features(few, all).features.feature_count(), 2U);
    EXPECT_EQ(read_features(few, {.mask = mask_rule::all, .time_column = true}).samples.size(),
              19U);
    EXPECT_SAYS(error_of(folder.file("c.fet.1", "2\n1 2\n1 2.5\n"), {.time_column = true}),
                "c.fet.1', line 3, column 2: found 2.5, expected a time in samples");
    EXPECT_SAYS(error_of(folder.file("d.fet.1", "1\n1\n"), {.time_column = true}),
                "has one column, expected features before the time");
}

// The mask of the time column is removed with it.
TEST(FeatureFiles, TakeMasksWithAndWithoutTheTimeColumn) {
    const temporary_folder folder;
    const auto fet = folder.file("a.fet.1", timed_rows(20));
    std::string wide = "2\n";
    std::string narrow = "1\n";
    for (int n = 0; n < 20; ++n) {
        wide += "1 0\n";
        narrow += "1\n";
    }
    const auto with = read_features(fet, {.masks = folder.file("wide", wide)});
    const auto without = read_features(fet, {.masks = folder.file("narrow", narrow)});
    EXPECT_EQ(with.features, without.features);
    EXPECT_EQ(with.features.unmasked(7).size(), 1U);
}

TEST(FeatureFiles, MayHaveRowsOfThousandsOfNumbers) {
    const temporary_folder folder;
    std::string text = "1152\n";
    for (int n = 0; n < 3; ++n) {
        for (int i = 0; i < 1152; ++i) text += std::to_string(n * i * 1e-3) + " ";
        text += "\n";
    }
    const feature_file file = read_features(folder.file("a.fet.1", text), {.mask = mask_rule::all});
    EXPECT_EQ(file.features.size(), 3U);
    EXPECT_DOUBLE_EQ(file.features.values(2)[1151], 2.302);
}

TEST(FeatureFiles, SayWhereAndWhatIsWrong) {
    const temporary_folder folder;
    const feature_read_options all{.mask = mask_rule::all};
    const std::vector<std::pair<std::string, std::string>> wrong{
        {"", "is empty, expected the number of columns"},
        {"x\n1\n", "line 1: found 'x', expected the number of columns"},
        {"1 2\n1 2\n", "line 1: found '1 2', expected the number of columns"},
        {"0\n", "line 1: found '0'"},
        {"-3\n", "line 1: found '-3'"},
        {"2\n", "holds no spikes"},
        {"2\n1 2\n3\n", "line 3: found 1 numbers, expected 2"},
        {"2\n1 2\n3 4 5\n", "line 3: continues with '5' after 2 numbers"},
        {"2\n1 2\n3 nan\n", "line 3, column 2: found 'nan', expected a finite number"},
        {"2\ninf 2\n", "line 2, column 1: found 'inf'"},
        {"2\n1 2\n3 4x\n", "line 3, column 2: found '4x'"},
        {"2\n1,2\n", "line 2, column 1: found '1,2'"},
    };
    for (const auto& [text, message] : wrong)
        EXPECT_SAYS(error_of(folder.file("a.fet.1", text), all), "a.fet.1'");
    for (const auto& [text, message] : wrong)
        EXPECT_SAYS(error_of(folder.file("a.fet.1", text), all), message);
    EXPECT_SAYS(error_of(folder.path() / "none.fet.1", all), "none.fet.1': cannot be opened");
    EXPECT_SAYS(error_of(folder.file("a.fet.1", "4\n1 2 3 4\n"), {.features_per_channel = 3}),
                "a.fet.1': 4 features are not those of whole channels of 3");
    EXPECT_SAYS(error_of(folder.file("a.fet.1", "1\n1e301\n"), all),
                "a.fet.1': spike 0, feature 0: 1e+301 is not within");
}

TEST(FeatureFiles, SayWhichMaskIsNone) {
    const temporary_folder folder;
    const auto fet = folder.file("a.fet.1", "2\n1 2\n3 4\n");
    const std::vector<std::pair<std::string, std::string>> wrong{
        {"2\n1 0\n0 1.5\n", "line 3, column 2: found 1.5, expected a mask from 0 to 1"},
        {"2\n1 0\n-0.1 1\n", "line 3, column 1: found -0.1"},
        {"3\n1 0 0\n0 1 0\n", "line 1: found 3 columns, expected the 2 of 'a.fet.1'"},
        {"2\n1 0\n", "holds 1 spikes, expected the 2 of 'a.fet.1'"},
    };
    for (const auto& [text, message] : wrong) {
        const auto masks = folder.file("m", text);
        EXPECT_SAYS(error_of(fet, {.masks = masks}), message);
        EXPECT_SAYS(error_of(fet, {.masks = masks}), "/m'");
    }
    const auto masks = folder.file("m", "2\n1 0\n0 1\n");
    EXPECT_SAYS(error_of(fet, {.masks = masks, .mask = mask_rule::all}), "not both");
}

TEST(FeatureFiles, SayWhichTimeIsWrong) {
    const temporary_folder folder;
    const auto fet = folder.file("a.fet.1", "2\n1 2\n3 4\n");
    const feature_read_options all{.mask = mask_rule::all};
    folder.file("a.res.1", "10\n");
    EXPECT_SAYS(error_of(fet, all), "a.res.1': holds 1 times, expected 2");
    folder.file("a.res.1", "10\n-3\n");
    EXPECT_SAYS(error_of(fet, all), "a.res.1', spike 2: found the time -3 before zero");
    folder.file("a.res.1", "10\n2.5\n");
    EXPECT_SAYS(error_of(fet, all), "a.res.1', line 2: found '2.5', expected a whole number");
}

TEST(FeatureArchives, HoldFeaturesMasksAndTimes) {
    const temporary_folder folder;
    const std::vector<float> features{1, 2, 3, 4, 5, 6};
    const std::vector<double> masks{1, 0, 0.5, 0, 0, 0};
    const auto features_npy = npy_bytes(io::npy_kind::real, features, {3, 2});
    const auto masks_npy = npy_bytes(io::npy_kind::real, masks, {3, 2});
    const auto samples = npy_bytes(io::npy_kind::integer, std::vector<std::int64_t>{5, 6, 9});
    const auto rate = npy_bytes(io::npy_kind::real, std::vector<double>{25000});
    const auto path = folder.file("a.npz", npz_bytes(folder, {{"features", features_npy},
                                                              {"masks", masks_npy},
                                                              {"samples", samples},
                                                              {"sample_rate", rate}}));
    const feature_file file = read_features(path);

    EXPECT_EQ(file.features,
              spike_features(2, {1, 2, 3, 4, 5, 6}, {{0, 1, 2, 2}, {0, 0}, {1, 0.5}}));
    EXPECT_EQ(file.samples, (std::vector<std::int64_t>{5, 6, 9}));
    EXPECT_EQ(file.sample_rate, 25000);
    ASSERT_EQ(file.warnings.size(), 1U);
    EXPECT_SAYS(file.warnings[0], "1 of 3 spikes are masked on all features");
    EXPECT_EQ(read_features(path, {.mask = mask_rule::all}).features.masks().columns.size(), 6U);
}

TEST(FeatureArchives, SayWhatIsWrong) {
    const temporary_folder folder;
    const auto two = npy_bytes(io::npy_kind::real, std::vector<double>{1, 2, 3, 4}, {2, 2});
    const auto flat = npy_bytes(io::npy_kind::real, std::vector<double>{1, 2, 3, 4});
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const auto broken = npy_bytes(io::npy_kind::real, std::vector<double>{1, 2, 3, nan}, {2, 2});
    const auto times = npy_bytes(io::npy_kind::integer, std::vector<std::int64_t>{1});
    const std::vector<std::pair<std::vector<std::pair<std::string, std::string>>, std::string>>
        wrong{{{{"spikes", two}}, "has no array 'features'"},
              {{{"features", flat}}, "array 'features': expected spikes x features"},
              {{{"features", broken}}, "array 'features', spike 2, column 2: found nan"},
              {{{"features", two}, {"masks", two}}, "spike 1, column 2: found 2, expected a mask"},
              {{{"features", two}, {"samples", times}}, "holds 1 times, expected 2"},
              {{{"features", two}, {"sample_rate", flat}}, "'sample_rate': expected one rate"}};
    for (const auto& [arrays, message] : wrong) {
        const auto path = folder.file("a.npz", npz_bytes(folder, arrays));
        EXPECT_SAYS(error_of(path, {.features_per_channel = 2}), message);
    }
}

TEST(SpikeFeatures, RefuseWhatTheyCannotBe) {
    const spike_masks one{{0, 1}, {0}, {1}};
    EXPECT_THROW(spike_features(0, {}, {}), invalid_argument);
    EXPECT_SAYS(text_of([&] { spike_features(2, {1, 2, 3}, one); }), "3 values for 1 spikes of 2");
    EXPECT_SAYS(text_of([&] { spike_features(1, {1}, {{0, 1}, {1}, {1}}); }), "feature 1 of 1");
    EXPECT_SAYS(text_of([&] { spike_features(1, {1}, {{0, 1}, {0}, {0}}); }), "mask 0 is not in");
    EXPECT_SAYS(text_of([&] { spike_features(1, {1}, {{0, 1}, {0}, {1.5}}); }), "mask 1.5");
    EXPECT_SAYS(text_of([&] { spike_features(2, {1, 2}, {{0, 2}, {1, 0}, {1, 1}}); }), "ascend");
    EXPECT_SAYS(text_of([&] { spike_features(1, {1}, {{0, 2}, {0}, {1}}); }), "as long as");
    const double infinite = std::numeric_limits<double>::infinity();
    for (const double beyond : {infinite, -infinite, std::nan(""), 2e300})
        EXPECT_SAYS(text_of([&] { spike_features(2, {1, beyond}, one); }), "spike 0, feature 1");
}

// The median is 0 and the median absolute deviation is that of normal noise with SD 1.
double noise(int n) {
    return 0.6745 * (n % 3 - 1);
}

TEST(Masks, RiseFromTwoToFourAndAHalfNoiseDeviations) {
    std::vector<double> values;
    for (int n = 0; n < 99; ++n) values.insert(values.end(), {noise(n), -noise(n)});
    values.insert(values.end(), {0, 3.25, 0, 4.5, 0, -100, 2, 2});

    const mask_result made = make_masks(values, 2, {.features_per_channel = 1});

    const spike_features with(2, values, made.masks);
    EXPECT_EQ(with.unmasked(99).size(), 1U);
    EXPECT_NEAR(with.mask_values(99)[0], 0.5, 1e-12);
    EXPECT_EQ(with.mask_values(100)[0], 1);
    EXPECT_EQ(with.mask_values(101)[0], 1);
    // Nothing is above 2 SDs: the largest channel, the first of equal ones, is kept.
    ASSERT_EQ(with.unmasked(102).size(), 1U);
    EXPECT_EQ(with.unmasked(102)[0], 0U);
    EXPECT_EQ(made.without_mask, 100U);
    for (std::size_t n = 0; n < with.size(); ++n) EXPECT_FALSE(with.unmasked(n).empty());
}

TEST(Masks, AreThoseOfAChannelsLargestFeature) {
    std::vector<double> values;
    for (int n = 0; n < 99; ++n) values.insert(values.end(), 4, noise(n));
    values.insert(values.end(), {0, 3.25, 0, 0});
    const mask_result made = make_masks(values, 4, {.features_per_channel = 2});
    const spike_features with(4, values, made.masks);
    ASSERT_EQ(with.unmasked(99).size(), 2U);
    EXPECT_NEAR(with.mask_values(99)[0], 0.5, 1e-12);
    EXPECT_EQ(with.mask_values(99)[0], with.mask_values(99)[1]);
    EXPECT_SAYS(text_of([&] { make_masks(values, 4, {.features_per_channel = 3}); }),
                "4 features are not those of whole channels of 3");
}

// The more spikes belong to one unit, the larger the SD over all spikes, until all are masked.
TEST(Masks, OverAllSpikesAreBlindToWhatFiresMuch) {
    std::vector<double> values;
    for (int n = 0; n < 100; ++n) values.push_back(n % 2 == 0 ? 10 : -10);
    const mask_result made = make_masks(values, 1, {.rule = mask_rule::seed});
    EXPECT_EQ(made.without_mask, 100U);
    EXPECT_TRUE(made.masks.columns.empty());
}

TEST(Masks, OfAConstantFeatureAreZero) {
    const std::vector<double> values{5, 1, 5, -2, 5, 1.5, 5, 9};
    for (const mask_rule rule : {mask_rule::mad, mask_rule::seed}) {
        const mask_result made = make_masks(values, 2, {.rule = rule, .features_per_channel = 1});
        EXPECT_EQ(made.constant_features, 1U);
        for (const std::uint32_t column : made.masks.columns) EXPECT_EQ(column, 1U);
    }
    EXPECT_EQ(value_named<mask_rule>("mad"), mask_rule::mad);
    EXPECT_THROW(value_named<mask_rule>("magic"), invalid_argument);
}

const sorting small{{1, 0, 2, 1}, 2, {100, 200, 300, 400}, 10'000};

TEST(Sortings, AreWrittenAsKlustersReadsThem) {
    const temporary_folder folder;
    const auto clu = folder.path() / "a.clu.1";
    write_clusters(clu, small);
    EXPECT_EQ(read_bytes(clu), "3\n2\n1\n3\n2\n");
    EXPECT_EQ(read_clusters(clu, 4), (std::vector<std::int64_t>{2, 1, 3, 2}));
    write_clusters(folder.path() / "c.clu.1", small, 3);
    EXPECT_EQ(read_bytes(folder.path() / "c.clu.1"), "3\n3\n1\n4\n3\n");
    // The number of distinct labels in the file, not the number of possible units.
    write_clusters(folder.path() / "b.clu.1", {{1, 1}, 2, {}, 0});
    EXPECT_EQ(read_bytes(folder.path() / "b.clu.1"), "1\n2\n2\n");

    write_samples(folder.path() / "a.res.1", small);
    EXPECT_EQ(read_bytes(folder.path() / "a.res.1"), "100\n200\n300\n400\n");
    const spike_file read = read_spikes(folder.path() / "a.res.1", {.time_unit = "samples:10000"});
    EXPECT_EQ(named(read.spikes).front(), (std::pair<std::int64_t, std::string>{10'000, "2"}));
    EXPECT_SAYS(text_of([&] {
                    write_samples(folder.path() / "b.res.1", {{1}, 1, {}, 0});
                }),
                "not known");

    EXPECT_SAYS(text_of([&] { read_clusters(clu, 5); }), "holds 5 numbers, expected the number of");
    EXPECT_SAYS(text_of([&] { read_clusters(folder.file("c", "1\nx\n"), 1); }),
                "line 2: found 'x', expected a whole number");
}

TEST(Sortings, BecomeSpikesWithoutNoise) {
    const sorted_spikes out = to_spikes(small);
    EXPECT_EQ(named(out.spikes), (named_spikes{{10'000, "1"}, {30'000, "2"}, {40'000, "1"}}));
    EXPECT_EQ(out.noise, 1U);
    EXPECT_EQ(out.spikes.span().begin, duration{10'000});
    EXPECT_EQ(out.spikes.span().end, duration{40'000});

    sorting of_known_length = small;
    of_known_length.sample_count = 500;
    EXPECT_EQ(to_spikes(of_known_length).spikes.span(), (time_span{duration{0}, duration{50'000}}));

    const sorted_spikes twice = to_spikes({{1, 1}, 1, {7, 7}, 10'000});
    EXPECT_EQ(twice.duplicates, 1U);
    EXPECT_THROW(to_spikes({{1}, 1, {7}, 0}), invalid_argument);
    EXPECT_THROW(to_spikes({{1, 1}, 1, {7}, 1}), invalid_argument);
    EXPECT_THROW(to_spikes({{2}, 1, {7}, 1}), invalid_argument);
}

}  // namespace
}  // namespace spikeweave
