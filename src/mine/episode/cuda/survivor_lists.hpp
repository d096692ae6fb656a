#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "device/cuda.hpp"
#include "mine/episode/cuda/train_search.hpp"
#include "spikeweave/mine/episode.hpp"

/// Survivor lists on a device: what each list's kernel needs, and the calls that run them. All work
/// is in the order of one stream; nothing waits unless it says so.
namespace spikeweave::episodes {

/// The spikes as kernels see them. A spike's *place* is what overlap is judged by: its time under
/// `tie_rule::time`, its position in the sequence under `tie_rule::order`.
struct device_trains {
    const std::uint32_t* times;        ///< unit by unit
    const std::uint32_t* places;       ///< unit by unit; the same as `times` under tie_rule::time
    const std::uint32_t* event_times;  ///< by position; null when places are times
    const train_place* trains;         ///< by unit
    const std::uint32_t* buckets;
    const std::uint64_t* begins;  ///< of each unit's train, and the end of the last
    const interval_32* intervals;
};

/// Lists one behind the other: list i is [begins[i], begins[i + 1]) of `ends` and `starts`, both
/// places. What lies at or beyond `capacity` was not written.
struct list_view {
    const std::uint32_t* ends = nullptr;
    const std::uint32_t* starts = nullptr;
    const std::uint64_t* begins = nullptr;
    std::uint32_t count = 0;
    std::uint64_t capacity = 0;
};

/// Where lists are to be written.
struct list_room {
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

    list_room room() const {
        return {ends.data(), starts.data(), begins.data(), count, ends.size()};
    }
    list_view view() const { return room().view(); }
    std::uint64_t bytes() const { return 8 * ends.size() + 8 * begins.size(); }
};

/// A list continued by one step.
struct extension {
    std::uint32_t parent;
    std::uint32_t unit;
    std::uint32_t delay;
};

/// What counting says of one list.
struct list_count {
    std::uint32_t count;
    std::uint32_t after_last;  ///< one behind the place of the last occurrence's end; 0: none
    std::uint32_t dense;  ///< not 0: groups of overlapping survivors are too long for one thread,
                          ///< count the list by `count_dense_lists`
};

/// How much a kernel has to do, as far as it is known when it is launched.
struct list_load {
    std::uint64_t at_most;   ///< survivors that it reads
    std::uint64_t expected;  ///< the same, more or less
    int multiprocessors;
};

/// 8-byte words, all 0, that `extend_lists` needs for that many jobs, and `count_lists` for lists.
std::uint64_t extension_words(const list_load& load, std::uint32_t jobs);
std::uint64_t counting_words(std::uint32_t lists);

/// Continues each list as its extension says, in their order, into `out`, whose `begins` come out
/// as the true sizes even where its capacity did not suffice.
///
/// @param jobs on the device, `out.count` of them
/// @param load the jobs' parents together
void extend_lists(const device_trains& trains, const list_view& parents, const extension* jobs,
                  const list_room& out, const list_load& load, std::uint64_t* zeroed_words,
                  const device::stream& on);

/// The largest number of occurrences without overlap of each list, of survivors that end at or
/// after `from`.
///
/// @param results all 0, as many as lists
void count_lists(const list_view& lists, std::uint32_t from, list_count* results,
                 const list_load& load, std::uint64_t* zeroed_words, const device::stream& on);

/// The same for chosen lists whose survivors overlap in long runs. `begins`: the view's, on this
/// computer. Waits.
std::vector<list_count> count_dense_lists(const list_view& lists,
                                          std::span<const std::uint64_t> begins,
                                          std::span<const std::uint32_t> which, std::uint32_t from,
                                          const device::stream& on);

/// The lists `which` alone, one behind the other. `begins`: the view's, on this computer.
survivor_lists chosen_lists(const list_view& lists, std::span<const std::uint64_t> begins,
                            std::span<const std::uint32_t> which, const device::stream& on);

/// Of one list, from survivors that end at or after `from`: what comes of beginning at a survivor.
struct entry_count {
    std::uint32_t start;       ///< of the survivor
    std::uint32_t count;       ///< occurrences from it on, itself included
    std::uint32_t after_last;  ///< one behind the place of the last one's end
};

/// For each list the survivors at which a count that began before `from` can go on: all that start
/// before `from`, and the first that does not. `counted`: what `count_lists` said. Waits.
std::vector<std::vector<entry_count>> entries_of_lists(const list_view& lists,
                                                       std::span<const list_count> counted,
                                                       std::uint32_t from,
                                                       const device::stream& on);

/// Fills the table for searching trains (`train_place::buckets_begin` and so on are set already).
void fill_buckets(const std::uint32_t* times, const train_place* trains, std::uint32_t train_count,
                  std::uint64_t spikes, std::uint32_t* buckets, const device::stream& on);

}  // namespace spikeweave::episodes
