#include "pipeline/episodes/search_and_test.hpp"
#include "pipeline/call_facts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/text.hpp"
#include "pipeline/divided_time.hpp"
#include "pipeline/same_units.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/spikes/epochs.hpp"

namespace spikeweave::pipeline {
namespace {

// The suggestions of the search: the episodes that are tested, with their counts and tests, and
// those that cannot be.
struct suggestions {
    std::vector<episode> tested{};  // with the units of the recording that tests
    episode_search search{};
};

suggestions suggested_by(const episode_result& found, const spike_sequence& searched,
                         const same_units& same, double alpha) {
    suggestions out{.search = {.observed = searched.observed_time()}};
    for (std::size_t i = 0; i < found.assessed.size(); ++i) {
        episode what = found.table.episodes[i].what;
        if (what.size() < 2 || !(found.assessed[i].p < alpha)) continue;
        if (std::ranges::any_of(what.units, [&](unit_id unit) { return !same.in_other(unit); })) {
            out.search.untested.push_back({found.table.episodes[i], found.assessed[i]});
            continue;
        }
        for (unit_id& unit : what.units) unit = *same.in_other(unit);
        out.tested.push_back(std::move(what));
        out.search.counts.push_back(found.table.episodes[i].count);
        out.search.tests.push_back(found.assessed[i]);
    }
    // They have the order in which episodes are listed.
    std::ranges::stable_sort(out.search.untested, {}, [](const untested_episode& one) {
        const auto size = static_cast<std::int64_t>(one.found.what.size());
        return std::tuple(-size, one.test.q, one.test.p);
    });
    out.search.unit_names = searched.unit_names();
    out.search.missing_units = same.missing;
    return out;
}

// The pairs with a p below alpha in the search whose units the other recording has. Without tests
// of pairs, the table's pairs are the choice.
choice_of_pairs pairs_suggested_by(const episode_result& found, const same_units& same,
                                   double alpha) {
    if (!found.pairs) return {};
    choice_of_pairs out{.suggested = std::vector<pair_test>{}};
    for (pair_test one : found.pairs->pairs) {
        const auto from = same.in_other(one.from);
        const auto to = same.in_other(one.to);
        if (!(one.p < alpha) || !from || !to) continue;
        one.from = *from;
        one.to = *to;
        out.suggested->push_back(one);
    }
    return out;
}

// The results of the search for the edges that the test added to the table.
void add_edges_of_search(const episode_result& result, std::size_t first,
                         const choice_of_pairs& pairs, episode_search& search) {
    for (std::size_t i = first; i < result.table.episodes.size(); ++i) {
        const episode& what = result.table.episodes[i].what;
        const auto found = std::ranges::find_if(*pairs.suggested, [&](const pair_test& one) {
            return one.from == what.units[0] && one.to == what.units[1] &&
                   one.delay == what.delays[0];
        });
        search.counts.push_back(found->count);
        search.tests.push_back({found->expected, found->p, found->q, 0});
    }
}

// Units that may be one neuron in one recording may be one in the other, too.
std::vector<doubtful_pair> doubtful_in_either(const spike_sequence& one,
                                              const spike_sequence& other) {
    std::vector<doubtful_pair> out(one.doubtful_pairs().begin(), one.doubtful_pairs().end());
    out.insert(out.end(), other.doubtful_pairs().begin(), other.doubtful_pairs().end());
    return out;
}

// Warns which units the testing recording lacks, and which episodes are therefore not tested.
std::string text_of_missing(const same_units& same, const episode_search& search, double alpha) {
    const std::string units = same.missing_text();
    if (search.untested.empty())
        return units + ". No episode with a p below alpha in the search has such a unit.";
    const auto significant = std::ranges::count_if(
        search.untested, [&](const untested_episode& one) { return one.test.q < alpha; });
    return fmt::format(
        "{}. Episodes with such a unit and a p below alpha in the search, which are not tested: "
        "{}; {} of them are significant there.",
        units, core::grouped(search.untested.size()),
        core::grouped(static_cast<std::uint64_t>(significant)));
}

}  // namespace

choice_of_pairs pairs_of(const episode_mining_options& options) {
    if (options.max_size == 1) return {};
    return {.delays = options.delays};
}

episode_result search_and_test(const spike_sequence& searched, spike_sequence tested,
                               bool in_other_recording, const episode_options& options,
                               const execution& run) {
    const pipeline::stop_watch watch;
    const same_units same = match_units(searched.unit_names(), tested.unit_names());
    tested.set_doubtful_pairs(doubtful_in_either(searched, tested));
    episode_options how = options;
    how.time = {};
    how.hold_out = 0;
    check_episodes(tested, how);  // before the search, which may take long
    how.surrogates.surrogates = 0;
    episode_result found = find_episodes(searched, how, run);
    const double alpha = options.significance.alpha;
    suggestions suggested = suggested_by(found, searched, same, alpha);
    episode_search& search = suggested.search;

    how.surrogates = options.surrogates;
    const choice_of_pairs pairs = pairs_suggested_by(found, same, alpha);
    episode_result result = count_and_test(tested, suggested.tested, pairs, how, run);
    add_edges_of_search(result, suggested.tested.size(), pairs, search);
    const std::vector<episode_test> tests = deciding_tests(result);
    for (std::size_t i = 0; i < tests.size(); ++i) {
        const bool was_significant = search.tests[i].q < alpha;
        search.significant += was_significant ? 1 : 0;
        search.replicated += was_significant && tests[i].q < alpha ? 1 : 0;
    }
    result.chosen = std::move(tested);
    result.searched = std::move(search);
    result.table.threshold = found.table.threshold;
    result.table.pairs_by = found.table.pairs_by;
    result.options = std::move(found.options);
    result.options.time = options.time;
    result.options.hold_out = options.hold_out;
    result.options.surrogates = options.surrogates;
    result.searched->confirmed_elsewhere = in_other_recording;
    for (const std::string& warning : found.warnings)
        if (std::ranges::find(result.warnings, warning) == result.warnings.end())
            result.warnings.push_back((in_other_recording ? "In the search: " : "") + warning);
    if (!same.missing.empty())
        result.warnings.push_back(text_of_missing(same, *result.searched, alpha));
    result.seconds = watch.seconds();
    return result;
}

}  // namespace spikeweave::pipeline

