// Latest-start counting of a given list of candidates.

#include <tbb/enumerable_thread_specific.h>

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "core/stop.hpp"
#include "mine/episodes/latest_start/pairs.hpp"
#include "mine/episodes/latest_start/step_set.hpp"
#include "mine/episodes/latest_start/survivors.hpp"
#include "mine/episodes/search/counters.hpp"
#include "parallel/parallel_for.hpp"

namespace spikeweave::episodes {
namespace {

// Walks sorted candidates, so that the common beginning of two neighbours is counted once.
class prefix_walk {
public:
    // numbers: the step numbers of each candidate, one candidate after another
    prefix_walk(const step_set& steps, const candidate_set& candidates,
                std::span<const std::uint32_t> numbers)
        : steps_(steps),
          candidates_(candidates),
          numbers_(numbers),
          buffers_(candidates.size - 1) {}

    std::uint64_t count(std::size_t c, bool begin_anew) {
        const auto steps = numbers_.subspan(c * buffers_.size(), buffers_.size());
        std::size_t first = 0;
        if (!begin_anew) {
            const auto previous = numbers_.subspan(previous_ * buffers_.size(), buffers_.size());
            const auto differ = std::mismatch(steps.begin(), steps.end(), previous.begin()).first;
            first = static_cast<std::size_t>(differ - steps.begin());
        }
        for (std::size_t step = first; step < steps.size(); ++step) {
            if (step == 0) {
                steps_.begin(steps[0], buffers_[0]);
            } else {
                steps_.extend(buffers_[step - 1].view(), steps[step], buffers_[step]);
            }
        }
        previous_ = c;
        const auto units = candidates_.units_of(c);
        return count_disjoint(steps_.trains()[units.front()], steps_.trains()[units.back()],
                              buffers_.back().view(), steps_.problem().ties);
    }

private:
    const step_set& steps_;
    const candidate_set& candidates_;
    std::span<const std::uint32_t> numbers_;
    std::vector<survivor_buffer> buffers_;  // one a step
    std::size_t previous_ = 0;
};

// The distinct steps of all candidates, and for each candidate the numbers of its steps.
std::pair<std::vector<episode_step>, std::vector<std::uint32_t>> number_steps(
    const candidate_set& candidates) {
    std::vector<episode_step> all;
    for (std::size_t c = 0; c < candidates.count(); ++c) {
        for (std::size_t k = 0; k + 1 < candidates.size; ++k)
            all.push_back({candidates.units_of(c)[k], candidates.delays_of(c)[k],
                           candidates.units_of(c)[k + 1]});
    }
    std::vector<episode_step> distinct = all;
    std::sort(distinct.begin(), distinct.end());
    distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
    std::vector<std::uint32_t> numbers;
    numbers.reserve(all.size());
    for (const episode_step& step : all)
        numbers.push_back(static_cast<std::uint32_t>(
            std::lower_bound(distinct.begin(), distinct.end(), step) - distinct.begin()));
    return {std::move(distinct), std::move(numbers)};
}

std::vector<unit_id> units_in(const candidate_set& candidates) {
    std::vector<unit_id> units = candidates.units;
    std::sort(units.begin(), units.end());
    units.erase(std::unique(units.begin(), units.end()), units.end());
    return units;
}

// The steps of merging the spikes of each pair of a list.
double merging_steps(const train_index& trains, const candidate_set& pairs) {
    double steps = 0;
    for (std::size_t c = 0; c < pairs.count(); ++c) steps += trains[pairs.units_of(c)[1]].size;
    return steps;
}

// Counts every pair of the units, also those that are not in the list.
count_result count_by_looking_back(const counting_problem& problem, const train_index& trains,
                                   const candidate_set& pairs) {
    const mined_level counted = count_pairs(problem, trains, units_in(pairs),
                                            {.threshold = 1,
                                             .self_repeats = true,
                                             .pairs = pair_method::look_back,
                                             .max_memory_bytes = 0});
    const auto step = [](const candidate_set& of, std::size_t i) {
        return episode_step{of.units_of(i)[0], of.delays_of(i)[0], of.units_of(i)[1]};
    };
    std::vector<episode_step> found;  // ascending
    for (std::size_t i = 0; i < counted.counts.size(); ++i)
        found.push_back(step(counted.frequent, i));

    count_result result{std::vector<std::uint64_t>(pairs.count())};
    for (std::size_t c = 0; c < pairs.count(); ++c) {
        const auto at = std::lower_bound(found.begin(), found.end(), step(pairs, c));
        if (at != found.end() && *at == step(pairs, c))
            result.counts[c] = counted.counts[static_cast<std::size_t>(at - found.begin())];
    }
    return result;
}

}  // namespace

count_result count_by_latest_start(const counting_problem& problem, const candidate_set& candidates,
                                   std::uint64_t) {
    const train_index trains(problem.spikes);
    if (candidates.size == 2 && looking_back_pays(problem, merging_steps(trains, candidates)))
        return count_by_looking_back(problem, trains, candidates);

    std::vector<std::size_t> order(candidates.count());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(),
              [&](auto a, auto b) { return chain_less(candidates, a, candidates, b); });
    candidate_set sorted{candidates.size};
    for (const std::size_t c : order)
        sorted.append(candidates.units_of(c), candidates.delays_of(c));

    auto [distinct, numbers] = number_steps(sorted);
    // A table is worth its cost if a step is used more than once.
    const bool repeated = numbers.size() > 2 * distinct.size();
    const step_set steps(problem, trains, std::move(distinct), repeated ? default_table_bytes : 0);

    // Neighbours with the same first step form one piece of work.
    const std::size_t steps_each = candidates.size - 1;
    std::vector<std::size_t> pieces;
    for (std::size_t c = 0; c < sorted.count(); ++c) {
        if (c == 0 || numbers[c * steps_each] != numbers[(c - 1) * steps_each]) pieces.push_back(c);
    }
    pieces.push_back(sorted.count());

    count_result result{std::vector<std::uint64_t>(candidates.count())};
    tbb::enumerable_thread_specific<prefix_walk> walks(
        [&, &numbers = numbers] { return prefix_walk(steps, sorted, numbers); });
    parallel::parallel_for(pieces.size() - 1, problem.run, "counting by latest start",
                           [&](std::size_t piece) {
                               prefix_walk& walk = walks.local();
                               for (std::size_t c = pieces[piece]; c < pieces[piece + 1]; ++c) {
                                   core::throw_if_stopped(problem.run.stop);
                                   result.counts[order[c]] = walk.count(c, c == pieces[piece]);
                               }
                           });
    return result;
}

}  // namespace spikeweave::episodes
