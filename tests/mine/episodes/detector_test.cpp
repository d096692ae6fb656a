#include "spikeweave/mine/episodes/detector.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "spikeweave/core/error.hpp"
#include "support/error_text.hpp"
#include "support/random_streams.hpp"
#include "support/run_length.hpp"
#include "support/temporary_folder.hpp"

namespace spikeweave {
namespace {

using spike_times = std::vector<std::int64_t>;

delay_interval delay(std::int64_t low, std::int64_t high) {
    return {duration{low}, duration{high}};
}

spike_times times_of(const episode_detection& detection) {
    return {detection.times_us.begin(), detection.times_us.end()};
}

// The times of each episode's detections.
std::vector<std::vector<spike_times>> detected_in(episode_detector& detector,
                                                  const spike_sequence& spikes) {
    std::vector<std::vector<spike_times>> found(detector.armed().size());
    for (std::size_t i = 0; i < spikes.size(); ++i) {
        for (const episode_detection& detection :
             detector.add(spikes.times_us()[i], spikes.units()[i]))
            found[detection.episode].push_back(times_of(detection));
    }
    return found;
}

episode first_part(const episode& what, std::size_t size) {
    const auto at = static_cast<std::ptrdiff_t>(size);
    return {{what.units.begin(), what.units.begin() + at},
            {what.delays.begin(), what.delays.begin() + at - 1}};
}

class EpisodeDetector : public ::testing::Test {
protected:
    static constexpr unit_id a{0};
    static constexpr unit_id b{1};
    static constexpr unit_id c{2};
};

TEST_F(EpisodeDetector, DetectsAnOccurrenceAtItsLastSpike) {
    episode_detector detector({{{{a, b, c}, {delay(5, 10), delay(10, 15)}}}}, 3);

    EXPECT_TRUE(detector.add(1, a).empty());
    EXPECT_TRUE(detector.add(2, a).empty());
    EXPECT_TRUE(detector.add(8, b).empty());
    EXPECT_TRUE(detector.add(10, a).empty());
    const auto found = detector.add(20, c);

    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].episode, 0U);
    EXPECT_EQ(times_of(found[0]), (spike_times{2, 8, 20}));
    EXPECT_TRUE(detector.add(21, c).empty()) << "it would overlap";
}

TEST_F(EpisodeDetector, PredictsTheEndOfAnEpisode) {
    const episode what{{a, b, c}, {delay(0, 5), delay(0, 5)}};
    episode_detector detector({{what, 2}, {what}}, 3);

    detector.add(1, a);
    const auto predicted = detector.add(3, b);
    ASSERT_EQ(predicted.size(), 1U);
    EXPECT_EQ(predicted[0].episode, 0U);
    EXPECT_EQ(times_of(predicted[0]), (spike_times{1, 3}));
    const auto whole = detector.add(5, c);
    ASSERT_EQ(whole.size(), 1U);
    EXPECT_EQ(whole[0].episode, 1U);
    detector.add(11, a);
    detector.add(13, b);

    EXPECT_EQ(detector.counts(0), (detection_counts{2, 1}));
    EXPECT_EQ(detector.counts(1), (detection_counts{1, 1}));
}

TEST_F(EpisodeDetector, GivesDetectionsOfASpikeInTheOrderOfTheEpisodes) {
    const episode late{{c, b}, {delay(0, 5)}};
    const episode alone{{b}, {}};
    const episode early{{a, b}, {delay(0, 5)}};
    episode_detector detector({{late}, {alone}, {early}, {late}}, 3);

    detector.add(1, a);
    detector.add(1, c);
    std::vector<std::size_t> found;
    for (const episode_detection& detection : detector.add(3, b))
        found.push_back(detection.episode);

    EXPECT_EQ(found, (std::vector<std::size_t>{0, 1, 2, 3}));
}

TEST_F(EpisodeDetector, DropsASpikeThatIsGivenTwice) {
    episode_detector detector({{{{a, a}, {delay(0, 5)}}}, {{{a}, {}}}}, 1);

    EXPECT_EQ(detector.add(1, a).size(), 1U);
    EXPECT_TRUE(detector.add(1, a).empty());

    EXPECT_EQ(detector.duplicates(), 1U);
    EXPECT_EQ(detector.counts(1).detected, 1U);
}

TEST_F(EpisodeDetector, ContinuesNoOccurrenceInTheNextEpoch) {
    episode_detector detector({{{{a, b}, {delay(0, 5)}}}}, 2);

    detector.add(100, a);
    detector.flush();
    EXPECT_TRUE(detector.add(3, b).empty());
    detector.add(100, a);
    EXPECT_EQ(detector.add(101, b).size(), 1U);
    detector.flush();
    detector.add(1, a);
    EXPECT_EQ(detector.add(2, b).size(), 1U) << "earlier than the last one of the epoch before";
    EXPECT_EQ(detector.counts(0).detected, 2U);
}

