#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "spikeweave/core/device.hpp"
#include "spikeweave/core/execution.hpp"
#include "spikeweave/core/ids.hpp"
#include "spikeweave/core/time.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"

/// Frequent serial episodes: chains of units with a delay interval on every step, counted without
/// overlap, mined level by level. Definition and algorithms: docs/algorithms/episodes.md, after
/// Cao, Patnaik, Ponce, Archuleta, Butler, Feng and Ramakrishnan ("Temporal Data Mining for
/// Neuroscience", GPU Computing Gems ch. 15; "Parallel Mining of Neuronal Spike Streams on Graphics
/// Processing Units", Int. J. Parallel Programming).
namespace spikeweave {

/// A delay d fits when low < d <= high; 0 <= low < high.
struct delay_interval {
    duration low{0};
    duration high{0};

    friend constexpr auto operator<=>(const delay_interval&, const delay_interval&) =
        default;  // NOLINT(modernize-use-nullptr): clang-tidy 14 misreads it
};

/// Reads "0-5ms" or "0ms-5ms". @throws invalid_argument, also when not 0 <= low < high.
delay_interval parse_delay_interval(std::string_view text);
/// "(0,5] ms".
std::string format_delay_interval(const delay_interval& interval);
/// (1,4], (4,8], (8,12], (12,16] ms: monosynaptic delays and their sums over a step or two.
std::vector<delay_interval> default_delays();

/// units[0] –delays[0]→ units[1] –delays[1]→ …; its size is its number of units.
struct episode {
    std::vector<unit_id> units{};
    std::vector<delay_interval> delays{};

    std::size_t size() const { return units.size(); }
    friend auto operator<=>(const episode&, const episode&) =
        default;  // NOLINT(modernize-use-nullptr): clang-tidy 14 misreads it
};

/// Two occurrences do not overlap when one ends before the other starts. At equal times:
enum class tie_rule : std::uint8_t {
    time,   ///< "before" is strictly earlier: the answer does not depend on the order of
            ///< simultaneous spikes
    order,  ///< "before" is earlier in the sequence: what TDMiner counts
};

std::string_view to_string(tie_rule ties);
/// @throws invalid_argument naming the rules there are.
tie_rule tie_rule_from(std::string_view name);

/// Ways to count, all exact, all equal; docs/algorithms/episodes.md says what each is for.
enum class episode_strategy : std::uint8_t {
    automatic,      ///< chooses; the result says what ran
    reference,      ///< all occurrences, then the largest set without overlap, straight from the
                    ///< definition
    state_machine,  ///< the published Algorithm 1: one pass over the spikes for all candidates
    two_pass,  ///< the published Algorithms 4 and 5: an upper bound first, then the state machine
               ///< for what is left
    occurrences,   ///< the published Algorithms 2 and 3: a superset of occurrences, then greedy
                   ///< scheduling
    segments,      ///< the published segment counting, with an exact merge
    latest_start,  ///< survivor lists: for every end of an occurrence only its latest start
    thread_per_episode,    ///< the published PTPE, on a GPU: a thread is the state machine of one
                           ///< episode
    segments_per_episode,  ///< the published MTPE, on a GPU: threads count the segments of one
                           ///< episode, with an exact merge
    hybrid,  ///< the published choice between these two, by what was measured on the device
};

std::string_view to_string(episode_strategy strategy);
/// @throws invalid_argument naming the strategies there are.
episode_strategy episode_strategy_from(std::string_view name);
/// What this build can run, without `automatic`: on the CPU or on CUDA devices, of which there need
/// not be one.
std::vector<episode_strategy> available_episode_strategies(device_kind where = device_kind::cpu);

/// How pairs are counted by `latest_start`.
enum class pair_method : std::uint8_t {
    automatic,  ///< by the estimated work
    merge,      ///< the spike trains of each pair merged: for few units or wide intervals
    look_back,  ///< each spike looks back over the widest interval: for many units that seldom meet
};

std::string_view to_string(pair_method method);
/// @throws invalid_argument naming the methods there are.
pair_method pair_method_from(std::string_view name);

/// How `occurrences` on a GPU makes one list of what its threads find: the three published ways.
enum class compaction : std::uint8_t {
    automatic,         ///< chooses; the result says what ran
    atomic,            ///< a counter of each block of threads and one of all; the list is sorted
    select,            ///< room for a few from each thread, compacted afterwards
    count_scan_write,  ///< counted, summed, and written where they belong
};

std::string_view to_string(compaction how);
/// @throws invalid_argument naming the ways there are.
compaction compaction_from(std::string_view name);

/// An episode is frequent when its count is at least the threshold.
struct count_threshold {
    std::uint64_t count;
};
/// As a fraction of all spikes.
struct fraction_threshold {
    double fraction;
};
/// As occurrences per second between the first spike and the last.
struct rate_threshold {
    double hertz;
};
/// What a first look at unknown data wants: a twentieth of the median unit's spike count, at least
/// 10, and no less than keeps the frequent pairs to 32 a unit, so that bursts do not make
/// everything frequent.
struct default_threshold {};
using episode_threshold =
    std::variant<default_threshold, count_threshold, fraction_threshold, rate_threshold>;

/// What several devices share between them.
enum class device_split : std::uint8_t {
    automatic,  ///< candidates, unless the spikes are too many for one device or the candidates too
                ///< few to share
    candidates,  ///< each device has all spikes
    time,        ///< each device has stretches of time (strategy latest_start)
};

std::string_view to_string(device_split split);
/// @throws invalid_argument naming the splits there are.
device_split device_split_from(std::string_view name);

struct episode_options {
    /// Every step of a mined episode takes one of these. They may overlap; each is a label of its
    /// own.
    std::vector<delay_interval> delays{};
    episode_threshold threshold = default_threshold{};
    /// Largest episode to look for; 0 for no bound.
    std::size_t max_size = 0;
    /// Whether a unit may follow itself (A→A); a unit may always come back later in a chain.
    bool self_repeats = false;
    tie_rule ties = tie_rule::time;
    episode_strategy strategy = episode_strategy::automatic;
    pair_method pairs = pair_method::automatic;
    /// For the strategy `occurrences` on GPUs alone.
    compaction compact = compaction::automatic;
    /// Stop with an error when trains, tables and survivors (strategy latest_start) need more; 0
    /// for no bound. `memory_guard` bounds all that the process takes, with any strategy.
    std::uint64_t max_memory_bytes = 0;
    /// Without `execution::devices` it means nothing.
    device_split split = device_split::automatic;
};

/// The one integer that the threshold comes to; fractions round up, exactly. The default one counts
/// all pairs.
/// @throws invalid_argument unless positive (fractions: at most 1), cancelled.
std::uint64_t resolve_threshold(const spike_sequence& spikes, const episode_options& options,
                                const execution& run = {});

struct counted_episode {
    episode what;
    std::uint64_t count;

