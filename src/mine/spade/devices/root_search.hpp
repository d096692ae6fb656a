#pragma once

#include "mine/spade/devices/maxima_goal.hpp"
#include "mine/spade/devices/subtree_search.hpp"

namespace spikeweave::spade {

/// The data that the warps of a block share while they search below one root.
struct root_state {
    std::uint32_t task;
    std::uint32_t least;
    std::uint32_t kept;      ///< candidates
    std::uint32_t excluded;  ///< first-bin items of earlier units
    std::uint32_t full;      ///< items in all windows, with the root itself
    std::uint32_t elsewhere;
    std::uint32_t next_child;
    std::uint32_t units;
    std::uint32_t duration;
    std::uint32_t items[warp_space::most_path];  ///< the root's pattern
    std::uint32_t path[warp_space::most_path];   ///< its units
};

/// The memory of one block for the node of a root.
struct root_space {
    std::uint32_t* counts;    ///< by unit and lag
    std::uint32_t* places;    ///< by count: the number of items, then where they go
    std::uint32_t* items;     ///< of candidates
    std::uint32_t* words;     ///< of candidates
    std::uint32_t* excluded;  ///< words of excluded items
};

/// Makes the node of one root with all threads of a block:
///   thread(), threads(), sync()
/// and the atomic functions of a `Warp`. A root is a unit; its windows begin where it fires.
/// Candidates are sorted by the number of windows they are in, rare ones first, as on the CPU.
template <class Block>
class root_opener {
    using u32 = std::uint32_t;

public:
    SPIKEWEAVE_LANES root_opener(Block block, const maxima_batch& batch, u32 recording, u32 root,
                                 const root_space& space, root_state& state)
        : block_(block),
          batch_(batch),
          rows_(batch.rasters + batch.row(recording, 0) * batch.shape.row_words),
          left_out_(batch.left_out + recording),
          root_(root),
          bins_(batch.bins + batch.offsets[batch.row(recording, root)]),
          windows_(static_cast<u32>(batch.offsets[batch.row(recording, root) + 1] -
                                    batch.offsets[batch.row(recording, root)])),
          space_(space),
          state_(state) {}

    /// Fills `node`, the same for all threads; false if the root's pattern is found elsewhere.
    /// @param least  the least count of anything wanted
    SPIKEWEAVE_LANES bool open(u32 least, pattern_node& node) {
        if (block_.thread() == 0) {
            state_.kept = state_.excluded = state_.elsewhere = state_.next_child = 0;
            state_.full = 1;
            state_.items[0] = packed_item::of(root_, 0);
        }
        for (u32 i = block_.thread(); i <= windows_; i += block_.threads()) space_.places[i] = 0;
        block_.sync();
        count_items(least);
        block_.sync();
        if (state_.elsewhere != 0) return false;
        if (block_.thread() == 0) {
            state_.kept = sum_up();
            name_pattern();
        }
        const u32 excluded = state_.excluded;
        block_.sync();
        if (block_.thread() == 0) state_.excluded = 0;
        block_.sync();
        take_items(excluded);
        block_.sync();
        node = {.candidates = {space_.words, state_.kept, state_.kept},
                .excluded = {space_.excluded, excluded, excluded},
                .items = space_.items,
                .bins = bins_,
                .planes = planes(),
                .least = least,
                .size = state_.full,
                .units = state_.units,
                .duration = state_.duration};
        return true;
    }

private:
    SPIKEWEAVE_LANES u32 planes() const { return (windows_ + 31) / 32; }

    // The windows of a plane that hold an item.
    SPIKEWEAVE_LANES u32 word(u32 unit, u32 lag, u32 plane) const {
        const u32* row = rows_ + std::uint64_t{unit} * batch_.shape.row_words;
        const u32 first = plane * 32;
        const u32 last = windows_ - first < 32 ? windows_ : first + 32;
        u32 out = 0;
        for (u32 i = first; i < last; ++i) {
            const u32 at = batch_.shape.pad_words * 32 + bins_[i] + lag;
            out |= (row[at / 32] >> at % 32 & 1U) << (i - first);
        }
        return out;
    }

    SPIKEWEAVE_LANES void count_items(u32 least) {
        const u32 lags = batch_.shape.window_bins;
        for (u32 x = block_.thread(); x < batch_.shape.items(); x += block_.threads()) {
            const u32 unit = x / lags;
            const u32 lag = x % lags;
            u32 held = 0;
            for (u32 p = 0; p < planes(); ++p) held += Block::bits(word(unit, lag, p));
            const bool is_root = unit == root_ && lag == 0;
            space_.counts[x] = held < least || is_root ? 0 : held;
            if (held < least || is_root) continue;
            if (lag == 0 && unit < root_) {
                Block::add(&state_.excluded, 1);
                if (held == windows_) state_.elsewhere = 1;
            } else if (held < windows_) {
                Block::add(space_.places + held, 1);
            } else {
                space_.counts[x] = 0;
                const u32 at = Block::add(&state_.full, 1);
                if (at < warp_space::most_path) state_.items[at] = packed_item::of(unit, lag);
            }
        }
    }

