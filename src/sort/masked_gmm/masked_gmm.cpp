#include "spikeweave/sort/masked_gmm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <string_view>
#include <utility>

#include "core/stop.hpp"
#include "device/limits.hpp"
#include "sort/masked_gmm/sparse_data.hpp"
#include "sort/masked_gmm/split_start.hpp"
#include "sort/masked_gmm/steps.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/core/random.hpp"

namespace spikeweave {
template <>
enum_table<em_stop_rule> enum_names<em_stop_rule>() {
    using enum em_stop_rule;
    static constexpr named_value<em_stop_rule> values[]{{klustakwik2, "klustakwik2"},
                                                        {seed, "seed"}};
    return {"rule to stop", values};
}

template <>
enum_table<cluster_deletions> enum_names<cluster_deletions>() {
    using enum cluster_deletions;
    static constexpr named_value<cluster_deletions> values[]{
        {none, "none"}, {one, "one"}, {all, "all"}};
    return {"number of deletions", values};
}

template <>
enum_table<split_halves> enum_names<split_halves>() {
    using enum split_halves;
    static constexpr named_value<split_halves> values[]{{principal, "principal"},
                                                        {random, "random"}};
    return {"kind of halves", values};
}

template <>
enum_table<sort_precision> enum_names<sort_precision>() {
    using enum sort_precision;
    static constexpr named_value<sort_precision> values[]{{full, "full"}, {fast, "fast"}};
    return {"precision", values};
}

template <>
enum_table<sort_strategy> enum_names<sort_strategy>() {
    using enum sort_strategy;
    static constexpr named_value<sort_strategy> values[]{
        {automatic, "automatic", "the library chooses"},
        {reference, "reference", "straight from the formulas, on dense matrices; for small inputs"},
        {cpu, "cpu", "sparse, over threads"},
        {cuda, "cuda", "sparse, on a GPU"}};
    return {"strategy", values};
}

std::vector<sort_strategy> available_sort_strategies() {
    std::vector<sort_strategy> all{sort_strategy::automatic, sort_strategy::reference,
                                   sort_strategy::cpu};
    if (device::built()) all.push_back(sort_strategy::cuda);
    return all;
}

std::string_view to_string(stop_reason reason) {
    switch (reason) {
        case stop_reason::converged:
            return "converged";
        case stop_reason::cycle:
            return "cycle";
        case stop_reason::max_iterations:
            return "max-iterations";
        case stop_reason::few_changed:
            return "few-changed";
        case stop_reason::score_steady:
            return "score-steady";
        case stop_reason::assigned:
            return "assigned";
        case stop_reason::by_channel:
            return "by-channel";
        case stop_reason::matched:
            return "matched";
    }
    return "?";
}

double clustering_result::seed_score() const {
    return 2 * score() - std::log(static_cast<double>(labels.size()));
}

clustering_result sort_spikes(const spike_features& features, const masked_gmm_options& options,
                              const execution& run) {
    masked_gmm::check(features, options);
    const sort_strategy strategy = masked_gmm::resolve(options, run);
    core::throw_if_stopped(run.stop);
    masked_gmm::partition start =
        options.start.empty() ? masked_gmm::start_by_masks(features, options.starting_clusters, run)
                              : masked_gmm::start_from(options.start, features.size());
    const masked_gmm::feature_space space = masked_gmm::measure_space(features, run);
    const auto steps = strategy == sort_strategy::reference
                           ? masked_gmm::make_reference(features, options)
                           : masked_gmm::make(strategy, features, space, options, run);
    const masked_gmm::split_starts halves(features, space);
    clustering_result found = masked_gmm::search(*steps, std::move(start), options, run, &halves);
    found.ran_on = strategy;
    return found;
}

namespace masked_gmm {

void check(const spike_features& features, const masked_gmm_options& options) {
    check_options(options);
    if (features.size() == 0) throw invalid_argument("there are no spikes to sort");
}

sort_strategy resolve(const masked_gmm_options& options, const execution& run) {
    const bool on_device = !run.devices.empty();
    sort_strategy strategy = options.strategy;
    if (strategy == sort_strategy::automatic)
        strategy = on_device ? sort_strategy::cuda : sort_strategy::cpu;
    const bool cuda = strategy == sort_strategy::cuda;
    if (on_device != cuda)
        throw invalid_argument(fmt::format("the strategy {} {} a device", to_string(strategy),
                                           on_device ? "does not compute on" : "computes on"));
    if (options.precision == sort_precision::fast && !cuda)
        throw invalid_argument("fast precision is for GPUs: the CPU is as fast in double");
    return strategy;
}

std::unique_ptr<mixture> make(sort_strategy strategy, const spike_features& features,
                              const feature_space& space, const masked_gmm_options& options,
                              const execution& run) {
    if (strategy == sort_strategy::cuda) return make_cuda(features, space, options, run);
    return make_cpu(features, space, options, run);
}

namespace {

// The limits of `em_stop_rule::seed`.
constexpr double few_changed = 0.05;
constexpr double small_step = 0.01;

// Removes the numbers of clusters without spikes; noise keeps 0.
void renumber(partition& now) {
    std::vector<std::uint32_t> number(now.clusters);
    number[0] = 1;
    for (const std::uint32_t label : now.labels) number[label] = 1;
    now.clusters = std::accumulate(number.begin(), number.end(), 0U);
    std::exclusive_scan(number.begin(), number.end(), number.begin(), 0U);
    for (std::uint32_t& label : now.labels) label = number[label];
}

// Adds in the order of spikes, so that the sum does not depend on the strategy.
double sum_of(const std::vector<double>& costs) {
    return std::accumulate(costs.begin(), costs.end(), 0.0);
}

class em_search {
public:
    em_search(mixture& steps, partition start, const masked_gmm_options& options,
              const execution& run, const split_starts* halves)
        : steps_(&steps),
          halves_(halves),
          options_(&options),
          run_(&run),
          quiet_{.threads = run.threads, .stop = run.stop, .ranks = run.ranks},
          now_(std::move(start)) {
        renumber(now_);
    }

