#include "spikeweave/pipeline/spade/options.hpp"

#include <fmt/format.h>

#include <array>
#include <limits>

#include "spikeweave/core/error.hpp"

namespace spikeweave {
namespace {

void add_windows(option_list& list, spade_options& options) {
    list.begin_group("Bins and windows");
    list.add("bin", options.bin,
             "width of a bin; several spikes of a unit in one bin count once, with a warning")
        .basic()
        .above(0);
    list.add("window", options.window,
             "length of the window into which a pattern has to fit, in bins")
        .basic()
        .at_least(1);
    describe_span(list, options.t_start, options.t_stop, options.epochs,
                  "use only these epochs, joined one after another; each is a trial, and results "
                  "give the times of the original recording");
    list.add("separation", options.separation, "empty time that is inserted between two epochs")
        .at_least(0)
        .by_default("two windows")
        .only_with("epochs");
}

void add_rules(option_list& list, spade_options& options) {
    list.begin_group("Patterns");
    option& min_occ =
        list.add("min_occ", options.min_occ,
                 "minimum number of occurrences: a number, or one for each size, such as "
                 "2:88,3:25,4:12 (the last also holds for all larger sizes; sizes below the first "
                 "are not searched), or auto, the published estimate from the rates (Stella et al. "
                 "2022)")
            .basic();
    min_occ.written("N|auto|SPIKES:N,...");
    // Rules stand in its place.
    min_occ.get = [&options] {
        return options.rules.empty() ? option_codec<min_occ_choice>::show(options.min_occ)
                                     : nullptr;
    };
    list.add("min_spikes", options.min_spikes, "minimum number of spikes in a pattern")
        .at_least(1)
        .by_default("2; if `min_occ` lists sizes, the first of these");
    list.add("max_spikes", options.max_spikes,
             "maximum number of spikes in a pattern; a pattern is closed only if no spike can be "
             "added to it, even beyond this limit")
        .unset_is("no limit");
    list.add("min_neu", options.min_neu, "minimum number of different units in a pattern")
        .at_least(1)
        .by_default("1; if `min_occ` is auto, the number of spikes");
    list.add(
            "rules", options.rules,
            "instead of `min_occ`, `min_spikes`, `min_neu` and `max_spikes`: a pattern is reported "
            "if it meets at least one of these rules, in a single search")
        .written("OCC:SPIKES[:NEU[:MAXSPIKES]],...")
        .not_with({"min_occ", "min_spikes", "max_spikes", "min_neu"})
        .may_be_unset = true;
    list.add("max_occ", options.max_occ, "omit patterns that occur more often")
        .unset_is("no limit");
    list.add("subset_filter", options.subset_filter,
             "remove patterns that are part of a longer pattern with the same occurrences that "
             "begins earlier")
        .off_means(
            "keep patterns that are part of a longer pattern with the same occurrences that begins "
            "earlier");
}

void add_surrogates(option_list& list, spade_options& options) {
    option_list surrogates = describe(options.surrogates);
    surrogates.change("surrogate_method")
        .bind(options.method)
        .by_default(
            "trial-shifting if there are trials, because it preserves most of each unit's own "
            "statistics; otherwise dither-spikes-with-refractory-period; with `compat` Elephant's "
            "default, dither-spikes, which has too many false positives (Stella et al. 2022)");
    surrogates.change("seed").help = "random seed of the surrogates and of `stability`";
    list.add_all(std::move(surrogates));
    list.begin_group("Surrogates");
    list.add("trial_length", options.trial_length,
             "for trial-shifting without epochs: the recording consists of trials of this length, "
             "from its beginning (`t_start`, else the time stated in the file, else 0 s)")
        .above(0)
        .by_default("the epochs")
        .only_with("surrogates")
        .not_with({"epochs"});
    list.add("trial_separation", options.trial_separation, "gap between two trials")
        .at_least(0)
        .only_with("trial_length");
    list.add_all(describe(options.surrogates.joint_isi));
}

void check_reduction(const std::optional<std::array<std::uint32_t, 3>>& reduce) {
    constexpr std::uint32_t most = std::numeric_limits<std::int32_t>::max();
    if (!reduce) return;
    for (const std::uint32_t value : *reduce)
        if (value > most)
            throw invalid_argument("expected numbers of at most " + std::to_string(most) +
                                   ", found " + std::to_string(value));
}

void add_tests(option_list& list, spade_options& options) {
    list.begin_group("Significance");
    list.add("spectrum", options.spectrum,
             "the signature by which patterns are tested: the number of spikes and of occurrences "
             "(#), or also the duration (3d#)");
    list.add("alpha", options.alpha, "significance level").above(0).at_most(1).written("P");
    list.add("correction", options.correction,
             "correction for multiple testing, over the signatures");
    list.add("hold_out", options.hold_out,
             "hold out this share of the recorded time: search and test in the rest, then test the "
             "remaining patterns again in the held-out time, each against surrogates of that time, "
             "corrected for these patterns only")
        .unset_is("nothing; the whole recording is searched and tested")
        .at_most(0.95)
        .written("SHARE")
        .only_with("surrogates");
    list.add("hold_out_block", options.hold_out_block,
             "time is held out in blocks of this length; an epoch or trial is held out as a whole "
             "or not at all")
        .above(0)
        .only_with("hold_out");
    list.add(
            "reduce", options.reduce,
            "remove fragments and by-products of other patterns (pattern set reduction); Stella et "
            "al. (2022) use 2,2,2. A part of a pattern is tested by the occurrences that it has "
            "beyond the pattern's, plus H; a pattern that shares spikes with another one by its "
            "spikes beyond those shared, plus K. It is removed if these are too few, or not "
            "significant; if both would be, the one with more (spikes - L) x occurrences is kept. "
            "Elephant calls H,K,L psr_param")
        .basic()
        .written("H,K,L")
        .by_default("all are kept")
        .obeys([&reduce = options.reduce] { check_reduction(reduce); });
    list.add("stability", options.stability,
             "compute how stable each pattern is: the share of subsets of its spikes that occur "
             "nowhere else (intensional), and of subsets of its occurrences that have nothing "
             "else in common (extensional). If there are more than N subsets, N random ones are "
             "drawn; DELTA,EPSILON draws as many as are needed for an error above EPSILON to "
             "have a probability of at most DELTA")
        .written("N|DELTA,EPSILON")
        .by_default("not computed")
        .obeys([&stable = options.stability] {
            if (stable) subset_count(*stable);
        });
    list.add("stability_threshold", options.stability_threshold,
             "keep patterns above one of the two thresholds; the others are neither tested nor "
             "used in the reduction, and all patterns are held in memory")
        .written("INTENSIONAL,EXTENSIONAL")
        .by_default("all are kept")
        .only_with("stability");
    list.add("compat", options.compat,
             "reproduce Elephant where it deviates from the correct result (spikes at bin edges, p "
             "values, masked signatures, reduction), for spike trains in seconds (elephant) or in "
             "milliseconds (elephant-ms)");
}

}  // namespace

std::uint32_t window_in_bins(std::string_view text, duration bin) {
    std::uint32_t bins = 0;
    duration length{};
    option_list list;
    list.add("window", bins, "").at_least(1);
    if (text.find_first_not_of("0123456789") == std::string_view::npos) {
        list.find("window").set_text(text);
        return bins;
    }
    option_list of_time;
    of_time.add("window", length, "");
    of_time.find("window").set_text(text);
    if (length < bin || length % bin != duration{0})
        throw invalid_argument("window", fmt::format("'{}' is not a multiple of the bin of {}",
                                                     text, format_duration(bin)));
    list.find("window").set(static_cast<std::uint64_t>(length / bin));
    return bins;
}

option_list describe(spade_options& options) {
    option_list list;
    add_windows(list, options);
    add_rules(list, options);
    add_surrogates(list, options);
    add_tests(list, options);
    list.begin_group("Computation");
    list.add("strategy", options.strategy, "algorithm to search with; all give the same result");
    list.add_all(
        describe(options.run,
                 "where to search surrogates: cpu, cuda (the first GPU), cuda:0,1 (these), "
                 "cuda:all, or automatic (the first GPU for many surrogates). The first of them "
                 "searches the data, too, unless ranks do or the strategy is fp-growth"));
    return list;
}

}  // namespace spikeweave
