#include "spikeweave/pipeline/spade.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "device/limits.hpp"
#include "parallel/ranks.hpp"
#include "pipeline/call_facts.hpp"
#include "pipeline/spade/search_and_test.hpp"
#include "spikeweave/assess/spade/reduction.hpp"
#include "spikeweave/assess/spade/tally.hpp"
#include "spikeweave/core/device.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/mine/spade/pattern_blocks.hpp"
#include "spikeweave/parallel/communicator.hpp"
#include "spikeweave/pipeline/spade/cost.hpp"

namespace spikeweave {

using pipeline::search_result;

namespace {

// Adds a step to the funnel, with the number of patterns left after it.
void add_step(std::vector<funnel_step>& funnel, std::string step, std::uint64_t removed,
              std::uint64_t& left, std::string why) {
    left -= removed;
    funnel.push_back({std::move(step), removed, left, std::move(why)});
}

std::string why_of(reduction_rule rule) {
    switch (rule) {
        case reduction_rule::subset:
            return "rarely occurs outside a longer pattern";
        case reduction_rule::superset:
            return "adds too few spikes to a shorter pattern";
        case reduction_rule::covered:
            return "another covers more spikes";
    }
    return {};
}

std::uint64_t removed_by(const reduction_result& reduced, reduction_rule rule) {
    return static_cast<std::uint64_t>(
        std::ranges::count(reduced.rejected, rule, &rejected_pattern::rule));
}

// The steps that the search itself did.
std::vector<funnel_step> search_steps(const mining_summary& found, const spade_options& options) {
    std::vector<funnel_step> out;
    std::uint64_t left = found.closed;
    add_step(out, "closed patterns", 0, left, "");
    add_step(out, "window subsets", found.window_subsets, left,
             "part of a longer pattern that begins earlier");
    add_step(out, "max-occ", found.too_frequent, left,
             options.max_occ > 0 ? fmt::format("more than {} occurrences", options.max_occ)
                                 : "not asked for");
    return out;
}

// Options that were left open are replaced by the choices made.
spade_options resolved(spade_options options, const spade_input& prepared, spade_strategy ran_on) {
    options.rules = prepared.mining.rules;
    options.min_occ = auto_min_occ{};
    options.min_spikes.reset();
    options.min_neu.reset();
    options.max_spikes = 0;
    options.strategy = ran_on;
    options.run.devices = std::vector<int>{};
    if (!options.epochs.empty()) options.separation = options.epochs_apart();
    options.surrogates = prepared.surrogates;
    if (!options.is_tested()) return options;
    options.method = prepared.surrogates.method;
    if (options.method == surrogate_method::dither_spikes_with_refractory_period &&
        !options.surrogates.refractory_period)
        options.surrogates.refractory_period = options.bin;
    return options;
}

class pattern_search {
public:
    pattern_search(const spade_input& in, const spade_options& options, execution run,
                   const maxima_tally* tallied = nullptr)
        : in_(in), options_(options), run_(std::move(run)), tallied_(tallied) {
        run_.threads = options.run.threads;
        run_.devices.clear();
        if (tallied == nullptr) devices_ = pipeline::devices_of(options, run_);
        search_run_ = pipeline::searching_data(options, run_, devices_);
    }

    spade_result run() {
        if (options_.is_tested() && !options_.filters_by_stability())
            collect_significant();
        else
            collect_all();
        if (is_whole()) {
            reduce();
            if (!options_.filters_by_stability()) judge_stability();
        }
        return std::move(out_);
    }

    maxima_tally tally(const surrogate_part& part) const {
        execution run = run_;
        run.devices = parallel::devices_of_this_rank(devices_, run);
        return tally_surrogates([&](std::uint32_t which) { return in_.maker->make(which); },
                                in_.surrogates.surrogates, options_.window, in_.mining,
                                options_.spectrum, run, part);
    }

private:
    // Whether this rank gets the complete results of calls that ranks share.
    bool is_whole() const { return !run_.ranks || run_.ranks->rank() == 0; }

    // The collected table is processed only on the first rank.
    execution alone() const {
        execution out = run_;
        out.ranks = nullptr;
        return out;
    }

    void note_search(const mining_summary& found) {
        pattern_table table = std::move(out_.table);
        out_ = search_result(found, in_, options_);
        out_.options.run.devices = devices_;
        out_.table = std::move(table);
    }

    // Patterns that are not stable are not tested, so filtering by stability needs all patterns in
    // memory.
    void collect_all() {
        note_search(mine_into_table([](const pattern_table& block) {
            std::vector<std::size_t> all(block.size());
            std::iota(all.begin(), all.end(), std::size_t{0});
            return all;
        }));
        if (is_whole()) keep_stable();
        std::vector<signature_count> found = count_signatures(out_.table, options_.spectrum);
        if (!options_.is_tested()) {
            out_.signatures = std::move(found);
            return;
        }
        assess(found);
        const std::uint64_t before = out_.table.size();
        keep_only(significant().kept(out_.table));
        note_significance(before);
    }

