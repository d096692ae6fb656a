#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "mine/episodes/search/candidates.hpp"
#include "spikeweave/mine/episodes.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"
#include "spikeweave/spikes/spike_trains.hpp"

/// The private interface of episode mining: what each strategy provides.
namespace spikeweave::episodes {

/// (low, high] in microseconds.
struct interval_us {
    std::int64_t low;
    std::int64_t high;

    bool holds(std::int64_t delay) const { return low < delay && delay <= high; }
};

struct counting_problem {
    const spike_sequence& spikes;
    std::span<const interval_us> intervals;
    tie_rule ties;
    const execution& run;
    device_split split = device_split::automatic;
    compaction_method compaction =
        compaction_method::automatic;  ///< the compaction that runs, for `occurrences` on devices
};

struct count_result {
    std::vector<std::uint64_t> counts{};
    std::uint64_t merge_misses = 0;
    double kernel_seconds = 0;  ///< on devices, else 0
};

// Each function counts candidates of size 2 or more. Counts below `at_least` may be returned as any
// smaller number.
count_result count_by_reference(const counting_problem&, const candidate_set&,
                                std::uint64_t at_least);
count_result count_by_state_machine(const counting_problem&, const candidate_set&,
                                    std::uint64_t at_least);
count_result count_by_two_pass(const counting_problem&, const candidate_set&,
                               std::uint64_t at_least);
count_result count_by_occurrences(const counting_problem&, const candidate_set&,
                                  std::uint64_t at_least);
count_result count_by_segments(const counting_problem&, const candidate_set&,
                               std::uint64_t at_least);
count_result count_by_latest_start(const counting_problem&, const candidate_set&,
                                   std::uint64_t at_least);

using list_counter = count_result (*)(const counting_problem&, const candidate_set&, std::uint64_t);

/// The frequent episodes of one size, sorted by `chain_less`, and the work to find them.
struct mined_level {
    candidate_set frequent{};
    std::vector<std::uint64_t> counts{};
    std::uint64_t candidates = 0;
    std::uint64_t survivor_bytes = 0;
    double kernel_seconds = 0;
};

/// Counts level by level. A strategy may reuse the results of one level in the next.
class level_counter {
public:
    level_counter() = default;
    level_counter(const level_counter&) = delete;
    level_counter& operator=(const level_counter&) = delete;
    virtual ~level_counter() = default;

    /// Counts every ordered pair of `units` with every interval. `last`: no level will follow.
    virtual mined_level pairs(std::span<const unit_id> units, bool last) = 0;
    /// Counts every join of two episodes of `previous`, the level that this object returned last.
    virtual mined_level extend(const mined_level& previous, bool last) = 0;

    virtual std::uint64_t merge_misses() const { return 0; }
    virtual pair_method pairs_by() const { return pair_method::automatic; }
    /// The working memory beyond the spikes that the search is expected to need; known after
    /// `pairs`.
    virtual std::uint64_t estimated_bytes() const { return 0; }
};

struct level_rules {
    std::uint64_t threshold;
    bool self_repeats;
    pair_method pairs;
    std::uint64_t max_memory_bytes;
};

/// Counts a list of candidates. Counts below the second argument may be returned as smaller
/// numbers.
using counting = std::function<count_result(const candidate_set&, std::uint64_t)>;

/// For strategies that count a list of candidates and keep nothing from level to level. `beside`:
/// candidates are made while others are counted, because a device counts and not these threads.
std::unique_ptr<level_counter> levels_of_lists(const counting_problem&, const level_rules&,
                                               counting count, bool beside = false);
std::unique_ptr<level_counter> levels_of_latest_start(const counting_problem&, const level_rules&);

}  // namespace spikeweave::episodes