    friend bool operator==(const counted_episode&, const counted_episode&) = default;
};

/// What one level of the search did.
struct episode_level {
    std::size_t size;
    std::uint64_t candidates;
    std::uint64_t frequent;
    /// Bytes of survivor lists that the level left for the next (latest_start), else 0.
    std::uint64_t survivor_bytes;
    double seconds;
    /// Of these the time in which kernels ran, on the device that took longest; 0 on the CPU.
    double kernel_seconds = 0;
};

/// The frequent episodes, by size and then by units and delays.
struct episode_table {
    std::vector<counted_episode> episodes{};
    std::vector<episode_level> levels{};
    std::uint64_t threshold = 0;
    tie_rule ties = tie_rule::time;
    episode_strategy ran_on = episode_strategy::automatic;
    pair_method pairs_by = pair_method::automatic;
    /// Boundaries at which the published merge of segments finds no match (strategy `segments`).
    std::uint64_t merge_misses = 0;
    /// Bytes of working memory that the search was expected to need, beyond the spikes.
    std::uint64_t estimated_bytes = 0;
    /// `execution::devices` as they were used; empty: the CPU.
    std::vector<int> ran_on_devices{};
    /// What `occurrences` on GPUs did; of all others `automatic`.
    compaction compacted_by = compaction::automatic;
    /// Whole sentences: those of `check_delays`, and that `hybrid` chose by another device.
    std::vector<std::string> warnings{};
};

/// What speaks against searching these spikes with these delays, as whole sentences: delays of a
/// second and more, which may be milliseconds given for seconds, and delays that cannot occur
/// because all times are multiples of a longer time, as in recordings with a camera.
std::vector<std::string> check_delays(const spike_sequence& spikes,
                                      std::span<const delay_interval> delays);

/// Mines level by level with prefix and suffix pruning: complete, and independent of the order and
/// names of the units.
/// @throws invalid_argument for impossible options, also a strategy that cannot run on what `run`
///         names; device_error, cancelled.
episode_table mine_episodes(const spike_sequence& spikes, const episode_options& options,
                            const execution& run = {});

struct count_options {
    tie_rule ties = tie_rule::time;
    episode_strategy strategy = episode_strategy::automatic;
    /// Counts below this may be reported as any smaller number: what pre-elimination needs to know.
    /// 0: all exact.
    std::uint64_t at_least = 0;
    /// As in `episode_options`.
    device_split split = device_split::automatic;
    /// For the strategy `occurrences` on GPUs alone.
    compaction compact = compaction::automatic;
};

struct episode_counts {
    std::vector<std::uint64_t> counts{};
    episode_strategy ran_on = episode_strategy::automatic;
    std::uint64_t merge_misses = 0;
    /// As in `episode_table` and `episode_level`.
    std::vector<int> ran_on_devices{};
    double kernel_seconds = 0;
    compaction compacted_by = compaction::automatic;
    std::vector<std::string> warnings{};
};

/// Where a program that starts with the call should count: on the first CUDA device if there are
/// 3,000,000 spikes or more, else on the CPU (empty), which is done with most searches of fewer
/// before a device is ready (docs/benchmarks.md).
std::vector<int> devices_that_pay(const spike_sequence& spikes);

/// The count of each given episode. @throws invalid_argument for an episode that cannot be or a
/// strategy that cannot run on what `run` names; device_error, cancelled.
episode_counts count_episodes(const spike_sequence& spikes, std::span<const episode> episodes,
                              const count_options& options = {}, const execution& run = {});

/// The times of each occurrence that a count counts, in order: `count` rows of `size` times,
/// microseconds. Of several ways to place an occurrence that ends at the same spike, the one that
/// starts latest.
std::vector<std::vector<std::int64_t>> find_occurrences(const spike_sequence& spikes,
                                                        const episode& what,
                                                        tie_rule ties = tie_rule::time);

}  // namespace spikeweave
