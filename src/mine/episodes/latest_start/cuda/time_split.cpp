#include "mine/episodes/latest_start/cuda/time_split.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <optional>
#include <utility>
#include <vector>

#include "mine/episodes/latest_start/cuda/worker.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave::episodes {
namespace {

// Memory of a spike on a device while its trains are made; the rest is for lists.
constexpr std::uint64_t bytes_a_spike = 40;
constexpr std::uint64_t bytes_a_spike_with_lists = 2 * bytes_a_spike;

// Spikes [begin, end) of the sequence; those from `own` on belong to no segment before.
struct time_segment {
    std::size_t begin;
    std::size_t own;
    std::size_t end;
};

// The result of one segment for each leaf.
struct segment_count {
    std::int64_t origin = 0;  // the order key that is 0 in it
    std::vector<std::vector<entry_count>> entries{};
};

std::int64_t longest_occurrence(const counting_problem& problem, const candidate_set& candidates) {
    std::int64_t longest = 0;
    for (std::size_t c = 0; c < candidates.count(); ++c) {
        std::int64_t all = 0;
        for (const std::uint32_t d : candidates.delays_of(c)) {
            const std::int64_t high = problem.intervals[d].high;
            all = all > INT64_MAX - high ? INT64_MAX : all + high;
        }
        longest = std::max(longest, all);
    }
    return longest;
}

std::size_t first_later(const spike_sequence& spikes, std::int64_t time) {
    const auto times = spikes.times_us();
    return static_cast<std::size_t>(std::upper_bound(times.begin(), times.end(), time) -
                                    times.begin());
}

// Cuts the recording into parts of about `most_spikes` each. Simultaneous spikes stay together, and
// no part is longer than the times of a device can represent.
std::vector<time_segment> cut(const spike_sequence& spikes, std::int64_t longest,
                              std::size_t most_spikes) {
    const auto times = spikes.times_us();
    std::vector<time_segment> all;
    for (std::size_t own = 0; own < times.size();) {
        std::size_t begin = own;
        if (own > 0) {
            const std::int64_t before = times[own - 1];
            begin = before < INT64_MIN + longest ? 0 : first_later(spikes, before - longest);
        }
        std::size_t end = first_later(spikes, times[std::min(own + most_spikes, times.size()) - 1]);
        if (times[end - 1] - times[begin] >= std::int64_t{latest_tick})
            end = first_later(spikes, times[begin] + std::int64_t{latest_tick} - 1);
        if (end <= own)
            throw invalid_argument(
                fmt::format("occurrences of up to {} microseconds are too long for the strategy "
                            "latest-start on "
                            "GPUs, which holds {} at a time",
                            longest, latest_tick));
        all.push_back({begin, own, end});
        own = end;
    }
    return all;
}

segment_count count_segment(const device_problem& whole, const time_segment& s,
                            const episode_trie& trie, double& kernel_seconds) {
    const resident_stream data(whole.spikes, {s.begin, s.end}, whole.ordinal, whole.run);
    const device_problem problem{whole, data, whole.ordinal};
    const bool by_time = whole.ties == tie_rule::time;
    const auto times = whole.spikes.times_us();
    const std::int64_t origin = by_time ? times[s.begin] : static_cast<std::int64_t>(s.begin);
    const std::int64_t own = by_time ? times[s.own] : static_cast<std::int64_t>(s.own);
    segment_count result{origin, {}};
    result.entries.resize(trie.levels.back().size());
    const auto from = static_cast<std::uint32_t>(own - origin);
    latest_start_worker worker(problem, from);
    worker.count_leaves(trie, 0, [&](std::size_t first, const known_lists& here) {
        auto some = entries_of_lists(here.lists.view(), here.counts, from, worker.stream());
        std::move(some.begin(), some.end(),
                  result.entries.begin() + static_cast<std::ptrdiff_t>(first));
    });
    kernel_seconds += worker.kernel_seconds();
    return result;
}

// One occurrence after another through all segments.
std::uint64_t joined(const std::vector<segment_count>& segments, std::size_t leaf) {
    std::uint64_t count = 0;
    std::optional<std::int64_t> last_end;
    for (const segment_count& s : segments) {
        const std::vector<entry_count>& entries = s.entries[leaf];
        const auto next =
            last_end ? std::partition_point(
                           entries.begin(), entries.end(),
                           [&](const entry_count& e) { return s.origin + e.start <= *last_end; })
                     : entries.begin();
        if (next == entries.end()) continue;
        count += next->count;
        last_end = s.origin + next->after_last - 1;
    }
    return count;
}

}  // namespace

bool needs_segments(const device_problem& problem, bool with_lists) {
    if (problem.data.length_us() >= latest_tick) return true;
    const std::uint64_t bytes = with_lists ? bytes_a_spike_with_lists : bytes_a_spike;
    return problem.spikes.size() > device::total_bytes_of(problem.ordinal) / bytes;
}

bool better_by_time(std::span<const device_problem> devices, const candidate_set& candidates) {
    const device_problem& first = devices.front();
    if (first.split == device_split::time || needs_segments(first, candidates.count() > 1))
        return true;
    constexpr std::size_t worth_splitting = 20'000'000;
    return first.split == device_split::automatic && devices.size() > 1 &&
           candidates.count() < devices.size() && first.spikes.size() >= worth_splitting;
}

count_result count_over_time(std::span<const device_problem> devices,
                             const candidate_set& candidates, std::size_t segments) {
    if (candidates.count() == 0) return {};
    const device_problem& first = devices.front();
    const episode_trie trie(candidates);
    const std::size_t size = first.spikes.size();
    std::size_t most = size / std::max<std::size_t>(1, segments) + 1;
    for (const device_problem& d : devices) {
        const auto shared = static_cast<std::uint64_t>(
            std::count_if(devices.begin(), devices.end(),
                          [&](const device_problem& o) { return o.ordinal == d.ordinal; }));
        const std::uint64_t free_bytes = device::limits_of(d.ordinal).free_bytes;
        most = std::min<std::size_t>(most, free_bytes / (shared * bytes_a_spike_with_lists) + 1);
    }
    const std::vector<time_segment> parts =
        cut(first.spikes, longest_occurrence(first, candidates), most);

    std::vector<segment_count> said(parts.size());
    std::atomic<std::size_t> next{0};
    const auto take_parts = [&](const device_problem& on) {
        const device::scoped_device scope(on.ordinal);
        double seconds = 0;
        for (std::size_t p = next++; p < parts.size(); p = next++)
            said[p] = count_segment(on, parts[p], trie, seconds);
        return seconds;
    };
    std::vector<std::future<double>> running;
    running.reserve(devices.size());
    for (const device_problem& d : devices)
        running.push_back(
            std::async(std::launch::async, [&take_parts, &d] { return take_parts(d); }));
    for (auto& r : running) r.wait();
    count_result result;
    for (auto& r : running) result.kernel_seconds = std::max(result.kernel_seconds, r.get());
    std::vector<std::uint64_t> leaves(trie.levels.back().size());
    for (std::size_t leaf = 0; leaf < leaves.size(); ++leaf) leaves[leaf] = joined(said, leaf);
    result.counts.reserve(candidates.count());
    for (const std::uint32_t leaf : trie.leaf_of) result.counts.push_back(leaves[leaf]);
    return result;
}

}  // namespace spikeweave::episodes
