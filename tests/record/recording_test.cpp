#include "spikeweave/record/recording.hpp"

#include <gtest/gtest.h>

#include "support/recordings.hpp"
#include "support/spike_files.hpp"
#include "support/temporary_folder.hpp"

namespace spikeweave {
namespace {

TEST(Recording, IsReadAtAnyPlace) {
    const recording what(channels_in_a_line(2), {1, 2, 3, 4, 5, 6});
    std::vector<std::int16_t> middle(2);

    what.read(1, middle);

    EXPECT_EQ(what.frame_count(), 3U);
    EXPECT_EQ(what.length(), duration{100});
    EXPECT_EQ(middle, (std::vector<std::int16_t>{3, 4}));
}

TEST(Recording, RefusesWhatCannotBe) {
    const auto make = [](auto change, std::vector<std::int16_t> samples) {
        recording_description what = channels_in_a_line(2);
        change(what);
        return refusal_of([&] { recording(what, std::move(samples)); });
    };
    const auto as_it_is = [](auto&) {};
    EXPECT_SAYS(make(as_it_is, {1, 2, 3}), "3 samples do not fill the last frame of 2 channels");
    EXPECT_SAYS(make([](auto& what) { what.channels.clear(); }, {}), "at least one channel");
    EXPECT_SAYS(make([](auto& what) { what.rate_hz = 0; }, {}), "0 samples a second");
    EXPECT_SAYS(make([](auto& what) { what.channels[1].name = "0"; }, {}), "named '0'");
    EXPECT_SAYS(make([](auto& what) { what.channels[1].gain_uv = 0; }, {}),
                "channel '1' has gain 0");

    const recording what(channels_in_a_line(2), {1, 2, 3, 4});
    std::vector<std::int16_t> into(2);
    EXPECT_SAYS(refusal_of([&] { what.read(2, into); }), "frames 2 to 3 of a recording of 2");
    into.resize(1);
    EXPECT_SAYS(refusal_of([&] { what.read(0, into); }), "are not whole frames");
}

TEST(RecordingWriter, WritesWhatIsReadAgain) {
    const temporary_folder folder;
    recording_description what = channels_in_a_line(3, 25000);
    what.channels[0] = {.name = "left", .gain_uv = 0.195, .offset_uv = 2, .x_um = -4, .y_um = 1e3};
    what.channels[2].shank = 1;
    recording_writer writer(folder.path() / "rec", what, false, {"more.txt"});
    writer.append(std::vector<std::int16_t>{1, 2, 3});
    writer.append(std::vector<std::int16_t>{-32768, 32767, 0, 7, 8, 9});
    EXPECT_FALSE(std::filesystem::exists(folder.path() / "rec"));
    writer.commit();

    for (const char* name : {"rec", "rec/binary.json"}) {
        const recording read = read_recording(folder.path() / name);
        EXPECT_EQ(read.channels(), what.channels);
        EXPECT_EQ(read.rate_hz(), 25000);
        EXPECT_EQ(read.description().positions, position_source::file);
        EXPECT_EQ(samples_of(read),
                  (std::vector<std::int16_t>{1, 2, 3, -32768, 32767, 0, 7, 8, 9}));
    }
}

TEST(RecordingWriter, LeavesNothingWithoutCommitAndReplacesOnlyItsOwn) {
    const temporary_folder folder;
    const auto path = folder.path() / "rec";
    { recording_writer(path, channels_in_a_line(1)).append(std::vector<std::int16_t>{1}); }
    EXPECT_TRUE(std::filesystem::is_empty(folder.path()));

    recording_writer(path, channels_in_a_line(1)).commit();
    EXPECT_SAYS(refusal_of([&] { recording_writer(path, channels_in_a_line(1)); }),
                "exists already");
    recording_writer again(path, channels_in_a_line(1), true);
    again.append(std::vector<std::int16_t>{5});
    again.commit();
    EXPECT_EQ(read_recording(path).frame_count(), 1U);

    folder.file("rec/notes.txt", "mine");
    EXPECT_SAYS(refusal_of([&] { recording_writer(path, channels_in_a_line(1), true); }),
                "contains 'notes.txt'");
}

TEST(ProbeFile, GivesEachChannelItsContact) {
    const temporary_folder folder;
    const auto raw = folder.file("a.bin", std::string(12, '\0'));
    const auto probe = [&](std::string_view inside) {
        return folder.file("probe.json",
                           std::string(R"({"probes": [{"ndim": 2, "si_units": "mm",)") +
                               std::string(inside) + "}]}");
    };
    const auto read = [&](const std::filesystem::path& at) {
        return read_recording(raw, {.sample_rate = 1000, .channels = 2, .probe = at});
    };

    const recording placed = read(probe(
        R"("contact_positions": [[0, 0.02], [1, 2], [0.5, 0]],
           "device_channel_indices": [1, -1, 0], "shank_ids": ["a", "a", "b"])"));

    EXPECT_EQ(placed.channels()[0].x_um, 500);
    EXPECT_EQ(placed.channels()[1].y_um, 20);
    EXPECT_NE(placed.channels()[0].shank, placed.channels()[1].shank);
    EXPECT_EQ(placed.description().positions, position_source::probe_file);

    const auto says = [&](std::string_view inside) {
        const auto at = probe(inside);
        return refusal_of([&] { read(at); });
    };
    EXPECT_SAYS(says(R"("contact_positions": [[0, 1]])"), "channel 1 of 2 has no contact");
    EXPECT_SAYS(says(R"("contact_positions": [[0, 1], [0, 2], [0, 3]])"),
                "probe 0, contact 2: found channel 2, expected 0 to 1");
    EXPECT_SAYS(says(R"("contact_positions": [[0], [0, 2]])"), "probe 0, contact 0: found '[0]'");
    EXPECT_SAYS(says(R"("contact_positions": [[0, 1], [0, 2]], "device_channel_indices": [0, 0])"),
                "channel 0 has a contact already");
    EXPECT_SAYS(says(R"("contact_positions": [[0, 1], [0, 2]], "device_channel_indices": [0])"),
                "found 1 entries, expected 2");
    // The largest number must not be read as -1.
    EXPECT_SAYS(says(R"("contact_positions": [[0, 1], [0, 2], [0, 3]],
                        "device_channel_indices": [0, 1, 18446744073709551615])"),
                "contact 2: found device_channel_indices");
    EXPECT_SAYS(refusal_of([&] { read(folder.file("p", "{\"probes\": 3}")); }),
                "key 'probes': found '3', expected a list");
    EXPECT_SAYS(refusal_of([&] { read(folder.file("p", "{\"pro")); }), "is not JSON");
    EXPECT_SAYS(refusal_of([&] { read(folder.path() / "none.json"); }), "none.json");
}

}  // namespace
}  // namespace spikeweave