    clustering_result all() {
        std::uint32_t until_split = options_->split_first;
        found_.stopped = stop_reason::max_iterations;
        while (found_.iterations.size() < options_->max_iterations) {
            report();
            masked_gmm_iteration done = iterate();
            if (until_split > 0) --until_split;
            if (done.changed == 0) until_split = 0;
            const bool over = came_back(done, until_split);
            if (!over && options_->splits && until_split == 0) {
                done.splits = split();
                until_split = options_->split_every;
            }
            found_.iterations.push_back(done);
            if (over || is_over(done)) break;
        }
        finish();
        return std::move(found_);
    }

private:
    void report() const {
        if (!run_->on_progress) return;
        std::string task = fmt::format("sorting: {} clusters", now_.clusters - 1);
        if (!found_.iterations.empty())
            task = fmt::format("sorting: iteration {}, {} clusters, {} spikes moved",
                               found_.iterations.size(), now_.clusters - 1,
                               found_.iterations.back().changed);
        run_->on_progress({task, 0, 0});
    }

    masked_gmm_iteration iterate() {
        core::throw_if_stopped(run_->stop);
        masked_gmm_iteration done{.clusters = now_.clusters - 1};
        assignment next = steps_->assign(now_, quiet_);
        if (options_->deletions != cluster_deletions::none) done.deleted = give_up(next);
        for (std::size_t n = 0; n < next.best.size(); ++n)
            done.changed += next.best[n] != now_.labels[n] ? 1 : 0;
        now_.labels = std::move(next.best);
        done.negated_log_likelihood = sum_of(next.best_cost);
        done.penalty = steps_->penalty(now_);
        renumber(now_);
        return done;
    }

    // @return the number of deleted clusters
    std::uint32_t give_up(assignment& next) const {
        const std::vector<double> gains = steps_->deletion_gains(next, now_.clusters, quiet_);
        const auto most = std::max_element(gains.begin(), gains.end());
        if (!(*most > 0)) return 0;
        const bool many = options_->deletions == cluster_deletions::all;
        std::vector<bool> chosen(gains.size());
        if (many) chosen = independent(next, gains);
        // Each gain is computed as if no other cluster were deleted. If several hand spikes to the
        // same cluster, deleting all may gain less than deleting the best one alone.
        if (!many || gain_of(next, chosen) < *most) {
            chosen.assign(gains.size(), false);
            chosen[static_cast<std::size_t>(most - gains.begin())] = true;
        }
        for (std::size_t n = 0; n < next.best.size(); ++n) {
            if (!chosen[next.best[n]]) continue;
            next.best[n] = next.second[n];
            next.best_cost[n] = next.second_cost[n];
        }
        return static_cast<std::uint32_t>(std::count(chosen.begin(), chosen.end(), true));
    }

    // Chooses clusters with gains, the largest first, such that none hands spikes to another.
    static std::vector<bool> independent(const assignment& found,
                                         const std::vector<double>& gains) {
        std::vector<std::set<std::uint32_t>> receivers(gains.size());
        for (std::size_t n = 0; n < found.best.size(); ++n)
            if (gains[found.best[n]] > 0) receivers[found.best[n]].insert(found.second[n]);
        std::vector<std::uint32_t> order(gains.size());
        std::iota(order.begin(), order.end(), 0U);
        std::stable_sort(order.begin(), order.end(),
                         [&](std::uint32_t a, std::uint32_t b) { return gains[a] > gains[b]; });
        std::vector<bool> chosen(gains.size());
        std::vector<bool> receives(gains.size());
        for (const std::uint32_t k : order) {
            if (!(gains[k] > 0)) break;
            const auto& own = receivers[k];
            if (receives[k] ||
                std::any_of(own.begin(), own.end(), [&](std::uint32_t to) { return chosen[to]; }))
                continue;
            chosen[k] = true;
            for (const std::uint32_t to : own) receives[to] = true;
        }
        return chosen;
    }

