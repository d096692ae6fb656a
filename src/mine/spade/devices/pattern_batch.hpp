#pragma once

#include <cstdint>

#include "mine/spade/devices/device_pattern.hpp"
#include "mine/spade/devices/rules_on_lanes.hpp"

namespace spikeweave::spade {

/// A first-bin item and the items that may follow it.
struct pattern_root {
    std::uint32_t windows;
    std::uint32_t candidates;
    std::uint32_t excluded;
    std::uint32_t size;  ///< of the pattern of the root: itself and its closure
    std::uint32_t units;
    std::uint32_t duration;
    std::uint32_t end;  ///< the candidates before this come before the root's pattern
    // Where its part of the arrays of the batch begins.
    std::uint64_t first_window;
    std::uint64_t first_id;
    std::uint64_t first_candidate;
    std::uint64_t first_item;
    std::uint64_t first_word;

    SPIKEWEAVE_HD std::uint32_t planes() const { return (windows + 31) / 32; }
};

/// The patterns that begin with a root, its closure and one of its candidates, or a part of them.
struct pattern_task {
    std::uint32_t root;
    std::uint32_t candidate;
    std::uint32_t part;
    std::uint32_t parts;
};

/// The patterns of a task.
struct task_totals {
    std::uint32_t patterns;
    std::uint32_t subsets;       ///< dropped as parts of patterns that begin earlier
    std::uint32_t too_frequent;  ///< dropped by `max_occ`
    std::uint32_t left_out;      ///< not 0: the CPU has to search it
    std::uint64_t items;
    std::uint64_t occurrences;
};

/// Where the output of a task begins.
struct task_place {
    /// The value of `patterns` of a task that the CPU searches.
    static constexpr std::uint64_t none = ~std::uint64_t{0};

    std::uint64_t patterns;
    std::uint64_t items;
    std::uint64_t occurrences;
};

/// Memory of a device in which patterns are kept while they are counted, so that they are not
/// searched for again to be written. A warp claims one chunk after another. A pattern is its size,
/// its count, its items and its occurrences; a size of 0 means that the patterns of the task
/// continue in another chunk, whose number follows.
struct pattern_store {
    static constexpr std::uint32_t header = 2;  ///< words
    /// Where a task begins for which there was too little room.
    static constexpr std::uint64_t none = ~std::uint64_t{0};

    std::uint32_t* words;
    std::uint32_t chunk_words;
    std::uint32_t chunks;
    std::uint32_t* next_chunk;
    std::uint64_t* begins;  ///< of tasks that found a pattern
};

/// The search of one recording below some of its roots, which are in the order of their ids.
struct pattern_batch {
    std::uint32_t window_bins;
    std::uint32_t item_count;
    device_rules rules;
    std::uint32_t least_occ;
    std::uint32_t max_occ;  ///< 0: no bound
    bool with_occurrences;
    const raster_rows* rows;  ///< null if no subset is dropped

    // The recording: the ids of items (item_index.hpp).
    const std::uint32_t* packed;       ///< unit and lag of each id
    const std::uint32_t* starts;       ///< of windows
    const std::uint64_t* row_offsets;  ///< of windows in `row_ids`
    const std::uint32_t* row_ids;

    const pattern_root* roots;
    std::uint32_t root_count;
    const pattern_task* tasks;     ///< in the order of their patterns
    const std::uint32_t* in_turn;  ///< the tasks in the order in which they are searched
    std::uint32_t task_count;
    const std::uint32_t* windows;    ///< of the roots
    const std::uint32_t* ids;        ///< for each root its candidates, then its excluded items
    const std::uint32_t* items;      ///< of the patterns of roots
    const std::uint32_t* units;      ///< the different units of these
    std::uint32_t* candidates;       ///< the items of all candidates
    std::uint32_t* words;            ///< of candidates and excluded items
    std::uint32_t* starts_of_roots;  ///< those of `windows`
    std::uint32_t* columns;          ///< for each root and id, where its words are, plus 1

    // The tasks [first_task, last_task) are searched.
    std::uint64_t first_task;
    std::uint64_t last_task;
    std::uint32_t* next;  ///< the next task
    task_totals* totals;  ///< of each task
    pattern_store store;

    // The output: null while patterns are only counted.
    const task_place* places;
    std::uint32_t* sizes;
    std::uint32_t* counts;
    std::uint32_t* pattern_items;  ///< encoded as `pattern_item`
    std::uint32_t* occurrences;
};

}  // namespace spikeweave::spade
