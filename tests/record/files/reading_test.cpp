#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <random>
#include <stop_token>
#include <thread>

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
    EXPECT_SAYS(refused(path), "give both `channels` and `sample_rate`");
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
    folder.file("info.rhd", "");
    EXPECT_SAYS(refused(folder.path()),
                "expected one of them or a file; its 'info.rhd' holds samples "
                "of Intan, which the Python package reads");
}

TEST(RawFiles, AreNoFilesOfOtherPrograms) {
    struct other {
        std::string name;
        std::string begins;
        std::string says;
    };
    const std::string h5 = "\x89HDF\r\n\x1a\n";
    const std::vector<other> others{
        {"a.ncs", "######## Neuralynx Data", "which the Python package reads: spikeweave.read_rec"},
        {"a.nse", "######## Neuralynx Data",
         "spikes of Neuralynx, which the Python package reads: "
         "spikeweave.read"},
        {"a.dat", "######## Neuralynx Data", "is a file of Neuralynx"},
        {"a.ns5", "NEURALCD", "samples of Blackrock"},
        {"a.NS6", "BRSMPGRP", "samples of Blackrock"},
        {"a.ns2", "NEURALSG", "samples of Blackrock"},
        {"a.nev", "NEURALEV", "spikes of Blackrock"},
        {"a.rhd", "\x02\x27\x91\xc6", "samples of Intan"},
        {"a.rhs", "\xac\x27\x91\xd6", "samples of Intan"},
        {"a.plx", "PLEX", "file of Plexon: the Python package reads its spikes"},
        {"a.pl2", "\x01\x02", "only with Plexon's library for Windows"},
        {"a.nex", "NEX1", "spikes of NeuroExplorer"},
        {"a.smrx", "\x01\x02", "spikeweave.sort(spikeinterface.extractors.read_ced("},
        {"a.abf", "ABF2", "read_axon"},
        {"a.mcd", "MCSSTRM ", "read_mcsraw"},
        {"a.raw", "AxionBio", "neither neo nor SpikeInterface reads"},
        {"a.continuous", "header.format = 'Open Ephys Data Format'", "read_openephys"},
        {"a.sev", "\x01\x02", "read_tdt"},
        {"a.ap.cbin", "\x01\x02", "read_cbin_ibl"},
        {"a.mda", "\x01\x02", "read_mda_recording"},
        {"a.edf", "0       ", "read_edf"},
        {"a.bdf",
         "\xff"
         "BIOSEMI",
         "read_edf"},
        {"a.rec", "<?xml version", "samples of SpikeGadgets"},
        {"a.mat", "MATLAB 5.0 MAT-file", "file of MATLAB: in MATLAB, fwrite"},
        {"a.mat", "\x01\x02", "file of MATLAB"},
        {"a.wav", "RIFF", "sound file"},
        {"a.raw.h5", h5, "samples of MaxWell"},
        {"a.brw", h5, "samples of 3Brain"},
        {"a.h5", h5, "is HDF5 and holds no raw samples"},
        {"a.npy", "\x93NUMPY", "is an array of numpy"},
        {"a.npz", "PK\x03\x04", "is an archive"},
        {"a.dat.gz", "\x1f\x8b\x08", "is compressed"},
        {"a.db", "SQLite format 3", "SQLite"},
        {"a.tsv", "time_s\tunit\n0.25\tn0\n", "which is text, expected int16 samples"},
    };
    const temporary_folder folder;
    for (const other& one : others) {
        const auto path = folder.file(one.name, one.begins + std::string(6000, '\0'));
        std::filesystem::resize_file(path, one.name == "a.tsv" ? one.begins.size() & ~1U : 6000);
        EXPECT_SAYS(refused(path, {.sample_rate = 1000, .channels = 1}), one.says);
        // These have readers of their own, or none without options.
        const bool is_read_otherwise = one.begins == h5 || one.name == "a.npy" ||
                                       one.name == "a.npz" || one.name == "a.dat.gz" ||
                                       one.name == "a.db" || one.name == "a.tsv";
        if (!is_read_otherwise) {
            EXPECT_SAYS(refused(path), one.says);
        }
    }
}

// A name counts only where the content has no mark, and a header can be skipped.
TEST(RawFiles, MayHaveTheNamesOfOtherProgramsAndHeaders) {
    const temporary_folder folder;
    const recording_read_options how{.sample_rate = 1000, .channels = 2};
    EXPECT_EQ(samples_of(read_recording(folder.file("a.ns5", as_bytes(counting(6))), how)),
              counting(6));
    for (const auto& [name, head] : {std::pair{"a.wav", "RIFF"}, std::pair{"a.npy", "\x93NUMPY"},
                                     std::pair{"a.mda", "\xfc"}}) {
        const auto path = folder.file(
            name, head + std::string(44 - std::string(head).size(), '\0') + as_bytes(counting(6)));
        EXPECT_SAYS(refused(path, how), name);
        EXPECT_EQ(samples_of(read_recording(
                      path, {.sample_rate = 1000, .channels = 2, .header_bytes = 44})),
                  counting(6))
            << name;
    }
    const auto ncs = folder.file("a.ncs", "######## Neuralynx" + std::string(100, '\0'));
    EXPECT_SAYS(refused(ncs, {.sample_rate = 1000, .channels = 2, .header_bytes = 18}),
                "Neuralynx");
}

