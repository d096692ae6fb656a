#include <gtest/gtest.h>

#include <tuple>

#include "spikeweave/record/recording.hpp"
#include "support/recordings.hpp"
#include "support/spike_files.hpp"
#include "support/temporary_folder.hpp"

namespace spikeweave {
namespace {

using place = std::tuple<double, double, std::uint32_t>;  // x, y, shank

std::vector<place> places_of(const recording& what) {
    std::vector<place> out;
    for (const recording_channel& one : what.channels())
        out.emplace_back(one.x_um, one.y_um, one.shank);
    return out;
}

// Three channels of one band, two of the other, and the sync channel.
constexpr auto probe_meta =
    "typeThis=imec\r\nnSavedChans=4\nimSampRate=30000.5\nfileSizeBytes=24\n"
    "snsApLfSy=3,0,1\nacqApLfSy=5,5,1\nsnsSaveChanSubset=0,2:3,10\nimAiRangeMax=0.6\n"
    "imDatPrb_type=0\n~imroTbl=(0,5)(0 0 0 500 250 1)(1 0 0 500 250 1)(2 0 0 250 125 1)"
    "(3 0 0 1000 250 1)(4 0 0 500 250 1)\n"
    "~snsGeomMap=(NP1000,1,0,70)(0:27:0:1)(0:11:20:1)(0:43:20:0)\n";

TEST(SpikeglxFiles, HaveTheGainAndPlaceOfEachSavedChannel) {
    const temporary_folder folder;
    const auto bin = folder.file("run_g0_t0.imec0.ap.bin", as_bytes(counting(12)));
    const auto meta = folder.file("run_g0_t0.imec0.ap.meta", probe_meta);

    for (const auto& path : {bin, meta, folder.path()}) {
        const recording what = read_recording(path);
        EXPECT_EQ(what.description().format, recording_format::spikeglx);
        EXPECT_EQ(what.rate_hz(), 30000.5);
        EXPECT_EQ(what.description().files, (std::vector{bin, meta}));
        ASSERT_EQ(what.channel_count(), 3U);
        EXPECT_EQ(what.channels()[1].name, "AP2");
        EXPECT_DOUBLE_EQ(what.channels()[0].gain_uv, 1e6 * 0.6 / 512 / 500);
        EXPECT_DOUBLE_EQ(what.channels()[1].gain_uv, 1e6 * 0.6 / 512 / 250);
        EXPECT_DOUBLE_EQ(what.channels()[2].gain_uv, 1e6 * 0.6 / 512 / 1000);
        // Even rows are shifted by 16 um.
        EXPECT_EQ(places_of(what), (std::vector<place>{{16, 0, 0}, {0, 20, 0}, {32, 20, 0}}));
        EXPECT_EQ(samples_of(what), (std::vector<std::int16_t>{0, 1, 2, 4, 5, 6, 8, 9, 10}));
        ASSERT_EQ(what.description().warnings.size(), 1U);
        EXPECT_SAYS(what.description().warnings[0], "1 of 4 channels are not electrodes");
    }
}

// Programs for these files count from their first sample, whatever its number is.
TEST(SpikeglxFiles, SayByHowMuchTheirTimesDifferFromThoseOfTheAcquisition) {
    const temporary_folder folder;
    folder.file("a.bin", as_bytes(counting(12)));
    const auto read = [&](const std::string& line) {
        return read_recording(folder.file("a.meta", line + probe_meta)).description();
    };
    EXPECT_EQ(read("firstSample=0\n").warnings.size(), 1U);
    const recording_description late = read("firstSample=375000\n");
    EXPECT_EQ(late.begin, duration{0});
    EXPECT_SAYS(late.warnings[0], "Times count from the first sample of the file");
    EXPECT_SAYS(late.warnings[0], "they are 12.499792 s more: by 'a.meta', the first sample is");
    EXPECT_SAYS(refused(folder.file("a.meta", std::string("firstSample=x\n") + probe_meta)),
                "a.meta', key 'firstSample': found 'x', expected a number");
}

TEST(SpikeglxFiles, BesideSortedSpikesAreNotWhatTheFolderIs) {
    const temporary_folder folder;
    folder.file("a.meta", probe_meta);
    EXPECT_EQ(find_recording_format(folder.path()), recording_format::spikeglx);
    folder.file("params.py", "sample_rate = 30000\n");
    EXPECT_EQ(find_recording_format(folder.path()), std::nullopt);
}

TEST(SpikeglxFiles, OfOtherKindsHaveTheirOwnGains) {
    const temporary_folder folder;
    folder.file("a.bin", as_bytes(counting(12)));
    const auto read = [&](std::string text) {
        return read_recording(folder.file("a.meta", text)).channels();
    };
    std::string lf = replaced(probe_meta, "snsApLfSy=3,0,1", "snsApLfSy=0,3,1");
    lf = replaced(lf, "0,2:3,10", "5,7:8,10");
    EXPECT_DOUBLE_EQ(read(lf)[1].gain_uv, 1e6 * 0.6 / 512 / 125);
    EXPECT_EQ(read(lf)[1].name, "LF2");
}

// On NI devices, MN inputs are of electrodes; MA, XA and digital ones are of anything else.
TEST(SpikeglxFiles, OfOtherDevicesAreReadWithoutTheirOtherInputs) {
    const temporary_folder folder;
    folder.file("a.bin", as_bytes(counting(12)));
    const std::string ni =
        "nSavedChans=4\nniSampRate=25000\nfileSizeBytes=24\nsnsMnMaXaDw=2,0,1,1\n"
        "niAiRangeMax=5\nniMNGain=200\nniMAGain=10\n";
    const auto meta = [&](const std::string& text) { return folder.file("a.meta", text); };
    const recording what = read_recording(meta(ni));
    ASSERT_EQ(what.channel_count(), 2U);
    EXPECT_DOUBLE_EQ(what.channels()[1].gain_uv, 5e6 / 32768 / 200);
    EXPECT_EQ(samples_of(what), (std::vector<std::int16_t>{0, 1, 4, 5, 8, 9}));
    EXPECT_SAYS(what.description().warnings[0],
                "2 of 4 channels are not electrodes and are left out.");

    const std::string none = refused(meta(replaced(ni, "=2,0,1,1", "=0,1,2,1")));
    EXPECT_SAYS(none, "a.meta', key 'snsMnMaXaDw': found '0,1,2,1': none of the 4 channels is of");
    EXPECT_SAYS(none, "give `channels` 4, `sample_rate` 25000 and `gain` 152.588, and a `probe`");
    const std::string onebox =
        "nSavedChans=4\nobSampRate=30303\nfileSizeBytes=24\nsnsXaDwSy=2,1,1\nobAiRangeMax=5\n"
        "obMaxInt=32768\n";
    EXPECT_SAYS(refused(meta(onebox)), "key 'snsXaDwSy': found '2,1,1': none of the 4 channels");
    EXPECT_SAYS(refused(meta(replaced(probe_meta, "snsApLfSy=3,0,1", "snsApLfSy=0,0,4"))),
                "key 'snsApLfSy': found '0,0,4': none of the 4 channels");
    // As the message says.
    const auto probe = folder.file(
        "p.json", R"({"probes": [{"si_units": "um", "contact_positions": [[0, 0], [0, 20]],
                                  "device_channel_indices": [0, 1]}]})");
    const recording raw =
        read_recording(folder.path() / "a.bin",
                       {.sample_rate = 25000, .channels = 4, .gain = 152.588, .probe = probe});
    EXPECT_EQ(raw.channel_count(), 2U);
}