    // The first search only counts, so that patterns that are not significant are never held.
    void collect_significant() {
        pattern_tally tally(options_.window, options_.spectrum, 0);
        note_search(mine_patterns(
            in_.windows, in_.mining, [&](const pattern_table& block) { tally.take(block); },
            search_run_));
        assess(tally.signatures());
        const pattern_filter filter = significant();
        mine_into_table([&](const pattern_table& block) { return filter.kept(block); });
        note_significance(tally.patterns());
    }

    void assess(const std::vector<signature_count>& found) {
        out_.assessment =
            test_patterns(found, tallied_ != nullptr ? *tallied_ : tally(surrogate_part{}),
                          in_.mining.rules, options_.testing());
        if (is_whole()) pipeline::warn_of_tests(*out_.assessment, in_, options_, out_.warnings);
    }

    pattern_filter significant() const {
        return {options_.spectrum, out_.assessment->tests.not_significant};
    }

    void note_significance(std::uint64_t before) {
        add_step(out_.funnel, "significance", before - out_.table.size(), before,
                 fmt::format("signature not significant at alpha {} by {}", options_.alpha,
                             to_string(options_.correction)));
    }

    // Collects the patterns of each block that `choose` selects.
    template <class Choose>
    mining_summary mine_into_table(Choose choose) {
        pattern_mining_options how = in_.mining;
        how.with_occurrences = true;
        pattern_blocks blocks(options_.window);
        const mining_summary found = mine_patterns(
            in_.windows, how,
            [&](const pattern_table& block) {
                for (const std::size_t i : choose(block))
                    blocks.append(block.pattern(i), block.counts[i], block.occurrences_of(i));
            },
            search_run_);
        out_.table = blocks.joined(run_.stop);
        return found;
    }

    void keep_only(const std::vector<std::size_t>& kept) {
        keep_patterns(out_.table, kept);
        if (out_.stabilities.empty()) return;
        std::vector<stability> stabilities;
        stabilities.reserve(kept.size());
        for (const std::size_t i : kept) stabilities.push_back(out_.stabilities[i]);
        out_.stabilities = std::move(stabilities);
    }

    // The patterns are listed in blocks of ascending count, as in the published code.
    std::vector<std::size_t> by_count() const {
        std::vector<std::size_t> list(out_.table.size());
        std::iota(list.begin(), list.end(), std::size_t{0});
        std::ranges::stable_sort(list, {}, [&](std::size_t i) { return out_.table.counts[i]; });
        return list;
    }

    reduction_options reduction() const {
        std::uint32_t least = in_.mining.rules.front().min_occ;
        std::uint32_t spikes = in_.mining.rules.front().min_spikes;
        for (const pattern_rule& rule : in_.mining.rules) {
            least = std::min(least, rule.min_occ);
            spikes = std::min(spikes, rule.min_spikes);
        }
        const auto number = [&](std::size_t i) {
            return static_cast<std::int32_t>((*options_.reduce)[i]);
        };
        return {.spectrum = options_.spectrum,
                .h_subset_filtering = number(0),
                .k_superset_filtering = number(1),
                .l_covered_spikes = number(2),
                .min_spikes = spikes,
                .min_occ = least,
                .rules = in_.mining.rules,
                .compat = options_.compat};
    }

    void reduce() {
        if (!options_.reduce)
            return pipeline::warn_of_fragments(out_.table.size(), options_, out_.warnings);
        const std::vector<pattern_signature> none;
        reduction_result reduced = reduce_patterns(
            out_.table, by_count(), out_.assessment ? out_.assessment->tests.not_significant : none,
            reduction(), alone());
        std::uint64_t left = out_.table.size();
        for (const reduction_rule rule :
             {reduction_rule::subset, reduction_rule::superset, reduction_rule::covered})
            add_step(out_.funnel, fmt::format("reduction, {}", to_string(rule)),
                     removed_by(reduced, rule), left, why_of(rule));
        std::ranges::sort(reduced.kept);
        keep_only(reduced.kept);
    }

    void judge_stability() {
        if (!options_.stability) return;
        stability_options how = *options_.stability;
        how.seed = options_.surrogates.seed;
        out_.stabilities = approximate_stability(in_.windows, out_.table, how, alone());
    }

    void keep_stable() {
        if (!options_.filters_by_stability()) return;
        judge_stability();
        const stability& least = options_.stability_threshold;
        const std::vector<std::size_t> kept = filter_stable(out_.stabilities, least);
        std::uint64_t left = out_.table.size();
        add_step(out_.funnel, "stability", left - kept.size(), left,
                 fmt::format("neither above {} (intensional) nor above {} (extensional)",
                             least.intensional, least.extensional));
        keep_only(kept);
    }

