#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <functional>
#include <optional>
#include <random>
#include <stop_token>
#include <thread>

#include "io/little_endian.hpp"
#include "spikeweave/record/recording.hpp"
#include "support/damaged_files.hpp"
#include "support/recordings.hpp"
#include "support/spike_files.hpp"
#include "support/temporary_folder.hpp"
#ifdef SPIKEWEAVE_TEST_NWB
#include "io/hdf5.hpp"
#include "io/hdf5_output.hpp"
#endif

namespace spikeweave {
namespace {

std::string as_bytes(const std::vector<std::int16_t>& samples) {
    std::string out;
    for (const std::int16_t sample : samples) io::append(out, sample);
    return out;
}

std::vector<std::int16_t> counting(std::size_t n) {
    std::vector<std::int16_t> out(n);
    for (std::size_t i = 0; i < n; ++i) out[i] = static_cast<std::int16_t>(i);
    return out;
}

std::string refused(const std::filesystem::path& path, const recording_read_options& how = {}) {
    return refusal_of([&] { read_recording(path, how); });
}

std::string replaced(std::string text, std::string_view what, std::string_view by) {
    const std::size_t at = text.find(what);
    EXPECT_NE(at, std::string::npos) << what;
    return at == std::string::npos ? text : text.replace(at, what.size(), by);
}

TEST(RawFiles, AreReadAsTheCallerSays) {
    const temporary_folder folder;
    const auto path = folder.file("a.dat", "head" + as_bytes(counting(6)));
    const recording what =
        read_recording(path, {.sample_rate = 20000, .channels = 3, .gain = 0.5, .header_bytes = 4});
    EXPECT_EQ(samples_of(what), counting(6));
    EXPECT_EQ(what.channels()[2].gain_uv, 0.5);
    EXPECT_EQ(what.channels()[2].y_um, 40);
    EXPECT_EQ(what.description().positions, position_source::assumed);
    EXPECT_EQ(what.description().files, std::vector{path});
    EXPECT_EQ(what.description().warnings.size(), 1U);
    EXPECT_EQ(
        read_recording(path, {.sample_rate = 1000, .channels = 2}).description().warnings.size(),
        2U);
}

TEST(RawFiles, MayHoldFloats) {
    const temporary_folder folder;
    std::mt19937 random(1);
    std::normal_distribution<float> noise(0, 20);
    std::string floats;
    std::string integers;
    for (int i = 0; i < 3000; ++i) {
        const float value = noise(random);
        io::append(floats, std::bit_cast<std::uint32_t>(value));
        io::append(integers, static_cast<std::int16_t>(std::lround(value)));
    }
    const auto warnings = [&](const std::string& bytes) {
        return read_recording(folder.file("a.dat", bytes),
                              {.sample_rate = 20000, .channels = 3, .gain = 1})
            .description()
            .warnings;
    };
    ASSERT_EQ(warnings(floats).size(), 2U);
    EXPECT_SAYS(warnings(floats)[0], "The file may hold 32-bit floats");
    EXPECT_EQ(warnings(integers).size(), 1U);
}

TEST(RawFiles, SayWhatIsWrong) {
    const temporary_folder folder;
    const auto path = folder.file("a.dat", as_bytes(counting(7)));
    EXPECT_SAYS(refused(path), "both have to be given");
    EXPECT_SAYS(refused(path, {.sample_rate = 1000, .channels = 3}),
                "frame 2: found 2 bytes, expected 6");
    EXPECT_SAYS(refused(path, {.sample_rate = 1000, .channels = 3, .header_bytes = 14}),
                "holds no samples");
    EXPECT_SAYS(refused(folder.file("b", ""), {.sample_rate = 1000, .channels = 3}),
                "holds no samples: it has 0 bytes");
    EXPECT_SAYS(refused(path, {.sample_rate = 1e7, .channels = 7}), "10000000 samples a second");
    EXPECT_SAYS(refused(path, {.sample_rate = 1000, .channels = 4'000'000'000}),
                "cannot have 4000000000 channels");
    EXPECT_SAYS(refused(folder.path() / "none"), "does not exist");
    EXPECT_SAYS(refused(folder.path()), "is a folder without");
}

constexpr auto binary_json =
    R"({"class": "x.BinaryRecordingExtractor", "relative_paths": true, "kwargs": {
    "file_paths": ["t.raw"], "sampling_frequency": 25000.0, "t_starts": null, "num_channels": 2,
    "dtype": "int16", "channel_ids": ["a", 7], "time_axis": 0, "file_offset": 0,
    "gain_to_uV": [0.5, 2], "offset_to_uV": null, "is_filtered": true}})";

TEST(BinaryFolders, OfSpikeInterfaceAreRead) {
    const temporary_folder folder;
    folder.file("rec/t.raw", as_bytes(counting(6)));
    folder.file("rec/binary.json", binary_json);
    const recording what = read_recording(folder.path() / "rec");
    EXPECT_EQ(what.description().format, recording_format::binary);
    EXPECT_EQ(what.channels()[1].name, "7");
    EXPECT_EQ(what.channels()[1].gain_uv, 2);
    EXPECT_EQ(what.description().files,
              (std::vector{folder.path() / "rec/t.raw", folder.path() / "rec/binary.json"}));
    EXPECT_EQ(samples_of(what), counting(6));
}

// SpikeInterface has changed the name.
TEST(BinaryFolders, TakePositionsFromEitherProbeFile) {
    for (const char* name : {"rec/probe.json", "rec/probegroup.json"}) {
        const temporary_folder folder;
        folder.file("rec/t.raw", as_bytes(counting(6)));
        folder.file("rec/binary.json", binary_json);
        folder.file(name, R"({"specification": "probeinterface", "version": "0.2.21", "probes": [
            {"ndim": 2, "si_units": "um", "contact_positions": [[0, 10], [5, 70]],
             "device_channel_indices": [0, 1]}]})");
        const recording what = read_recording(folder.path() / "rec");
        EXPECT_EQ(what.description().positions, position_source::file) << name;
        EXPECT_EQ(what.channels()[1].y_um, 70) << name;
    }
}