TEST(SpikeglxFiles, SayWhatIsWrong) {
    const temporary_folder folder;
    folder.file("a.bin", as_bytes(counting(12)));
    const auto says = [&](std::string_view what, std::string_view by) {
        return refused(folder.file("a.meta", replaced(probe_meta, what, by)));
    };
    for (const char* key : {"nSavedChans", "imSampRate", "imAiRangeMax"})
        EXPECT_SAYS(says(key, "other"), "': is missing");
    EXPECT_SAYS(says("nSavedChans=4", "nSavedChans=5"),
                "found 4 channels, expected nSavedChans, 5");
    EXPECT_SAYS(says("nSavedChans=4", "nSavedChans=2"), "found 2 channels with 3 electrodes");
    EXPECT_SAYS(says("nSavedChans=4", "nSavedChans=x"), "found 'x', expected a number");
    // No memory is allocated for what is only claimed.
    EXPECT_SAYS(says("nSavedChans=4", "nSavedChans=99999999999999"),
                "a.meta', key 'nSavedChans': found 99999999999999 channels, expected at most");
    EXPECT_SAYS(says("3,0,1", "3,0"), "key 'snsApLfSy': found '3,0', expected 3 numbers");
    EXPECT_SAYS(says("2:3", "3:2"), "found '3:2', expected channels");
    EXPECT_SAYS(says("2 0 0 250", "2 0 0 x"),
                "'2 0 0 x 125 1', expected channel, bank, reference, AP gain, LF gain");
    EXPECT_SAYS(says("2 0 0 250", "2 0 0 0"), "expected gains above 0 in fields 4 and 5");
    EXPECT_SAYS(says("2 0 0 250", "2 9 0 250"), "channel 2 is at contact 3458 of shank 0");
    EXPECT_SAYS(says("(3 0 0 1000 250 1)(4 0 0 500 250 1)", ""),
                "has 3 channels, expected channel 3, too");
    folder.file("a.meta", probe_meta);
    std::filesystem::remove(folder.path() / "a.bin");
    EXPECT_SAYS(refused(folder.path() / "a.meta"), "a.bin");
}

