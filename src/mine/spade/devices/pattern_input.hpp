#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stop_token>
#include <vector>

#include "mine/spade/devices/maxima_batch.hpp"
#include "mine/spade/devices/pattern_batch.hpp"
#include "mine/spade/first_bin/item_index.hpp"
#include "mine/spade/first_bin/rule_set.hpp"
#include "spikeweave/mine/spade.hpp"

namespace spikeweave::spade {

/// The input of a device about a recording, in the arrays of `pattern_batch`.
struct pattern_recording {
    pattern_recording(const item_index& items, const rule_set& rules,
                      const pattern_mining_options& options);

    maxima_shape shape{};
    std::uint32_t least_occ;
    std::uint32_t max_occ;
    bool with_occurrences;
    bool drops_subsets;
    std::vector<device_rule> rules{};
    std::vector<std::uint32_t> packed{};
    std::vector<std::uint32_t> starts{};
    std::span<const std::size_t> row_offsets;
    std::span<const item_index::item_id> row_ids;
    std::vector<std::uint32_t> rasters{};  ///< empty if no subset is dropped

    /// Its bytes on a device.
    std::uint64_t bytes() const;
};

/// The items that share enough windows with a root, as `closed_search` ranks them.
struct root_lists {
    std::vector<item_index::item_id> candidates{};  ///< those in fewest of its windows first
    std::vector<std::uint32_t> shared{};            ///< in how many each candidate is
    std::vector<item_index::item_id> excluded{};    ///< earlier ones
    std::vector<item_index::item_id> closure{};     ///< those in all of its windows
    bool is_elsewhere = false;                      ///< an earlier one is in all of its windows
};
root_lists list_items(const item_index& items, item_index::item_id root, std::uint32_t least_occ);

/// The number of tasks of a candidate, so that none takes much longer than others. The time of a
/// search below a candidate rises about with the square of its windows.
class task_sizes {
public:
    /// @param costs  `cost_of` all roots
    explicit task_sizes(std::span<const double> costs);
    /// The time of a search below a root, without unit.
    static double cost_of(const root_lists& root);
    std::uint32_t parts(std::uint32_t shared) const;
    /// The bytes of a root with these lists on a device.
    std::uint64_t bytes_of(const item_index& items, item_index::item_id root,
                           const root_lists& lists) const;

private:
    double cost_of_part_ = 0;
};

/// Some roots, in the order of their ids, in the arrays of `pattern_batch`.
struct pattern_group {
    std::vector<pattern_root> roots{};
    std::vector<pattern_task> tasks{};
    std::vector<std::uint32_t> in_turn{};
    std::vector<std::uint32_t> windows{};
    std::vector<std::uint32_t> ids{};
    std::vector<std::uint32_t> items{};
    std::vector<std::uint32_t> units{};
    std::uint64_t words = 0;
    std::uint64_t candidates = 0;

    void add(const item_index& items, item_index::item_id root, const root_lists& lists,
             const task_sizes& sizes);
    /// Called when all roots have been added. Tasks of the roots with most windows are first, and
    /// among these those of frequent candidates, because they take longest.
    void put_in_turn();
};

}  // namespace spikeweave::spade