TEST(BinaryFolders, SayWhatIsWrong) {
    const temporary_folder folder;
    folder.file("rec/t.raw", as_bytes(counting(6)));
    const auto says = [&](std::string_view what, std::string_view by) {
        folder.file("rec/binary.json", replaced(binary_json, what, by));
        return refused(folder.path() / "rec");
    };
    EXPECT_SAYS(says("int16", "<f4"), "key 'dtype': found '<f4', expected int16");
    EXPECT_SAYS(says("\"t.raw\"", "\"t.raw\", \"u.raw\""), "found 2 files, each a segment");
    EXPECT_SAYS(says("\"t.raw\"", "\"u.raw\""), "u.raw");
    EXPECT_SAYS(says("\"num_channels\"", "\"channels\""), "key 'num_channels': is missing");
    EXPECT_SAYS(says(": 2,", ": 3,"), "found 2 channels, expected num_channels, 3");
    EXPECT_SAYS(says("[0.5, 2]", "[0.5]"), "key 'gain_to_uV': found 1 numbers, expected 2");
    EXPECT_SAYS(says("[0.5, 2]", "[0.5, 0]"), "has gain 0 uV");
    EXPECT_SAYS(says("25000.0", "-1"), "key 'sampling_frequency': found -1");
    EXPECT_SAYS(says("25000.0", "\"x\""), "key 'sampling_frequency': found '\"x\"'");
    EXPECT_SAYS(says("\"time_axis\": 0", "\"time_axis\": 1"), "key 'time_axis': found '1'");
    folder.file("rec/binary.json", binary_json);
    folder.file("rec/probe.json", "{}");
    EXPECT_SAYS(refused(folder.path() / "rec"), "probe.json', key 'probes': is missing");
    EXPECT_SAYS(refused(folder.path() / "rec", {.sample_rate = 1000}), "says its rate");
}

