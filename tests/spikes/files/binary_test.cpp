#include <gtest/gtest.h>

#include <limits>

#include "io/zip.hpp"
#include "support/spike_files.hpp"
#include "support/temporary_folder.hpp"

namespace spikeweave {
namespace {

using io::npy_kind;

TEST(MeabenchFiles, AreReadFieldByFieldInBothSizesOfRecord) {
    const temporary_folder folder;
    for (const bool padded : {false, true}) {
        const std::string bytes = meabench_record(25, 12, padded) +
                                  meabench_record(50, 60, padded) + meabench_record(75, 3, padded);
        const spike_file file = read_spikes(folder.file("a.spike", bytes));
        EXPECT_EQ(file.format, spike_format::meabench);
        EXPECT_EQ(named(file.spikes), (named_spikes{{1'000, "12"}, {3'000, "3"}}));
        EXPECT_EQ(file.stimulus_us, std::vector<std::int64_t>{2'000});
        EXPECT_EQ(read_spikes(folder.file("renamed", bytes)).format, spike_format::meabench);
    }
}

TEST(MeabenchFiles, SayTheRecordThatIsCutOrDamaged) {
    const temporary_folder folder;
    const std::string two = meabench_record(25, 12, false) + meabench_record(50, 1, false);
    EXPECT_SAYS(error_of(folder.file("a.spike", two.substr(0, 300))),
                "record 1: found 136 bytes, expected 164");
    EXPECT_SAYS(error_of(folder.file("a.spike", two + meabench_record(75, 99, false))),
                "record 2: found channel 99, expected 0 to 63");
}

TEST(NpyFiles, HoldRowsOfTimeAndUnit) {
    const temporary_folder folder;
    const auto path =
        folder.file("a.npy", npy_bytes<double>(npy_kind::real, {0.5, 3, 0.75, 1}, {2, 2}));
    EXPECT_EQ(named(read_spikes(path).spikes), (named_spikes{{500'000, "3"}, {750'000, "1"}}));
    const auto whole =
        folder.file("b.npy", npy_bytes<std::int32_t>(npy_kind::integer, {30, 3, 60, 1}, {2, 2}));
    EXPECT_SAYS(error_of(whole), "found whole numbers for times");
    EXPECT_EQ(named(read_spikes(whole, {.time_unit = "samples:30000"}).spikes),
              (named_spikes{{1'000, "3"}, {2'000, "1"}}));
}

TEST(NpyFiles, SayWhatIsWrong) {
    const temporary_folder folder;
    const auto rows = [](const std::vector<double>& items, std::vector<std::uint64_t> shape) {
        return npy_bytes<double>(npy_kind::real, items, std::move(shape));
    };
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    EXPECT_SAYS(error_of(folder.file("a", rows({0.5, 3}, {2}))), "shape (2), expected (n, 2)");
    EXPECT_SAYS(error_of(folder.file("a", rows({0.5, 0.25}, {1, 2}))), "row 0: found unit 0.25");
    EXPECT_SAYS(error_of(folder.file("a", rows({nan, 1}, {1, 2}))), "item 0: found nan");
    EXPECT_SAYS(error_of(folder.file("a", rows({-1, 1}, {1, 2}))), "found the time -1 before zero");
    EXPECT_SAYS(error_of(folder.file("a", rows({1, 1}, {5, 2}))), "is cut: it holds 2 items");
    EXPECT_SAYS(error_of(folder.file("a", rows({1, 1, 1}, {1, 2}))), "continues after its 2 items");
    EXPECT_SAYS(error_of(folder.file("a", rows({}, {0, 2}))), "holds no spikes");
}

std::filesystem::path write_archive(
    const temporary_folder& folder,
    const std::vector<std::pair<std::string, std::string>>& entries) {
    auto path = folder.path() / "a.npz";
    io::zip_writer archive(path);
    for (const auto& [name, bytes] : entries) {
        archive.begin(name);
        archive.write(bytes);
    }
    archive.commit();
    return path;
}

TEST(NpzFiles, HoldTimesAndUnitsUnderTheNamesThatPeopleUse) {
    const temporary_folder folder;
    const named_spikes expected{{500'000, "3"}, {750'000, "1"}};
    const auto times = npy_bytes<double>(npy_kind::real, {0.5, 0.75});
    const auto units = npy_bytes<std::uint8_t>(npy_kind::natural, {3, 1});
    EXPECT_EQ(named(read_spikes(write_archive(folder, {{"times.npy", times}, {"units.npy", units}}))
                        .spikes),
              expected);
    EXPECT_EQ(
        named(read_spikes(write_archive(folder, {{"t.npy", times}, {"index.npy", units}})).spikes),
        expected);
}

TEST(NpzFiles, SayWhatIsMissingOrDoesNotFit) {
    const temporary_folder folder;
    const auto times = npy_bytes<double>(npy_kind::real, {0.5, 0.75});
    const auto one = npy_bytes<std::int64_t>(npy_kind::integer, {3});
    const auto two = npy_bytes<std::int64_t>(npy_kind::integer, {3, 3});
    EXPECT_SAYS(error_of(write_archive(folder, {{"t.npy", times}})), "found the arrays 't.npy'");
    EXPECT_SAYS(error_of(write_archive(folder, {{"t.npy", times}, {"index.npy", one}})),
                "holds 2 times and 1 units");
    const auto span = npy_bytes<double>(npy_kind::real, {2, 1});
    EXPECT_SAYS(
        error_of(write_archive(
            folder, {{"t.npy", times}, {"index.npy", two}, {"start.npy", span}, {"end.npy", one}})),
        "2 starts and 1 ends");
}

TEST(NumpyArchives, HaveNoLabelsIfTheArrayIsOfSomethingElse) {
    const auto times = npy_bytes<double>(npy_kind::real, {0.1, 0.2});
    const auto units = npy_bytes<std::int64_t>(npy_kind::integer, {0, 1});
    std::string objects = npy_bytes<std::int64_t>(npy_kind::integer, {0, 1});
    objects.replace(objects.find("'<i8'"), 5, "'|O' ");
    const temporary_folder folder;
    for (const std::string& label :
         {units, objects, npy_bytes<std::int64_t>(npy_kind::integer, {1, 2, 3})}) {
        const spike_file file = read_spikes(write_archive(
            folder,
            {{"t.npy", times}, {"index.npy", units}, {"keys.npy", units}, {"label.npy", label}}));
        EXPECT_EQ(file.spikes.size(), 2U);
        EXPECT_TRUE(file.labels.empty());
    }
}

TEST(NumpyArchives, HaveLabelsInAnyArrayThatHasSome) {
    const auto times = npy_bytes<double>(npy_kind::real, {0.1, 0.2});
    const auto units = npy_bytes<std::int64_t>(npy_kind::integer, {0, 1});
    std::string texts = io::format_npy_header({npy_kind::text, 16, false, {2}});
    io::append_utf32(texts, "good", 4);
    io::append_utf32(texts, "MUA", 4);
    const temporary_folder folder;
    for (const char* name : {"KSLabel.npy", "quality.npy", "group.npy"})
        EXPECT_EQ(read_spikes(write_archive(folder, {{"t.npy", times},
                                                     {"index.npy", units},
                                                     {"keys.npy", units},
                                                     {name, texts}}),
                              {.labels = {"all"}})
                      .labels,
                  (std::vector<std::string>{"good", "mua"}));
}

TEST(PhyFolders, AreReadWithTheirSampleRateAndLabels) {
    const temporary_folder folder;
    folder.file("phy/params.py", "dat_path = 'a.dat'\nsample_rate = 30_000.\nhp_filtered = False");
    folder.file("phy/spike_times.npy",
                npy_bytes<std::uint64_t>(npy_kind::natural, {30, 60, 90}, {3, 1}));
    folder.file("phy/spike_templates.npy", npy_bytes<std::uint32_t>(npy_kind::natural, {9, 9, 9}));
    const auto phy = folder.path() / "phy";
    EXPECT_EQ(read_spikes(phy).spikes.unit_names(), std::vector<std::string>{"9"});

    folder.file("phy/spike_clusters.npy", npy_bytes<std::int32_t>(npy_kind::integer, {4, 2, 4}));
    folder.file("phy/cluster_group.tsv", "cluster_id\tgroup\n2\tgood\n4\tnoise\n");
    for (const auto& path : {phy, phy / "params.py"}) {
        const spike_file file = read_spikes(path, {.labels = {"all"}});
        EXPECT_EQ(file.format, spike_format::phy);
        EXPECT_EQ(named(file.spikes), (named_spikes{{1'000, "4"}, {2'000, "2"}, {3'000, "4"}}));
        EXPECT_EQ(file.labels, (std::vector<std::string>{"good", "noise"}));
        EXPECT_TRUE(file.warnings.empty());
        const spike_file good = read_spikes(path);
        EXPECT_EQ(named(good.spikes), (named_spikes{{2'000, "2"}}));
        EXPECT_EQ(good.warnings,
                  std::vector<std::string>{
                      "Of 2 units, the one labelled good is used; `labels` all uses every unit."});
    }

    folder.file("phy/params.py", "dat_path = 'a.dat'\n");
    EXPECT_SAYS(error_of(phy), "params.py': has no line 'sample_rate = RATE'");
    folder.file("phy/params.py", "sample_rate = fast\n");
    EXPECT_SAYS(error_of(phy), "params.py', line 1: found 'sample_rate = fast'");
    folder.file("phy/params.py", "sample_rate = 30000\n");
    folder.file("phy/spike_clusters.npy", npy_bytes<std::int32_t>(npy_kind::integer, {4, 2}));
    EXPECT_SAYS(error_of(phy), "holds 3 times and 2 clusters");
    // A name without a folder must not become an empty folder.
    EXPECT_SAYS(error_of("params.py", {.format = spike_format::phy}),
                "'params.py': has no params.py");
}

}  // namespace
}  // namespace spikeweave