// A short text can claim any number of channels.
TEST(SpikeglxFiles, DoNotMakeReadersTakeMemoryOrTime) {
    const temporary_folder folder;
    folder.file("a.bin", as_bytes(counting(12)));
    const auto says = [&](std::string_view what, const std::string& by) {
        return refused(folder.file("a.meta", replaced(probe_meta, what, by)));
    };
    const std::string largest = "18446744073709551615";
    EXPECT_SAYS(says("0,2:3,10", largest), "found 1 channels, expected nSavedChans, 4");
    EXPECT_SAYS(says("0,2:3,10", "18446744073709551614:" + largest), "found 2 channels");
    EXPECT_SAYS(says("0,2:3,10", "0:3,0:3"), "expected nSavedChans, 4 channels");
    EXPECT_SAYS(says("snsApLfSy=3", "snsApLfSy=" + largest), "found 4 channels with " + largest);
    EXPECT_SAYS(says("(2 0 0", "(" + largest + " 0 0"), "expected channel, bank");
    EXPECT_SAYS(says("(2 0 0", "(4000000000 4000000000 0"), "contact 4294967295");
    std::string many = "0:131071";
    for (int i = 0; i < 2000; ++i) many += ",0:131071";
    EXPECT_SAYS(refused(folder.file("a.meta", replaced(replaced(probe_meta, "0,2:3,10", many),
                                                       "nSavedChans=4", "nSavedChans=131072"))),
                "expected nSavedChans, 131072 channels");
}

// Two channels of a probe of another kind, and the sync channel.
std::string meta_of(const std::string& keys) {
    return "typeThis=imec\nnSavedChans=3\nimSampRate=30000\nfileSizeBytes=24\nsnsApLfSy=2,0,1\n"
           "acqApLfSy=4,0,1\nsnsSaveChanSubset=0,2,4\nimAiRangeMax=0.5\n" +
           keys;
}

struct kind_of_probe {
    std::string name;
    std::string keys;
    double gain_uv;
    std::vector<place> places;
};

