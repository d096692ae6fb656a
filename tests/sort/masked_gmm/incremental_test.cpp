#include "spikeweave/sort/incremental.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "io/zip.hpp"
#include "sort/masked_gmm/steps.hpp"
#include "spikeweave/core/error.hpp"
#include "support/error_text.hpp"
#include "support/run_length.hpp"
#include "support/spike_clouds.hpp"
#include "support/spike_files.hpp"
#include "support/temporary_folder.hpp"

namespace spikeweave {
namespace {

using labels_t = std::vector<std::uint32_t>;
constexpr double never = std::numeric_limits<double>::infinity();

spike_features part(const spike_features& from, std::size_t begin, std::size_t end) {
    std::vector<std::uint32_t> spikes(end - begin);
    std::iota(spikes.begin(), spikes.end(), static_cast<std::uint32_t>(begin));
    return select_spikes(from, spikes);
}

std::string read_entry(const io::zip_reader& archive, const io::zip_entry& entry) {
    const io::byte_source source = archive.open(entry);
    std::string bytes;
    std::array<char, 4096> block{};
    while (const std::size_t n = source(block)) bytes.append(block.data(), n);
    return bytes;
}

spike_cloud cloud(std::size_t spikes = 3000, std::uint64_t seed = 5) {
    return make_cloud({.spikes = spikes, .units = 6, .channels = 8, .seed = seed});
}

// The reference runs the E-step with the M-step of the labels themselves.
TEST(SortingModel, AssignsAsAnIterationDoes) {
    for (const bool exact : {false, true}) {
        const spike_cloud made = cloud(500);
        const masked_gmm_options options{.points_for_cluster_mask = 20, .exact_variances = exact};
        const masked_gmm::partition start = masked_gmm::start_from(made.truth, 500);
        const auto expected = masked_gmm::make_reference(made.features, options)->assign(start, {});

        const sorting_model model = fit_model(made.features, made.truth, options);
        const assignment_result found = model.assign(made.features, {.threads = 2});

        EXPECT_EQ(found.labels, expected.best);
        for (std::size_t n = 0; n < 500; ++n)
            ASSERT_NEAR(found.costs[n], expected.best_cost[n], 1e-8);
        EXPECT_NEAR(model.cost(),
                    std::accumulate(found.costs.begin(), found.costs.end(), 0.0) / 500, 1e-9);
        EXPECT_EQ(model.spikes(), 500U);
    }
}

TEST(SortingModel, KeepsTheNumbersOfUnits) {
    const spike_cloud made = cloud(600);
    labels_t labels = made.truth;
    for (std::uint32_t& label : labels) label = label == 0 ? 0 : 100 - 7 * label;
    const sorting_model model = fit_model(made.features, labels);
    EXPECT_EQ(model.units(), (labels_t{58, 65, 72, 79, 86, 93}));
    const labels_t found = model.assign(made.features).labels;
    EXPECT_GT(adjusted_rand(labels, found), 0.9);
    for (const std::uint32_t label : found)
        EXPECT_TRUE(label == 0 || std::count(model.units().begin(), model.units().end(), label));
}

TEST(SortingModel, IsReadAsItWasWritten) {
    const temporary_folder folder;
    const spike_cloud made = cloud();
    const sorting_model model =
        fit_model(made.features, made.truth, {.points_for_cluster_mask = 30});
    write_model(folder.path() / "model.npz", model);

    const sorting_model read = read_model(folder.path() / "model.npz");

    EXPECT_EQ(read.units(), model.units());
    EXPECT_EQ(read.spikes(), model.spikes());
    EXPECT_EQ(read.cost(), model.cost());
    const spike_cloud other = cloud(500, 6);
    EXPECT_EQ(read.assign(other.features).labels, model.assign(other.features).labels);
    // The results are equal bit by bit.
    EXPECT_EQ(read.assign(other.features).costs, model.assign(other.features).costs);
}

// A basis for 24 features.
feature_basis basis_of_eight_channels() {
    feature_basis basis{.rate_hz = 30000,
                        .low_hz = 300,
                        .high_hz = 6000,
                        .order = 3,
                        .reference = common_reference::median,
                        .frames_before = 4,
                        .frames_after = 6,
                        .features_per_channel = 3};
    for (std::uint32_t c = 0; c < 8; ++c) basis.contacts.push_back({0.1 * c, 20.0 * c, c / 4});
    for (std::size_t i = 0; i < basis.feature_count() * basis.frames(); ++i)
        basis.components.push_back(1 / static_cast<float>(i + 3));
    return basis;
}

TEST(SortingModel, KeepsTheBasisOfItsFeatures) {
    const temporary_folder folder;
    const auto path = folder.path() / "model.npz";
    const feature_basis basis = basis_of_eight_channels();
    const sorting_model model = fit_model(cloud(300).features, cloud(300).truth);
    EXPECT_FALSE(model.basis());
    write_model(path, model.with_basis(basis));

    const sorting_model read = read_model(path);

    EXPECT_EQ(read.basis(), basis);
    EXPECT_EQ(read.assign(cloud(300).features).costs, model.assign(cloud(300).features).costs);
    feature_basis other = basis;
    other.features_per_channel = 2;
    EXPECT_THROW(static_cast<void>(model.with_basis(other)), invalid_argument);
}

// Each array of a model file is left out, and one number of it is changed.
TEST(SortingModel, SaysWhatIsWrongWithItsFile) {
    const temporary_folder folder;
    const auto path = folder.path() / "model.npz";
    const auto broken = folder.path() / "broken.npz";
    write_model(
        path,
        fit_model(cloud(300).features, cloud(300).truth).with_basis(basis_of_eight_channels()));
    const io::zip_reader archive(path);
    const auto copy = [&](const std::string& without, const std::string& cut) {
        io::zip_writer out(broken);
        for (const io::zip_entry& entry : archive.entries()) {
            if (entry.name == without) continue;
            std::string bytes = read_entry(archive, entry);
            if (entry.name == cut) bytes.resize(bytes.size() - 3);
            out.begin(entry.name);
            out.write(bytes);
        }
        out.commit();
        return text_of([&] { read_model(broken); });
    };
    for (const io::zip_entry& entry : archive.entries()) {
        const std::string name = entry.name.substr(0, entry.name.size() - 4);
        EXPECT_NE(copy(entry.name, "").find("has no array '" + name), std::string::npos) << name;
        EXPECT_NE(copy("", entry.name).find("broken.npz'"), std::string::npos) << name;
    }
    EXPECT_THROW(read_model(folder.file("text.npz", "no archive")), io_error);
    EXPECT_THROW(write_model(broken, {}), invalid_argument);
    // Results have a place for each number up to the largest one.
    std::vector<std::uint32_t> labels = cloud(300).truth;
    std::replace(labels.begin(), labels.end(), 1U, 1'000'000U);
    EXPECT_NE(text_of([&] {
                  write_model(broken, fit_model(cloud(300).features, labels));
              }).find("has the unit 1000000, expected numbers up to 32767"),
              std::string::npos);
}

TEST(SortingModel, RefusesSpikesOfOtherFeatures) {
    const sorting_model model = fit_model(cloud(300).features, cloud(300).truth);
    EXPECT_NE(
        text_of([&] {
            static_cast<void>(model.assign(make_cloud({.spikes = 5, .channels = 2}).features));
        }).find("6 features for a model of 24"),
        std::string::npos);
    EXPECT_TRUE(model.assign({}).labels.empty());
    EXPECT_THROW(fit_model(cloud(300).features, {1, 2}), invalid_argument);
}

TEST(Incremental, DoesNotDependOnHowSpikesAreCutIntoPieces) {
    const std::size_t count = is_shortened_run() ? 4000 : 6000;
    const spike_cloud made = cloud(count);
    const incremental_options options{.first_fit = 700, .window = 100, .refit_above = 1};
    std::vector<incremental_sorter> sorters(4, incremental_sorter(options));
    const std::vector<std::size_t> sizes{count, count - 700, 333, 1};
    for (std::size_t s = 0; s < sizes.size(); ++s)
        for (std::size_t at = 0; at < count; at += sizes[s])
            sorters[s].add(part(made.features, at, std::min(at + sizes[s], count)),
                           {.threads = static_cast<int>(s % 2) + 1});
    EXPECT_GT(sorters[0].fits().size(), 2U);
    for (const incremental_sorter& one : sorters) {
        EXPECT_EQ(one.labels(), sorters[0].labels());
        EXPECT_EQ(one.fits().size(), sorters[0].fits().size());
        // Sums over other pieces have other rounding errors.
        EXPECT_NEAR(one.running_cost(), sorters[0].running_cost(), 1e-9);
    }
}

TEST(Incremental, FitsAtFirstWithEnoughSpikesAndThenAssigns) {
    const spike_cloud made = cloud(2000);
    incremental_sorter sorter({.first_fit = 1000, .refit_above = never, .growth = never});
    EXPECT_EQ(sorter.add(part(made.features, 0, 999)), labels_t(999));
    EXPECT_EQ(sorter.model().feature_count(), 0U);
    sorter.add(part(made.features, 999, 1000));
    const labels_t first = sorter.labels();
    EXPECT_EQ(first, sort_spikes(part(made.features, 0, 1000)).labels);

    const labels_t rest = sorter.add(part(made.features, 1000, 2000));

    EXPECT_EQ(rest, sorter.model().assign(part(made.features, 1000, 2000)).labels);
    EXPECT_EQ(sorter.labels().size(), 2000U);
    EXPECT_TRUE(std::equal(first.begin(), first.end(), sorter.labels().begin()));
    ASSERT_EQ(sorter.fits().size(), 1U);
    EXPECT_EQ(sorter.fits()[0].reason, fit_reason::first);
}

// Half-way the units move in feature space.
TEST(Incremental, FitsAgainWhenSpikesAreOfOtherKinds) {
    const spike_cloud before = cloud(3000, 1);
    const spike_cloud after = cloud(3000, 2);
    incremental_sorter still({.first_fit = 2000, .refit_above = never, .growth = never});
    incremental_sorter sorter({.first_fit = 2000, .refit_above = 20, .growth = 1.5});
    still.add(before.features);
    sorter.add(before.features);
    const std::size_t until_then = sorter.fits().size();

    still.add(after.features);
    sorter.add(after.features);

    ASSERT_GT(sorter.fits().size(), until_then);
    const incremental_fit& again = sorter.fits()[until_then];
    EXPECT_EQ(again.reason, fit_reason::drift);
    EXPECT_GT(again.running_cost, again.cost_before + 20);
    EXPECT_GT(again.spikes, 3000U);
    EXPECT_LT(again.spikes, 4000U);
    EXPECT_GT(sorter.fits().back().units, sorter.fits().front().units);
    const auto agreement = [&](const incremental_sorter& one) {
        return adjusted_rand({after.truth.begin() + 1000, after.truth.end()},
                             {one.labels().begin() + 4000, one.labels().end()});
    };
    EXPECT_GT(agreement(sorter), agreement(still) + 0.2);
}

TEST(Incremental, UnitsKeepTheirNumbersWhenItFitsAgain) {
    const spike_cloud made = cloud(4000);
    incremental_sorter sorter({.first_fit = 1000, .refit_above = never, .growth = never});
    sorter.add(part(made.features, 0, 2000));
    const labels_t before = sorter.labels();
    const std::uint32_t most = *std::max_element(before.begin(), before.end());
    sorter.add(part(made.features, 2000, 4000));

    sorter.fit();

    EXPECT_EQ(sorter.fits().back().reason, fit_reason::asked);
    std::size_t same = 0;
    for (std::size_t n = 0; n < 2000; ++n) same += before[n] == sorter.labels()[n] ? 1 : 0;
    EXPECT_GT(same, 1800U);
    // New numbers were never used before, even where units are gone.
    for (const std::uint32_t unit : sorter.model().units())
        EXPECT_TRUE(unit > most || std::count(before.begin(), before.end(), unit) > 0) << unit;
}

TEST(Incremental, KeepsNoMoreSpikesThanItMay) {
    const spike_cloud made = cloud(6000);
    incremental_sorter sorter(
        {.first_fit = 500, .refit_above = never, .growth = never, .most_kept = 1000});
    sorter.add(made.features);
    const labels_t before = sorter.labels();
    sorter.fit();
    EXPECT_EQ(sorter.model().spikes(), 1000U);
    ASSERT_EQ(sorter.labels().size(), 6000U);
    EXPECT_TRUE(std::equal(before.begin(), before.begin() + 5000, sorter.labels().begin()));
}

TEST(Incremental, BeginsWithAModel) {
    const spike_cloud made = cloud(3000);
    const sorting_model model =
        fit_model(part(made.features, 0, 2000), {made.truth.begin(), made.truth.begin() + 2000});
    incremental_sorter sorter(model, {.refit_above = never, .growth = never});
    const labels_t found = sorter.add(part(made.features, 2000, 3000));
    EXPECT_EQ(found, model.assign(part(made.features, 2000, 3000)).labels);
    EXPECT_TRUE(sorter.fits().empty());
    EXPECT_THROW(sorter.add(make_cloud({.spikes = 5, .channels = 2}).features), invalid_argument);
}

TEST(Incremental, RefusesOptionsThatCannotBe) {
    const std::vector<incremental_options> wrong{
        {.search = {.start = {1}}}, {.first_fit = 0}, {.window = 0},
        {.refit_above = 0},         {.growth = 1.0},  {.first_fit = 10, .most_kept = 9}};
    for (std::size_t i = 0; i < wrong.size(); ++i)
        EXPECT_THROW(incremental_sorter{wrong[i]}, invalid_argument) << i;
    incremental_sorter sorter;
    sorter.fit();
    EXPECT_TRUE(sorter.add({}).empty());
}

}  // namespace
}  // namespace spikeweave