TEST_F(EpisodeDetector, RefusesInvalidEpisodes) {
    EXPECT_EQ(text_of([] {
                  episode_detector({{{{}, {}}}}, 2);
              }),
              "episode 0 has 0 units and 0 delays: one delay between two units is needed");
    EXPECT_EQ(text_of([] {
                  episode_detector({{{{a}, {}}}, {{{a, c}, {delay(0, 5)}}}}, 2);
              }),
              "episode 1 has unit 2, but there are 2 units");
    EXPECT_EQ(text_of([] {
                  episode_detector({{{{a, b}, {delay(5, 5)}}}}, 2);
              }),
              "a delay interval needs 0 <= low < high, found 5 us to 5 us");
    EXPECT_EQ(text_of([] {
                  episode_detector({{{{a, b}, {delay(0, 5)}}, 3}}, 2);
              }),
              "episode 0 has 2 spikes and cannot be detected at spike 3");
}

TEST_F(EpisodeDetector, RefusesInvalidSpikesAndGoesOn) {
    episode_detector detector({{{{a, b}, {delay(0, 5)}}}}, 2);
    detector.add(10, a);

    EXPECT_EQ(text_of([&] { detector.add(9, b); }),
              "a spike at 9 us is earlier than the one before it, at 10 us");
    EXPECT_EQ(text_of([&] { detector.add(11, c); }),
              "a spike belongs to unit 2, but there are 2 units");
    EXPECT_EQ(text_of([&] {
                  detector.add(spike_times{1, 2}, std::vector{a}, [](const auto&) {});
              }),
              "2 times for 1 units of spikes");
    EXPECT_EQ(text_of([&] { detector.counts(1); }), "there is no episode 1 among 1");
    EXPECT_EQ(detector.add(12, b).size(), 1U);
}

TEST_F(EpisodeDetector, TakesAnyTimes) {
    episode_detector detector({{{{a, b}, {delay(0, 5)}}}}, 2);

    detector.add(INT64_MIN, a);
    EXPECT_EQ(detector.add(INT64_MIN + 5, b).size(), 0U) << "nothing starts after all time began";
    detector.add(INT64_MAX - 1, a);
    EXPECT_EQ(detector.add(INT64_MAX, b).size(), 1U);
}