// Whatever value a key has, the result is an io_error and no stack overflow.
TEST(BinaryFolders, RefuseValuesThatNoRecordingHas) {
    const temporary_folder folder;
    folder.file("rec/t.raw", as_bytes(counting(6)));
    const auto says = [&](std::string_view what, std::string_view by) {
        folder.file("rec/binary.json", replaced(binary_json, what, by));
        return refused(folder.path() / "rec");
    };
    constexpr std::size_t levels = 100'000;
    const std::string deep = std::string(levels, '[') + std::string(levels, ']');
    for (const char* value :
         {"25000.0", "\"int16\"", "[\"a\", 7]", "\"x.BinaryRecordingExtractor\""})
        EXPECT_SAYS(says(value, deep), "binary.json': is nested deeper than 64 levels");
    EXPECT_SAYS(says("\"time_axis\": 0", "\"time_axis\": " + deep), "is nested deeper");
    EXPECT_SAYS(says("25000.0", "1e999"), "binary.json': holds a number that is too large");
    EXPECT_SAYS(says("[\"a\", 7]", "[\"a\", [7]]"), "key 'channel_ids': found '[7]'");
    const std::string wide = "\"" + std::string(1000, 'x') + "\"";
    EXPECT_LT(says("\"time_axis\": 0", "\"time_axis\": " + wide).size(), 400U);
}

// Three channels of one band, two of the other, and the sync channel.
constexpr auto probe_meta =
    "typeThis=imec\r\nnSavedChans=4\nimSampRate=30000.5\nfileSizeBytes=24\n"
    "snsApLfSy=3,0,1\nacqApLfSy=5,5,1\nsnsSaveChanSubset=0,2:3,10\nimAiRangeMax=0.6\n"
    "imDatPrb_type=0\n~imroTbl=(0,5)(0 0 0 500 250 1)(1 0 0 500 250 1)(2 0 0 250 125 1)"
    "(3 0 0 1000 250 1)(4 0 0 500 250 1)\n"
    "~snsGeomMap=(NP1000,1,0,70)(0:27:0:1)(0:59:20:1)(1:11:40:0)\n";

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
        EXPECT_EQ(what.channels()[1].x_um, 59);
        EXPECT_EQ(what.channels()[2].shank, 1U);
        EXPECT_EQ(samples_of(what), (std::vector<std::int16_t>{0, 1, 2, 4, 5, 6, 8, 9, 10}));
        ASSERT_EQ(what.description().warnings.size(), 1U);
        EXPECT_SAYS(what.description().warnings[0], "1 of 4 channels are no electrodes");
    }
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
    std::string second = replaced(probe_meta, "imDatPrb_type=0",
                                  "imDatPrb_type=24\nimMaxInt=2048\nimChan0apGain=100");
    second = replaced(second, "(0 0 0 500 250 1)", "(0 0 0 0 400)");
    EXPECT_DOUBLE_EQ(read(second)[0].gain_uv, 1e6 * 0.6 / 2048 / 100);

    std::string lf = replaced(probe_meta, "snsApLfSy=3,0,1", "snsApLfSy=0,3,1");
    lf = replaced(lf, "0,2:3,10", "5,7:8,10");
    EXPECT_DOUBLE_EQ(read(lf)[1].gain_uv, 1e6 * 0.6 / 512 / 125);
    EXPECT_EQ(read(lf)[1].name, "LF2");

    const std::string older =
        replaced(probe_meta, "~snsGeomMap=(NP1000,1,0,70)(0:27:0:1)(0:59:20:1)(1:11:40:0)",
                 "~snsShankMap=(2,2,480)(0:0:0:1)(0:1:1:1)(0:1:2:1)");
    EXPECT_EQ(read(older)[0].x_um, 16);
    EXPECT_EQ(read(older)[1].x_um, 32);
    EXPECT_EQ(read(older)[2].y_um, 40);

    const auto analog = read(
        "nSavedChans=4\nniSampRate=25000\nfileSizeBytes=24\nsnsMnMaXaDw=1,1,1,1\n"
        "niAiRangeMax=5\nniMNGain=200\nniMAGain=10\n");
    EXPECT_DOUBLE_EQ(analog[0].gain_uv, 5e6 / 32768 / 200);
    EXPECT_DOUBLE_EQ(analog[1].gain_uv, 5e6 / 32768 / 10);
    EXPECT_DOUBLE_EQ(analog[2].gain_uv, 5e6 / 32768);
}

