#include <gtest/gtest.h>

#include <string>

#include "spikeweave/core/error.hpp"
#include "spikeweave/report/sort.hpp"
#include "spikeweave/spikes/files.hpp"
#include "support/temporary_folder.hpp"

namespace spikeweave {
namespace {

const spike_features features(3, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12},
                              {{0, 2, 3, 3, 5}, {0, 1, 2, 1, 2}, {0.5, 1, 1, 0.25, 1}});

sorting_report small_sorting_report() {
    sorting_report report{.sorted = {{1, 2, 0, 1}, 2, {100, 200, 300, 400}, 10'000},
                          .features = 3,
                          .masks_from = "mad"};
    report.units = describe_units(features, report.sorted);
    report.units[0].quality = {.spikes = 2,
                               .features = 2,
                               .rate_hz = 2.5,
                               .l_ratio = 0.125,
                               .refractory_violations = 0,
                               .snr = 7,
                               .presence_ratio = 1};
    report.units[0].verdict = {unit_label::good, "no limit broken"};
    report.units[1].verdict = {unit_label::mua, "SNR 3, limit 3.5"};
    report.search.iterations = {{3, 4, true, 0, -10, 2}, {2, 0, false, 0, -12.5, 1.5}};
    report.search.ran_on = sort_strategy::cpu;
    return report;
}

TEST(SortingReport, DescribesUnitsByTheirMasks) {
    const sorting_report report = small_sorting_report();

    ASSERT_EQ(report.units.size(), 2U);
    EXPECT_EQ(report.units[0].spikes, 2U);
    EXPECT_EQ(report.units[0].unmasked, 2);
    EXPECT_EQ(report.units[0].peak_feature, 1U);
    EXPECT_EQ(report.units[1].peak_feature, 2U);
    EXPECT_THROW(describe_units(features, {{1}, 1, {}, 0}), invalid_argument);
    EXPECT_THROW(describe_units(features, {{1, 1, 1, 2}, 1, {}, 0}), invalid_argument);
}

TEST(SortingReport, WritesTablesThatSayWhatTheyHold) {
    const temporary_folder folder;
    const auto out = folder.path() / "out";

    write_report(out, small_sorting_report());

    EXPECT_EQ(
        read_bytes(out / "units.tsv"),
        "unit\tclu_label\tspikes\tunmasked_features\tpeak_feature\trate_hz\tquality_features\t"
        "l_ratio\tisolation_distance\trefractory_violations\tcontamination\tsnr\tpresence_ratio\t"
        "firing_range\tamplitude_median\tamplitude_cv\tamplitude_cutoff\tseparation\t"
        "peak_channel\tlabel\treason\tpossibly_one_neuron_with\tcross_talk_with\torigin\n"
        "1\t2\t2\t2\t1\t2.5\t2\t0.125\t\t0\t\t7\t1\t\t\t\t\t\t\tgood\tno limit broken\t\t\t\n"
        "2\t3\t1\t1\t2\t\t0\t\t\t\t\t\t\t\t\t\t\t\t\tmua\tSNR 3, limit 3.5\t\t\t\n");
    EXPECT_EQ(read_spikes(out / "spikes.npz").spikes.unit_names(), std::vector<std::string>{"1"});
    EXPECT_EQ(read_bytes(out / "iterations.tsv"),
              "iteration\tclusters\tchanged\tdeleted\tsplits\tlog_likelihood\tpenalty\tscore\n"
              "1\t3\t4\t1\t0\t10.000000\t2.000000\t-8.000000\n"
              "2\t2\t0\t0\t0\t12.500000\t1.500000\t-11.000000\n");
    EXPECT_EQ(read_bytes(out / "sorting.clu.1"), "3\n2\n3\n1\n2\n");
    const spike_file spikes = read_spikes(out / "spikes.npz", {.labels = {"all"}});
    EXPECT_EQ(spikes.labels, (std::vector<std::string>{"good", "mua"}));
    EXPECT_EQ(spikes.spikes.size(), 3U);
    EXPECT_EQ(spikes.spikes.times_us().back(), 40'000);
    EXPECT_THROW(write_report(out, small_sorting_report()), io_error);
    write_report(out, small_sorting_report(), true);
}

TEST(SortingReport, KeepsWherePeaksAreBetweenSamples) {
    const temporary_folder folder;
    sorting_report report = small_sorting_report();
    report.sorted.samples[0] = 0;
    report.sorted.fractions = {-0.5F, 0.25F, 0, -0.25F};

    write_report(folder.path() / "out", report);

    // At 10 kHz a sample is 100 us; times are not negative.
    const spike_file spikes = read_spikes(folder.path() / "out/spikes.npz", {.labels = {"all"}});
    EXPECT_EQ(std::vector(spikes.spikes.times_us().begin(), spikes.spikes.times_us().end()),
              (std::vector<std::int64_t>{0, 20'025, 39'975}));
    EXPECT_NE(read_bytes(folder.path() / "out/sorting.npz").find("fractions.npy"),
              std::string::npos);
    report.sorted.fractions.pop_back();
    EXPECT_THROW(to_spikes(report.sorted), invalid_argument);
}

TEST(SortingReport, WritesWhatItIsAskedFor) {
    const temporary_folder folder;
    const auto out = folder.path() / "out";
    sorting_report report = small_sorting_report();
    report.phy_features = features;

    write_report(out, report);

    EXPECT_EQ(read_spikes(out / "phy", {.labels = {"all"}}).spikes.size(),
              4U);  // including noise, as cluster 0
    EXPECT_FALSE(std::filesystem::exists(out / "spikes.nwb"));
    write_report(out, report, true);
    folder.file("out/phy/phy.log", "curated for hours");
    EXPECT_THROW(write_report(out, report, true), io_error);
    EXPECT_TRUE(std::filesystem::exists(out / "phy/phy.log"));
}

TEST(SortingReport, LeavesOutTimesThatAreNotKnown) {
    const temporary_folder folder;
    sorting_report report = small_sorting_report();
    report.sorted.sample_rate = 0;
    write_report(folder.path() / "samples", report);
    EXPECT_TRUE(std::filesystem::exists(folder.path() / "samples/sorting.res.1"));
    EXPECT_FALSE(std::filesystem::exists(folder.path() / "samples/spikes.npz"));
    report.sorted.samples.clear();
    write_report(folder.path() / "none", report);
    EXPECT_FALSE(std::filesystem::exists(folder.path() / "none/sorting.res.1"));
}

TEST(SortingReport, TellsScoresAndNoise) {
    const std::string json = to_json(small_sorting_report());
    EXPECT_NE(json.find("\"noise_spikes\": 1"), std::string::npos);
    EXPECT_NE(json.find("\"score\": -11.0"), std::string::npos);
    const std::string text = summarize(small_sorting_report());
    const std::string verdict = "2 units: 1 good, 1 mua, 0 noise; 3 of 4 spikes in units.";
    EXPECT_TRUE(text.starts_with(verdict + '\n')) << text;
    EXPECT_NE(json.find("\"summary\": \"" + verdict + '"'), std::string::npos) << json;
}

}  // namespace
}  // namespace spikeweave
