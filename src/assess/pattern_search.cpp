#include "spikeweave/assess/pattern_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/grouped.hpp"
#include "spikeweave/assess/pattern_reduction.hpp"
#include "spikeweave/assess/pattern_tally.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/mine/pattern_blocks.hpp"
#include "spikeweave/parallel/communicator.hpp"

namespace spikeweave {
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

class pattern_search {
public:
    pattern_search(const spade_input& in, const spade_options& request, const execution& run)
        : in_(in), request_(request), run_(run) {
        out_.table.window_bins = request.window;
    }

    spade_result run() {
        if (request_.is_tested() && !request_.filters_by_stability())
            collect_significant();
        else
            collect_all();
        if (is_whole()) {
            reduce();
            if (!request_.filters_by_stability()) judge_stability();
        }
        return std::move(out_);
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
        out_.ran_on = found.ran_on;
        out_.funnel = search_steps(found, request_);
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
        std::vector<signature_count> found = count_signatures(out_.table, request_.spectrum);
        if (!request_.is_tested()) {
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
        pattern_tally tally(request_.window, request_.spectrum, 0);
        note_search(mine_patterns(
            in_.windows, in_.mining, [&](const pattern_table& block) { tally.take(block); }, run_));
        assess(tally.signatures());
        const pattern_filter filter = significant();
        mine_into_table([&](const pattern_table& block) { return filter.kept(block); });
        note_significance(tally.patterns());
    }

    void assess(const std::vector<signature_count>& found) {
        out_.assessment = test_patterns(
            found, [&](std::uint32_t which) { return in_.maker->make(which); },
            in_.surrogates.surrogates, request_.window, in_.mining, request_.spectrum,
            request_.testing(), run_);
        warn_of_too_few_surrogates();
    }

    // Since p is never below 1 / (n + 1), a correction for many tests may need more surrogates.
    void warn_of_too_few_surrogates() {
        std::size_t tested = 0;
        std::size_t undecided = 0;
        for (const signature_test& one : out_.assessment->tests.signatures) {
            tested += one.tested ? 1 : 0;
            undecided += one.reason == test_reason::absent && !one.significant ? 1 : 0;
        }
        if (undecided == 0 || !is_whole()) return;
        out_.warnings.push_back(fmt::format(
            "{} of {} signatures tested were reached by no surrogate, and still are not "
            "significant: "
            "{} surrogates are too few for so many tests. {} would do for any one of them.",
            grouped(undecided), grouped(tested), grouped(in_.surrogates.surrogates),
            grouped(static_cast<std::uint64_t>(
                std::ceil(static_cast<double>(tested) / request_.alpha)))));
    }

    pattern_filter significant() const {
        return {request_.spectrum, out_.assessment->tests.not_significant};
    }

    void note_significance(std::uint64_t before) {
        add_step(out_.funnel, "significance", before - out_.table.size(), before,
                 fmt::format("signature not significant at alpha {} by {}", request_.alpha,
                             to_string(request_.correction)));
    }

    // Collects the patterns of each block that `choose` selects.
    template <class Choose>
    mining_summary mine_into_table(Choose choose) {
        pattern_mining_options how = in_.mining;
        how.with_occurrences = true;
        pattern_blocks blocks(request_.window);
        const mining_summary found = mine_patterns(
            in_.windows, how,
            [&](const pattern_table& block) {
                for (const std::size_t i : choose(block))
                    blocks.append(block.pattern(i), block.counts[i], block.occurrences_of(i));
            },
            run_);
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
            return static_cast<std::int32_t>((*request_.reduce)[i]);
        };
        return {.spectrum = request_.spectrum,
                .h_subset_filtering = number(0),
                .k_superset_filtering = number(1),
                .l_covered_spikes = number(2),
                .min_spikes = spikes,
                .min_occ = least,
                .rules = in_.mining.rules,
                .compat = request_.compat()};
    }

    void reduce() {
        if (!request_.reduce) return;
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
        if (!request_.stable) return;
        stability_options how = *request_.stable;
        how.seed = request_.surrogates.seed;
        out_.stabilities = approximate_stability(in_.windows, out_.table, how, alone());
    }

    void keep_stable() {
        if (!request_.filters_by_stability()) return;
        judge_stability();
        const stability& least = request_.least_stable;
        const std::vector<std::size_t> kept = filter_stable(out_.stabilities, least);
        std::uint64_t left = out_.table.size();
        add_step(out_.funnel, "stability", left - kept.size(), left,
                 fmt::format("neither above {} (intensional) nor above {} (extensional)",
                             least.intensional, least.extensional));
        keep_only(kept);
    }

    const spade_input& in_;
    const spade_options& request_;
    const execution& run_;
    spade_result out_{};
};

}  // namespace

std::vector<funnel_step> search_steps(const mining_summary& found, const spade_options& request) {
    std::vector<funnel_step> out;
    std::uint64_t left = found.closed;
    add_step(out, "closed patterns", 0, left, "");
    add_step(out, "window subsets", found.window_subsets, left,
             "part of a longer pattern that begins earlier");
    add_step(out, "max-occ", found.too_frequent, left,
             request.max_occ > 0 ? fmt::format("more than {} occurrences", request.max_occ)
                                 : "not asked for");
    return out;
}

spade_result find_patterns(const spade_input& prepared, const spade_options& request,
                           const execution& run) {
    if (prepared.windows.window_bins() != request.window ||
        prepared.surrogates.surrogates != request.surrogates.surrogates)
        throw invalid_argument("the windows were prepared for another request");
    return pattern_search(prepared, request, run).run();
}

}  // namespace spikeweave
