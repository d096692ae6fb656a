#include "mine/episodes/latest_start/cuda/worker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>

#include "core/stop.hpp"
#include "mine/episodes/devices/plan.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave::episodes {
namespace {

// Up to this number of lists a kernel needs no table of tiles, and the host no data about them.
constexpr std::size_t most_in_chain = 32;

std::vector<interval_32> intervals_for_device(const counting_problem& problem) {
    const auto ticks = [](std::int64_t us) {
        return static_cast<std::uint32_t>(std::min<std::int64_t>(us, latest_tick));
    };
    std::vector<interval_32> intervals;
    intervals.reserve(problem.intervals.size());
    for (const interval_us& i : problem.intervals)
        intervals.push_back({ticks(i.low), ticks(i.high)});
    return intervals;
}

// The candidates' numbers, sorted by `chain_less`.
std::vector<std::size_t> sorted_by_chain(const candidate_set& candidates) {
    std::vector<std::size_t> order(candidates.count());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto width = [](const auto& values) {
        std::size_t most = 0;
        for (const auto value : values) most = std::max(most, static_cast<std::size_t>(value));
        return static_cast<std::size_t>(std::bit_width(most));
    };
    const std::size_t unit_bits = width(candidates.units);
    const std::size_t delay_bits = width(candidates.delays);
    if (candidates.size * (unit_bits + delay_bits) > 64) {
        std::sort(order.begin(), order.end(),
                  [&](auto a, auto b) { return chain_less(candidates, a, candidates, b); });
        return order;
    }
    // One number for a whole chain.
    std::vector<std::uint64_t> keys;
    keys.reserve(order.size());
    for (const std::size_t c : order) {
        std::uint64_t key = to_index(candidates.units_of(c)[0]);
        for (std::size_t k = 0; k + 1 < candidates.size; ++k) {
            key = key << delay_bits | candidates.delays_of(c)[k];
            key = key << unit_bits | to_index(candidates.units_of(c)[k + 1]);
        }
        keys.push_back(key);
    }
    std::sort(order.begin(), order.end(), [&](auto a, auto b) { return keys[a] < keys[b]; });
    return order;
}

}  // namespace

episode_trie::episode_trie(const candidate_set& candidates)
    : levels(candidates.size - 1), leaf_of(candidates.count()) {
    const std::vector<std::size_t> order = sorted_by_chain(candidates);
    for (std::size_t i = 0; i < order.size(); ++i) {
        const auto units = candidates.units_of(order[i]);
        const auto delays = candidates.delays_of(order[i]);
        bool differs = i == 0;
        const std::size_t before = i == 0 ? 0 : order[i - 1];
        differs = differs || candidates.units_of(before)[0] != units[0];
        for (std::size_t k = 0; k < levels.size(); ++k) {
            differs = differs || candidates.delays_of(before)[k] != delays[k] ||
                      candidates.units_of(before)[k + 1] != units[k + 1];
            if (!differs) continue;
            const auto parent =
                static_cast<std::uint32_t>(k == 0 ? to_index(units[0]) : levels[k - 1].size() - 1);
            levels[k].push_back(
                {parent, static_cast<std::uint32_t>(to_index(units[k + 1])), delays[k]});
        }
        leaf_of[order[i]] = static_cast<std::uint32_t>(levels.back().size() - 1);
    }
}

latest_start_worker::latest_start_worker(const device_problem& problem, std::uint32_t from,
                                         std::uint64_t capacity_bytes)
    : problem_(problem),
      from_(from),
      limits_(device::limits_of(problem.ordinal)),
      intervals_(intervals_for_device(problem), on_),
      resident_(problem.data.trains()) {
    if (problem.data.length_us() >= latest_tick)
        throw invalid_argument(
            fmt::format("latest-start counts stretches below {} microseconds on a GPU, not {}",
                        latest_tick, problem.data.length_us()));
    const resident_search search = problem.data.search();
    const bool by_time = problem.ties == tie_rule::time;
    trains_ = {resident_.time_low,
               by_time ? resident_.time_low : resident_.position,
               by_time ? nullptr : problem.data.events().time_low,
               search.trains,
               search.buckets,
               search.begins,
               intervals_.data()};
    const auto begins = problem.data.train_begins();
    train_begins_.assign(begins.begin(), begins.end());
    capacity_bytes_ = capacity_bytes > 0 ? capacity_bytes : work_space_bytes(limits_);
}

list_view latest_start_worker::train_lists() const {
    return {trains_.order_keys, trains_.order_keys, trains_.begins, resident_.units,
            resident_.size};
}

// Each spike survives at most once.
std::uint64_t latest_start_worker::most_survivors(std::span<const extension> jobs) const {
    std::uint64_t most = 0;
    for (const extension& job : jobs) most += train_begins_[job.unit + 1] - train_begins_[job.unit];
    return most;
}