// Compares all detections with the occurrences of each episode in the same spikes, on the grid of
// the bounds, where mistakes at the boundaries show.
TEST(EpisodeDetectorProperty, DetectsTheOccurrencesOfEveryEpisode) {
    random_streams draw(20261117);
    const std::size_t cases = property_cases(30'000);
    std::uint64_t detections = 0;
    for (std::size_t i = 0; i < cases; ++i) {
        const auto units = static_cast<std::uint32_t>(1 + draw.below(4));
        const spike_sequence spikes = draw.spikes(40, units);
        std::vector<armed_episode> armed;
        for (std::uint64_t k = draw.below(8); k-- > 0;) {
            armed_episode& one = armed.emplace_back();
            one.what = draw.episode(1 + draw.below(5), units);
            if (draw.below(2) == 0) one.fire_at = draw.below(one.what.size() + 1);
            if (draw.below(4) == 0) armed.push_back(one);
        }
        const tie_rule ties = draw.below(2) == 0 ? tie_rule::time : tie_rule::order;
        episode_detector detector(armed, spikes.unit_count(), {ties});

        const auto found = detected_in(detector, spikes);

        for (std::size_t k = 0; k < armed.size(); ++k) {
            const auto& [what, fire_at] = armed[k];
            const std::size_t size = fire_at == 0 ? what.size() : fire_at;
            ASSERT_EQ(found[k], find_occurrences(spikes, first_part(what, size), ties))
                << "case " << i << " at " << size << "\n"
                << counterexample(spikes, what);
            ASSERT_EQ(
                detector.counts(k),
                (detection_counts{found[k].size(), find_occurrences(spikes, what, ties).size()}));
            detections += found[k].size();
        }
    }
    EXPECT_GT(detections, cases);
}

// Long bursts, in which many survivors are within the delays, so that rings have to grow.
TEST(EpisodeDetectorProperty, DetectsTheOccurrencesInBursts) {
    random_streams draw(5);
    std::uint64_t detections = 0;
    std::uint64_t reallocations = 0;
    for (std::uint64_t seed = 0; seed < property_cases(20); ++seed) {
        const spike_sequence spikes = bursting_stream(seed, 4, 3'000, 40'000);
        std::vector<armed_episode> armed;
        for (int k = 0; k < 40; ++k) {
            armed.push_back({draw.episode(2 + draw.below(4), 4)});
            for (delay_interval& delay : armed.back().what.delays)
                delay = {delay.low * (k % 2 == 0 ? 10 : 500), delay.high * 500};
        }
        const tie_rule ties = seed % 2 == 0 ? tie_rule::time : tie_rule::order;
        episode_detector detector(armed, 4, {ties});
        const auto found = detected_in(detector, spikes);
        for (std::size_t k = 0; k < armed.size(); ++k) {
            ASSERT_EQ(found[k], find_occurrences(spikes, armed[k].what, ties));
            detections += found[k].size();
        }
        reallocations += detector.reallocations();
    }
    EXPECT_GT(detections, property_cases(20) * 1'000);
    EXPECT_GT(reallocations, 0U);
}

// How spikes are divided into messages does not matter, and spikes given twice change nothing.
TEST(EpisodeDetectorProperty, ChunksAndDuplicatesDoNotMatter) {
    random_streams draw(9);
    for (std::size_t i = 0; i < property_cases(3'000); ++i) {
        const spike_sequence spikes = draw.spikes(60, 3);
        std::vector<armed_episode> armed;
        for (int k = 0; k < 5; ++k)
            armed.push_back(
                {draw.episode(1 + draw.below(4), static_cast<std::uint32_t>(spikes.unit_count()))});
        episode_detector whole(armed, spikes.unit_count());
        const auto expected = detected_in(whole, spikes);

        episode_detector in_chunks(armed, spikes.unit_count());
        std::vector<std::vector<spike_times>> found(armed.size());
        std::uint64_t twice = 0;
        for (std::size_t at = 0; at < spikes.size();) {
            const std::size_t size = std::min(draw.below(8), spikes.size() - at);
            in_chunks.add(spikes.times_us().subspan(at, size), spikes.units().subspan(at, size),
                          [&](const episode_detection& detection) {
                              found[detection.episode].push_back(times_of(detection));
                          });
            at += size;
            if (at == 0 || draw.below(3) > 0) continue;
            EXPECT_TRUE(in_chunks.add(spikes.times_us()[at - 1], spikes.units()[at - 1]).empty());
            ++twice;
        }

        ASSERT_EQ(found, expected) << "case " << i;
        ASSERT_EQ(in_chunks.duplicates(), twice);
    }
}

TEST(EpisodeDetectorProperty, EpochsAreSeparateStreams) {
    random_streams draw(13);
    for (std::size_t i = 0; i < property_cases(2'000); ++i) {
        std::vector<armed_episode> armed;
        for (int k = 0; k < 5; ++k) armed.push_back({draw.episode(1 + draw.below(4), 3)});
        episode_detector detector(armed, 3);
        for (int epoch = 0; epoch < 3; ++epoch) {
            const spike_sequence spikes = draw.spikes(30, 3);
            if (spikes.unit_count() < 3) continue;
            const auto found = detected_in(detector, spikes);
            for (std::size_t k = 0; k < armed.size(); ++k)
                ASSERT_EQ(found[k], find_occurrences(spikes, armed[k].what));
            detector.flush();
        }
    }
}

TEST(ReadArmedEpisodes, TakesTheSpikeOfTheDetection) {
    const temporary_folder folder;
    const spike_sequence spikes({}, {}, {"a", "b", "@2"}, {});
    const auto read = [&](const std::string& text) {
        folder.file("armed.txt", text);
        return read_armed_episodes(folder.path() / "armed.txt", spikes);
    };
    const auto refused = [&](const std::string& text) {
        const std::string place = (folder.path() / "armed.txt").string() + ", line ";
        const std::string error = text_of([&] { read(text); });
        EXPECT_EQ(error.substr(0, place.size()), place);
        return error.substr(place.size());
    };

    const auto armed = read("a 0-5us b @1\na 0-5us b  # whole\na 0-5us @2\na 0-5us @2 @2\n");

    ASSERT_EQ(armed.size(), 4U);
    EXPECT_EQ(armed[0].fire_at, 1U);
    EXPECT_EQ(armed[0].what, armed[1].what);
    EXPECT_EQ(armed[1].fire_at, 0U);
    EXPECT_EQ(armed[2].fire_at, 0U) << "a unit may have such a name";
    EXPECT_EQ(armed[3].fire_at, 2U);
    EXPECT_EQ(armed[3].what.units[1], unit_id{2});

    const std::string of_two = " is not the number of one of the episode's 2 spikes, such as @1";
    EXPECT_EQ(refused("a 0-5us b @0"), "1: '@0'" + of_two);
    EXPECT_EQ(refused("a 0-5us b @3"), "1: '@3'" + of_two);
    EXPECT_EQ(refused("a 0-5us b @"), "1: '@'" + of_two);
    EXPECT_EQ(refused("a 0-5us b @1x"), "1: '@1x'" + of_two);
    EXPECT_EQ(refused("\na 0-5us b\na 0-5us b"), "3: the same episode as in line 2");
    EXPECT_EQ(refused("a 0-5us b 0-5us").substr(0, 10), "1: '0-5us'");
    folder.file("armed.txt", "a 0-5us b @1");
    EXPECT_NE(text_of([&] { read_episodes(folder.path() / "armed.txt", spikes); }).find("'@1'"),
              std::string::npos)
        << "episodes that are counted are not detected";
}

}  // namespace
}  // namespace spikeweave
