#include "spikeweave/mine/spade/detector.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "spikeweave/core/error.hpp"
#include "spikeweave/mine/spade.hpp"
#include "support/error_text.hpp"
#include "support/random_streams.hpp"
#include "support/run_length.hpp"
#include "support/temporary_folder.hpp"

namespace spikeweave {
namespace {

using spike_times = std::vector<std::int64_t>;

constexpr unit_id a{0};
constexpr unit_id b{1};
constexpr unit_id c{2};

// A detection by itself.
struct kept_detection {
    std::size_t pattern;
    std::int64_t begin;
    spike_times times;

    friend bool operator==(const kept_detection&, const kept_detection&) = default;
};

std::vector<kept_detection> kept(std::span<const pattern_detection> found) {
    std::vector<kept_detection> all;
    for (const auto& [pattern, begin, times] : found)
        all.push_back({pattern, begin, {times.begin(), times.end()}});
    return all;
}

std::vector<kept_detection> detected_in(pattern_detector& detector, const spike_sequence& spikes) {
    std::vector<kept_detection> all;
    for (std::size_t i = 0; i < spikes.size(); ++i)
        for (auto& one : kept(detector.add(spikes.times_us()[i], spikes.units()[i])))
            all.push_back(std::move(one));
    return all;
}

TEST(PatternDetector, DetectsAWindowWithItsLastSpike) {
    pattern_detector detector({duration{10}, {{{a, 0}, {c, 1}, {b, 2}}}}, 3);

    EXPECT_TRUE(detector.add(12, a).empty());
    EXPECT_TRUE(detector.add(15, a).empty()) << "a second spike in the bin does not count";
    EXPECT_TRUE(detector.add(29, c).empty());
    EXPECT_EQ(kept(detector.add(30, b)), (std::vector<kept_detection>{{0, 10, {12, 29, 30}}}));
    EXPECT_TRUE(detector.add(31, b).empty());
    EXPECT_EQ(detector.count(0), 1U);
}

TEST(PatternDetector, TakesTheSpikesOfABinInAnyOrder) {
    pattern_detector detector({duration{10}, {{{a, 0}, {b, 0}, {c, 0}}}}, 3);

    detector.add(-3, c);
    detector.add(-3, a);
    EXPECT_EQ(kept(detector.add(-1, b)), (std::vector<kept_detection>{{0, -10, {-3, -1, -3}}}));
    detector.add(0, c);
    detector.add(0, a);
    EXPECT_TRUE(detector.add(10, b).empty()) << "the next bin";
}

TEST(PatternDetector, DetectsWindowsThatOverlap) {
    pattern_detector detector({duration{10}, {{{a, 0}, {a, 1}}, {{a, 0}}}}, 1);

    EXPECT_EQ(kept(detector.add(5, a)), (std::vector<kept_detection>{{1, 0, {5}}}));
    EXPECT_EQ(kept(detector.add(15, a)),
              (std::vector<kept_detection>{{0, 0, {5, 15}}, {1, 10, {15}}}));
    EXPECT_EQ(kept(detector.add(25, a)),
              (std::vector<kept_detection>{{0, 10, {15, 25}}, {1, 20, {25}}}));
}

TEST(PatternDetector, ContinuesNoWindowInTheNextEpoch) {
    pattern_detector detector({duration{10}, {{{a, 0}, {b, 1}}}}, 2);

    detector.add(5, a);
    detector.flush();
    EXPECT_TRUE(detector.add(15, b).empty());
    detector.flush();
    detector.add(-5, a);
    EXPECT_EQ(detector.add(5, b).size(), 1U);
    EXPECT_EQ(detector.count(0), 1U);
}

TEST(PatternDetector, TakesAnyTimes) {
    pattern_detector detector({duration{7}, {{{a, 0}, {b, 0}}, {{a, 0}, {b, 3}}}}, 2);

    detector.add(INT64_MIN, a);
    EXPECT_EQ(kept(detector.add(INT64_MIN, b)),
              (std::vector<kept_detection>{{0, INT64_MIN, {INT64_MIN, INT64_MIN}}}));
    detector.add(INT64_MAX, b);
    EXPECT_EQ(detector.add(INT64_MAX, a).size(), 1U);
}

TEST(PatternDetector, RefusesWhatIsInvalid) {
    const auto refused = [](const std::vector<pattern_spike>& pattern) {
        return text_of([&] { pattern_detector({duration{5}, {{{a, 0}}, pattern}}, 2); });
    };
    EXPECT_EQ(refused({}), "pattern 1: it has no spike");
    EXPECT_EQ(refused({{a, 1}}), "pattern 1: its first spike is not in the first bin");
    EXPECT_EQ(refused({{a, 0}, {c, 1}}), "pattern 1: there is no unit 2");
    const auto* const order = "pattern 1: its spikes are not in the order of their lags and units";
    EXPECT_EQ(refused({{a, 0}, {a, 0}}), order);
    EXPECT_EQ(refused({{a, 0}, {b, 2}, {a, 1}}), order);
    EXPECT_EQ(refused({{b, 0}, {a, 0}}), order);
    EXPECT_EQ(refused({{a, 0}, {a, 65'536}}), "pattern 1: it has more than 65536 bins");
    EXPECT_THROW(pattern_detector({duration{0}, {}}, 2), invalid_argument);

    pattern_detector detector({duration{5}, {{{a, 0}}}}, 2);
    detector.add(10, a);
    EXPECT_EQ(text_of([&] { detector.add(9, a); }),
              "a spike at 9 us is earlier than the one before it, at 10 us");
    EXPECT_EQ(text_of([&] { detector.add(10, c); }),
              "a spike belongs to unit 2, but there are 2 units");
    EXPECT_EQ(text_of([&] { static_cast<void>(detector.count(1)); }),
              "there is no pattern 1 among 1");
}

std::vector<pattern_spike> random_pattern(random_streams& draw, std::uint32_t units) {
    std::set<std::pair<std::uint32_t, unit_id>> spikes{
        {0, unit_id{static_cast<std::uint32_t>(draw.below(units))}}};
    for (std::uint64_t more = draw.below(4); more > 0; --more)
        spikes.emplace(static_cast<std::uint32_t>(draw.below(4)),
                       unit_id{static_cast<std::uint32_t>(draw.below(units))});
    std::vector<pattern_spike> pattern;
    for (const auto& [lag, unit] : spikes) pattern.push_back({unit, lag});
    return pattern;
}

// The windows that hold a pattern, straight from the definition, in the order in which they are
// complete.
std::vector<kept_detection> windows_with(const std::vector<pattern_spike>& pattern,
                                         const spike_sequence& spikes, std::int64_t bin) {
    const auto left_edge = [&](std::int64_t time) {
        std::int64_t edge = time / bin * bin;
        if (edge > time) edge -= bin;
        return edge;
    };
    std::vector<kept_detection> windows;
    for (std::int64_t edge = -20 * bin; edge < 1'000; edge += bin) {
        spike_times times;
        for (const auto& [unit, lag] : pattern) {
            for (std::size_t i = 0; i < spikes.size(); ++i) {
                if (spikes.units()[i] != unit) continue;
                if (left_edge(spikes.times_us()[i]) != edge + lag * bin) continue;
                times.push_back(spikes.times_us()[i]);
                break;
            }
        }
        if (times.size() == pattern.size()) windows.push_back({0, edge, times});
    }
    return windows;
}

TEST(PatternDetectorProperty, DetectsTheWindowsThatHoldThePattern) {
    random_streams draw(3);
    std::size_t detections = 0;
    for (std::size_t i = 0; i < property_cases(1500); ++i) {
        const auto units = static_cast<std::uint32_t>(1 + draw.below(4));
        const spike_sequence spikes = draw.spikes(60, units);
        if (spikes.empty()) continue;
        const auto known = static_cast<std::uint32_t>(spikes.unit_count());
        const auto bin = static_cast<std::int64_t>(1 + draw.below(6));
        armed_patterns armed{duration{bin}, {}};
        for (std::uint64_t more = 1 + draw.below(4); more > 0; --more)
            armed.patterns.push_back(random_pattern(draw, known));
        pattern_detector detector(armed, known);

        std::vector<std::vector<kept_detection>> found(armed.patterns.size());
        for (kept_detection& one : detected_in(detector, spikes)) {
            const std::size_t pattern = std::exchange(one.pattern, 0);
            found[pattern].push_back(std::move(one));
        }
        for (std::size_t k = 0; k < found.size(); ++k) {
            ASSERT_EQ(found[k], windows_with(armed.patterns[k], spikes, bin)) << "case " << i;
            ASSERT_EQ(detector.count(k), found[k].size());
            detections += found[k].size();
        }
    }
    EXPECT_GT(detections, property_cases(1500));
}

// The patterns that SPADE finds are detected where it finds them.
TEST(PatternDetectorProperty, DetectsTheOccurrencesThatAreMined) {
    random_streams draw(4);
    std::size_t detections = 0;
    for (std::size_t i = 0; i < property_cases(300); ++i) {
        const spike_sequence spikes = draw.spikes(60, 4);
        if (spikes.empty()) continue;
        const auto bin = duration{static_cast<std::int64_t>(1 + draw.below(5))};
        const binning_result binned = bin_spikes(spikes, {.bin = bin});
        const auto window = static_cast<std::uint32_t>(1 + draw.below(4));
        const pattern_table table =
            mine_patterns(spade_windows(binned.spikes, window), {}, {.threads = 1}).table;
        armed_patterns armed{bin, {}};
        for (std::size_t k = 0; k < table.size(); ++k) {
            auto& pattern = armed.patterns.emplace_back();
            for (const pattern_item item : table.pattern(k))
                pattern.push_back({table.unit(item), table.lag(item)});
        }
        pattern_detector detector(armed, spikes.unit_count());

        std::vector<std::vector<std::uint32_t>> starts(table.size());
        for (const auto& [pattern, begin, times] : detected_in(detector, spikes))
            starts[pattern].push_back(
                static_cast<std::uint32_t>((duration{begin} - binned.origin) / bin));
        for (std::size_t k = 0; k < table.size(); ++k) {
            const auto expected = table.occurrences_of(k);
            ASSERT_EQ(starts[k], std::vector(expected.begin(), expected.end())) << "case " << i;
            detections += starts[k].size();
        }
    }
    EXPECT_GT(detections, property_cases(300));
}

class ReadPatterns : public testing::Test {
protected:
    temporary_folder folder{};
    spike_sequence spikes{{}, {}, {"b", "a", "c"}, {}};

    void write(const std::string& table, const std::string& run = R"({"windows":{"bin_ms":2.5}})") {
        folder.file("patterns.tsv", table);
        folder.file("run.json", run);
    }
    std::string refused() {
        return text_of([&] { read_patterns(folder.path(), spikes); });
    }
    std::string table_name() const { return (folder.path() / "patterns.tsv").string(); }
};

TEST_F(ReadPatterns, TakesTheSignificantOnes) {
    write(
        "pattern\tunits\tlags_ms\tsignificant\n0\ta,b\t0,0\tyes\n1\ta,c\t0,5\tno\n"
        "2\tc,a,b\t0,2.5,7.5\tyes\n");

    const armed_patterns read = read_patterns(folder.path(), spikes);

    EXPECT_EQ(read.bin, duration{2'500});
    ASSERT_EQ(read.patterns.size(), 2U);
    EXPECT_EQ(read.patterns[0], (std::vector<pattern_spike>{{a, 0}, {b, 0}})) << "by unit";
    EXPECT_EQ(read.patterns[1], (std::vector<pattern_spike>{{c, 0}, {b, 1}, {a, 3}}));
    EXPECT_EQ(units_of_patterns(folder.path()), (std::vector<std::string>{"a", "b", "c"}));
}

TEST_F(ReadPatterns, TakesAllThatWereNotTested) {
    write("pattern\tunits\tlags_ms\n0\ta\t0\n1\ta,c\t0,5\n");
    EXPECT_EQ(read_patterns(folder.path(), spikes).patterns.size(), 2U);
}

TEST_F(ReadPatterns, SaysWhatIsWrong) {
    EXPECT_EQ(refused(), "cannot read " + table_name() + ": No such file or directory");
    write("units\n");
    EXPECT_EQ(refused(), table_name() + " has no column 'lags_ms', expected the table of a result");
    for (const char* const run :
         {"{}", "?", R"({"windows":{"bin_ms":0.0001}})", R"({"windows":{"bin_ms":-5}})",
          R"({"windows":{"bin_ms":1e300}})"}) {
        write("units\tlags_ms\na\t0\n", run);
        EXPECT_EQ(refused(), (folder.path() / "run.json").string() +
                                 " states no bin width, expected a result of SPADE");
    }
    write("units\tlags_ms\tsignificant\na\t0\tno\n");
    EXPECT_EQ(refused(), table_name() + " holds no significant pattern");
    const auto line = [&](const std::string& text) {
        write("units\tlags_ms\n" + text + "\n");
        return refused().substr(table_name().size());
    };
    EXPECT_EQ(line("a"), ", line 2: 1 columns, expected 2");
    EXPECT_EQ(line("a,d\t0,5"), ", line 2: no unit is named 'd'; there are 3: b, a, c");
    EXPECT_EQ(line("a,b\t0,3"),
              ", line 2: the lag 3 ms is not a multiple of the bin, 2.5 ms, up to 65535 bins");
    EXPECT_EQ(line("a,b\t2.5,5"), ": pattern 0: its first spike is not in the first bin");
    EXPECT_EQ(line("a,b\t0"),
              ", line 2: 2 names of units and 1 lags between commas, expected equal numbers; a "
              "name with a comma cannot be read");
}

}  // namespace
}  // namespace spikeweave