namespace spikeweave {
namespace {

void check_confirmation(const spike_sequence& spikes, const spike_sequence& other,
                        const episode_options& options) {
    check_options(options);
    if (options.hold_out > 0)
        throw invalid_argument("hold_out",
                               "either a part is held out, or another recording confirms");
    pipeline::check_other_recording(spikes, other);
}

}  // namespace

episode_result confirm_episodes(const spike_sequence& spikes, const spike_sequence& other,
                                const episode_options& options, const execution& run) {
    const pipeline::stop_watch watch;
    check_confirmation(spikes, other, options);
    const chosen_time chosen = choose_time(spikes, options.time);
    const epoch_options trials{.trial_length = options.time.trial_length,
                               .trial_separation = options.time.trial_separation};
    const chosen_time confirming = choose_time(other, trials);
    episode_result result =
        pipeline::search_and_test(chosen.of(spikes), confirming.of(other), true, options, run);
    for (const std::string& warning : chosen.warnings)
        result.warnings.push_back("In the search: " + warning);
    result.warnings.insert(result.warnings.end(), confirming.warnings.begin(),
                           confirming.warnings.end());
    result.seconds = watch.seconds();
    return result;
}

}  // namespace spikeweave

namespace spikeweave::pipeline {

episode_result find_in_divided_time(const spike_sequence& spikes, const episode_options& options,
                                    const execution& run) {
    const auto epochs = spikes.epochs();
    const divided_time time =
        divide_time(epochs.empty() ? blocks_of(spikes.span(), options.hold_out_block)
                                   : std::vector(epochs.begin(), epochs.end()),
                    options.hold_out);
    return search_and_test(within_epochs(spikes, time.searched),
                           within_epochs(spikes, time.held_out), false, options, run);
}

std::optional<std::string> warning_of_untested_units(const spike_sequence& spikes,
                                                     const episode_table& table,
                                                     const episode_mining_options& asked) {
    if (asked.min_count || asked.min_fraction || asked.min_rate || asked.max_size == 1)
        return std::nullopt;
    std::vector<std::uint64_t> counts(spikes.unit_count());
    for (const unit_id unit : spikes.units()) ++counts[to_index(unit)];
    std::vector<char> is_tested(counts.size(), 0);
    for (const counted_episode& found : table.episodes)
        if (found.what.units.size() == 2 && found.what.units[0] != found.what.units[1])
            for (const unit_id unit : found.what.units) is_tested[to_index(unit)] = 1;
    std::size_t units = 0;
    std::vector<std::string> untested;
    for (std::uint32_t u = 0; u < counts.size(); ++u) {
        if (counts[u] < least_default_count) continue;
        ++units;
        if (is_tested[u] == 0) untested.push_back(spikes.name(unit_id{u}));
    }
    if (table.threshold <= least_default_count || untested.empty() || 4 * untested.size() < units)
        return std::nullopt;
    return fmt::format(
        "{} of {} units {} too rarely to be tested (fewer than {} joint occurrences with any "
        "other): "
        "{}. Nothing is known about their connections; `max_size=2` with `min_count={}` tests more "
        "of them.",
        core::grouped(untested.size()), core::grouped(units),
        untested.size() == 1 ? "fires" : "fire", core::grouped(table.threshold),
        names_text(untested), least_default_count);
}

}  // namespace spikeweave::pipeline
