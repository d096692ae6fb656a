#include <gtest/gtest.h>

#include <utility>

#include "spikeweave/record/recording.hpp"
#include "support/recordings.hpp"
#include "support/spike_files.hpp"
#include "support/temporary_folder.hpp"

namespace spikeweave {
namespace {

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
        EXPECT_SAYS(what.description().warnings[0],
                    "1 of 3 channels are not electrodes and are left out: 'ADC1'.");
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
    const std::string says_both = refused(folder.path());
    EXPECT_SAYS(says_both, "holds 2 recordings, give the path of one: '");
    for (const char* name : {"r", "s"})
        EXPECT_SAYS(says_both, "'" + (folder.path() / name).string() + "'");
    EXPECT_SAYS(refused(folder.path() / "s"), "continuous.dat");
    folder.file("two/structure.oebin",
                replaced(structure, R"("continuous": [)",
                         R"("continuous": [{"folder_name": "LFP", "sample_rate": 1000,
                            "num_channels": 0, "channels": []}, )"));
    EXPECT_SAYS(refused(folder.path() / "two"),
                "holds more than one stream, name one with `stream`; it has LFP, "
                "Rhythm-100.0");
    EXPECT_SAYS(refused(folder.path() / "two", {.stream = "LFP"}), "has no electrode");
    EXPECT_SAYS(refused(folder.path() / "two", {.stream = "Rhythm-100.0"}), "continuous.dat");
    // Text of a file does not reach the terminal as a command.
    folder.file("two/structure.oebin", replaced(structure, "Rhythm-100.0/", "a\\u001b[2J"));
    EXPECT_SAYS(refused(folder.path() / "two", {.stream = "LFP"}), "it has 'a\\x1b[2J'");
}

// The descriptions of inputs that are not electrodes, by version: units are wrong in 0.4 and 0.5,
// and may be missing in 0.6.
TEST(OpenEphysFolders, LeaveOutInputsOfAnyVersionThatAreNoElectrodes) {
    struct input {
        const char* name;
        const char* units;
        const char* description;
        bool is_electrode;
    };
    const std::vector<input> inputs{
        {"CH1", "uV", "Headstage data channel", true},
        {"ADC1", "uV", "ADC data channel", false},
        {"A1_AUX2", "uV", "Auxiliary data channel", false},
        {"CH_SYNC", "", "Neuropixels SYNC line", false},
        {"AP_SYNC", "uV", "", false},
        {"AI0", "V", "", false},
        {"renamed", "uV", "ADC data channel", false},
        {"AP2", "", "Neuropixels electrode", true},
        {"Adcortex3", "uV", "", true},
        {"CH4", "\u00b5V", "Headstage data channel", true},
    };
    std::string channels;
    for (const input& one : inputs)
        channels += (channels.empty() ? "" : ",") + std::string(R"({"channel_name": ")") +
                    one.name + R"(", "units": ")" + one.units + R"(", "description": ")" +
                    one.description + R"(", "bit_volts": 0.195})";
    const temporary_folder folder;
    folder.file("structure.oebin",
                R"({"continuous": [{"folder_name": "B/", "sample_rate": 30000, "num_channels": 10,
                    "channels": [)" +
                    channels + "]}]}");
    folder.file("continuous/B/continuous.dat", as_bytes(counting(20)));
    const recording what = read_recording(folder.path());
    std::vector<std::string> names;
    for (const recording_channel& one : what.channels()) names.push_back(one.name);
    EXPECT_EQ(names, (std::vector<std::string>{"CH1", "AP2", "Adcortex3", "CH4"}));
    EXPECT_EQ(samples_of(what), (std::vector<std::int16_t>{0, 7, 8, 9, 10, 17, 18, 19}));
    EXPECT_SAYS(what.description().warnings[0],
                "6 of 10 channels are not electrodes and are left out: 'ADC1', 'A1_AUX2', "
                "'CH_SYNC', 'AP_SYNC', 'AI0' and 1 more.");
}

// A recording of 200,000 samples of one channel, whose numbers are in a file.
class numbered_recording {
public:
    recording_description description(const std::string& name, const std::string& numbers) const {
        const temporary_folder folder;
        folder.file("structure.oebin",
                    R"({"continuous": [{"folder_name": "B/", "sample_rate": 1000,
                        "num_channels": 1, "channels": [{"channel_name": "CH1", "units": "uV",
                        "bit_volts": 0.195}]}]})");
        folder.file("continuous/B/continuous.dat", as_bytes(counting(samples)));
        folder.file("continuous/B/" + name, numbers);
        return read_recording(folder.path()).description();
    }
    std::vector<std::string> warnings(const std::string& name, const std::string& numbers) const {
        std::vector<std::string> all = description(name, numbers).warnings;
        all.pop_back();  // that of positions
        return all;
    }

    // Numbers from 7 on, with `missing` after the sample `before`.
    static std::vector<std::int64_t> numbers(
        const std::vector<std::pair<std::size_t, std::int64_t>>& gaps) {
        std::vector<std::int64_t> out(samples);
        for (std::size_t i = 0; i < samples; ++i) {
            out[i] = static_cast<std::int64_t>(i) + 7;
            for (const auto& [before, missing] : gaps)
                if (i > before) out[i] += missing;
        }
        return out;
    }
    static std::vector<double> times(const std::vector<std::int64_t>& numbers, double drift) {
        std::vector<double> out;
        for (const std::int64_t number : numbers)
            out.push_back(static_cast<double>(number) * drift / 1000);
        return out;
    }

    static constexpr std::size_t samples = 200'000;
};

