#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/spade/small_request.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/pipeline/spade.hpp"
#include "spikeweave/spikes/epochs.hpp"
#include "support/error_text.hpp"

namespace spikeweave {
namespace {

using namespace std::chrono_literals;
using enum surrogate_method;

TEST(SpadePreparation, LeavesOutWhatIsEarlierOrLater) {
    spade_options request = small_request();
    request.surrogates = spade_options{}.surrogates;
    request.t_start = 2s;
    request.t_stop = 7s;

    const binned_recording binned = bin_recording(planted_recording(), request);

    EXPECT_EQ(binned.spikes.span(), (time_span{2s, 7s}));
    EXPECT_EQ(binned.axes.origin, 2s);
    EXPECT_EQ(binned.counts.length, 5s);
    EXPECT_EQ(binned.time_origin_note, "2 s (t_start)");
    const auto times = planted_recording().times_us();
    EXPECT_EQ(binned.counts.spikes,
              static_cast<std::size_t>(std::ranges::count_if(
                  times, [](std::int64_t t) { return t >= 2'000'000 && t <= 7'000'000; })));
}

TEST(SpadePreparation, BinsAlikeWhereverTheRecordingEnds) {
    const spike_sequence spikes = sequence_of(
        {{2'500, unit_id{0}}, {6'000, unit_id{1}}, {11'000, unit_id{0}}, {30'000, unit_id{1}}},
        {"a", "b"}, {2'500us, 30ms});
    spade_options request = small_request();
    const binned_recording whole = bin_recording(spikes, request, false);
    EXPECT_EQ(whole.axes.origin, 0s);

    request.t_stop = 30ms;
    const binned_recording ended = bin_recording(spikes, request, false);
    EXPECT_EQ(ended.axes.origin, whole.axes.origin);
    EXPECT_EQ(ended.time_origin_note, whole.time_origin_note);
    EXPECT_EQ(ended.binned, whole.binned);
    EXPECT_EQ(ended.counts.length, whole.counts.length);

    request.t_stop = 15ms;
    EXPECT_EQ(bin_recording(spikes, request, false).binned.bin_count(), 3U);
}

TEST(SpadePreparation, CountsTrialsFromZeroWhereTheSpanIsThatOfTheSpikes) {
    const spike_sequence spikes =
        sequence_of({{700'000, unit_id{0}}, {1'500'000, unit_id{1}}, {3'400'000, unit_id{0}}},
                    {"a", "b"}, {700ms, 3400ms});
    spade_options request = small_request();
    request.trial_length = 1s;
    const auto trials = [&](bool has_recorded_span) {
        return prepare_spade(bin_recording(spikes, request, has_recorded_span), request)
            .surrogates.trials;
    };
    const auto says = [&](const spade_options& options) {
        const auto warnings = bin_recording(spikes, options, false).warnings;
        return std::ranges::any_of(warnings, [](const std::string& one) {
            return one.starts_with("The last of 4 trials is 400 ms long instead of 1 s");
        });
    };

    EXPECT_EQ(trials(false).front().begin, 0s);
    EXPECT_EQ(trials(false).size(), 4U);
    EXPECT_EQ(trials(true).front().begin, 700ms);
    EXPECT_EQ(trials(true).size(), 3U);
    EXPECT_TRUE(says(request));
    request.t_stop = 3s;
    EXPECT_FALSE(says(request));
}

TEST(SpadePreparation, HasTheDefaultsOfTheCommand) {
    const spade_options request;
    std::vector<std::size_t> counts(planted_recording().unit_count(), 0);
    for (const unit_id unit : planted_recording().units()) ++counts[to_index(unit)];

    const spade_input prepared = prepare(request);

    EXPECT_EQ(request.bin, 5ms);
    EXPECT_EQ(request.window, 20U);
    EXPECT_EQ(request.surrogates.dither, 15ms);
    EXPECT_EQ(request.alpha, 0.01);
    EXPECT_EQ(request.correction, correction_method::benjamini_hochberg);
    std::vector<pattern_rule> rules =
        estimate_rules(counts, planted_recording().span().length(), 5ms, 20);
    EXPECT_EQ(prepared.mining.rules, rules);
    EXPECT_TRUE(prepared.mining.drop_window_subsets);
    EXPECT_FALSE(prepared.mining.take_identical_windows);
    EXPECT_FALSE(prepared.maker);
}

TEST(SpadePreparation, ChoosesHowSurrogatesAreMade) {
    const auto method = [](const std::function<void(spade_options&)>& change) {
        spade_options request = small_request();
        change(request);
        return prepare(request).surrogates.method;
    };

    EXPECT_EQ(method([](auto&) {}), dither_spikes_with_refractory_period);
    EXPECT_EQ(method([](auto& r) { r.compat = compatibility::elephant_ms; }), dither_spikes);
    EXPECT_EQ(method([](auto& r) { r.trial_length = 1s; }), trial_shifting);
    EXPECT_EQ(method([](auto& r) { r.epochs = {{0s, 1s}}; }), trial_shifting);
    EXPECT_EQ(method([](auto& r) { r.method = shuffle_isis; }), shuffle_isis);
}

TEST(SpadePreparation, MakesRulesOfThresholds) {
    const auto rules = [](const spade_options& request) { return rules_of(request, {}, {}); };
    const min_occ_by_size by_size{{2, 25}, {4, 9}};

    EXPECT_EQ(rules({.min_occ = 7U}), (std::vector<pattern_rule>{{7, 2, 0, 1}}));
    EXPECT_EQ(rules({.min_occ = 7U, .min_spikes = 3U, .max_spikes = 5, .min_neu = 2U}),
              (std::vector<pattern_rule>{{7, 3, 5, 2}}));
    EXPECT_EQ(rules({.min_occ = by_size}),
              (std::vector<pattern_rule>{{25, 2, 3, 1}, {9, 4, 0, 1}}));
    EXPECT_EQ(rules({.min_occ = by_size, .min_spikes = 3U, .max_spikes = 3}),
              (std::vector<pattern_rule>{{25, 3, 3, 1}}));
    EXPECT_EQ(rules({.min_occ = min_occ_by_size{{1, 30}, {3, 9}}}),
              (std::vector<pattern_rule>{{30, 1, 2, 1}, {9, 3, 0, 1}}));
    EXPECT_EQ(rules({.min_occ = 7U, .rules = {{3, 4, 0, 2}}}),
              (std::vector<pattern_rule>{{3, 4, 0, 2}}));
}

// Spikes may be absent, with or without a stated span, or all at one time.
TEST(SpadePreparation, EstimatesNoThresholdsWithoutRates) {
    for (const spike_sequence& spikes :
         {spike_sequence{}, spike_sequence({}, {}, {"a", "b"}, {}),
          spike_sequence({}, {}, {"a"}, {0s, 1s}), spike_sequence({}, {}, {}, {0s, 1s}),
          spike_sequence({7}, {unit_id{0}}, {"a"}, {7us, 7us})}) {
        spade_options request{};
        EXPECT_EQ(prepare(request, spikes).mining.rules,
                  (std::vector<pattern_rule>{{10, 2, 0, 2}}));
        request.surrogates.surrogates = 100;
        const spade_input prepared = prepare(request, spikes);
        EXPECT_EQ(run_spade(prepared, request).table.size(), 0U);
    }
}

TEST(SpadePreparation, TakesWindowsThatAreGiven) {
    const spade_windows windows({0, 2, 5, 7}, {0, 5, 0, 5, 9, 1, 8}, 3, 4);
    const spade_options request{.window = 4, .min_occ = 2U};

    const spade_input prepared = prepare_spade(windows, request);

    EXPECT_FALSE(prepared.axes.timed);
    EXPECT_EQ(prepared.axes.unit_names, (std::vector<std::string>{"0", "1", "2"}));
    EXPECT_EQ(prepared.counts.windows, 3U);
    const pattern_table found = run_spade(prepared, request).table;
    EXPECT_EQ(found.items, (std::vector<pattern_item>{0, 5}));
    EXPECT_EQ(found.occurrences, (std::vector<std::uint32_t>{0, 1}));
    const auto says = [&](const spade_options& asked) {
        return text_of([&] { prepare_spade(windows, asked); });
    };
    EXPECT_NE(says({.window = 4}).find("`min_occ=auto` needs spikes"), std::string::npos);
    EXPECT_NE(says({.window = 5, .min_occ = 2U}).find("windows have 4 bins"), std::string::npos);
    spade_options tested = request;
    tested.surrogates.surrogates = 9;
    EXPECT_NE(says(tested).find("`surrogates` are made from spikes"), std::string::npos);
}

TEST(SpadePreparation, RefusesWhatCannotBe) {
    const struct {
        std::function<void(spade_options&)> change;
        std::vector<std::string> words;
    } cases[]{
        {[](auto& r) { r.bin = 0s; }, {"bin", "above 0", "0 ms"}},
        {[](auto& r) { r.window = 0; }, {"window", "at least 1"}},
        {[](auto& r) { r.bin = 9000h, r.window = 4'000'000'000; }, {"`window` 4000000000"}},
        {[](auto& r) { r.t_start = 2s, r.t_stop = 2s; }, {"`t_start` 2 s", "`t_stop` 2 s"}},
        {[](auto& r) { r.t_start = 1h; },
         {"`t_start` 3600 s", "`t_stop` 12 s", "recording is 0 ms"}},
        {[](auto& r) {
             r.epochs = {{0s, 1s}}, r.t_stop = 1s;
         },
         {"epochs", "t_stop"}},
        {[](auto& r) {
             r.epochs = {{0s, 1s}}, r.trial_length = 1s;
         },
         {"epochs", "trial_length"}},
        {[](auto& r) {
             r.epochs = {{2s, 1s}};
         },
         {"epoch 1"}},
        {[](auto& r) { r.separation = 1s; }, {"`separation` needs `epochs`"}},
        {[](auto& r) { r.trial_separation = 1s; }, {"`trial_separation` needs `trial_length`"}},
        {[](auto& r) { r.method = trial_shifting; }, {"epochs", "trial_length"}},
        {[](auto& r) { r.min_spikes = 0U; }, {"min_spikes", "at least 1"}},
        {[](auto& r) { r.max_spikes = 1; }, {"`max_spikes` 1", "`min_spikes` 2", "by default"}},
        {[](auto& r) { r.min_occ = min_occ_by_size{}; }, {"min_occ", "no size"}},
        {[](auto& r) {
             r.min_occ = min_occ_by_size{{3, 9}, {2, 9}};
         },
         {"ascend", "2", "3"}},
        {[](auto& r) {
             r.min_occ = min_occ_by_size{{3, 9}}, r.max_spikes = 2;
         },
         {"`max_spikes` 2", "min_occ", "the smallest is 3"}},
        {[](auto& r) { r.alpha = 0; }, {"alpha", "above 0", "0"}},
        {[](auto& r) { r.alpha = std::numeric_limits<double>::quiet_NaN(); }, {"alpha", "nan"}},
        {[](auto& r) {
             r.stability_threshold = {0.5, 0.5};
         },
         {"`stability_threshold` needs `stability`"}},
        {[](auto& r) { r.stability = stability_options{}; }, {"subsets"}},
        {[](auto& r) {
             r.reduce = {0, 0, 1U << 31};
         },
         {"reduce", "2147483648"}},
        {[](auto& r) { r.surrogates.dither = 2h; }, {"dither", "7200 s"}},
    };
    for (const auto& one : cases) {
        spade_options request = small_request();
        one.change(request);
        const std::string text = text_of([&] { prepare(request); });
        for (const std::string& word : one.words)
            EXPECT_NE(text.find(word), std::string::npos) << text;
    }
}

TEST(SpadePreparation, QuotesTheNamesOfOptions) {
    spade_options request = small_request();
    request.max_spikes = 1;

    EXPECT_EQ(text_of([&] { check_spade(request); }),
              "`max_spikes` 1 is below `min_spikes` 2, which it is by default");
}

TEST(SpadePreparation, RefusesOptionsThatTheMethodDoesNotUse) {
    const auto says = [](const std::function<void(spade_options&)>& change) {
        spade_options request = small_request();
        change(request);
        return text_of([&] { check_spade(request); });
    };

    EXPECT_EQ(says([](auto& r) { r.surrogates.sliding = true; }),
              "`sliding` is for `surrogate_method` bin-shuffling, and surrogates are made by "
              "dither-spikes-with-refractory-period unless another is named");
    EXPECT_NE(says([](auto& r) {
                  r.surrogates.joint_isi.cutoff = false;
                  r.method = shuffle_isis;
              }).find("`isi_cutoff` is for"),
              std::string::npos);
    EXPECT_NE(says([](auto& r) {
                  r.trial_length = 1s, r.method = shuffle_isis;
              }).find("`trial_length` is for"),
              std::string::npos);
    EXPECT_EQ(says([](auto& r) { r.surrogates.surrogates = 0; }),
              "`seed` needs `surrogates` or `stability`: nothing else is random");
    spade_options request = small_request();
    request.surrogates.sliding = true;
    request.method = bin_shuffling;
    EXPECT_NO_THROW(check_spade(request));
}

TEST(SpadeOptions, AreWrittenAndReadAsText) {
    spade_options options;
    const option_list list = describe(options);
    const std::pair<const char*, const char*> texts[]{
        {"min_occ", "auto"},       {"min_occ", "20"},
        {"min_occ", "2:88,3:25"},  {"epochs", "0ms:4s,5s:10.5s"},
        {"reduce", "2,0,1"},       {"stability", "100"},
        {"stability", "0.1,0.05"}, {"stability_threshold", "0.5,0.25"},
        {"compat", "elephant-ms"}, {"rules", "25:3:3,20:4,5:2:1:6"}};
    for (const auto& [name, text] : texts) {
        list.find(name).set_text(text);
        EXPECT_EQ(std::get<std::string>(list.find(name).get()), text) << name;
    }
    EXPECT_EQ(options.rules,
              (std::vector<pattern_rule>{{25, 3, 0, 3}, {20, 4, 0, 1}, {5, 2, 6, 1}}));
    // Rules stand in the place of `min_occ`.
    EXPECT_FALSE(list.find("min_occ").is_set());
}

TEST(SpadePreparation, WarnsBeforehandOfWhatCannotCome) {
    spade_options request = small_request();
    request.surrogates.surrogates = 5;

    EXPECT_NE(prepare(request).warnings.back().find("nothing can be significant at alpha 0.1"),
              std::string::npos);
    const spike_sequence silent({}, {}, {"a"}, {0s, 1s});
    request.surrogates = spade_options{}.surrogates;
    EXPECT_EQ(prepare(request).warnings.back(),
              "Nothing is tested without `surrogates`: `alpha` changes nothing.");
    EXPECT_EQ(prepare(request, silent).warnings.back(), "No spike is in a bin.");
}

}  // namespace
}  // namespace spikeweave
