#pragma once

#include <compare>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "spikeweave/core/device.hpp"
#include "spikeweave/core/enum_names.hpp"
#include "spikeweave/core/execution.hpp"
#include "spikeweave/core/export.hpp"
#include "spikeweave/core/ids.hpp"
#include "spikeweave/core/members.hpp"
#include "spikeweave/core/options.hpp"
#include "spikeweave/core/time.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"

/// Frequent serial episodes: chains of units with a delay interval on every step. Occurrences are
/// counted without overlap, and episodes are mined level by level, that is, size by size. For
/// definitions and algorithms see docs/algorithms/episodes.md, after
/// Cao, Patnaik, Ponce, Archuleta, Butler, Feng and Ramakrishnan ("Temporal Data Mining for
/// Neuroscience", GPU Computing Gems ch. 15; "Parallel Mining of Neuronal Spike Streams on Graphics
/// Processing Units", Int. J. Parallel Programming).
namespace spikeweave {

/// An interval of delays: d fits if low < d <= high. It must hold that 0 <= low < high.
struct delay_interval {
    duration low{0};
    duration high{0};

    friend constexpr auto operator<=>(const delay_interval&, const delay_interval&) = default;
};

/// Reads an interval such as "0-5ms" or "0ms-5ms".
/// @throws invalid_argument if the text is malformed or 0 <= low < high does not hold.
SPIKEWEAVE_API delay_interval parse_delay_interval(std::string_view text);
/// Formats an interval as "(0,5] ms".
SPIKEWEAVE_API std::string format_delay_interval(const delay_interval& interval);
/// The default intervals (1,4], (4,8], (8,12] and (12,16] ms: monosynaptic delays and their sums
/// over a step or two.
SPIKEWEAVE_API std::vector<delay_interval> default_delays();
/// Reads intervals that are separated by commas: "0-5ms,5-10ms".
/// @throws invalid_argument with the text; if an interval is given twice.
SPIKEWEAVE_API std::vector<delay_interval> parse_delays(std::string_view text);
/// Reads intervals of equal width: "0ms:20ms:5ms" is (0,5], (5,10], (10,15], (15,20] ms.
/// @throws invalid_argument with the text.
SPIKEWEAVE_API std::vector<delay_interval> parse_delay_grid(std::string_view text);
/// Writes intervals in the form that `parse_delays` reads.
SPIKEWEAVE_API std::string format_delays(std::span<const delay_interval> delays);

template <>
struct option_codec<std::vector<delay_interval>> {
    static constexpr auto kind = option_kind::text;
    static option_value show(const std::vector<delay_interval>& field) {
        return format_delays(field);
    }
    static std::vector<delay_interval> read(const option_value& value) {
        return parse_delays(std::get<std::string>(value));
    }
};

/// A chain of units, units[0] –delays[0]→ units[1] –delays[1]→ …: each step has one delay interval.
/// The size of an episode is its number of units.
struct episode {
    std::vector<unit_id> units{};
    std::vector<delay_interval> delays{};