TEST(SpikeglxFiles, SayWhatIsWrong) {
    const temporary_folder folder;
    folder.file("a.bin", as_bytes(counting(12)));
    const auto says = [&](std::string_view what, std::string_view by) {
        return refused(folder.file("a.meta", replaced(probe_meta, what, by)));
    };
    for (const char* key : {"nSavedChans", "imSampRate", "fileSizeBytes", "imAiRangeMax"})
        EXPECT_SAYS(says(key, "other"), "': is missing");
    EXPECT_SAYS(says("fileSizeBytes=24", "fileSizeBytes=32"), "found 24 bytes, expected 32");
    EXPECT_SAYS(says("nSavedChans=4", "nSavedChans=5"),
                "found 4 channels, expected nSavedChans, 5");
    EXPECT_SAYS(says("nSavedChans=4", "nSavedChans=2"), "found 2 channels with 3 electrodes");
    EXPECT_SAYS(says("nSavedChans=4", "nSavedChans=x"), "found 'x', expected a number");
    // No memory is allocated for what is only claimed.
    EXPECT_SAYS(says("nSavedChans=4", "nSavedChans=99999999999999"),
                "a.meta', key 'nSavedChans': found 99999999999999 channels, expected at most");
    EXPECT_SAYS(says("3,0,1", "3,0"), "key 'snsApLfSy': found '3,0', expected 3 numbers");
    EXPECT_SAYS(says("2:3", "3:2"), "found '3:2', expected channels");
    EXPECT_SAYS(says("2 0 0 250", "2 0 0 x"), "expected a gain in field 4");
    EXPECT_SAYS(says("(1:11:40:0)", ""), "found 2 contacts, expected 3");
    EXPECT_SAYS(says("0:59:20:1", "0:59:20"), "found '0:59:20', expected shank:x:y:used");
    EXPECT_SAYS(says("(NP1000,1", "NP1000,1"), "key 'snsGeomMap'");
    folder.file("a.meta", probe_meta);
    folder.file("a.bin", as_bytes(counting(11)));
    EXPECT_SAYS(refused(folder.path() / "a.bin"), "frame 2: found 6 bytes, expected 8");
    std::filesystem::remove(folder.path() / "a.bin");
    EXPECT_SAYS(refused(folder.path() / "a.meta"), "a.bin");
}

constexpr auto structure =
    R"({"GUI version": "0.6.7", "continuous": [{"folder_name": "Rhythm-100.0/", "sample_rate": 30000,
    "num_channels": 3, "channels": [
      {"channel_name": "CH1", "bit_volts": 0.195, "units": "uV"},
      {"channel_name": "CH2", "bit_volts": 0.39, "units": "uV"},
      {"channel_name": "ADC1", "bit_volts": 0.000152, "units": "V"}]}], "events": [], "spikes": []})";

TEST(OpenEphysFolders, AreReadWithoutTheirAnalogInputs) {
    const temporary_folder folder;
    const auto oebin = folder.file("node/experiment1/recording1/structure.oebin", structure);
    const auto dat =
        folder.file("node/experiment1/recording1/continuous/Rhythm-100.0/continuous.dat",
                    as_bytes(counting(6)));
    for (const char* name :
         {"node", "node/experiment1/recording1", "node/experiment1/recording1/structure.oebin"}) {
        const recording what = read_recording(folder.path() / name);
        EXPECT_EQ(what.description().format, recording_format::open_ephys);
        ASSERT_EQ(what.channel_count(), 2U);
        EXPECT_EQ(what.channels()[1].name, "CH2");
        EXPECT_EQ(what.channels()[1].gain_uv, 0.39);
        EXPECT_EQ(what.description().files, (std::vector{dat, oebin}));
        EXPECT_EQ(samples_of(what), (std::vector<std::int16_t>{0, 1, 3, 4}));
        EXPECT_SAYS(what.description().warnings[0], "1 of 3 channels are no electrodes");
    }
}