known_lists latest_start_worker::extended(const list_view& parents,
                                          std::span<const std::uint64_t> parent_begins,
                                          std::span<const extension> jobs, bool counted) {
    core::throw_if_stopped(problem_.run.stop);
    std::uint64_t items = 0;
    for (const extension& job : jobs)
        items += parent_begins[job.parent + 1] - parent_begins[job.parent];
    const std::uint64_t most = most_survivors(jobs);
    constexpr std::uint64_t at_least = 4096;
    std::uint64_t capacity = std::min(
        most, static_cast<std::uint64_t>(static_cast<double>(items) * survivors_each_) + at_least);

    const auto count = static_cast<std::uint32_t>(jobs.size());
    const list_load load{items, items, limits_.multiprocessors};
    const std::uint64_t extend_words = extension_words(load, count);
    const device::buffer<extension> jobs_there(jobs, on_);
    device::buffer<std::uint64_t> words(extend_words + counting_words(count), on_);
    device::buffer<list_count> results(counted ? count : 0, on_);
    for (;;) {
        known_lists out{survivor_lists(count, capacity, on_), {}, {}};
        watch_.start(on_);
        words.fill(0);
        extend_lists(trains_, parents, jobs_there.data(), out.lists.memory(), load, words.data(),
                     on_);
        if (counted) {
            results.fill(0);
            count_lists(out.lists.view(), from_, results.data(),
                        {capacity, capacity, limits_.multiprocessors}, words.data() + extend_words,
                        on_);
        }
        watch_.stop(on_);
        out.begins.resize(jobs.size() + 1);
        out.lists.begins.download(out.begins);
        out.counts.resize(counted ? jobs.size() : 0);
        results.download(out.counts);
        on_.wait();
        kernel_seconds_ += watch_.seconds();
        if (jobs.empty()) return out;
        const std::uint64_t needed = out.begins.back();
        // A little more than was seen, so that most guesses suffice.
        if (items > 0)
            survivors_each_ =
                std::max(static_cast<double>(needed) / static_cast<double>(items) * 1.25, 0.05);
        if (needed <= capacity) {
            count_dense(out);
            return out;
        }
        capacity = needed;
    }
}

void latest_start_worker::count_dense(known_lists& of) {
    std::vector<std::uint32_t> dense;
    for (std::uint32_t i = 0; i < of.counts.size(); ++i) {
        if (of.counts[i].dense != 0) dense.push_back(i);
    }
    if (dense.empty()) return;
    watch_.start(on_);
    const std::vector<list_count> counts =
        count_dense_lists(of.lists.view(), of.begins, dense, from_, on_);
    watch_.stop(on_);
    on_.wait();
    kernel_seconds_ += watch_.seconds();
    for (std::size_t i = 0; i < dense.size(); ++i) of.counts[dense[i]] = counts[i];
}

void latest_start_worker::count_leaves(const episode_trie& trie, std::uint64_t at_least,
                                       const leaf_visit& visit) {
    if (fits_a_chain(trie)) {
        count_chain(trie, visit);
        return;
    }
    count_below(trie, 0, train_lists(), train_begins_, 0, 0, trie.levels[0].size(), at_least,
                visit);
}

// parents: lists [first_parent, …) of the level before; jobs: [first_job, last_job) of this one
void latest_start_worker::count_below(const episode_trie& trie, std::size_t level,
                                      const list_view& parents,
                                      std::span<const std::uint64_t> parent_begins,
                                      std::size_t first_parent, std::size_t first_job,
                                      std::size_t last_job, std::uint64_t at_least,
                                      const leaf_visit& visit) {
    const std::vector<extension>& jobs = trie.levels[level];
    const bool leaves = level + 1 == trie.levels.size();
    // Every level on the way down keeps one piece: 8 bytes a survivor.
    const std::uint64_t most_items = capacity_bytes_ / trie.levels.size() / 8;
    constexpr std::size_t most_jobs = std::size_t{1} << 20;
    std::vector<extension> piece;
    for (std::size_t begin = first_job; begin < last_job;) {
        piece.clear();
        std::uint64_t items = 0;
        std::size_t end = begin;
        for (; end < last_job && piece.size() < most_jobs; ++end) {
            extension job = jobs[end];
            job.parent -= static_cast<std::uint32_t>(first_parent);
            const std::uint64_t size = parent_begins[job.parent + 1] - parent_begins[job.parent];
            if (!piece.empty() && items + size > most_items) break;
            items += size;
            piece.push_back(job);
        }
        const known_lists here = extended(parents, parent_begins, piece, leaves);
        if (leaves) {
            visit(begin, here);
        } else {
            // No episode counts more than its beginning, and that no more than it has survivors.
            const std::vector<extension>& next = trie.levels[level + 1];
            const auto by_parent = [](const extension& job, std::size_t parent) {
                return job.parent < parent;
            };
            std::size_t from = begin;
            while (from < end) {
                while (from < end && here.size(from - begin) < at_least) ++from;
                std::size_t to = from;
                while (to < end && here.size(to - begin) >= at_least) ++to;
                const auto first = std::lower_bound(next.begin(), next.end(), from, by_parent);
                const auto last = std::lower_bound(first, next.end(), to, by_parent);
                count_below(trie, level + 1, here.lists.view(), here.begins, begin,
                            static_cast<std::size_t>(first - next.begin()),
                            static_cast<std::size_t>(last - next.begin()), at_least, visit);
                from = to;
            }
        }
        begin = end;
    }
}