// The number in field 4 of a table of Neuropixels 2.0 is the reference and no gain.
const std::vector<kind_of_probe> kinds_of_probes{
    {"with four shanks",
     "imDatPrb_pn=NP2010\nimDatPrb_type=24\n"
     "~imroTbl=(24,4)(0 1 0 1 5)(1 0 0 1 1)(2 3 1 1 386)(3 0 0 1 3)\n",
     1e6 * 0.5 / 8192 / 80,
     {{282, 30, 1}, {750, 2895, 3}}},
    {"with one shank, named by its type",
     "imDatPrb_type=21\n~imroTbl=(21,4)(0 1 1 6)(1 1 1 1)(2 1 1 3)(3 1 1 2)\n",
     1e6 * 0.5 / 8192 / 80,
     {{0, 45, 0}, {32, 15, 0}}},
    {"that says its range and gain",
     "imDatPrb_pn=NP2014\nimMaxInt=2048\nimChan0apGain=99\n"
     "~imroTbl=(2013,4)(0 0 0 1 0)(1 0 0 1 1)(2 0 0 1 2)(3 0 0 1 3)\n",
     1e6 * 0.5 / 2048 / 99,
     {{0, 0, 0}, {0, 15, 0}}},
    {"with its part number in the table",
     "~imroTbl=(NP2020,4)(0 2 0 1 0)(1 0 0 1 1)(2 0 0 1 2)(3 0 0 1 3)\n",
     1e6 * 0.5 / 2048 / 100,
     {{500, 0, 2}, {0, 15, 0}}},
    {"of the prototypes of phase 3A",
     "imProbeOpt=3\n~imroTbl=(641,3,4)(0 0 1 500 250)(1 0 1 500 250)(2 1 1 500 250)"
     "(3 0 1 500 250)\n",
     1e6 * 0.5 / 512 / 500,
     {{16, 0, 0}, {0, 1930 * 2, 0}}},
    {"with columns and rows only",
     "imDatPrb_pn=NP2000\n~snsShankMap=(1,2,640)(0:1:0:1)(0:0:3:1)\n",
     1e6 * 0.5 / 8192 / 80,
     {{32, 0, 0}, {0, 45, 0}}},
    {"with columns and rows of all channels",
     "imDatPrb_pn=NP2000\n~snsShankMap=(1,2,640)(0:1:0:1)(0:0:3:1)(0:0:9:1)(0:0:1:1)\n",
     1e6 * 0.5 / 8192 / 80,
     {{32, 0, 0}, {0, 135, 0}}},
    {"that is not known, but describes itself",
     "imDatPrb_pn=NP9999\nimMaxInt=2048\nimChan0apGain=100\n"
     "~snsGeomMap=(NP9999,2,300,70)(0:27:5:1)(1:27.5:10:1)\n",
     1e6 * 0.5 / 2048 / 100,
     {{27, 5, 0}, {327.5, 10, 1}}},
};

TEST(SpikeglxFiles, OfEachKindOfProbeHaveItsGainAndPlaces) {
    const temporary_folder folder;
    folder.file("a.bin", as_bytes(counting(12)));
    for (const kind_of_probe& one : kinds_of_probes) {
        const recording what = read_recording(folder.file("a.meta", meta_of(one.keys)));
        EXPECT_DOUBLE_EQ(what.channels()[1].gain_uv, one.gain_uv) << one.name;
        EXPECT_EQ(places_of(what), one.places) << one.name;
        EXPECT_EQ(what.description().positions, position_source::file) << one.name;
    }
}

TEST(SpikeglxFiles, OfTheLfBandOfAProbeWithOneGainHaveIt) {
    const temporary_folder folder;
    folder.file("a.bin", as_bytes(counting(12)));
    const recording what = read_recording(folder.file(
        "a.meta",
        replaced(replaced(meta_of(kinds_of_probes[0].keys), "snsApLfSy=2,0,1", "snsApLfSy=0,2,1"),
                 "acqApLfSy=4,0,1", "acqApLfSy=0,4,1")));
    EXPECT_EQ(what.channels()[1].name, "LF2");
    EXPECT_DOUBLE_EQ(what.channels()[1].gain_uv, kinds_of_probes[0].gain_uv);
}