    std::size_t size() const { return units.size(); }
    friend auto operator<=>(const episode&, const episode&) = default;
};

/// Two occurrences do not overlap if one ends before the other starts. This rule defines what
/// "before" means for simultaneous spikes.
enum class tie_rule : std::uint8_t {
    time,   ///< "before" means strictly earlier, so that the result does not depend on the order
            ///< of simultaneous spikes
    order,  ///< "before" means earlier in the sequence, as in TDMiner
};

template <>
SPIKEWEAVE_API enum_table<tie_rule> enum_names<tie_rule>();

/// The algorithms for counting. All are exact and give the same counts; docs/algorithms/episodes.md
/// describes their uses.
enum class episode_strategy : std::uint8_t {
    automatic,      ///< the library chooses; the result names the one that ran
    reference,      ///< lists all occurrences, then finds the largest set without overlap, straight
                    ///< from the definition
    state_machine,  ///< the published Algorithm 1: one pass over the spikes for all candidates
    two_pass,  ///< the published Algorithms 4 and 5: an upper bound first, then the state machine
               ///< for the remaining candidates
    occurrences,   ///< the published Algorithms 2 and 3: a superset of occurrences, then greedy
                   ///< scheduling
    segments,      ///< the published segment counting, with an exact merge
    latest_start,  ///< survivor lists: for every end of an occurrence only its latest start
    thread_per_episode,    ///< the published PTPE, on a GPU: each thread is the state machine of
                           ///< one episode
    segments_per_episode,  ///< the published MTPE, on a GPU: threads count the segments of one
                           ///< episode, with an exact merge
    hybrid,  ///< the published choice between these two, calibrated by measurements on the device
};

template <>
SPIKEWEAVE_API enum_table<episode_strategy> enum_names<episode_strategy>();
/// The strategies that this build can run on the CPU or on CUDA devices, without `automatic`. No
/// device needs to be present.
SPIKEWEAVE_API std::vector<episode_strategy> available_episode_strategies(
    device_kind where = device_kind::cpu);

/// The ways in which the strategy `latest_start` counts pairs.
enum class pair_method : std::uint8_t {
    automatic,  ///< the library chooses by the estimated work
    merge,      ///< merges the spike trains of each pair: for few units or wide intervals
    look_back,  ///< looks back from each spike over the widest interval: for many units that rarely
                ///< fire close together
};

template <>
SPIKEWEAVE_API enum_table<pair_method> enum_names<pair_method>();

/// The three published ways in which the strategy `occurrences` on a GPU joins the findings of its
/// threads in one list.
enum class compaction_method : std::uint8_t {
    automatic,         ///< the library chooses; the result names the one that ran
    atomic,            ///< one counter per block of threads and a global one; the list is sorted
    select,            ///< a few slots for each thread, compacted afterwards
    count_scan_write,  ///< results are counted, offsets summed, then each is written to its place
};

template <>
SPIKEWEAVE_API enum_table<compaction_method> enum_names<compaction_method>();

/// The ways to divide the work among several devices.
enum class device_split : std::uint8_t {
    automatic,   ///< by candidates, unless there are too many spikes for one device or too few
                 ///< candidates to share
    candidates,  ///< by candidates; each device has all spikes
    time,        ///< by segments of time (strategy `latest_start` only)
};

template <>
SPIKEWEAVE_API enum_table<device_split> enum_names<device_split>();

/// The default threshold of a search is never below this number of occurrences.
inline constexpr std::uint64_t least_default_count = 10;

struct episode_mining_options {
    /// The delay intervals; every step of a mined episode has one of them. They may overlap, and
    /// each one counts as a different label.
    std::vector<delay_interval> delays{};
    /// The least number of occurrences of a frequent episode: a count, a fraction of all spikes, or
    /// a rate in Hz. At most one of them can be set. If none is, the threshold is a twentieth of
    /// the median unit's spikes, at least 10, and high enough to keep the frequent pairs to 32 per
    /// unit.
    std::optional<std::uint64_t> min_count{};
    std::optional<double> min_fraction{};
    std::optional<double> min_rate{};
    /// Largest size of an episode to search for; 0 means no bound.
    std::size_t max_size = 0;
    /// Whether a unit may follow itself (A→A); a unit may always recur later in a chain.
    bool self_repeats = false;
    tie_rule ties = tie_rule::time;
    episode_strategy strategy = episode_strategy::automatic;
    pair_method pairs = pair_method::automatic;
    /// Used only by the strategy `occurrences` on GPUs.
    compaction_method compaction = compaction_method::automatic;
    /// The search fails with an error if trains, tables and survivors (strategy `latest_start`)
    /// need more than this; 0 means no bound. `memory_guard` bounds the memory of the whole
    /// process, with any strategy.
    std::uint64_t max_memory_bytes = 0;
    /// Ignored if `execution::devices` is empty.
    device_split split = device_split::automatic;
};

/// Describes the options; `device_split` and `compaction` among them change the time taken only.
SPIKEWEAVE_API option_list describe(episode_mining_options& options);

/// Converts the threshold of the options to a number of occurrences, rounded up exactly. The
/// default threshold needs a count of all pairs.
/// @throws invalid_argument if the threshold is not positive, a fraction above 1, or given in two
/// ways; cancelled.
SPIKEWEAVE_API std::uint64_t resolve_threshold(const spike_sequence& spikes,
                                               const episode_mining_options& options,
                                               const execution& run = {});

/// An episode and its count: the largest number of occurrences that do not overlap.
struct counted_episode {
    episode what;
    std::uint64_t count;

