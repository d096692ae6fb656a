// The largest number of spikes of a unit within a window, which bounds every list of open stamps.
//
//   work per thread   some spikes of one unit: for each a search back over the window in
//                     O(log(spikes in it))
//   shared memory     4 bytes
//   pays off          always: it makes lists in fixed memory exact

#include <algorithm>
#include <utility>
#include <vector>

#include "device/cuda.hpp"
#include "mine/episodes/devices/event_time.cuh"
#include "mine/episodes/devices/plan.hpp"
#include "mine/episodes/devices/window_occupancy.hpp"

namespace spikeweave::episodes {
namespace {

constexpr unsigned occupancy_threads = 256;
constexpr std::uint64_t most_parts = 256;

struct occupancy_problem {
    resident_trains trains;
    const occupancy_question* questions;
    unsigned parts;  // blocks that share a question
};

// Returns the first spike of a unit from `begin` on that is within `high` before spike `last`:
// steps back are doubled, then halved.
__device__ std::uint32_t first_within(const resident_trains& trains, std::uint32_t unit,
                                      std::uint32_t begin, std::uint32_t last, std::int64_t high) {
    const std::int64_t earliest = time_of(trains, unit, last) - high;
    std::uint32_t inside = last;
    std::uint64_t step = 1;
    while (inside - begin >= step &&
           time_of(trains, unit, static_cast<std::uint32_t>(inside - step)) >= earliest) {
        inside -= static_cast<std::uint32_t>(step);
        step *= 2;
    }
    std::uint32_t outside =
        inside - begin >= step ? static_cast<std::uint32_t>(inside - step + 1) : begin;
    while (outside < inside) {
        const std::uint32_t middle = outside + (inside - outside) / 2;
        if (time_of(trains, unit, middle) >= earliest) {
            inside = middle;
        } else {
            outside = middle + 1;
        }
    }
    return inside;
}

__global__ void __launch_bounds__(occupancy_threads)
    find_most(const occupancy_problem p, std::uint32_t* __restrict__ most) {
    __shared__ std::uint32_t most_of_block;
    if (threadIdx.x == 0) most_of_block = 0;
    __syncthreads();
    const unsigned number = blockIdx.x / p.parts;
    const occupancy_question question = p.questions[number];
    const std::uint32_t begin = p.trains.begin[question.unit];
    const std::uint32_t end = p.trains.begin[question.unit + 1];
    std::uint32_t mine = 0;
    for (std::uint64_t spike =
             std::uint64_t{begin} + blockIdx.x % p.parts * occupancy_threads + threadIdx.x;
         spike < end; spike += std::uint64_t{p.parts} * occupancy_threads) {
        const auto last = static_cast<std::uint32_t>(spike);
        mine =
            max(mine, last - first_within(p.trains, question.unit, begin, last, question.high) + 1);
    }
    if (mine > 0) atomicMax(&most_of_block, mine);
    __syncthreads();
    if (threadIdx.x == 0 && most_of_block > 0) atomicMax(most + number, most_of_block);
}

}  // namespace

occupancy_answers most_spikes_within(const device_problem& problem,
                                     std::span<const occupancy_question> questions) {
    if (questions.empty()) return {};
    const device::scoped_device scope(problem.ordinal);
    const resident_trains trains = problem.data.trains();
    const device::stream on;
    const device::buffer<occupancy_question> asked(questions, on);
    device::buffer<std::uint32_t> most(questions.size(), on);
    most.fill(0);
    const auto parts = static_cast<unsigned>(std::clamp<std::uint64_t>(
        pieces_of(trains.size / std::max(1U, trains.units), std::uint64_t{16} * occupancy_threads),
        1, most_parts));
    const device::stopwatch watch;
    watch.start(on);
    find_most<<<static_cast<unsigned>(questions.size()) * parts, occupancy_threads, 0, on.get()>>>(
        occupancy_problem{trains, asked.data(), parts}, most.data());
    device::check(cudaGetLastError());
    watch.stop(on);
    occupancy_answers answers{most.downloaded()};
    answers.kernel_seconds = watch.seconds();
    return answers;
}

namespace {

// Counts in windows as long as `bound` of the delay after each node.
occupancy_answers most_within(const device_problem& problem, const candidate_set& candidates,
                              std::int64_t interval_us::*bound) {
    // Many nodes ask the same question.
    const std::size_t nodes = candidates.size - 1;
    std::vector<std::pair<std::uint64_t, std::size_t>> wanted;
    wanted.reserve(candidates.count() * nodes);
    for (std::size_t c = 0; c < candidates.count(); ++c) {
        for (std::size_t k = 0; k < nodes; ++k)
            wanted.emplace_back(std::uint64_t{to_index(candidates.units_of(c)[k])} << 32 |
                                    candidates.delays_of(c)[k],
                                wanted.size());
    }
    std::sort(wanted.begin(), wanted.end());
    std::vector<occupancy_question> questions;
    std::vector<std::size_t> question_of(wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        const auto [key, index] = wanted[i];
        if (i == 0 || key != wanted[i - 1].first)
            questions.push_back({static_cast<std::uint32_t>(key >> 32),
                                 problem.intervals[static_cast<std::uint32_t>(key)].*bound});
        question_of[index] = questions.size() - 1;
    }
    const occupancy_answers answers = most_spikes_within(problem, questions);
    occupancy_answers of_nodes{{}, answers.kernel_seconds};
    of_nodes.most.reserve(wanted.size());
    for (const std::size_t question : question_of) of_nodes.most.push_back(answers.most[question]);
    return of_nodes;
}

}  // namespace

occupancy_answers most_open_stamps(const device_problem& problem, const candidate_set& candidates) {
    return most_within(problem, candidates, &interval_us::high);
}

occupancy_answers most_spikes_too_young(const device_problem& problem,
                                        const candidate_set& candidates) {
    return most_within(problem, candidates, &interval_us::low);
}

}  // namespace spikeweave::episodes