TEST(ProbeFiles, LeaveOutChannelsWithoutAContact) {
    const temporary_folder folder;
    const auto path = folder.file("a.dat", as_bytes(counting(8)));
    const auto probe = [&](std::string_view places, std::string_view wired) {
        return folder.file("p.json", R"({"probes": [{"si_units": "um", "contact_positions": )" +
                                         std::string(places) + std::string(wired) + "}]}");
    };
    const auto how = [&](std::string_view places, std::string_view wired) {
        return recording_read_options{
            .sample_rate = 1000, .channels = 4, .gain = 1, .probe = probe(places, wired)};
    };
    const recording what = read_recording(
        path, how("[[0, 1], [0, 2], [0, 3]]", R"(, "device_channel_indices": [3, -1, 1])"));
    ASSERT_EQ(what.channel_count(), 2U);
    EXPECT_EQ(what.channels()[0].name, "1");
    EXPECT_EQ(what.channels()[0].y_um, 3);
    EXPECT_EQ(what.channels()[1].y_um, 1);
    EXPECT_EQ(samples_of(what), (std::vector<std::int16_t>{1, 3, 5, 7}));
    ASSERT_EQ(what.description().warnings.size(), 1U);
    EXPECT_SAYS(what.description().warnings[0],
                "2 of 4 channels have no contact in 'p.json' and are left out: '0', '2'.");
    EXPECT_SAYS(refused(path, how("[[0, 1], [0, 2]]", "")),
                "channel 2 of 4 has no contact, expected one for each channel, or "
                "device_channel_indices");
    EXPECT_SAYS(refused(path, how("[[0, 1]]", R"(, "device_channel_indices": [-1])")),
                "channel 0 of 4 has no contact");
    EXPECT_SAYS(refused(path, how("[[0, 1]]", R"(, "device_channel_indices": [4])")),
                "found channel 4, expected 0 to 3");
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

TEST(BinaryFolders, BeginWhenTheirTimesDo) {
    const temporary_folder folder;
    folder.file("rec/t.raw", as_bytes(counting(6)));
    const auto json = [&](std::string_view begins) {
        folder.file("rec/binary.json", replaced(binary_json, "\"t_starts\": null", begins));
        return folder.path() / "rec";
    };
    const auto begin_of = [&](std::string_view begins) {
        return read_recording(json(begins)).description().begin;
    };
    EXPECT_EQ(begin_of(R"("t_starts": [12.5])"), std::chrono::milliseconds{12500});
    EXPECT_EQ(begin_of(R"("t_starts": [null])"), duration{0});
    EXPECT_SAYS(refused(json(R"("t_starts": [1, 2])")), "found 2 times, expected 1");
    EXPECT_SAYS(refused(json(R"("t_starts": ["x"])")), "key 't_starts': found '\"x\"', expected a");
    EXPECT_SAYS(refused(json(R"("t_starts": [1e12])")), "key 't_starts': found 1");
    folder.file("rec/times_cached_seg0.npy", npy_of(std::vector{4.5, 4.50004, 4.50008}));
    EXPECT_EQ(begin_of(R"("t_starts": [12.5])"), std::chrono::milliseconds{4500});

    recording_description about = read_recording(folder.path() / "rec").description();
    recording_writer out(folder.path() / "copy", about);
    out.append(counting(6));
    out.commit();
    EXPECT_EQ(read_recording(folder.path() / "copy").description().begin, about.begin);
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
    EXPECT_SAYS(refused(folder.path() / "rec", {.sample_rate = 1000}), "states its rate");
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

#ifdef SPIKEWEAVE_TEST_NWB
namespace h5 = io::hdf5;

struct nwb_choices {
    bool units = false;
    bool rate = true;
    bool reals = false;
    double begin = 0;
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
    const h5::handle start = h5::create_dataset(group.get(), "starting_time", H5T_IEEE_F64LE, {});
    ASSERT_GE(H5Dwrite(start.get(), H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, &how.begin),
              0);
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
    EXPECT_EQ(what.description().begin, duration{0});
}

TEST(NwbRecordings, BeginWhenTheFileSays) {
    const temporary_folder folder;
    const auto begin_of = [&](double begin) {
        return read_recording(write_nwb(folder, {.begin = begin})).description().begin;
    };
    EXPECT_EQ(begin_of(12.5), std::chrono::milliseconds{12500});
    EXPECT_EQ(begin_of(-0.25), std::chrono::milliseconds{-250});
    for (const double wrong : {std::numeric_limits<double>::quiet_NaN(), 1e300})
        EXPECT_SAYS(refused(write_nwb(folder, {.begin = wrong})),
                    "a.nwb', /acquisition/raw/starting_time: found");
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
    EXPECT_SAYS(says({.second_series = "lfp"}), "name one with `stream`; it has lfp, raw");
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