    friend bool operator==(const counted_episode&, const counted_episode&) = default;
};

/// Statistics of one level of the search: all candidates of one size.
struct episode_level {
    std::size_t size;
    std::uint64_t candidates;
    std::uint64_t frequent;
    /// Bytes of survivor lists that this level passed on to the next; 0 unless the strategy is
    /// `latest_start`.
    std::uint64_t survivor_bytes;
    double seconds;
    /// The part of `seconds` in which kernels ran, on the device that took longest; 0 on the CPU.
    double kernel_seconds = 0;
};
template <>
struct members_of<episode_level> {
    static void list(const auto& to) {
        to("size", &episode_level::size);
        to("candidates", &episode_level::candidates);
        to("frequent", &episode_level::frequent);
        to("survivor_bytes", &episode_level::survivor_bytes);
        to("seconds", &episode_level::seconds);
        to("kernel_seconds", &episode_level::kernel_seconds);
    }
};

/// The frequent episodes, sorted by size, then by units and delays.
struct episode_table {
    std::vector<counted_episode> episodes{};
    std::vector<episode_level> levels{};
    std::uint64_t threshold = 0;
    tie_rule ties = tie_rule::time;
    episode_strategy ran_on = episode_strategy::automatic;
    pair_method pairs_by = pair_method::automatic;
    /// Number of segment boundaries at which the published merge finds no match (strategies that
    /// count by segments).
    std::uint64_t merge_misses = 0;
    /// Bytes of working memory that the search was expected to need, beyond the spikes.
    std::uint64_t estimated_bytes = 0;
    /// The devices of `execution::devices` that were used; empty means the CPU.
    std::vector<int> ran_on_devices{};
    /// The compaction that `occurrences` used on GPUs; `automatic` for all other strategies.
    compaction_method compacted_by = compaction_method::automatic;
    /// Warnings for the user, as full sentences: those of `check_delays`, and one if `hybrid` used
    /// the calibration of another device.
    std::vector<std::string> warnings{};
    /// Null: the search was finished. Otherwise it ended early (`enough` of `mine_episodes`): there
    /// are all frequent episodes of up to this size, and none of larger sizes.
    std::optional<std::size_t> complete_to_size{};
};

/// The time in microseconds that all intervals between spikes are multiples of, such as the frames
/// of a camera or the steps of a simulation; none if there is no such time, or if it is shorter
/// than 0.5 ms.
SPIKEWEAVE_API std::optional<double> clock_step_us(const spike_sequence& spikes);

/// Warnings for the user about these delays, as full sentences. It warns of delays of a second and
/// more, which may be milliseconds given as seconds, and of delays that cannot occur because all
/// spike times are multiples of a longer time, as in recordings with a camera.
SPIKEWEAVE_API std::vector<std::string> check_delays(const spike_sequence& spikes,
                                                     std::span<const delay_interval> delays);

/// Finds all frequent episodes, level by level, with prefix and suffix pruning. The result is
/// complete and does not depend on the order or the names of the units.
/// @param enough  once it is requested, the search ends within a second, with the levels that are
///         complete (`complete_to_size`). If that is possible, a search that needs more than
///         `max_memory_bytes` ends in the same way.
/// @throws invalid_argument if an option is out of range or the strategy cannot run on the devices
///         of `run`; device_error, cancelled.
SPIKEWEAVE_API episode_table mine_episodes(const spike_sequence& spikes,
                                           const episode_mining_options& options,
                                           const execution& run = {},
                                           const std::stop_token& enough = {});

/// Options of `count_episodes`.
struct episode_count_options {
    tie_rule ties = tie_rule::time;
    episode_strategy strategy = episode_strategy::automatic;
    /// Counts below this may be reported as any smaller number, so that strategies can eliminate
    /// rare candidates early. 0 means that all counts are exact.
    std::uint64_t at_least = 0;
    /// See `episode_mining_options::split`.
    device_split split = device_split::automatic;
    /// Used only by the strategy `occurrences` on GPUs.
    compaction_method compaction = compaction_method::automatic;
};

SPIKEWEAVE_API option_list describe(episode_count_options& options);

/// The result of `count_episodes`.
struct episode_count_result {
    std::vector<std::uint64_t> counts{};
    episode_strategy ran_on = episode_strategy::automatic;
    std::uint64_t merge_misses = 0;
    /// See `episode_table` and `episode_level` for this and the following members.
    std::vector<int> ran_on_devices{};
    double kernel_seconds = 0;
    compaction_method compacted_by = compaction_method::automatic;
    std::vector<std::string> warnings{};
};

/// Recommends devices for a program that has just started: the first CUDA device for 3,000,000
/// spikes or more, otherwise none, that is, the CPU, which finishes most smaller searches before a
/// device is ready (docs/benchmarks.md).
SPIKEWEAVE_API std::vector<int> recommended_devices(const spike_sequence& spikes);

/// Reads episodes, one per line, such as `n0 4-6ms n1 4-6ms "E 2"`; `#` begins a comment. In the
/// folder of a result they are the significant episodes that are not part of a longer one; in a
/// result whose episodes were not tested, the maximal ones.
/// @throws io_error with the file and the line, also if the file has no episode or one twice.
SPIKEWEAVE_API std::vector<episode> read_episodes(const std::filesystem::path& path,
                                                  const spike_sequence& spikes);
/// The names of the units in the episodes of such a file, in natural order.
/// @throws io_error if the file cannot be read or has no episode.
SPIKEWEAVE_API std::vector<std::string> units_of_episodes(const std::filesystem::path& path);

/// Counts each given episode.
/// @throws invalid_argument if an episode is invalid or the strategy cannot run on the devices of
///         `run`; device_error, cancelled.
SPIKEWEAVE_API episode_count_result count_episodes(const spike_sequence& spikes,
                                                   std::span<const episode> episodes,
                                                   const episode_count_options& options = {},
                                                   const execution& run = {});

/// Finds the times of the counted occurrences, in order: `count` rows of `size` times in
/// microseconds. If several occurrences end at the same spike, the one that starts latest is
/// returned.
SPIKEWEAVE_API std::vector<std::vector<std::int64_t>> find_occurrences(
    const spike_sequence& spikes, const episode& what, tie_rule ties = tie_rule::time);

}  // namespace spikeweave
