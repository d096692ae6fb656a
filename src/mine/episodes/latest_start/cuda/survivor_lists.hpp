#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "device/cuda.hpp"
#include "mine/episodes/devices/train_search.hpp"
#include "spikeweave/mine/episodes.hpp"

/// Survivor lists on a device: the data that the kernels need, and the calls that run them. All
/// work is in the order of one stream; a call does not wait unless its comment states this.
namespace spikeweave::episodes {

/// The spikes in the form that kernels read. A spike's *order key* decides on overlap: its time
/// under `tie_rule::time`, its position in the sequence under `tie_rule::order`.
struct device_trains {
    const std::uint32_t* times;        ///< unit by unit
    const std::uint32_t* order_keys;   ///< unit by unit; the same as `times` under tie_rule::time
    const std::uint32_t* event_times;  ///< by position; null when order keys are times
    const train_layout* trains;        ///< by unit
    const std::uint32_t* buckets;
    const std::uint64_t* begins;  ///< begin of each unit's train, and the end of the last
    const interval_32* intervals;
};

/// Several lists, one after another: list i is [begins[i], begins[i + 1]) of `ends` and `starts`,
/// which are both order keys. Elements at or beyond `capacity` were not written.
struct list_view {
    const std::uint32_t* ends = nullptr;
    const std::uint32_t* starts = nullptr;
    const std::uint64_t* begins = nullptr;
    std::uint32_t count = 0;
    std::uint64_t capacity = 0;
};

/// The memory to which lists are written.
struct list_memory {
    std::uint32_t* ends;
    std::uint32_t* starts;
    std::uint64_t* begins;
    std::uint32_t count;
    std::uint64_t capacity;

    list_view view() const { return {ends, starts, begins, count, capacity}; }
};

/// Lists that own their memory.
struct survivor_lists {
    device::buffer<std::uint32_t> ends{};
    device::buffer<std::uint32_t> starts{};
    device::buffer<std::uint64_t> begins{};
    std::uint32_t count = 0;

    survivor_lists() = default;
    survivor_lists(std::uint32_t lists, std::uint64_t capacity, const device::stream& on)
        : ends(capacity, on),
          starts(capacity, on),
          begins(lists + std::size_t{1}, on),
          count(lists) {}

    list_memory memory() const {
        return {ends.data(), starts.data(), begins.data(), count, ends.size()};
    }
    list_view view() const { return memory().view(); }
    std::uint64_t bytes() const { return 8 * ends.size() + 8 * begins.size(); }
};

/// Describes a list to be continued by one step.
struct extension {
    std::uint32_t parent;
    std::uint32_t unit;
    std::uint32_t delay;
};

/// The result of counting one list.
struct list_count {
    std::uint32_t count;
    std::uint32_t after_last;  ///< one more than the order key of the last one's end; 0: none
    std::uint32_t dense;       ///< if not 0, groups of overlapping survivors are too long for one
                               ///< thread; count the list with `count_dense_lists`
};

/// The amount of work of a kernel, as far as it is known at its launch.
struct list_load {
    std::uint64_t at_most;   ///< survivors that it reads
    std::uint64_t expected;  ///< estimate of the number that it reads
    int multiprocessors;
};

/// The number of 8-byte words, all 0, that `extend_lists` needs for this many jobs, and
/// `count_lists` for this many lists.
std::uint64_t extension_words(const list_load& load, std::uint32_t jobs);
std::uint64_t counting_words(std::uint32_t lists);

/// Continues each list according to its extension, in order, and writes the results to `out`. Its
/// `begins` have the true sizes even if its capacity was too small.
///
/// @param jobs the extensions, in device memory, `out.count` of them
/// @param load the survivors of all parents of the jobs together
void extend_lists(const device_trains& trains, const list_view& parents, const extension* jobs,
                  const list_memory& out, const list_load& load, std::uint64_t* zeroed_words,
                  const device::stream& on);

/// Finds the largest number of occurrences without overlap in each list, among survivors that end
/// at or after `from`.
///
/// @param results one element for each list, all 0
void count_lists(const list_view& lists, std::uint32_t from, list_count* results,
                 const list_load& load, std::uint64_t* zeroed_words, const device::stream& on);

/// Does the same for selected lists whose survivors overlap in long runs. `begins`: the view's
/// `begins` in host memory. Waits.
std::vector<list_count> count_dense_lists(const list_view& lists,
                                          std::span<const std::uint64_t> begins,
                                          std::span<const std::uint32_t> which, std::uint32_t from,
                                          const device::stream& on);

/// Copies only the lists `which`, one after another. `begins`: the view's `begins` in host memory.
survivor_lists chosen_lists(const list_view& lists, std::span<const std::uint64_t> begins,
                            std::span<const std::uint32_t> which, const device::stream& on);

/// The result of beginning a count at one survivor of a list, among those that end at or after
/// `from`.
struct entry_count {
    std::uint32_t start;       ///< start of the survivor
    std::uint32_t count;       ///< occurrences from it on, including itself
    std::uint32_t after_last;  ///< one more than the order key of the last one's end
};

/// Finds for each list the survivors at which a count that began before `from` can continue: all
/// that start before `from`, and the first that does not. `counted`: the results of `count_lists`.
/// Waits.
std::vector<std::vector<entry_count>> entries_of_lists(const list_view& lists,
                                                       std::span<const list_count> counted,
                                                       std::uint32_t from,
                                                       const device::stream& on);

/// Fills the table for searching trains (`train_layout::buckets_begin` and so on are set already).
void fill_buckets(const std::uint32_t* times, const train_layout* trains, std::uint32_t train_count,
                  std::uint64_t spikes, std::uint32_t* buckets, const device::stream& on);

}  // namespace spikeweave::episodes