    const spade_input& in_;
    const spade_options& options_;
    execution run_;
    const maxima_tally* tallied_;
    std::vector<int> devices_{};
    execution search_run_{};  // of the data
    spade_result out_{};
};

void check_prepared(const spade_input& prepared, const spade_options& options) {
    if (prepared.windows.window_bins() != options.window ||
        prepared.surrogates.surrogates != options.surrogates.surrogates)
        throw invalid_argument("the windows were prepared for other options");
    if (options.hold_out > 0)
        throw invalid_argument("hold_out",
                               "windows are searched as a whole: the recording must be divided "
                               "before it is binned");
}

}  // namespace

std::vector<int> devices_for_surrogates(const spade_options& options) {
    constexpr std::uint32_t fewest = 50;
    if (!options.is_tested()) return {};
    if (options.run.devices) return *options.run.devices;
    if (options.surrogates.surrogates < fewest || devices().empty()) return {};
    return {devices().front().ordinal};
}

namespace pipeline {

std::vector<int> devices_of(const spade_options& options, const execution& run) {
    std::vector<int> devices;
    if (options.is_tested())
        devices = devices_for_surrogates(options);
    else if (options.run.devices && !options.run.devices->empty())
        devices.push_back(options.run.devices->front());
    if (!devices.empty() && !options.is_tested() && run.ranks && run.ranks->size() > 1)
        throw invalid_argument(
            "`device` needs `surrogates` on several ranks: they share the search of the data on "
            "their CPUs");
    // One that does not exist is refused before the search, not after it.
    for (const int ordinal : devices) device::total_bytes_of(ordinal);
    return devices;
}

execution searching_data(const spade_options& options, const execution& run,
                         const std::vector<int>& devices) {
    execution out = run;
    out.devices.clear();
    const bool is_shared = run.ranks && run.ranks->size() > 1;
    if (!devices.empty() && !is_shared && options.strategy != spade_strategy::fp_growth)
        out.devices.push_back(devices.front());
    return out;
}

spade_result search_result(const mining_summary& found, const spade_input& prepared,
                           const spade_options& options) {
    spade_result out{.table = {.window_bins = options.window},
                     .funnel = search_steps(found, options),
                     .ran_on = found.ran_on,
                     .axes = prepared.axes,
                     .counts = prepared.counts,
                     .time_origin_note = prepared.time_origin_note,
                     .mining = prepared.mining,
                     .options = resolved(options, prepared, found.ran_on)};
    return out;
}

}  // namespace pipeline

spade_result run_spade(const spade_input& prepared, const spade_options& options,
                       const execution& run, const maxima_tally* tallied) {
    check_prepared(prepared, options);
    const pipeline::stop_watch watch;
    spade_result out = pattern_search(prepared, options, run, tallied).run();
    out.seconds = watch.seconds();
    return out;
}

maxima_tally tally_part(const spade_input& prepared, const spade_options& options,
                        const surrogate_part& part, const execution& run) {
    check_prepared(prepared, options);
    check_part(part, options.surrogates);
    return pattern_search(prepared, options, run).tally(part);
}

spade_analysis prepare_spade(spike_sequence spikes, const spike_sequence* confirm,
                             const spade_options& options, std::pair<bool, bool> recorded,
                             const execution& run, const memory_guard* guard) {
    spade_options search = options;
    std::optional<replication_spikes> other;
    if (confirm != nullptr) {
        other = confirming_recording(spikes, *confirm, options, recorded.second);
    } else if (options.hold_out > 0) {
        divided_recording divided = divide_recording(spikes, options, recorded.first);
        search = std::move(divided.search);
        other = std::move(divided.held_out);
    }
    binned_recording binned = bin_recording(std::move(spikes), search, recorded.first);
    if (guard != nullptr) check_memory(binned, search, *guard);
    spade_input prepared = prepare_spade(std::move(binned), search, run);
    return {std::move(search), std::move(prepared), std::move(other)};
}

spade_result run_spade(const spade_analysis& analysis, const execution& run,
                       const maxima_tally* tallied) {
    spade_result out = run_spade(analysis.prepared, analysis.search, run, tallied);
    out.warnings.insert(out.warnings.begin(), analysis.prepared.warnings.begin(),
                        analysis.prepared.warnings.end());
    if (analysis.other) replicate(out, *analysis.other, run);
    return out;
}

namespace {

spade_result run_whole(const spike_sequence& spikes, const spike_sequence* confirm,
                       const spade_options& options, std::pair<bool, bool> recorded,
                       const execution& run) {
    const pipeline::stop_watch watch;
    const spade_analysis analysis = prepare_spade(spikes, confirm, options, recorded, run);
    // Estimates of ranks differ, and none may continue alone.
    if (run.ranks == nullptr) check_cost(analysis, true, run);
    spade_result out = run_spade(analysis, run);
    out.seconds = watch.seconds();
    return out;
}

}  // namespace

spade_result run_spade(const spike_sequence& spikes, const spade_options& options,
                       bool has_recorded_span, const execution& run) {
    return run_whole(spikes, nullptr, options, {has_recorded_span, true}, run);
}

spade_result run_spade(const spike_sequence& spikes, const spike_sequence& confirm,
                       const spade_options& options, std::pair<bool, bool> recorded,
                       const execution& run) {
    return run_whole(spikes, &confirm, options, recorded, run);
}

}  // namespace spikeweave