    // From how many items have each count to where the first of them goes; returns the number of
    // all.
    SPIKEWEAVE_LANES u32 sum_up() {
        u32 before = 0;
        for (u32 held = 0; held <= windows_; ++held) {
            const u32 items = space_.places[held];
            space_.places[held] = before;
            before += items;
        }
        return before;
    }

    SPIKEWEAVE_LANES void name_pattern() {
        state_.units = 0;
        state_.duration = 0;
        if (state_.full > warp_space::most_path) {
            state_.full = warp_space::most_path;
            Block::raise(left_out_, 1);
        }
        for (u32 i = 0; i < state_.full; ++i) {
            const u32 unit = packed_item::unit(state_.items[i]);
            const u32 lag = packed_item::lag(state_.items[i]);
            if (lag > state_.duration) state_.duration = lag;
            bool known = false;
            for (u32 k = 0; k < state_.units; ++k) known = known || state_.path[k] == unit;
            if (!known) state_.path[state_.units++] = unit;
        }
    }

    SPIKEWEAVE_LANES void take_items(u32 excluded) {
        const u32 lags = batch_.shape.window_bins;
        for (u32 x = block_.thread(); x < batch_.shape.items(); x += block_.threads()) {
            const u32 held = space_.counts[x];
            if (held == 0) continue;
            const u32 unit = x / lags;
            const u32 lag = x % lags;
            const bool is_excluded = lag == 0 && unit < root_;
            const u32 at =
                is_excluded ? Block::add(&state_.excluded, 1) : Block::add(space_.places + held, 1);
            const item_words to = is_excluded ? item_words{space_.excluded, excluded, excluded}
                                              : item_words{space_.words, state_.kept, state_.kept};
            if (!is_excluded) space_.items[at] = packed_item::of(unit, lag);
            for (u32 p = 0; p < planes(); ++p) to.at(p, at) = word(unit, lag, p);
        }
    }

    Block block_;
    const maxima_batch& batch_;
    const u32* rows_;
    u32* left_out_;
    u32 root_;
    const u32* bins_;
    u32 windows_;
    root_space space_;
    root_state& state_;
};

/// Searches below roots until there are none left, with all warps of a block.
/// @param stopped  called by all lanes of a warp; returns the same to each
template <class Block, class Warp, class Stop>
SPIKEWEAVE_LANES void search_roots(Block block, Warp warp, const maxima_batch& batch,
                                   const root_space& root, const warp_space& own, root_state& state,
                                   Stop&& stopped) {
    using u32 = std::uint32_t;
    for (;;) {
        if (block.thread() < Warp::size) {
            const bool stops = stopped();
            if (block.thread() == 0) state.task = stops ? no_count : Block::add(batch.next, 1);
        }
        block.sync();
        const u32 task = state.task;
        if (task / batch.shape.recordings >= batch.shape.units) return;
        // Recordings alternate, so that the maxima of each rise before its next root is opened.
        const u32 recording = task % batch.shape.recordings;
        const u32 unit = batch.roots[batch.row(recording, task / batch.shape.recordings)];
        const std::uint64_t row = batch.row(recording, unit);
        const auto windows = static_cast<u32>(batch.offsets[row + 1] - batch.offsets[row]);
        maxima_goal<Warp> goal(warp, batch, recording);
        if (block.thread() < Warp::size) {
            const u32 wanted = goal.least(0, 0, 0, no_count, no_count);
            const bool goes_on = Warp::load(batch.left_out + recording) == 0;
            if (block.thread() == 0) state.least = goes_on ? wanted : no_count;
        }
        block.sync();
        const u32 least = state.least;
        pattern_node node;
        if (windows >= least) {
            root_opener<Block> opener(block, batch, recording, unit, root, state);
            if (opener.open(least, node)) {
                const raster_rows rows = batch.rows_of(recording);
                subtree_search search(warp, batch.drop_window_subsets ? &rows : nullptr, own, goal,
                                      batch.left_out + recording);
                if (block.thread() < Warp::size) search.take_root(node, windows);
                // Frequent items are first: their subtrees are the largest, so that warps end at
                // about the same time, and patterns found there save others.
                const auto next = [&] {
                    u32 taken = 0;
                    if (warp.lane() == 0) taken = Block::add(&state.next_child, 1);
                    taken = warp.first_lane(taken);
                    const u32 candidates = node.candidates.count;
                    return taken < candidates ? candidates - 1 - taken : no_count;
                };
                search.run(node, state.path, next, stopped);
            }
        }
        block.sync();
    }
}

}  // namespace spikeweave::spade