TEST(SpikeglxFiles, OfAnUnknownProbeAreReadWithAProbeFileIfTheGainIsKnown) {
    const temporary_folder folder;
    folder.file("a.bin", as_bytes(counting(12)));
    const auto probe = folder.file(
        "p.json", R"({"probes": [{"si_units": "um", "contact_positions": [[1, 2], [3, 4]],
            "device_channel_indices": [0, 1]}]})");
    const std::string keys =
        "imDatPrb_pn=NP9999\nimDatPrb_type=24\nimMaxInt=2048\nimChan0apGain=100\n"
        "~snsShankMap=(1,2,640)(0:0:0:1)(0:1:0:1)\n";
    const auto meta = folder.file("a.meta", meta_of(keys));
    EXPECT_SAYS(
        refused(meta),
        "a.meta', key 'imDatPrb_pn': found 'NP9999', which is not a known probe, expected the "
        "part number of a Neuropixels probe, such as NP1000 or NP2014: give the positions "
        "of its contacts as a probe file with `probe`");
    const recording what = read_recording(meta, {.probe = probe});
    EXPECT_EQ(places_of(what), (std::vector<place>{{1, 2, 0}, {3, 4, 0}}));
    EXPECT_DOUBLE_EQ(what.channels()[1].gain_uv, 1e6 * 0.5 / 2048 / 100);
    EXPECT_SAYS(what.description().warnings[0],
                "The probe 'NP9999' is not known: the gain of its first channel is used for all.");

    const auto without = [&](std::string_view key) {
        return refused(folder.file("a.meta", meta_of(replaced(keys, key, "other"))),
                       {.probe = probe});
    };
    EXPECT_SAYS(without("imMaxInt"), "key 'imMaxInt': is missing, and the gain of a probe");
    const std::string says = without("imChan0apGain");
    EXPECT_SAYS(says, "key 'imChan0apGain': is missing");
    EXPECT_SAYS(says, "with `channels`, `sample_rate` and `gain` the file is read as raw samples");
    EXPECT_EQ(read_recording(folder.path() / "a.bin",
                             {.sample_rate = 30000, .channels = 3, .gain = 2.5, .probe = probe})
                  .channel_count(),
              2U);
}

TEST(SpikeglxFiles, ThatDoNotSayWhereContactsAreAskForAProbeFile) {
    const temporary_folder folder;
    folder.file("a.bin", as_bytes(counting(12)));
    const auto says = [&](const std::string& keys) {
        return refused(folder.file("a.meta", meta_of(keys)));
    };
    EXPECT_SAYS(says("imMaxInt=8192\nimChan0apGain=80\n"),
                "states neither the part number of its probe (imDatPrb_pn) nor the positions of "
                "its contacts (snsGeomMap): give the positions of its contacts as a probe file "
                "with `probe`");
    EXPECT_SAYS(says("imDatPrb_pn=NP2000\n"), "found 'NP2000', without imroTbl");
    EXPECT_SAYS(says("imDatPrb_pn=NP1000\n"),
                "key 'imroTbl': is missing, and the channels of this probe have gains");
    EXPECT_SAYS(says("imDatPrb_type=99\nimMaxInt=8192\nimChan0apGain=80\n"),
                "key 'imDatPrb_type': found '99', which is not a known probe");
    EXPECT_SAYS(says("imDatPrb_pn=NP2000\n~snsShankMap=(1,2,640)(0:1:0:1)\n"),
                "found 1 contacts, expected 2");
    EXPECT_SAYS(says("imDatPrb_pn=NP2000\n~snsShankMap=(1,2,640)(0:1:0:1)(0:1)\n"),
                "found '0:1', expected shank:column:row:used");
    EXPECT_SAYS(
        says("imMaxInt=8192\nimChan0apGain=80\n~snsGeomMap=(NP9999,1,0)(0:1:0:1)(0:1:2:1)\n"),
        "key 'snsGeomMap': found '(NP9999,1,0)(0:1:0:1)(0:1:2:1)', expected (part,");
}

// Groups of channels with banks of their own.
TEST(SpikeglxFiles, OfAProbeWithGroupsHaveTheGainOfTheirHead) {
    const temporary_folder folder;
    folder.file("a.bin", as_bytes(counting(12)));
    std::string groups;
    for (int g = 0; g < 24; ++g) groups += "(" + std::to_string(g) + " 1 2)";
    const std::string keys = "imDatPrb_pn=NP1110\n~imroTbl=(1110,2,0,1000,250,1)" + groups + "\n";
    const recording what = read_recording(folder.file("a.meta", meta_of(keys)));
    EXPECT_DOUBLE_EQ(what.channels()[0].gain_uv, 1e6 * 0.5 / 512 / 1000);
    // The first row of bank 1 is row 48, and its group 0 has columns 2 and 3.
    EXPECT_EQ(places_of(what), (std::vector<place>{{12, 288, 0}, {18, 288, 0}}));
    const auto says = [&](std::string_view part, std::string_view by) {
        return refused(folder.file("a.meta", meta_of(replaced(keys, part, by))));
    };
    EXPECT_SAYS(says("(23 1 2)", ""), "found 23 groups, expected 24");
    EXPECT_SAYS(says("(3 1 2)", "(3 1 16)"), "found '3 1 16', expected group 3 and two banks");
    EXPECT_SAYS(says("(1110,2,", "(1110,3,"), "expected type, columns (0, 1 or 2)");
}

