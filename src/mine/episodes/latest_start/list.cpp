// Latest-start counting of a given list of candidates.

#include <tbb/enumerable_thread_specific.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "core/stop.hpp"
#include "mine/episodes/latest_start/list_walk.hpp"
#include "mine/episodes/latest_start/pairs.hpp"
#include "mine/episodes/latest_start/survivors.hpp"
#include "mine/episodes/search/counters.hpp"
#include "parallel/parallel_for.hpp"

namespace spikeweave::episodes {
namespace {

// The steps of merging the spikes of each pair of a list.
double merging_steps(const train_index& trains, const candidate_set& pairs) {
    double steps = 0;
    for (std::size_t c = 0; c < pairs.count(); ++c) steps += trains[pairs.units_of(c)[1]].size;
    return steps;
}

}  // namespace

count_result count_by_latest_start(const counting_problem& problem, const candidate_set& candidates,
                                   std::uint64_t) {
    const train_index trains(problem.spikes);
    if (candidates.size == 2 && looking_back_pays(problem, merging_steps(trains, candidates)))
        return {count_listed_pairs(problem, trains, candidates)};

    std::vector<std::size_t> order(candidates.count());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(),
              [&](auto a, auto b) { return chain_less(candidates, a, candidates, b); });
    candidate_set sorted{candidates.size};
    for (const std::size_t c : order)
        sorted.append(candidates.units_of(c), candidates.delays_of(c));

    const numbered_steps numbered(sorted);
    const step_set steps(problem, trains, numbered.distinct,
                         numbered.are_repeated() ? default_table_bytes : 0);
    const std::vector<std::size_t> pieces = numbered.pieces();

    count_result result{std::vector<std::uint64_t>(candidates.count())};
    tbb::enumerable_thread_specific<prefix_walk> walks(
        [&] { return prefix_walk(steps, numbered); });
    parallel::parallel_for(
        pieces.size() - 1, problem.run, "counting by latest start", [&](std::size_t piece) {
            prefix_walk& walk = walks.local();
            for (std::size_t c = pieces[piece]; c < pieces[piece + 1]; ++c) {
                core::throw_if_stopped(problem.run.stop);
                const auto units = sorted.units_of(c);
                result.counts[order[c]] =
                    count_disjoint(trains[units.front()], trains[units.back()],
                                   walk.survivors(c, c == pieces[piece]), problem.ties);
            }
        });
    return result;
}

}  // namespace spikeweave::episodes
