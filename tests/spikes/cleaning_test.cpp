#include "spikeweave/spikes/cleaning.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "spikeweave/core/error.hpp"
#include "spikeweave/spikes/epochs.hpp"
#include "spikeweave/spikes/files.hpp"
#include "spikeweave/spikes/units_left_out.hpp"
#include "support/error_text.hpp"
#include "support/random_streams.hpp"
#include "support/run_length.hpp"
#include "support/spike_files.hpp"
#include "support/temporary_folder.hpp"

namespace spikeweave {
namespace {

using namespace std::chrono_literals;

std::vector<std::pair<std::int64_t, unit_id>> list_of(const spike_sequence& spikes) {
    std::vector<std::pair<std::int64_t, unit_id>> out;
    for (std::size_t i = 0; i < spikes.size(); ++i)
        out.push_back({spikes.times_us()[i], spikes.units()[i]});
    return out;
}

// The definition: two spikes are of one moment if a chain of spikes no further apart joins them.
TEST(CleanSpikes, LeavesOutTheMomentsOfTheDefinition) {
    for (std::uint64_t seed = 0; seed < property_cases(300); ++seed) {
        random_streams random(seed);
        const spike_sequence spikes = random.spikes(60, 6);
        const auto least = static_cast<std::uint32_t>(2 + random.below(3));
        const duration window{1 + static_cast<std::int64_t>(random.below(3))};

        const cleaned_spikes cleaned =
            clean_spikes(spikes, {.drop_synchronous = least, .synchrony_window = window});

        std::map<std::size_t, std::vector<std::size_t>> moments;
        std::size_t moment = 0;
        for (std::size_t i = 0; i < spikes.size(); ++i) {
            if (i > 0 && spikes.times_us()[i] - spikes.times_us()[i - 1] > window.count()) ++moment;
            moments[moment].push_back(i);
        }
        std::vector<std::pair<std::int64_t, unit_id>> kept;
        std::size_t events = 0;
        for (const auto& [number, members] : moments) {
            std::set<unit_id> units;
            for (const std::size_t i : members) units.insert(spikes.units()[i]);
            if (units.size() >= least) {
                ++events;
                continue;
            }
            for (const std::size_t i : members)
                kept.push_back({spikes.times_us()[i], spikes.units()[i]});
        }
        EXPECT_EQ(list_of(cleaned.spikes), kept) << seed;
        EXPECT_EQ(cleaned.left_out.synchronous_events, events);
        EXPECT_EQ(cleaned.left_out.synchronous_spikes, spikes.size() - kept.size());
        EXPECT_EQ(cleaned.spikes.unit_names(), spikes.unit_names());
        EXPECT_EQ(cleaned.spikes.span(), spikes.span());
    }
}

// a fires at 10 Hz, b at 1 Hz, in 10 s; c once together with a and b.
spike_sequence three_units() {
    spike_sequence_builder builder;
    const unit_id a = builder.unit("a");
    const unit_id b = builder.unit("b");
    for (std::int64_t i = 0; i < 100; ++i) builder.append(100'000 * i, a);
    for (std::int64_t i = 0; i < 10; ++i) builder.append(1'000'000 * i + 50'000, b);
    const unit_id c = builder.unit("c");
    builder.append(500'030, c);
    return builder.finish({0us, 10s});
}

TEST(CleanSpikes, LeavesOutUnitsByTheRateOfWhatRemains) {
    const spike_sequence spikes = three_units();

    const cleaned_spikes at_rate = clean_spikes(spikes, {.max_rate = 10});
    const cleaned_spikes below = clean_spikes(spikes, {.max_rate = 9.95});
    const cleaned_spikes both = clean_spikes(spikes, {.drop_synchronous = 2, .max_rate = 9.95});

    EXPECT_EQ(at_rate.spikes, spikes);
    EXPECT_EQ(below.spikes, select_units(spikes, std::vector<std::string>{"b", "c"}));
    EXPECT_EQ(below.left_out.fast, (std::vector<unit_left_out>{{"a", 100, 10}}));
    // One spike of a is synchronous with that of c; without it a fires at 9.9 Hz.
    EXPECT_TRUE(both.left_out.fast.empty());
    EXPECT_EQ(both.spikes.size(), spikes.size() - 2);
    EXPECT_EQ(warnings_of(both.left_out),
              std::vector<std::string>{
                  "2 spikes of one moment were left out: at least 2 units fired in it."});
    EXPECT_EQ(warnings_of(below.left_out),
              std::vector<std::string>{"Unit a with 100 spikes was left out: it fires at 10 Hz."});
}

TEST(CleanSpikes, RatesAreOfTheTimeThatWasObserved) {
    const spike_sequence half =
        within_epochs(three_units(), std::vector<time_span>{{0s, 2s}, {4s, 7s}});
    EXPECT_EQ(clean_spikes(half, {.max_rate = 10}).spikes, half);
    EXPECT_EQ(clean_spikes(half, {.max_rate = 9}).left_out.fast,
              (std::vector<unit_left_out>{{"a", 50, 10}}));
}

TEST(CleanSpikes, KeepsUnitsOfUnknownSeparation) {
    const spike_sequence spikes = three_units();
    const std::vector<double> snr{2.4, std::nan(""), 2.5};

    const cleaned_spikes cleaned = clean_spikes(spikes, {.min_snr = 2.5}, snr);

    EXPECT_EQ(cleaned.spikes.unit_names(), (std::vector<std::string>{"b", "c"}));
    EXPECT_EQ(cleaned.left_out.noisy, (std::vector<unit_left_out>{{"a", 100, 2.4}}));
    EXPECT_THROW(clean_spikes(spikes, {.min_snr = 2.5}), invalid_argument);
    EXPECT_THROW(clean_spikes(spikes, {.max_rate = 0}), invalid_argument);
    EXPECT_THROW(clean_spikes(spikes, {.drop_synchronous = 1}), invalid_argument);
}

TEST(ReadSpikes, TakesSignalToNoiseRatiosFromAPhyFolder) {
    using io::npy_kind;
    const temporary_folder folder;
    const auto phy = folder.path() / "phy";
    folder.file("phy/params.py", "sample_rate = 1000\n");
    folder.file("phy/spike_times.npy", npy_bytes<std::uint64_t>(npy_kind::natural, {1, 2, 3, 4}));
    folder.file("phy/spike_clusters.npy",
                npy_bytes<std::int32_t>(npy_kind::integer, {10, 2, 7, 2}));
    const spike_read_options wanted{.cleaning = {.min_snr = 2.5}};
    EXPECT_SAYS(error_of(phy, wanted), "has no signal-to-noise ratios of units");

    folder.file("phy/cluster_group.tsv", "cluster_id\tgroup\n2\tunsorted\n");
    folder.file("phy/cluster_quality.tsv",
                "cluster_id\trate_hz\tsnr\n2\t1\t4.5\n10\t1\t2\n7\t1\t\n");
    const spike_file file = read_spikes(phy, wanted);
    EXPECT_EQ(file.spikes.unit_names(), (std::vector<std::string>{"2", "7"}));
    EXPECT_EQ(file.snr.front(), 4.5);
    EXPECT_EQ(file.left_out.noisy, (std::vector<unit_left_out>{{"10", 1, 2}}));
    EXPECT_EQ(file.left_out.unknown, std::vector<std::string>{"7"});
    const auto said = warnings_of(file.left_out);
    ASSERT_EQ(said.size(), 2U);
    EXPECT_SAYS(said[0], "Unit 10 with 1 spikes was left out");
    EXPECT_SAYS(said[1], "The signal-to-noise ratio of unit 7 is not known");

    folder.file("phy/cluster_quality.tsv", "cluster_id\tsnr\n2\tlow\n");
    const spike_file doubtful = read_spikes(phy, wanted);
    EXPECT_EQ(doubtful.left_out.unknown, (std::vector<std::string>{"2", "7", "10"}));
    EXPECT_SAYS(
        doubtful.warnings.at(0),
        "cluster_quality.tsv', cluster 2: found 'low', expected a number in the column snr");
}

using texts = std::vector<std::string>;
using indices = std::vector<std::size_t>;

TEST(ChooseByLabel, UsesGoodUnitsWhereThereAreLabels) {
    const texts labels{"good", "mua", "noise", "", "good", "interneuron"};

    const units_by_label by_default = choose_by_label(labels, {});
    EXPECT_EQ(by_default.used, (indices{0, 4}));
    EXPECT_EQ(by_default.message,
              "Of 6 units, the 2 labelled good are used; `labels` all uses every unit.");
    const units_by_label asked = choose_by_label(labels, texts{"mua", "good"});
    EXPECT_EQ(asked.used, (indices{0, 1, 4}));
    EXPECT_EQ(asked.message, "Of 6 units, the 3 labelled mua or good are used.");
    EXPECT_EQ(choose_by_label(labels, texts{"unsorted"}).used, (indices{3}));
    EXPECT_EQ(choose_by_label(labels, texts{"interneuron"}).used, (indices{5}));
    EXPECT_EQ(choose_by_label(labels, texts{"all"}).used.size(), 6U);
    EXPECT_TRUE(choose_by_label(labels, texts{"all"}).message.empty());
    EXPECT_TRUE(choose_by_label(texts{"good", "good"}, {}).message.empty());
}

TEST(ChooseByLabel, LeavesOnlyNoiseOutIfNobodySaidWhatIsGood) {
    EXPECT_EQ(choose_by_label(texts{"unsorted", "", "other"}, {}).used, (indices{0, 1, 2}));
    const units_by_label some = choose_by_label(texts{"unsorted", "noise", "unsorted"}, {});
    EXPECT_EQ(some.used, (indices{0, 2}));
    EXPECT_EQ(some.message,
              "Of 3 units, the 2 not labelled noise are used; `labels` all uses every unit.");
    EXPECT_TRUE(choose_by_label({}, {}).used.empty());
}

TEST(ChooseByLabel, SaysWhichLabelsThereAre) {
    const auto refusal = [](const texts& labels, const texts& wanted) {
        return text_of([&] { choose_by_label(labels, wanted); });
    };
    EXPECT_EQ(refusal({"mua", "", "mua"}, {}),
              "`labels`: no unit is labelled good; there are 2 mua, 1 unsorted: `labels` all uses "
              "every unit");
    EXPECT_SAYS(refusal({"noise"}, {}), "no unit is not labelled noise; there are 1 noise");
    EXPECT_SAYS(refusal({"mua"}, {"good", "noise"}), "no unit is labelled good or noise");
    EXPECT_EQ(refusal({"good", "mua"}, {"good", "muo"}),
              "`labels`: no unit is labelled muo; there are 1 good, 1 mua");
    EXPECT_SAYS(refusal({}, {"good"}), "the units have no labels");
}

// Unit a is good, b noise and c has several neurons.
void check_labels_of(const std::filesystem::path& path) {
    const spike_sequence spikes = three_units();
    write_units(path, spikes,
                std::vector<unit_column>{label_column(path, {"good", "noise", "mua"})});

    const spike_file good = read_spikes(path);
    EXPECT_EQ(good.spikes, select_units(spikes, texts{"a"}));
    EXPECT_EQ(good.labels, texts{"good"});
    EXPECT_EQ(good.left_out_by_label,
              (std::vector<std::pair<std::string, std::string>>{{"b", "noise"}, {"c", "mua"}}));
    EXPECT_EQ(units_left_out(good).at("c"), "it is labelled mua, which `labels` leaves out");
    EXPECT_EQ(warnings_of(good).front(),
              "Of 3 units, the one labelled good is used; `labels` all uses every unit.");
    EXPECT_EQ(read_spikes(path, {.labels = {"all"}}).spikes, spikes);
    EXPECT_EQ(read_spikes(path, {.labels = {"mua", "noise"}}).spikes.unit_names(),
              (texts{"b", "c"}));
    EXPECT_THROW(read_spikes(path, {.labels = {"unsorted"}}), invalid_argument);
    EXPECT_SAYS(text_of([&] {
                    read_spikes(path, {.labels = {"all", "mua"}});
                }),
                "`labels`: all selects every label");
    write_spikes(path, spikes);
    EXPECT_EQ(read_spikes(path).spikes, spikes);
    EXPECT_SAYS(error_of(path, {.labels = {"good"}}), "has no labels of units");
}

TEST(ReadSpikes, TakesLabelsFromAnArchive) {
    const temporary_folder folder;
    check_labels_of(folder.path() / "units.npz");
}

TEST(ReadSpikes, KeepsLabelsOfNumberedUnitsInOrder) {
    const temporary_folder folder;
    const auto path = folder.path() / "units.npz";
    const spike_sequence spikes({1, 2, 3}, {unit_id{0}, unit_id{1}, unit_id{2}}, {"2", "9", "10"},
                                {0s, 1s});
    write_units(path, spikes, std::vector<unit_column>{label_column(path, {"mua", "good", "mua"})});
    EXPECT_EQ(read_spikes(path).spikes.unit_names(), texts{"9"});
}

#ifdef SPIKEWEAVE_TEST_NWB
TEST(ReadSpikes, TakesLabelsFromTheUnitsOfNwb) {
    const temporary_folder folder;
    check_labels_of(folder.path() / "units.nwb");
}

TEST(ReadSpikes, TakesSignalToNoiseRatiosFromTheUnitsOfNwb) {
    const temporary_folder folder;
    const auto path = folder.path() / "units.nwb";
    const spike_sequence spikes = three_units();
    write_units(path, spikes, std::vector<unit_column>{{"snr", "ratio", {3, 1, 2.5}, {}}});

    const spike_file file = read_spikes(path, {.cleaning = {.min_snr = 2.5}});

    EXPECT_EQ(file.spikes, select_units(spikes, std::vector<std::string>{"a", "c"}));
    EXPECT_EQ(file.snr, (std::vector<double>{3, 2.5}));
    EXPECT_EQ(read_spikes(path).spikes, spikes);
}
#endif

}  // namespace
}  // namespace spikeweave
