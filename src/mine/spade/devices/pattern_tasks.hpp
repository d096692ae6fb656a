#pragma once

#include "mine/spade/devices/pattern_goal.hpp"
#include "mine/spade/devices/subtree_search.hpp"

namespace spikeweave::spade {

SPIKEWEAVE_LANES inline item_words candidate_words(const pattern_batch& batch,
                                                   const pattern_root& root) {
    return {batch.words + root.first_word, root.candidates, root.candidates};
}
SPIKEWEAVE_LANES inline item_words excluded_words(const pattern_batch& batch,
                                                  const pattern_root& root) {
    return {batch.words + root.first_word + std::uint64_t{root.planes()} * root.candidates,
            root.excluded, root.excluded};
}

/// Writes the words of one root with all threads of a block:
///   thread(), threads(), sync()
/// and the atomic functions of a `Warp`. The memory of words and columns is zero before.
template <class Block>
SPIKEWEAVE_LANES void fill_root(Block block, const pattern_batch& batch, std::uint32_t number) {
    using u32 = std::uint32_t;
    const pattern_root& root = batch.roots[number];
    u32* const column_of = batch.columns + std::uint64_t{number} * batch.item_count;
    const u32* const candidates = batch.ids + root.first_id;
    const u32* const excluded = candidates + root.candidates;
    for (u32 k = block.thread(); k < root.candidates; k += block.threads()) {
        column_of[candidates[k]] = k + 1;
        batch.candidates[root.first_candidate + k] = batch.packed[candidates[k]];
    }
    for (u32 k = block.thread(); k < root.excluded; k += block.threads())
        column_of[excluded[k]] = root.candidates + k + 1;
    block.sync();
    for (u32 w = block.thread(); w < root.windows; w += block.threads()) {
        const u32 window = batch.windows[root.first_window + w];
        batch.starts_of_roots[root.first_window + w] = batch.starts[window];
        for (std::uint64_t i = batch.row_offsets[window]; i < batch.row_offsets[window + 1]; ++i) {
            const u32 column = column_of[batch.row_ids[i]];
            if (column == 0) continue;
            const u32 k = column - 1;
            u32* const word = k < root.candidates
                                  ? &candidate_words(batch, root).at(w / 32, k)
                                  : &excluded_words(batch, root).at(w / 32, k - root.candidates);
            Block::set_bits(word, 1U << w % 32);
        }
    }
}

/// Searches tasks until there are none left.
/// @param stopped  called by all lanes of a warp; returns the same to each
template <class Warp, class Stop>
SPIKEWEAVE_LANES void search_tasks(Warp warp, const pattern_batch& batch, const warp_space& own,
                                   Stop&& stopped) {
    using u32 = std::uint32_t;
    store_writer<Warp> stored(warp, batch.store);
    for (u32 searched = 1;; ++searched) {
        u32 turn = 0;
        if (warp.lane() == 0) turn = Warp::add(batch.next, 1);
        turn = warp.first_lane(turn);
        if (turn >= batch.task_count || (searched % 16 == 0 && stopped())) return;
        const u32 task = batch.in_turn[turn];
        if (task < batch.first_task || task >= batch.last_task) continue;
        const pattern_task what = batch.tasks[task];
        const pattern_root& root = batch.roots[what.root];
        task_totals& totals = batch.totals[task];
        if (batch.places != nullptr &&
            (totals.patterns == 0 || batch.places[task].patterns == task_place::none))
            continue;
        if (batch.places != nullptr && batch.store.begins[task] != pattern_store::none) {
            copy_stored(warp, batch, task);
            continue;
        }
        const pattern_node node{.candidates = candidate_words(batch, root),
                                .excluded = excluded_words(batch, root),
                                .items = batch.candidates + root.first_candidate,
                                .bins = batch.starts_of_roots + root.first_window,
                                .planes = root.planes(),
                                .least = batch.least_occ,
                                .size = root.size,
                                .units = root.units,
                                .duration = root.duration,
                                .end = root.end};
        for (u32 i = warp.lane(); i < root.size; i += Warp::size)
            own.pattern[i] = batch.items[root.first_item + i];
        warp.sync();
        pattern_goal<Warp> goal(warp, batch, task, stored);
        subtree_search search(warp, batch.rows, own, goal, &totals.left_out,
                              {what.part, what.parts});
        bool is_taken = false;
        const auto next = [&] {
            const u32 one = is_taken ? no_count : what.candidate;
            is_taken = true;
            return one;
        };
        search.run(node, batch.units + root.first_item, next, stopped);
        goal.note_totals();
    }
}

}  // namespace spikeweave::spade