// As after a crash, or a copy that was broken off.
TEST(SpikeglxFiles, ThatWereCutAreReadWithAWarning) {
    const temporary_folder folder;
    const auto read = [&](std::size_t bytes, std::string_view size) {
        folder.file("a.bin", as_bytes(counting(12)).substr(0, bytes));
        return read_recording(
            folder.file("a.meta", replaced(probe_meta, "fileSizeBytes=24", size)));
    };
    const auto last_warning = [](const recording& what) {
        return what.description().warnings.back();
    };
    EXPECT_EQ(read(24, "fileSizeBytes=24").description().warnings.size(), 1U);
    EXPECT_SAYS(last_warning(read(24, "fileSizeBytes=32")),
                "The file is cut: it has 24 bytes of 32, which is fileSizeBytes of 'a.meta'. Its 3 "
                "whole frames are read.");
    for (const char* none : {"other=1", "fileSizeBytes=", "fileSizeBytes=0"})
        EXPECT_SAYS(last_warning(read(24, none)), "'a.meta' does not state the length of the file");
    const recording partial = read(21, "fileSizeBytes=24");
    EXPECT_SAYS(last_warning(partial), "Its 2 whole frames");
    EXPECT_EQ(samples_of(partial), (std::vector<std::int16_t>{0, 1, 2, 4, 5, 6}));
    EXPECT_SAYS(refusal_of([&] { read(22, "fileSizeBytes=22"); }),
                "frame 2: found 6 bytes, expected 8");
    EXPECT_SAYS(refusal_of([&] { read(24, "fileSizeBytes=16"); }), "found 24 bytes, expected 16");
    EXPECT_SAYS(refusal_of([&] { read(7, "fileSizeBytes=24"); }), "holds no whole frame");
}

TEST(SpikeglxFiles, AreRawSamplesIfTheCallerSaysWhatTheyAre) {
    const temporary_folder folder;
    const auto bin = folder.file("a.bin", as_bytes(counting(12)));
    const auto meta = folder.file("a.meta", probe_meta);
    const recording what = read_recording(bin, {.sample_rate = 1000, .channels = 4, .gain = 2});
    EXPECT_EQ(what.description().format, recording_format::raw);
    EXPECT_EQ(samples_of(what), counting(12));
    EXPECT_SAYS(refused(bin, {.gain = 2}), "is read as spikeglx, which states its rate");
    EXPECT_SAYS(refused(meta, {.sample_rate = 1000, .channels = 4}), "which is text");
    EXPECT_SAYS(refused(folder.path(), {.sample_rate = 1000, .channels = 4}), "states its rate");
}

TEST(SpikeglxFiles, OfOneNameInSeveralFoldersAreNamedByTheirPaths) {
    const temporary_folder folder;
    for (const char* part : {"imec0/", "imec1/"})
        for (const char* name : {"run.ap", "run.lf"}) {
            folder.file(std::string(part) + name + ".bin", as_bytes(counting(12)));
            folder.file(std::string(part) + name + ".meta", probe_meta);
        }
    folder.file("imec1/other.bin", as_bytes(counting(12)));
    folder.file("imec1/other.meta", probe_meta);
    const std::string list = "imec0/run.ap, imec0/run.lf, imec1/other, imec1/run.ap, imec1/run.lf";
    EXPECT_SAYS(refused(folder.path()),
                "holds more than one .meta file, name one with `stream`; it has " + list);
    EXPECT_SAYS(refused(folder.path(), {.stream = "run.ap"}), "named 'run.ap'; it has " + list);
    for (const char* name : {"imec1/run.ap", "other"})
        EXPECT_EQ(
            read_recording(folder.path(), {.stream = name}).description().files[0].parent_path(),
            folder.path() / "imec1")
            << name;
}

}  // namespace
}  // namespace spikeweave
