#include "spikeweave/assess/spade.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "assess/spade/maxima_tally.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/parallel/communicator.hpp"
#include "support/random_streams.hpp"
#include "support/run_length.hpp"
#include "support/threads_as_ranks.hpp"

namespace spikeweave {

using assess::tally_maxima;

namespace {

constexpr auto by_count = spectrum_kind::size_count;
constexpr auto by_duration = spectrum_kind::size_count_duration;

// Makes rows from size 0 on.
occurrence_maxima maxima(std::vector<std::uint32_t> most, std::uint32_t durations = 1) {
    return {durations, std::move(most)};
}

maxima_tally tally_of(const std::vector<occurrence_maxima>& surrogates) {
    maxima_tally tally(surrogates.front().durations == 1 ? by_count : by_duration,
                       surrogates.front().durations);
    for (const occurrence_maxima& s : surrogates) tally.add(s);
    return tally;
}

pvalue_spectrum spectrum_of(std::vector<spectrum_entry> entries, std::uint32_t surrogates,
                            spectrum_kind kind = by_count) {
    for (spectrum_entry& e : entries)
        e.p = static_cast<double>(e.reached) / static_cast<double>(surrogates);
    return {kind, surrogates, std::move(entries)};
}

std::string decisions(const signature_test_result& tests) {
    std::string out;
    for (const signature_test& s : tests.signatures)
        out += s.tested ? (s.significant ? "T" : "F") : (s.significant ? "t" : "f");
    return out;
}

TEST(MaximaTally, GivesTheSpectrumOfTheReference) {
    const pvalue_spectrum spectrum =
        tally_of({maxima({0, 0, 4, 3}), maxima({0, 0, 5}), maxima({})}).make_spectrum(2, 3, 2);

    EXPECT_EQ(spectrum.kind, by_count);
    EXPECT_EQ(spectrum.surrogates, 3);
    const std::vector<spectrum_entry> expected{{{2, 2, 0}, 2, 2. / 3}, {{2, 3, 0}, 2, 2. / 3},
                                               {{2, 4, 0}, 2, 2. / 3}, {{2, 5, 0}, 1, 1. / 3},
                                               {{3, 2, 0}, 1, 1. / 3}, {{3, 3, 0}, 1, 1. / 3}};
    EXPECT_EQ(spectrum.entries, expected);
    EXPECT_EQ(spectrum.reached({2, 5, 0}), 1);
    EXPECT_EQ(spectrum.reached({2, 6, 0}), 0);
    EXPECT_EQ(spectrum.reached({4, 2, 0}), 0);
}

TEST(MaximaTally, OrdersBySizeThenDurationThenCount) {
    // Sizes 0 to 2 and three durations.
    const pvalue_spectrum spectrum =
        tally_of({maxima({0, 0, 0, 7, 7, 7, 3, 0, 2}, 3), maxima({0, 0, 0, 0, 0, 0, 2, 1, 2}, 3)})
            .make_spectrum(2, 0, 2);

    const std::vector<spectrum_entry> expected{
        {{2, 2, 0}, 2, 1.}, {{2, 3, 0}, 1, .5}, {{2, 2, 2}, 2, 1.}};
    EXPECT_EQ(spectrum.entries, expected);
    EXPECT_EQ(spectrum.reached({2, 2, 2}), 2);
    EXPECT_EQ(spectrum.reached({2, 2, 1}), 0);
}

TEST(MaximaTally, CountsBeyondSixteenBits) {
    const pvalue_spectrum spectrum =
        tally_of({maxima({0, 0, 40'000}), maxima({0, 0, 70'000})}).make_spectrum(2, 2, 32'000);

    ASSERT_EQ(spectrum.entries.size(), 70'000 - 32'000 + 1);
    EXPECT_EQ(spectrum.reached({2, 40'000, 0}), 2);
    EXPECT_EQ(spectrum.reached({2, 40'001, 0}), 1);
    EXPECT_EQ(spectrum.reached({2, 70'000, 0}), 1);
    EXPECT_EQ(spectrum.reached({2, 70'001, 0}), 0);
}

TEST(MaximaTally, CountsUpToTheLargestNumber) {
    const std::uint32_t most = 0xFFFFFFFF;
    const pvalue_spectrum spectrum = tally_of({maxima({0, 0, most})}).make_spectrum(2, 2, most - 1);
    ASSERT_EQ(spectrum.entries.size(), 2);
    EXPECT_EQ(spectrum.entries.back().what.count, most);
}

TEST(MaximaTally, TakesEachSizeFromTheRulesThatTakeIt) {
    const maxima_tally tally = tally_of({maxima({0, 9, 6, 4, 3, 3})});
    const std::vector<pattern_rule> rules{{.min_occ = 5, .min_spikes = 2, .max_spikes = 2},
                                          {.min_occ = 4, .min_spikes = 2, .max_spikes = 3},
                                          {.min_occ = 3, .min_spikes = 5, .max_spikes = 0}};
    std::vector<pattern_signature> listed;
    for (const spectrum_entry& e : tally.make_spectrum(rules).entries) listed.push_back(e.what);
    EXPECT_EQ(listed, (std::vector<pattern_signature>{
                          {2, 4, 0}, {2, 5, 0}, {2, 6, 0}, {3, 4, 0}, {5, 3, 0}}));
}

std::vector<occurrence_maxima> random_maxima(std::mt19937_64& random, std::uint32_t durations) {
    std::vector<occurrence_maxima> all(1 + random() % 12);
    for (occurrence_maxima& one : all) {
        const std::size_t rows = random() % 6;
        one.durations = durations;
        one.most.resize(rows * durations);
        for (std::uint32_t& value : one.most) value = static_cast<std::uint32_t>(random() % 8);
    }
    return all;
}

TEST(MaximaTally, EqualsTheDefinitionInAnyOrderAndAnyParts) {
    std::mt19937_64 random(11);
    const std::size_t cases = property_cases(300);
    for (std::size_t round = 0; round < cases; ++round) {
        const auto durations = static_cast<std::uint32_t>(1 + random() % 4);
        std::vector<occurrence_maxima> all = random_maxima(random, durations);
        const spectrum_kind kind = durations == 1 ? by_count : by_duration;
        maxima_tally whole(kind, durations);
        for (const occurrence_maxima& one : all) whole.add(one);

        std::shuffle(all.begin(), all.end(), random);
        maxima_tally first(kind, durations), second(kind, durations);
        for (std::size_t i = 0; i < all.size(); ++i) (i % 3 == 0 ? first : second).add(all[i]);
        second.merge(maxima_tally::from_bytes(first.to_bytes()));
        ASSERT_EQ(second.make_spectrum(1, 0, 1), whole.make_spectrum(1, 0, 1));
        ASSERT_EQ(second.surrogates(), whole.surrogates());

        const pvalue_spectrum spectrum = whole.make_spectrum(2, 4, 2);
        std::size_t listed = 0;
        for (std::uint32_t size = 2; size <= 4; ++size)
            for (std::uint32_t lag = 0; lag < durations; ++lag)
                for (std::uint32_t count = 2; count < 9; ++count) {
                    const auto reached = static_cast<std::uint32_t>(
                        std::count_if(all.begin(), all.end(),
                                      [&](const auto& m) { return m.at(size, lag) >= count; }));
                    ASSERT_EQ(spectrum.reached({size, count, lag}), reached);
                    listed += reached > 0 ? 1 : 0;
                }
        ASSERT_EQ(spectrum.entries.size(), listed);
        for (const spectrum_entry& e : spectrum.entries)
            ASSERT_EQ(e.p, static_cast<double>(e.reached) / static_cast<double>(all.size()));
    }
}

TEST(MaximaTally, RefusesWhatDoesNotFit) {
    EXPECT_THROW(maxima_tally(by_count, 0), invalid_argument);
    maxima_tally tally(by_duration, 3);
    EXPECT_THROW(tally.add(maxima({0, 0, 1})), invalid_argument);
    EXPECT_THROW(tally.merge(maxima_tally(by_duration, 2)), invalid_argument);
    EXPECT_THROW(tally.merge(maxima_tally(by_count, 3)), invalid_argument);
    EXPECT_THROW(tally.make_spectrum(2, 2, 2), invalid_argument);
    tally.add(maxima({0, 0, 0}, 3));
    EXPECT_THROW(tally.make_spectrum(2, 2, 0), invalid_argument);
    EXPECT_THROW(tally.make_spectrum(0, 2, 2), invalid_argument);
    EXPECT_TRUE(tally.make_spectrum(2, 0, 2).entries.empty());

    tally.add(maxima({0, 0, 0, 5, 0, 1}, 3));
    const std::string bytes = tally.to_bytes();
    EXPECT_EQ(maxima_tally::from_bytes(bytes), tally);
    for (std::size_t n = 0; n < bytes.size(); ++n)
        EXPECT_THROW(maxima_tally::from_bytes(bytes.substr(0, n)), invalid_argument) << n;
    EXPECT_THROW(maxima_tally::from_bytes(bytes + bytes), invalid_argument);
    EXPECT_THROW(maxima_tally::from_bytes(std::string(16, '\xFF')), invalid_argument);
}

TEST(TestSignatures, TestsEveryOneFoundByDefault) {
    // The two signatures of elephant#620: neighbouring counts, both rare in surrogates.
    const pvalue_spectrum spectrum =
        spectrum_of({{{2, 4, 0}, 1000}, {{2, 5, 0}, 400}, {{3, 5, 0}, 40}, {{3, 6, 0}, 30}}, 1000);
    const std::vector<signature_count> found{
        {2, 4, 0, 9}, {2, 5, 0, 3}, {3, 5, 0, 2}, {3, 6, 0, 1}, {3, 7, 0, 1}};

    const signature_test_result tests =
        test_signatures(found, spectrum, {.alpha = 0.06, .correction = correction_method::none});

    EXPECT_EQ(decisions(tests), "fFTTT");
    const std::vector<double> p{1, 401. / 1001, 41. / 1001, 31. / 1001, 1. / 1001};
    const std::vector<test_reason> reasons{test_reason::p_is_one, test_reason::tested,
                                           test_reason::tested, test_reason::tested,
                                           test_reason::absent};
    for (std::size_t i = 0; i < p.size(); ++i) {
        EXPECT_DOUBLE_EQ(tests.signatures[i].p, p[i]);
        EXPECT_DOUBLE_EQ(tests.signatures[i].q, p[i]);
        EXPECT_EQ(tests.signatures[i].reason, reasons[i]);
        EXPECT_EQ(tests.signatures[i].patterns, found[i].patterns);
    }
    EXPECT_EQ(tests.not_significant, (std::vector<pattern_signature>{{2, 4, 0}, {2, 5, 0}}));
}

TEST(TestsOfPatterns, AreThoseOfTheirSignatures) {
    const pattern_table table{.window_bins = 4,
                              .item_offsets = {0, 2, 4, 6},
                              .items = {0, 6, 4, 11, 0, 6},
                              .counts = {5, 5, 7}};
    std::vector<signature_test> tested(2);
    tested[0].what = {2, 7, 0};
    tested[1].what = {2, 5, 0};
    EXPECT_EQ(tests_of_patterns(table, by_count, tested),
              (std::vector<const signature_test*>{&tested[1], &tested[1], &tested[0]}));
    EXPECT_THROW(tests_of_patterns(table, by_duration, tested), invalid_argument);
    tested[0].what.duration = 2;
    tested[1].what.duration = 3;
    EXPECT_THROW(tests_of_patterns(table, by_duration, tested), invalid_argument);
    tested.push_back(tested[1]);
    tested[2].what.duration = 2;
    EXPECT_EQ(tests_of_patterns(table, by_duration, tested),
              (std::vector<const signature_test*>{&tested[2], &tested[1], &tested[0]}));
}

TEST(TestSignatures, CorrectsForThoseTested) {
    const pvalue_spectrum spectrum =
        spectrum_of({{{2, 4, 0}, 99}, {{2, 5, 0}, 4}, {{3, 5, 0}, 1}}, 99);
    const std::vector<signature_count> found{{2, 4, 0, 1}, {2, 5, 0, 1}, {3, 5, 0, 1}};

    const signature_test_result tests = test_signatures(
        found, spectrum, {.alpha = 0.05, .correction = correction_method::bonferroni});

    EXPECT_EQ(decisions(tests), "fFT");
    EXPECT_DOUBLE_EQ(tests.signatures[0].q, 1);
    EXPECT_DOUBLE_EQ(tests.signatures[1].q, 2 * 0.05);
    EXPECT_DOUBLE_EQ(tests.signatures[2].q, 2 * 0.02);
}

TEST(TestSignatures, SaysThatTooFewSurrogatesShowNothing) {
    // None in 9 surrogates gives p = 0.1.
    const pvalue_spectrum spectrum = spectrum_of({{{2, 4, 0}, 3}, {{2, 5, 0}, 1}}, 9);

    const signature_test_result tests =
        test_signatures(std::vector<signature_count>{{3, 8, 0, 1}}, spectrum, {.alpha = 0.05});

    EXPECT_EQ(decisions(tests), "F");
    EXPECT_DOUBLE_EQ(tests.signatures[0].p, 0.1);
    EXPECT_EQ(tests.not_significant,
              (std::vector<pattern_signature>{{2, 4, 0}, {2, 5, 0}, {3, 8, 0}}));
}

TEST(TestSignatures, CallsWhatWasNotFoundNotSignificantByTheSameBound) {
    const pvalue_spectrum spectrum = spectrum_of({{{2, 4, 0}, 50},
                                                  {{2, 5, 0}, 6},
                                                  {{2, 6, 0}, 5},
                                                  {{2, 7, 0}, 4},
                                                  {{3, 4, 0}, 30},
                                                  {{3, 5, 0}, 2}},
                                                 1000);
    const signature_test_result tests =
        test_signatures(std::vector<signature_count>{{2, 6, 0, 1}, {3, 4, 0, 1}}, spectrum,
                        {.alpha = 0.01, .correction = correction_method::none});
    EXPECT_EQ(decisions(tests), "TF");
    EXPECT_EQ(tests.not_significant,
              (std::vector<pattern_signature>{{2, 4, 0}, {2, 5, 0}, {3, 4, 0}}));
}

signature_test_options as_elephant(double alpha,
                                   correction_method correction = correction_method::none) {
    return {alpha, correction, compatibility::elephant};
}

TEST(TestSignaturesAsElephant, MasksAllButTheHighestOfARun) {
    const pvalue_spectrum spectrum = spectrum_of(
        {{{2, 3, 0}, 20}, {{2, 4, 0}, 5}, {{3, 5, 0}, 4}, {{3, 6, 0}, 3}, {{3, 7, 0}, 2}}, 100);

    // Only the highest of a run is tested; the first of size 3 does not mask the last of size 2.
    EXPECT_EQ(decisions(test_signatures(
                  std::vector<signature_count>{
                      {2, 3, 0, 1}, {2, 4, 0, 1}, {3, 5, 0, 1}, {3, 6, 0, 1}, {3, 7, 0, 1}},
                  spectrum, as_elephant(.05))),
              "fTffT");
    // With a gap, both sides are tested.
    EXPECT_EQ(decisions(test_signatures(std::vector<signature_count>{{3, 5, 0, 1}, {3, 7, 0, 1}},
                                        spectrum, as_elephant(.05))),
              "TT");

    const signature_test_result tests = test_signatures(
        std::vector<signature_count>{{2, 3, 0, 1}, {2, 4, 0, 1}}, spectrum, as_elephant(.05));
    EXPECT_EQ(tests.signatures[0].reason, test_reason::masked);
    EXPECT_EQ(tests.signatures[1].p, 0.05);
    // These are all signatures that are not tested and significant, found or not.
    EXPECT_EQ(tests.not_significant,
              (std::vector<pattern_signature>{{2, 3, 0}, {3, 5, 0}, {3, 6, 0}, {3, 7, 0}}));
}

TEST(TestSignaturesAsElephant, GivesTheReferencesOwnExample) {
    const pvalue_spectrum spectrum = spectrum_of({{{2, 3, 0}, 40}, {{2, 4, 0}, 10}}, 200);
    const std::vector<signature_count> found{{2, 3, 0, 1}, {2, 4, 0, 1}};
    EXPECT_EQ(decisions(test_signatures(found, spectrum,
                                        as_elephant(.15, correction_method::benjamini_hochberg))),
              "fT");
    // By default the lower one is tested too.
    EXPECT_EQ(decisions(test_signatures(found, spectrum, {.alpha = .15})), "FT");
}

TEST(TestSignaturesAsElephant, LooksAtDurationsApart) {
    const pvalue_spectrum spectrum = spectrum_of(
        {{{2, 3, 0}, 4}, {{2, 3, 1}, 4}, {{2, 4, 1}, 3}, {{2, 3, 2}, 1}}, 100, by_duration);
    const std::vector<signature_count> found{
        {2, 3, 0, 1}, {2, 3, 1, 1}, {2, 3, 2, 1}, {2, 4, 1, 1}};
    EXPECT_EQ(decisions(test_signatures(found, spectrum, as_elephant(.05))), "TfTT");
}

TEST(TestSignaturesAsElephant, NeverTestsAPOfOneAndKeepsWhatIsAbsent) {
    const pvalue_spectrum spectrum =
        spectrum_of({{{2, 3, 0}, 10}, {{2, 4, 0}, 10}, {{2, 5, 0}, 9}}, 10);
    const std::vector<signature_count> found{{2, 3, 0, 1}, {2, 4, 0, 1}, {2, 6, 0, 4}};

    const signature_test_result tests = test_signatures(found, spectrum, as_elephant(.999));

    EXPECT_EQ(decisions(tests), "fft");
    EXPECT_EQ(tests.signatures[1].reason, test_reason::p_is_one);
    EXPECT_EQ(tests.signatures[2].reason, test_reason::absent);
    EXPECT_EQ(tests.signatures[2].p, 0);
    EXPECT_EQ(tests.not_significant,
              (std::vector<pattern_signature>{{2, 3, 0}, {2, 4, 0}, {2, 5, 0}}));
    EXPECT_TRUE(
        test_signatures(found, {by_count, 10, {}}, as_elephant(.05)).not_significant.empty());
}

TEST(TestSignaturesAsElephant, TakesAPNextToOneForOne) {
    const std::uint32_t n = 1'000'000;
    const pvalue_spectrum spectrum = spectrum_of({{{2, 3, 0}, n - 9}, {{3, 3, 0}, n - 11}}, n);
    const std::vector<signature_count> found{{2, 3, 0, 1}, {3, 3, 0, 1}};
    EXPECT_EQ(decisions(test_signatures(found, spectrum, as_elephant(.9))), "fF");
}

TEST(TestSignaturesAsElephant, NeverTestsTheOnlyEntry) {
    const pvalue_spectrum spectrum = spectrum_of({{{2, 3, 0}, 1}}, 1000);
    const signature_test_result tests =
        test_signatures(std::vector<signature_count>{{2, 3, 0, 1}}, spectrum, as_elephant(.05));
    EXPECT_EQ(decisions(tests), "f");
    EXPECT_EQ(tests.signatures[0].reason, test_reason::single_entry);
    EXPECT_EQ(tests.not_significant, (std::vector<pattern_signature>{{2, 3, 0}}));
}

std::vector<std::string> split(const std::string& text, char separator) {
    std::vector<std::string> out;
    std::istringstream in(text);
    for (std::string part; std::getline(in, part, separator);) out.push_back(part);
    return out;
}

std::vector<pattern_signature> signatures_in(const std::string& text) {
    std::vector<pattern_signature> out;
    for (const std::string& word : split(text, ' ')) {
        const auto values = split(word, ',');
        const auto number = [&](std::size_t i) {
            return static_cast<std::uint32_t>(std::stoul(values.at(i)));
        };
        out.push_back({number(0), number(1), number(2)});
    }
    return out;
}

// The file is written by tests/golden/make_signature_tests.py.
TEST(TestSignaturesAsElephant, SaysWhatElephantSays) {
    std::ifstream in(SPIKEWEAVE_SOURCE_DIR "/tests/golden/signature_tests.tsv");
    std::size_t lines = 0;
    std::size_t otherwise = 0;
    for (std::string line; std::getline(in, line); ++lines) {
        std::vector<std::string> fields = split(line, '\t');
        fields.resize(11);  // the last may be empty
        const auto number = [&](std::size_t i) {
            return static_cast<std::uint32_t>(std::stoul(fields[i]));
        };
        const bool with_durations = fields[0] == "3d#";
        const std::uint32_t durations = with_durations ? number(1) : 1;
        maxima_tally tally(with_durations ? by_duration : by_count, number(1));
        for (const std::string& surrogate : split(fields[7], ' ')) {
            occurrence_maxima one{durations, {}};
            one.most.resize(std::size_t{number(2)} * durations);  // smaller sizes
            for (const std::string& row : split(surrogate, ';'))
                for (const std::string& value : split(row, ','))
                    one.most.push_back(static_cast<std::uint32_t>(std::stoul(value)));
            tally.add(one);
        }

        const pvalue_spectrum spectrum = tally.make_spectrum(number(2), number(3), number(4));

        std::vector<pattern_signature> listed;
        const auto entries = split(fields[8], ' ');
        ASSERT_EQ(spectrum.entries.size(), entries.size()) << line;
        for (std::size_t i = 0; i < entries.size(); ++i) {
            listed.push_back(spectrum.entries[i].what);
            ASSERT_EQ(spectrum.entries[i].p, std::stod(split(entries[i], ',').at(3))) << line;
        }
        ASSERT_EQ(listed, signatures_in(fields[8])) << line;

        std::vector<signature_count> found;
        for (const pattern_signature& what : signatures_in(fields[9]))
            found.push_back({what.size, what.count, what.duration, 1});
        signature_test_options testing{std::stod(fields[5]),
                                       value_named<correction_method>(fields[6]),
                                       compatibility::elephant};
        ASSERT_EQ(test_signatures(found, spectrum, testing).not_significant,
                  signatures_in(fields[10]))
            << line;
        testing.compat = compatibility::none;
        otherwise +=
            test_signatures(found, spectrum, testing).not_significant != signatures_in(fields[10])
                ? 1
                : 0;
    }
    EXPECT_EQ(lines, 250);
    EXPECT_GT(otherwise, 0);
}

TEST(TestSignatures, FindsEverythingSignificantAtAlphaOne) {
    const pvalue_spectrum spectrum = spectrum_of({{{2, 3, 0}, 10}, {{2, 4, 0}, 9}}, 10);
    const std::vector<signature_count> found{{2, 3, 0, 1}, {2, 4, 0, 1}, {2, 5, 0, 1}};
    for (const auto compat : {compatibility::none, compatibility::elephant}) {
        const signature_test_result tests =
            test_signatures(found, spectrum, {1, correction_method::benjamini_hochberg, compat});
        EXPECT_EQ(decisions(tests), "ttt");
        EXPECT_TRUE(tests.not_significant.empty());
        EXPECT_EQ(tests.signatures[0].reason, test_reason::alpha_is_one);
    }
}

TEST(TestSignatures, RefusesWhatCannotBe) {
    const pvalue_spectrum spectrum = spectrum_of({{{2, 3, 0}, 10}}, 10);
    const std::vector<signature_count> found{{2, 3, 0, 1}};
    EXPECT_THROW(test_signatures(found, spectrum, {.alpha = 0}), invalid_argument);
    EXPECT_THROW(test_signatures(found, spectrum, {.alpha = 1.5}), invalid_argument);
    EXPECT_THROW(test_signatures(found, {}, {}), invalid_argument);
    EXPECT_TRUE(test_signatures({}, spectrum, {}).signatures.empty());
}

TEST(FilterPatterns, KeepsByWhatTheSpectrumKnowsThemBy) {
    pattern_table table;
    table.window_bins = 5;
    const auto add = [&](std::vector<pattern_item> items, std::vector<std::uint32_t> starts) {
        table.append(items, static_cast<std::uint32_t>(starts.size()), starts);
    };
    add({0, 5}, {1, 2, 3});     // (2, 3, 0)
    add({0, 7}, {1, 2, 3});     // (2, 3, 2)
    add({0, 5, 7}, {1, 2, 3});  // (3, 3, 2)
    EXPECT_EQ(signature_of(table, 1, by_duration), (pattern_signature{2, 3, 2}));
    EXPECT_EQ(signature_of(table, 1, by_count), (pattern_signature{2, 3, 0}));
    EXPECT_EQ(filter_patterns(table, by_count, std::vector<pattern_signature>{{2, 3, 0}}),
              (std::vector<std::size_t>{2}));
    EXPECT_EQ(
        filter_patterns(table, by_duration, std::vector<pattern_signature>{{3, 3, 2}, {2, 3, 2}}),
        (std::vector<std::size_t>{0}));

    // One filter serves all blocks, from signatures in any order.
    const pattern_filter filter(by_duration, std::vector<pattern_signature>{{3, 3, 2}, {2, 3, 2}});
    for (std::size_t i = 0; i < table.size(); ++i) {
        pattern_table block{.window_bins = 5};
        block.append(table.pattern(i), table.counts[i], table.occurrences_of(i));
        EXPECT_EQ(filter.kept(block), std::vector<std::size_t>(i == 0 ? 1 : 0)) << i;
    }
}

occurrence_maxima pretended(std::uint32_t which) {
    std::mt19937_64 random(which);
    occurrence_maxima out{3, std::vector<std::uint32_t>(3 * (1 + random() % 5))};
    for (std::uint32_t& value : out.most) value = static_cast<std::uint32_t>(random() % 20);
    return out;
}

TEST(TallyMaxima, IsTheSameForAnyThreadsAndRanks) {
    for (const std::uint32_t surrogates : {1U, 2U, 7U, 40U}) {
        maxima_tally expected(by_duration, 3);
        for (std::uint32_t s = 0; s < surrogates; ++s) expected.add(pretended(s));

        for (const int threads : {1, 2, 4})
            EXPECT_EQ(tally_maxima({by_duration, 3}, 0, surrogates, pretended, {.threads = threads})
                          .to_bytes(),
                      expected.to_bytes());
        for (const int ranks : {1, 2, 3, 5}) {
            std::vector<std::string> results(static_cast<std::size_t>(ranks));
            std::vector<std::atomic<std::uint32_t>> mined(results.size());
            threads_as_ranks::run(ranks, [&](int rank, std::shared_ptr<communicator> all) {
                const auto self = static_cast<std::size_t>(rank);
                const auto counted = [&](std::uint32_t which) {
                    ++mined[self];
                    return pretended(which);
                };
                results[self] = tally_maxima({by_duration, 3}, 0, surrogates, counted,
                                             {.threads = 2, .ranks = std::move(all)})
                                    .to_bytes();
            });
            for (const std::string& result : results) EXPECT_EQ(result, expected.to_bytes());
            std::uint32_t sum = 0;
            for (const auto& own : mined) {
                sum += own;
                EXPECT_LE(own, surrogates / static_cast<std::uint32_t>(ranks) + 1);
            }
            EXPECT_EQ(sum, surrogates);
        }
    }
}

TEST(TallyMaxima, StopsAndPassesOnWhatIsThrown) {
    std::stop_source stop;
    const auto stopping = [&](std::uint32_t which) {
        if (which == 3) stop.request_stop();
        return pretended(which);
    };
    EXPECT_THROW(
        tally_maxima({by_duration, 3}, 0, 1000, stopping, {.threads = 2, .stop = stop.get_token()}),
        cancelled);
    EXPECT_THROW(tally_maxima({by_count, 3}, 0, 5, pretended, {.threads = 2}), invalid_argument);
    EXPECT_THROW(tally_maxima({by_duration, 3}, 0, 0, pretended, {}), invalid_argument);
}

}  // namespace
}  // namespace spikeweave