TEST(OpenEphysFolders, SayWhatIsWrong) {
    const temporary_folder folder;
    const auto says = [&](std::string_view what, std::string_view by,
                          const recording_read_options& how = {}) {
        folder.file("r/structure.oebin", replaced(structure, what, by));
        return refused(folder.path() / "r", how);
    };
    EXPECT_SAYS(says("3,", "4,"), "found 3 channels, expected num_channels, 4");
    EXPECT_SAYS(says("\"sample_rate\"", "\"rate\""), "continuous 0, key 'sample_rate': is missing");
    EXPECT_SAYS(says("0.39", "\"x\""), "continuous 0, channel 1, key 'bit_volts'");
    EXPECT_SAYS(says("\"continuous\"", "\"discrete\""), "key 'continuous': is missing");
    EXPECT_SAYS(says("0.39", "0.39", {.stream = "LFP"}),
                "no stream named 'LFP'; it has Rhythm-100.0");
    EXPECT_SAYS(says("0.39", "0.39"), "continuous.dat");
    EXPECT_SAYS(says("\"units\": \"V\"", "\"units\": 5"),
                "structure.oebin', continuous 0, channel 2, key 'units': found '5', expected text");
    for (const char* elsewhere : {"../../..", "/tmp", "a/../../b"})
        EXPECT_SAYS(says("Rhythm-100.0/", elsewhere), "expected a folder of this recording");
    folder.file("r/structure.oebin", structure);
    folder.file("r/continuous/Rhythm-100.0/continuous.dat", as_bytes(counting(5)));
    EXPECT_SAYS(refused(folder.path() / "r"), "frame 1: found 4 bytes, expected 6");
    folder.file("s/structure.oebin", structure);
    EXPECT_SAYS(refused(folder.path()),
                "holds 2 recordings, of which one has to be named: 'r' 's'");
}

#ifdef SPIKEWEAVE_TEST_NWB
namespace h5 = io::hdf5;

struct nwb_choices {
    bool units = false;
    bool rate = true;
    bool reals = false;
    std::vector<std::int64_t> electrodes{2, 0};
    std::vector<double> rel_x{1, 2, 3};
    std::string second_series{};
    std::vector<std::string> listed{};
};

void write_series(hid_t file, const std::string& name, const nwb_choices& how) {
    const h5::handle group = h5::create_group(file, "acquisition/" + name);
    h5::write_attribute(group.get(), "neurodata_type", std::string("ElectricalSeries"));
    const h5::handle data =
        h5::create_dataset(group.get(), "data", how.reals ? H5T_IEEE_F32LE : H5T_STD_I16LE, {3, 2});
    h5::write_block(data.get(), 0, 3, H5T_NATIVE_INT16, counting(6).data());
    h5::write_attribute(data.get(), "conversion", 2e-7);
    h5::write_attribute(data.get(), "offset", 1e-6);
    const h5::handle start = h5::create_dataset(group.get(), "starting_time", H5T_IEEE_F64LE, {1});
    if (how.rate) h5::write_attribute(start.get(), "rate", 24000.0);
    const h5::handle region =
        h5::create_dataset(group.get(), "electrodes", H5T_STD_I64LE, {how.electrodes.size()});
    h5::write_block(region.get(), 0, how.electrodes.size(), H5T_NATIVE_INT64,
                    how.electrodes.data());
}

void write_electrodes(hid_t file, const nwb_choices& how) {
    const auto table = h5::create_group(file, "general/extracellular_ephys/electrodes");
    if (!how.listed.empty()) h5::write_attribute(table.get(), "colnames", how.listed);
    for (const std::string name : {"rel_x", "rel_y"}) {
        const h5::handle column =
            h5::create_dataset(table.get(), name, H5T_IEEE_F64LE, {how.rel_x.size()});
        h5::write_block(column.get(), 0, how.rel_x.size(), H5T_NATIVE_DOUBLE, how.rel_x.data());
    }
}

std::filesystem::path write_nwb(const temporary_folder& folder, const nwb_choices& how) {
    const auto path = folder.path() / "a.nwb";
    h5::output file(path);
    h5::create_group(file.get(), "acquisition");
    if (how.units) h5::create_group(file.get(), "units");
    h5::create_group(file.get(), "general");
    h5::create_group(file.get(), "general/extracellular_ephys");
    write_electrodes(file.get(), how);
    write_series(file.get(), "raw", how);
    h5::link_outside(file.get(), "acquisition/video", folder.path() / "none.nwb", "/video");
    if (!how.second_series.empty()) write_series(file.get(), how.second_series, how);
    file.commit();
    return path;
}