// Whether the lists of all levels fit without a look at their sizes.
bool latest_start_worker::fits_a_chain(const episode_trie& trie) const {
    std::uint64_t most = 0;
    for (const auto& jobs : trie.levels) {
        if (jobs.size() > most_in_chain) return false;
        most = std::max(most, most_survivors(jobs));
    }
    return 16 * most <= capacity_bytes_;
}

// The extensions of all levels, and where each finds its zeroed words.
struct latest_start_worker::chain_plan {
    struct link {
        std::size_t first_job;
        std::uint32_t jobs;
        list_load load;
        std::uint64_t capacity;
        std::uint64_t words_at;
    };
    std::vector<link> links{};
    std::vector<extension> jobs{};
    std::uint64_t words = 0;
    std::uint64_t capacity = 0;  // of the longest list
    std::uint64_t counting_at = 0;
    std::uint64_t results_at = 0;
};

latest_start_worker::chain_plan latest_start_worker::plan_of(const episode_trie& trie) const {
    chain_plan plan;
    std::uint64_t at_most = 0;
    for (std::size_t k = 0; k < trie.levels.size(); ++k) {
        const auto& level = trie.levels[k];
        const auto count = static_cast<std::uint32_t>(level.size());
        std::uint64_t items = 0;
        if (k == 0) {
            for (const extension& job : level)
                items += train_begins_[job.parent + 1] - train_begins_[job.parent];
        } else {
            items = count * at_most;  // any of them may continue the longest list
        }
        // Lists mostly shrink.
        const std::uint64_t expected = items >> std::min<std::size_t>(2 * k, 63);
        const list_load load{items, expected, limits_.multiprocessors};
        plan.links.push_back({plan.jobs.size(), count, load, most_survivors(level), plan.words});
        plan.jobs.insert(plan.jobs.end(), level.begin(), level.end());
        plan.words += extension_words(load, count);
        at_most = plan.links.back().capacity;
        plan.capacity = std::max(plan.capacity, at_most);
    }
    const std::uint32_t leaves = plan.links.back().jobs;
    plan.counting_at = plan.words;
    plan.words += counting_words(leaves);
    plan.results_at = plan.words;
    plan.words += (leaves * sizeof(list_count) + 7) / 8;
    return plan;
}

// A few candidates: everything is handed to the device at once, and waited for once.
void latest_start_worker::count_chain(const episode_trie& trie, const leaf_visit& visit) {
    core::throw_if_stopped(problem_.run.stop);
    const chain_plan plan = plan_of(trie);
    const auto& links = plan.links;
    const std::uint32_t leaves = links.back().jobs;
    const device::buffer<extension> jobs_there(plan.jobs, on_);
    device::buffer<std::uint64_t> zeros(plan.words, on_);
    device::buffer<std::uint64_t> begins((most_in_chain + 1) * 2, on_);
    known_lists even{survivor_lists(leaves, plan.capacity, on_), {}, {}};
    known_lists odd{survivor_lists(leaves, links.size() > 1 ? plan.capacity : 0, on_), {}, {}};
    watch_.start(on_);
    zeros.fill(0);
    list_view parents = train_lists();
    for (std::size_t k = 0; k < links.size(); ++k) {
        const chain_plan::link& l = links[k];
        // The last level's lists are in `even`.
        const bool in_even = (links.size() - 1 - k) % 2 == 0;
        survivor_lists& lists = in_even ? even.lists : odd.lists;
        list_memory out = lists.memory();
        if (k + 1 < links.size()) out.begins = begins.data() + (in_even ? 0 : most_in_chain + 1);
        out.count = l.jobs;
        extend_lists(trains_, parents, jobs_there.data() + l.first_job, out, l.load,
                     zeros.data() + l.words_at, on_);
        parents = out.view();
    }
    auto* const results = reinterpret_cast<list_count*>(zeros.data() + plan.results_at);
    const std::uint64_t most = links.back().capacity;
    count_lists(parents, from_, results, {most, most, limits_.multiprocessors},
                zeros.data() + plan.counting_at, on_);
    watch_.stop(on_);
    even.begins.resize(leaves + std::size_t{1});
    even.lists.begins.download(even.begins);
    even.counts.resize(leaves);
    device::check(cudaMemcpyAsync(even.counts.data(), results, leaves * sizeof(list_count),
                                  cudaMemcpyDeviceToHost, on_.get()));
    on_.wait();
    kernel_seconds_ += watch_.seconds();
    count_dense(even);
    visit(0, even);
}

}  // namespace spikeweave::episodes