// As the spikes and events of the same recording.
TEST(OpenEphysFolders, BeginAtTheNumberOfTheirFirstSample) {
    const numbered_recording tried;
    const auto begin_of = [&](const char* name, const std::string& numbers) {
        return tried.description(name, numbers).begin;
    };
    for (const char* name : {"sample_numbers.npy", "timestamps.npy"})
        EXPECT_EQ(begin_of(name, npy_of(tried.numbers({}))), std::chrono::milliseconds{7});
    EXPECT_EQ(begin_of("timestamps.npy", npy_of(std::vector{12.5, 12.501})),
              std::chrono::milliseconds{12500});
    EXPECT_THROW(begin_of("timestamps.npy", npy_of(std::vector{1e300, 1e300})), io_error);
}

// Numbers are in sample_numbers.npy since version 0.6, and in timestamps.npy before.
TEST(OpenEphysFolders, WarnOfGapsInAnyVersion) {
    const numbered_recording tried;
    EXPECT_EQ(tried.warnings("sample_numbers.npy", npy_of(tried.numbers({}))).size(), 0U);
    EXPECT_EQ(tried.warnings("timestamps.npy", npy_of(tried.numbers({}))).size(), 0U);
    for (const std::size_t before :
         {std::size_t{0}, std::size_t{65535}, std::size_t{150'000}, tried.samples - 2})
        for (const char* name : {"sample_numbers.npy", "timestamps.npy"}) {
            const auto found = tried.warnings(name, npy_of(tried.numbers({{before, 500}})));
            ASSERT_EQ(found.size(), 1U) << name << before;
            EXPECT_SAYS(found[0], std::string("has a gap: by '") + name +
                                      "', 500 samples (0.5 s) are missing after ");
            EXPECT_SAYS(found[0], " (" + std::to_string(before + 1) + " samples). Times count");
        }
    const auto two =
        tried.warnings("sample_numbers.npy", npy_of(tried.numbers({{1000, 1}, {70'000, 1999}})));
    EXPECT_SAYS(two[0],
                "has 2 gaps: by 'sample_numbers.npy', 1 samples (0.001 s) are missing "
                "after 1.001 s (1001 samples), and 2 s in all.");
    const auto back = tried.warnings("timestamps.npy", npy_of(tried.numbers({{99, -50}})));
    EXPECT_SAYS(back[0], "50 samples (0.05 s) are there twice after 0.1 s (100 samples)");
}

// In version 0.6, times in seconds are beside the numbers, by a clock that may run at another rate.
TEST(OpenEphysFolders, WarnOfGapsInTimesWhereThereAreNoNumbers) {
    const numbered_recording tried;
    const auto even = tried.numbers({});
    EXPECT_EQ(tried.warnings("timestamps.npy", npy_of(tried.times(even, 1.0005))).size(), 0U);
    const auto gap = tried.numbers({{120'000, 500}});
    const auto found = tried.warnings("timestamps.npy", npy_of(tried.times(gap, 1.0005)));
    ASSERT_EQ(found.size(), 1U);
    EXPECT_SAYS(found[0], "has a gap: by 'timestamps.npy', 50");
    EXPECT_SAYS(found[0], "(120001 samples)");
}

TEST(OpenEphysFolders, WarnOfNumbersOfOtherSamples) {
    const numbered_recording tried;
    auto numbers = tried.numbers({});
    numbers.push_back(0);
    EXPECT_SAYS(tried.warnings("timestamps.npy", npy_of(numbers))[0],
                "'timestamps.npy' has numbers of 200001 samples, and there are 200000");
    EXPECT_SAYS(tried.warnings("timestamps.npy", npy_of(std::vector<std::int64_t>{}))[0],
                "numbers of 0 samples");
    for (const std::string& other : {std::string("rubbish"), npy_of(std::vector<float>{1})})
        EXPECT_SAYS(refusal_of([&] { tried.warnings("timestamps.npy", other); }),
                    "timestamps.npy'");
}

TEST(OpenEphysFolders, ThatWereCutAreReadWithAWarning) {
    const temporary_folder folder;
    folder.file("structure.oebin", structure);
    folder.file("continuous/Rhythm-100.0/continuous.dat", as_bytes(counting(8)));
    folder.file("continuous/Rhythm-100.0/sample_numbers.npy",
                npy_of(std::vector<std::int64_t>{5, 6, 7, 8}));
    const recording what = read_recording(folder.path());
    EXPECT_EQ(samples_of(what), (std::vector<std::int16_t>{0, 1, 3, 4}));
    EXPECT_SAYS(what.description().warnings[1], "has numbers of 4 samples, and there are 2");
}

}  // namespace
}  // namespace spikeweave