TEST(NwbRecordings, AreReadWithTheirElectrodes) {
    const temporary_folder folder;
    const auto path = write_nwb(folder, {});
    const recording what = read_recording(path);
    EXPECT_EQ(find_recording_format(path), recording_format::nwb);
    EXPECT_EQ(what.rate_hz(), 24000);
    EXPECT_EQ(samples_of(what), counting(6));
    EXPECT_NEAR(what.channels()[0].gain_uv, 0.2, 1e-12);
    EXPECT_NEAR(what.channels()[0].offset_uv, 1, 1e-12);
    EXPECT_EQ(what.channels()[0].x_um, 3);
    EXPECT_EQ(what.channels()[1].x_um, 1);
    EXPECT_EQ(what.description().positions, position_source::file);
    EXPECT_EQ(what.description().files, std::vector{path});
}

TEST(NwbRecordings, SayWhatIsWrongOrAmbiguous) {
    const temporary_folder folder;
    const auto says = [&](const nwb_choices& how, const recording_read_options& reading = {}) {
        return refused(write_nwb(folder, how), reading);
    };
    EXPECT_SAYS(says({.rate = false}), "/acquisition/raw/starting_time@rate: is missing");
    EXPECT_SAYS(says({.reals = true}), "does not hold integers of 16 bits");
    EXPECT_SAYS(says({.electrodes = {1}}), "found 1 electrodes, expected 2");
    EXPECT_SAYS(says({.electrodes = {1, 3}}), "found row 3 of a table of 3");
    EXPECT_SAYS(says({.second_series = "lfp"}), "has to be named; it has lfp, raw");
    EXPECT_EQ(says({.second_series = "lfp"}, {.stream = "lfp"}), "nothing was thrown");
    EXPECT_EQ(find_recording_format(write_nwb(folder, {.units = true})), std::nullopt);

    EXPECT_EQ(says({.listed = {"rel_x", "rel_z"}}), "nothing was thrown");
    EXPECT_SAYS(says({.listed = {"rel_x", "group_name"}}),
                "lists a column group_name, which is not there");

    const std::string whole = read_bytes(write_nwb(folder, {}));
    for (const std::size_t kept : {9U, 100U, 1000U})
        EXPECT_SAYS(refused(folder.file("cut.nwb", whole.substr(0, kept))), "cut.nwb");
}
// libhdf5 1.10 crashes on some of these; this process must survive.
TEST(NwbRecordings, AreReadOrRefusedWhateverByteChanges) {
    const temporary_folder folder;
    const std::string whole = read_bytes(write_nwb(folder, {}));
    std::mt19937_64 random(5);
    int refusals = 0;
    const int rounds = damage_rounds(150);
    for (int round = 0; round < rounds; ++round) {
        std::string damaged = whole;
        damaged[random() % damaged.size()] ^= static_cast<char>(1 + random() % 255);
        const auto path = folder.file("damaged.nwb", damaged);
        const std::string said = refusal_of([&] { samples_of(read_recording(path)); });
        if (said == "nothing was thrown") continue;
        EXPECT_SAYS(said, "damaged.nwb");
        ++refusals;
    }
    EXPECT_GT(refusals, rounds / 8);
}

TEST(NwbRecordings, StopWhileTheyAreReadWhenAsked) {
    const temporary_folder folder;
    std::stop_source source;
    const recording what = read_recording(write_nwb(folder, {}), {}, {.stop = source.get_token()});
    EXPECT_EQ(samples_of(what), counting(6));
    source.request_stop();
    EXPECT_THROW(samples_of(what), cancelled);
    EXPECT_THROW(read_recording(folder.path() / "a.nwb", {}, {.stop = source.get_token()}),
                 cancelled);
}

TEST(NwbRecordings, AreReadByAnyNumberOfThreadsAndAfterTheOneThatOpenedThem) {
    const temporary_folder folder;
    const auto path = write_nwb(folder, {});
    std::optional<recording> what;
    std::jthread([&] { what = read_recording(path); }).join();
    std::vector<std::jthread> readers;
    for (int t = 0; t < 4; ++t)
        readers.emplace_back([&] {
            for (int round = 0; round < 50; ++round) EXPECT_EQ(samples_of(*what), counting(6));
        });
}
#endif

}  // namespace
}  // namespace spikeweave
