#include "mine/spade/devices/pattern_input.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

#include "mine/spade/devices/maxima_input.hpp"

namespace spikeweave::spade {
namespace {

std::uint32_t packed_of(const item_index& items, item_index::item_id id) {
    return packed_item::of(items.unit(id), items.lag(id));
}

// A bit for each bin in which a unit fires, as `raster_rows` has them.
std::vector<std::uint32_t> rasters_of(const item_index& items, const maxima_shape& shape) {
    std::vector<std::uint32_t> words(std::size_t{shape.units} * shape.row_words, 0);
    for (std::uint32_t window = 0; window < items.window_count(); ++window) {
        const std::uint32_t at = shape.pad_words * 32 + items.start(window);
        for (const item_index::item_id id : items.first_bin_of(window))
            words[std::size_t{items.unit(id)} * shape.row_words + at / 32] |= 1U << at % 32;
    }
    return words;
}

}  // namespace

pattern_recording::pattern_recording(const item_index& items, const rule_set& rule_set,
                                     const pattern_mining_options& options)
    : least_occ(rule_set.least_occ()),
      max_occ(options.max_occ),
      with_occurrences(options.with_occurrences),
      drops_subsets(options.drop_window_subsets && items.from_bins() && items.window_bins() > 1),
      rules(maxima_rules_of(options).rules),
      row_offsets(items.row_offsets()),
      row_ids(items.all_rows()) {
    shape.recordings = 1;
    shape.units = static_cast<std::uint32_t>(items.unit_count());
    shape.window_bins = items.window_bins();
    shape.pad_words = shape.window_bins / 32 + 1;
    for (item_index::item_id id = 0; id < items.first_bin_items(); ++id)
        shape.most_windows =
            std::max(shape.most_windows, static_cast<std::uint32_t>(items.windows_of(id).size()));
    packed.reserve(items.size());
    for (item_index::item_id id = 0; id < items.size(); ++id)
        packed.push_back(packed_of(items, id));
    starts.reserve(items.window_count());
    for (std::uint32_t w = 0; w < items.window_count(); ++w) starts.push_back(items.start(w));
    if (!drops_subsets || starts.empty()) return;
    shape.row_words = 2 * shape.pad_words + starts.back() / 32 + 2;
    rasters = rasters_of(items, shape);
}

std::uint64_t pattern_recording::bytes() const {
    return 4 * (packed.size() + starts.size() + row_ids.size() + rasters.size()) +
           8 * row_offsets.size() + sizeof(device_rule) * rules.size() + sizeof(raster_rows);
}

root_lists list_items(const item_index& items, item_index::item_id root, std::uint32_t least_occ) {
    std::vector<std::uint32_t> shared(items.size(), 0);
    const auto windows = items.windows_of(root);
    for (const std::uint32_t window : windows)
        for (const item_index::item_id id : items.row(window)) ++shared[id];
    root_lists out;
    for (item_index::item_id id = 0; id < items.size(); ++id) {
        if (shared[id] < least_occ || id == root) continue;
        const bool is_full = shared[id] == windows.size();
        if (id < root) {
            out.excluded.push_back(id);
            out.is_elsewhere = out.is_elsewhere || is_full;
        } else {
            (is_full ? out.closure : out.candidates).push_back(id);
        }
    }
    std::ranges::stable_sort(out.candidates, {},
                             [&](item_index::item_id id) { return shared[id]; });
    out.shared.reserve(out.candidates.size());
    for (const item_index::item_id id : out.candidates) out.shared.push_back(shared[id]);
    return out;
}

double task_sizes::cost_of(const root_lists& root) {
    double sum = 0;
    for (const std::uint32_t shared : root.shared) sum += static_cast<double>(shared) * shared;
    return sum;
}

task_sizes::task_sizes(std::span<const double> costs) {
    // In the published benchmark, the longest task then visits 1 of 15,000 patterns.
    constexpr double parts_wanted = 1U << 18U;
    cost_of_part_ = std::max(1.0, std::accumulate(costs.begin(), costs.end(), 0.0) / parts_wanted);
}

std::uint32_t task_sizes::parts(std::uint32_t shared) const {
    constexpr double most = 64;
    return static_cast<std::uint32_t>(
        std::clamp(static_cast<double>(shared) * shared / cost_of_part_, 1.0, most));
}

std::uint64_t task_sizes::bytes_of(const item_index& items, item_index::item_id root,
                                   const root_lists& lists) const {
    const std::uint64_t windows = items.windows_of(root).size();
    const std::uint64_t listed = lists.candidates.size() + lists.excluded.size();
    std::uint64_t tasks = 0;
    for (const std::uint32_t shared : lists.shared) tasks += parts(shared);
    return sizeof(pattern_root) +
           4 * (items.size() + 2 * windows + 2 * listed + listed * ((windows + 31) / 32)) +
           tasks * (sizeof(pattern_task) + 4 + sizeof(task_totals) + 8 + sizeof(task_place));
}

void pattern_group::add(const item_index& index, item_index::item_id root, const root_lists& lists,
                        const task_sizes& sizes) {
    const auto root_windows = index.windows_of(root);
    pattern_root one{.windows = static_cast<std::uint32_t>(root_windows.size()),
                     .candidates = static_cast<std::uint32_t>(lists.candidates.size()),
                     .excluded = static_cast<std::uint32_t>(lists.excluded.size()),
                     .size = static_cast<std::uint32_t>(1 + lists.closure.size()),
                     .units = 0,
                     .duration = 0,
                     .end = 0,
                     .first_window = windows.size(),
                     .first_id = ids.size(),
                     .first_candidate = candidates,
                     .first_item = items.size(),
                     .first_word = words};
    // Items of the closure have the highest ranks.
    if (!lists.closure.empty()) one.end = one.candidates;
    std::vector<item_index::item_id> pattern{root};
    pattern.insert(pattern.end(), lists.closure.begin(), lists.closure.end());
    std::vector<std::uint32_t> different;
    for (const item_index::item_id id : pattern) {
        items.push_back(packed_of(index, id));
        different.push_back(index.unit(id));
        one.duration = std::max(one.duration, index.lag(id));
    }
    std::ranges::sort(different);
    different.erase(std::unique(different.begin(), different.end()), different.end());
    one.units = static_cast<std::uint32_t>(different.size());
    different.resize(pattern.size());
    units.insert(units.end(), different.begin(), different.end());
    windows.insert(windows.end(), root_windows.begin(), root_windows.end());
    ids.insert(ids.end(), lists.candidates.begin(), lists.candidates.end());
    ids.insert(ids.end(), lists.excluded.begin(), lists.excluded.end());
    words += std::uint64_t{one.planes()} * (one.candidates + one.excluded);
    candidates += one.candidates;
    const auto number = static_cast<std::uint32_t>(roots.size());
    for (std::uint32_t k = 0; k < one.candidates; ++k) {
        const std::uint32_t parts = sizes.parts(lists.shared[k]);
        for (std::uint32_t part = 0; part < parts; ++part)
            tasks.push_back({number, k, part, parts});
    }
    roots.push_back(one);
}

void pattern_group::put_in_turn() {
    in_turn.resize(tasks.size());
    std::iota(in_turn.rbegin(), in_turn.rend(), 0U);
    std::ranges::stable_sort(in_turn, std::greater{},
                             [&](std::uint32_t task) { return roots[tasks[task].root].windows; });
}

}  // namespace spikeweave::spade
