#include "spikeweave/spikes/epochs.hpp"
#include "spikeweave/spikes/epoch_labels.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "spikeweave/core/error.hpp"
#include "support/spike_files.hpp"
#include "support/temporary_folder.hpp"

namespace spikeweave {
namespace {

using namespace std::chrono_literals;

std::vector<std::pair<std::int64_t, unit_id>> pairs_of_recording() {
    std::vector<std::pair<std::int64_t, unit_id>> spikes;
    for (const std::int64_t t : {0, 99, 100, 149, 150, 199, 200, 301, 350, 399, 400, 500})
        spikes.emplace_back(t, unit_id{static_cast<std::uint32_t>(t % 2)});
    spikes.emplace_back(150, unit_id{1});
    return spikes;
}

spike_sequence recording() {
    return sequence_of(pairs_of_recording(), {"a", "b", "silent"}, {0us, 600us});
}

std::string message_of(const auto& call) {
    try {
        call();
    } catch (const invalid_argument& error) {
        return error.what();
    }
    return "nothing was thrown";
}

TEST(ConcatenateEpochs, KeepsWhatLiesInEpochsWithoutTheirEnds) {
    const std::vector<time_span> epochs{{100us, 200us}, {300us, 400us}};

    const concatenated_epochs out = concatenate_epochs(recording(), epochs, 50us);

    EXPECT_EQ(out.spikes.span(), (time_span{0us, 250us}));
    EXPECT_EQ(out.spans, (std::vector<time_span>{{0us, 100us}, {150us, 250us}}));
    EXPECT_EQ(out.sources, epochs);
    EXPECT_EQ(out.spikes.unit_names(), recording().unit_names());
    EXPECT_EQ(std::vector(out.spikes.times_us().begin(), out.spikes.times_us().end()),
              (std::vector<std::int64_t>{0, 49, 50, 50, 99, 151, 200, 249}));
    EXPECT_EQ(std::vector(out.spikes.units().begin(), out.spikes.units().end()),
              (std::vector{unit_id{0}, unit_id{1}, unit_id{0}, unit_id{1}, unit_id{1}, unit_id{1},
                           unit_id{0}, unit_id{1}}));
    EXPECT_EQ(out.outside, 5U);
}

TEST(ConcatenateEpochs, LeadsEveryTimeBackToTheRecording) {
    const std::vector<time_span> epochs{{-50us, 120us}, {120us, 160us}, {300us, 400us}};
    const concatenated_epochs out = concatenate_epochs(recording(), epochs, 40us);

    ASSERT_EQ(out.spikes.size() + out.outside, recording().size());
    const spike_sequence source_spikes = recording();
    const auto all = source_spikes.times_us();
    for (const std::int64_t t : out.spikes.times_us()) {
        const std::int64_t source = out.original(duration{t}).count();
        EXPECT_TRUE(std::find(all.begin(), all.end(), source) != all.end()) << t;
    }
    EXPECT_EQ(out.spans[1], (time_span{210us, 250us}));
    EXPECT_EQ(out.original(0us), -50us);
    EXPECT_EQ(out.original(210us), 120us);
    EXPECT_EQ(out.original(300us), 310us);
    // Between two epochs the clock of the nearer one continues.
    EXPECT_EQ(out.original(180us), 130us);
    EXPECT_EQ(out.original(195us), 105us);
    EXPECT_EQ(out.epoch_at(190us), 0U);
    EXPECT_EQ(out.epoch_at(191us), 1U);
    EXPECT_EQ(out.epoch_at(-1us), 0U);
    EXPECT_EQ(out.original(395us), 405us);
    EXPECT_THROW(concatenated_epochs{}.original(0us), invalid_argument);
}

TEST(ConcatenateEpochs, PutsEpochsThatTouchSideBySide) {
    const std::vector<time_span> epochs{{0us, 150us}, {150us, 501us}};
    const concatenated_epochs out = concatenate_epochs(recording(), epochs, 0us);

    EXPECT_EQ(out.outside, 0U);
    EXPECT_EQ(out.spikes, sequence_of(pairs_of_recording(), {"a", "b", "silent"}, {0us, 501us}));
    EXPECT_EQ(out.epoch_at(150us), 1U);
}

TEST(ConcatenateEpochs, SaysWhichEpochCannotBe) {
    const auto said = [](std::vector<time_span> epochs, duration separation = 0us) {
        return message_of([&] { concatenate_epochs(recording(), epochs, separation); });
    };
    EXPECT_SAYS(said({}), "no epochs");
    EXPECT_SAYS(said({{0us, 10us}}, -1us), "at least 0, not -1 us");
    EXPECT_SAYS(said({{0us, 10us}, {20us, 20us}}), "epoch 2 (20 us to 20 us) is empty");
    EXPECT_SAYS(said({{0us, 10us}, {30us, 20us}}), "epoch 2 (30 us to 20 us) is empty");
    EXPECT_SAYS(said({{0us, 10us}, {9us, 20us}}),
                "epoch 2 (9 us to 20 us) begins before epoch 1 (0 ms to 10 us) ends");
    EXPECT_SAYS(said({{20us, 30us}, {40us, 50us}, {0us, 10us}}), "epoch 3");
    EXPECT_SAYS(said({{0us, 10us}, {10us, 20us}, {20us, 30us}}, duration{INT64_MAX / 4}),
                "too long");
}

TEST(ReadEpochs, ReadsEveryLayoutThatPeopleWrite) {
    const temporary_folder folder;
    const std::vector<time_span> two{{500ms, 1s}, {1'500ms, 2'000'001us}};
    const std::vector<std::string> same{
        "begin\tend\n0.5\t1\n1.5\t2.000001\n",
        "0.5 1\n1.5 2.000001",
        "\n# made by hand\n  0.5   1.0  \r\n\r\n1.5e0 2.000001\r\n",
        "id,start_time,stop_time,kind\n1,0.5,1,go\n2,1.5,2.000001,stop\n",
        "kind;\"End\";\"Begin\"\ngo;1;0.5\nstop;2.000001;1.5\n",
        "from,to\n0.5,1\n1.5,2.000001\n",
        "\xEF\xBB\xBF"
        "0.5\t1\n1.5\t2.000001\n",
    };
    for (const std::string& text : same)
        EXPECT_EQ(read_epochs(folder.file("epochs", text)), two) << text;
    EXPECT_EQ(read_epochs(folder.file("epochs", "-1 0\n0 0.25\n")),
              (std::vector<time_span>{{-1s, 0s}, {0s, 250ms}}));
}

TEST(ReadEpochs, SaysWhereAFileIsWrong) {
    const temporary_folder folder;
    const auto said = [&](std::string_view text) -> std::string {
        try {
            read_epochs(folder.file("trials.csv", text));
        } catch (const io_error& error) {
            return error.what();
        }
        return "nothing was thrown";
    };
    EXPECT_SAYS(said("begin,end\n0,1\n1,x\n"),
                "trials.csv', line 3: found 'x', expected a time in seconds");
    EXPECT_SAYS(said("0,1\n2\n"), "line 2: found 1 columns in '2', expected at least 2");
    EXPECT_SAYS(said("0,1\n\n3,3\n"), "line 3: found an epoch from 3 s to 3 s, expected it to end");
    EXPECT_SAYS(said("0,1\n0.5,2\n"), "line 2: found an epoch from 500 ms, expected none before");
    EXPECT_SAYS(said("onset\tduration\n0\t1\n"), "line 1: found the column 'duration'");
    EXPECT_SAYS(said("begin,end\n"), "found no epoch");
    EXPECT_SAYS(said(""), "found no epoch");
    EXPECT_THROW(read_epochs(folder.path() / "absent"), io_error);
}

TEST(ReadEpochs, ReadsTheLabelsInEveryLayoutThatPeopleWrite) {
    const temporary_folder folder;
    const std::vector<epoch_label> both{{500ms, "left"}, {1'500ms, "no cue"}};
    const auto labels_in = [&](std::string_view text, const std::string& column = {}) {
        std::vector<epoch_label> labels{{1us, "of another file"}};
        const auto epochs = read_epochs(folder.file("epochs", text), column, labels);
        EXPECT_EQ(epochs, (std::vector<time_span>{{500ms, 1s}, {1'500ms, 2s}})) << text;
        return labels;
    };
    for (const std::string_view text : {
             "begin\tend\tcondition\n0.5\t1\tleft\n1.5\t2\tno cue\n",
             "0.5\t1\tleft\n1.5\t2\tno cue\n",
             "trial,\"start_time\",stop_time,Label\n1,0.5,1,\"left\"\n2,1.5,2,'no cue'\n",
             "stimulus;end;begin\nleft;1;0.5\nno cue;2;1.5\n",
             "begin,end,trial_type,condition\n0.5,1,a,left\n1.5,2,b,no cue\n",
         })
        EXPECT_EQ(labels_in(text), both) << text;
    EXPECT_EQ(labels_in("begin,end,label,Side\n0.5,1,a,left\n1.5,2,b,no cue\n", "side"), both);
    EXPECT_EQ(labels_in("begin,end,condition\n0.5,1,1\n1.5,2,2\n"),
              (std::vector<epoch_label>{{500ms, "1"}, {1'500ms, "2"}}));
    for (const std::string_view text :
         {"0.5,1\n1.5,2\n", "0.5,1,0.5\n1.5,2,0.5\n", "begin,end,note\n0.5,1,x\n1.5,2,\n"})
        EXPECT_TRUE(labels_in(text).empty()) << text;
}

TEST(ReadEpochs, SaysWhereLabelsAreWrong) {
    const temporary_folder folder;
    const auto said = [&](std::string_view text, const std::string& column = {}) -> std::string {
        try {
            std::vector<epoch_label> labels;
            read_epochs(folder.file("trials.csv", text), column, labels);
        } catch (const io_error& error) {
            return error.what();
        }
        return "nothing was thrown";
    };
    EXPECT_SAYS(said("begin,end,condition\n0,1,a\n1,2,\n"),
                "trials.csv', line 3: found an epoch without a label");
    EXPECT_SAYS(said("0,1,a\n1,2\n"), "line 2: found 2 columns in '1,2', expected at least 3");
    EXPECT_SAYS(said("0,1,a\n1,2,\x1b[31m\n"), "line 2: found the label '\\x1b[31m', expected");
    EXPECT_SAYS(said("begin,end,label\n0,1,a\n", "side"),
                "line 1: found the columns 'begin, end, label', expected one named 'side'");
    EXPECT_SAYS(said("0,1,a\n", "side"),
                "line 1: found no header, expected one with the column 'side'");
}

TEST(LabelsOf, GivesEachEpochTheLabelThatBeginsNoLater) {
    const std::vector<epoch_label> labels{{1s, "a"}, {2s, ""}, {3s, "b"}};
    const std::vector<time_span> epochs{{0s, 500ms}, {1s, 2s}, {2s, 3s}, {3'250ms, 4s}};
    EXPECT_EQ(labels_of(epochs, labels), (std::vector<std::string>{"", "a", "", "b"}));
    EXPECT_TRUE(labels_of(epochs, {}).empty());
}

TEST(WithinEpochs, KeepsTheTimesOfTheRecordingAndKnowsTheEpochs) {
    const std::vector<time_span> epochs{{100us, 200us}, {200us, 300us}, {350us, 400us}};

    const spike_sequence part = within_epochs(recording(), epochs);

    EXPECT_EQ(std::vector(part.times_us().begin(), part.times_us().end()),
              (std::vector<std::int64_t>{100, 149, 150, 150, 199, 200, 350, 399}));
    EXPECT_EQ(std::vector(part.epochs().begin(), part.epochs().end()), epochs);
    EXPECT_EQ(part.span(), (time_span{100us, 400us}));
    EXPECT_EQ(part.observed(),
              (std::vector<time_span>{{100us, 199us}, {200us, 299us}, {350us, 399us}}));
    EXPECT_EQ(part.observed_time(), 250us);
    EXPECT_EQ(within_epochs(part, epochs), part);
    EXPECT_EQ(select_units(part, std::vector<std::string>{"a"}).observed_time(), 250us);
    EXPECT_EQ(recording().observed(), (std::vector<time_span>{{0us, 600us}}));
    EXPECT_EQ(recording().observed_time(), 600us);
}

TEST(WithinSpan, IncludesBothEnds) {
    const spike_sequence part = within_span(recording(), {100us, 301us});

    EXPECT_EQ(std::vector(part.times_us().begin(), part.times_us().end()),
              (std::vector<std::int64_t>{100, 149, 150, 150, 199, 200, 301}));
    EXPECT_EQ(part.span(), (time_span{100us, 301us}));
    EXPECT_TRUE(part.epochs().empty());
}

TEST(SeparatedEpochs, LieFurtherApartThanTheReach) {
    const spike_sequence part =
        within_epochs(recording(), std::vector<time_span>{{100us, 200us}, {200us, 300us}});

    const separated_epochs apart(part, 40us);

    EXPECT_EQ(std::vector(apart.spikes().times_us().begin(), apart.spikes().times_us().end()),
              (std::vector<std::int64_t>{0, 49, 50, 50, 99, 140}));
    EXPECT_EQ(apart.original(140us), 200us);
    EXPECT_EQ(apart.spikes().observed_time(), 200us);
    const spike_sequence whole = recording();
    EXPECT_EQ(&separated_epochs(whole, 40us).spikes(), &whole);
}

TEST(EpochsAround, EndWhereTheNextOneBegins) {
    const std::vector<std::int64_t> events{100, 200, 205, 205, 400};

    const epochs_of_events made = epochs_around(events, -20us, 50us);

    EXPECT_EQ(made.epochs, (std::vector<time_span>{
                               {80us, 150us}, {180us, 185us}, {185us, 255us}, {380us, 450us}}));
    EXPECT_EQ(warnings_of(made),
              (std::vector<std::string>{
                  "1 of 4 epochs around events is shorter, because the next one begins before its "
                  "end.",
                  "1 event is at the time of another one: one epoch is around both."}));
    EXPECT_EQ(warnings_of(epochs_around(events, -50us, 150us)).front(),
              "3 of 4 epochs around events are shorter, because the next one begins before their "
              "ends.");
    // Epochs that only touch are whole.
    EXPECT_TRUE(warnings_of(epochs_around(std::vector<std::int64_t>{0, 10}, -5us, 5us)).empty());
    EXPECT_TRUE(epochs_around({}, 0us, 1us).epochs.empty());
    EXPECT_NE(message_of([&] { epochs_around(events, 5us, 5us); }).find("around an event"),
              std::string::npos);
    EXPECT_NE(message_of([] {
                  epochs_around(std::vector<std::int64_t>{2, 1}, 0us, 5us);
              }).find("order"),
              std::string::npos);
}

}  // namespace
}  // namespace spikeweave