    double gain_of(const assignment& found, const std::vector<bool>& chosen) const {
        partition without{found.best, now_.clusters};
        double gain = steps_->penalty(without);
        for (std::size_t n = 0; n < found.best.size(); ++n) {
            if (!chosen[found.best[n]]) continue;
            without.labels[n] = found.second[n];
            gain -= found.second_cost[n] - found.best_cost[n];
        }
        return gain - steps_->penalty(without);
    }

    // Returns whether the labels are those of an earlier iteration on which splitting was already
    // tried. At their first return, splitting is scheduled at once.
    bool came_back(const masked_gmm_iteration& done, std::uint32_t& until_split) {
        const std::string_view bytes{reinterpret_cast<const char*>(now_.labels.data()),
                                     now_.labels.size() * sizeof(now_.labels[0])};
        const std::size_t digest = std::hash<std::string_view>{}(bytes);
        if (seen_.insert(digest).second || done.changed == 0) return false;
        if (!options_->splits || !tried_.insert(digest).second) {
            found_.stopped = stop_reason::cycle;
            return true;
        }
        until_split = 0;
        return false;
    }

    std::uint32_t split() {
        core::throw_if_stopped(run_->stop);
        const std::vector<std::uint8_t> start = first_halves();
        const auto candidates = steps_->split_candidates(now_, start, quiet_);
        std::uint32_t accepted = 0;
        for (std::uint32_t k = 1; k < candidates.size(); ++k) {
            if (candidates[k].empty() || now_.clusters - 1 >= options_->max_clusters) continue;
            core::throw_if_stopped(run_->stop);
            if (!(steps_->split_change(now_, k, candidates[k]) < 0)) continue;
            std::size_t member = 0;
            for (std::uint32_t& label : now_.labels)
                if (label == k && candidates[k][member++] == 1) label = now_.clusters;
            ++now_.clusters;
            ++accepted;
        }
        return accepted;
    }

    std::vector<std::uint8_t> first_halves() {
        if (halves_ != nullptr && options_->split_start == split_halves::principal)
            return halves_->halves(now_, quiet_);
        std::vector<std::uint8_t> start(now_.labels.size());
        for (std::size_t n = 0; n < start.size(); ++n)
            start[n] = static_cast<std::uint8_t>(
                random_stream(options_->seed, random_purpose::cluster_splits,
                              static_cast<std::uint32_t>(n), split_round_)
                    .next_u32() &
                1U);
        ++split_round_;
        return start;
    }

    bool is_over(const masked_gmm_iteration& done) {
        if (done.changed == 0 && done.splits == 0) {
            found_.stopped = stop_reason::converged;
            return true;
        }
        if (options_->stop != em_stop_rule::seed) return false;
        const auto& all = found_.iterations;
        if (static_cast<double>(done.changed) <
            few_changed * static_cast<double>(now_.labels.size())) {
            found_.stopped = stop_reason::few_changed;
            return true;
        }
        if (all.size() > 1 && std::abs(all[all.size() - 2].score() - done.score()) < small_step) {
            found_.stopped = stop_reason::score_steady;
            return true;
        }
        return false;
    }

    void finish() {
        found_.labels = std::move(now_.labels);
        found_.units = now_.clusters - 1;
        found_.warnings = steps_->warnings();
        if (found_.units == 0)
            found_.warnings.push_back(fmt::format(
                "No unit was found: no cluster of the {} spikes explains them better than noise by "
                "more than the penalty for its parameters. A unit needs about as many spikes as it "
                "has unmasked features: use a longer recording, or a smaller penalty.",
                found_.labels.size()));
        constexpr std::size_t few_spikes = 20;
        if (found_.units > 0 && found_.labels.size() < few_spikes)
            found_.warnings.push_back(
                fmt::format("There are {} spikes, which are too few to distinguish units.",
                            found_.labels.size()));
        if (found_.stopped != stop_reason::converged)
            found_.warnings.push_back(fmt::format(
                "Stopped before convergence ({}): in the last of {} iterations {} of {} spikes "
                "moved.",
                to_string(found_.stopped), found_.iterations.size(),
                found_.iterations.back().changed, found_.labels.size()));
    }

    mixture* steps_;
    const split_starts* halves_;
    const masked_gmm_options* options_;
    const execution* run_;
    execution quiet_;
    partition now_;
    clustering_result found_;
    std::set<std::size_t> seen_;
    std::set<std::size_t> tried_;
    std::uint32_t split_round_ = 0;
};

}  // namespace

clustering_result search(mixture& steps, partition now, const masked_gmm_options& options,
                         const execution& run, const split_starts* halves) {
    return em_search(steps, std::move(now), options, run, halves).all();
}

}  // namespace masked_gmm

}  // namespace spikeweave
