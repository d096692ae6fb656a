#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "device/cuda.hpp"
#include "mine/episodes/devices/counters.hpp"
#include "mine/episodes/latest_start/cuda/survivor_lists.hpp"

namespace spikeweave::episodes {

/// Candidates of one size as a trie of their common beginnings. Level k holds every distinct
/// beginning of k + 2 units once, as an extension of one of level k - 1 (for k = 0, of a unit), in
/// the order of their parents.
struct episode_trie {
    std::vector<std::vector<extension>> levels{};
    std::vector<std::uint32_t> leaf_of{};  ///< index of each candidate in the last level

    episode_trie() = default;
    explicit episode_trie(const candidate_set& candidates);
};

/// Survivor lists whose sizes are known on the host.
struct known_lists {
    survivor_lists lists{};
    std::vector<std::uint64_t> begins{};
    std::vector<list_count> counts{};  ///< filled if counts were requested

    std::uint64_t size(std::size_t i) const { return begins[i + 1] - begins[i]; }
};

/// Latest-start counting on one device, whose `scoped_device` the caller holds.
class latest_start_worker {
public:
    /// @param from earliest order key at which a survivor that counts may end: 0, or the first one
    ///             that does not belong to an earlier segment of time
    /// @param capacity_bytes memory for survivor lists; 0 means what the device has to spare
    /// @throws invalid_argument if the recording is too long for one segment.
    explicit latest_start_worker(const device_problem& problem, std::uint32_t from = 0,
                                 std::uint64_t capacity_bytes = 0);

    const device_problem& problem() const { return problem_; }
    const device::stream& stream() const { return on_; }
    const device::device_limits& limits() const { return limits_; }
    const device_trains& trains() const { return trains_; }
    /// The train of every unit, as the survivor list of an episode of this unit alone.
    list_view train_lists() const;
    std::span<const std::uint64_t> train_begins() const { return train_begins_; }
    std::uint64_t capacity_bytes() const { return capacity_bytes_; }
    double kernel_seconds() const { return kernel_seconds_; }
    double& kernel_seconds() { return kernel_seconds_; }

    /// Continues lists, and counts the new ones if `counted`. Waits.
    /// @param parent_begins the `begins` of the parents, in host memory
    known_lists extended(const list_view& parents, std::span<const std::uint64_t> parent_begins,
                         std::span<const extension> jobs, bool counted);

    /// Called with leaves [first, first + lists.count) once they are counted.
    using leaf_visit = std::function<void(std::size_t first, const known_lists&)>;
    /// Counts the leaves of a trie, each level in pieces as large as memory allows. Leaves whose
    /// beginnings show that their count is below `at_least` are not visited.
    void count_leaves(const episode_trie& trie, std::uint64_t at_least, const leaf_visit& visit);

private:
    struct counted_piece;

    void count_below(const episode_trie& trie, std::size_t level, const list_view& parents,
                     std::span<const std::uint64_t> parent_begins, std::size_t first_parent,
                     std::size_t first_job, std::size_t last_job, std::uint64_t at_least,
                     const leaf_visit& visit);
    bool fits_a_chain(const episode_trie& trie) const;
    struct chain_plan;
    chain_plan plan_of(const episode_trie& trie) const;
    void count_chain(const episode_trie& trie, const leaf_visit& visit);
    std::uint64_t most_survivors(std::span<const extension> jobs) const;
    void count_dense(known_lists& of);

    const device_problem& problem_;
    std::uint32_t from_;
    device::device_limits limits_;
    device::stream on_;
    device::stopwatch watch_;
    device::buffer<interval_32> intervals_;
    resident_trains resident_;
    device_trains trains_{};
    std::vector<std::uint64_t> train_begins_;
    std::uint64_t capacity_bytes_;
    double survivors_each_ = 1;  // survivors per survivor of the parent, as measured so far
    double kernel_seconds_ = 0;
};

}  // namespace spikeweave::episodes
