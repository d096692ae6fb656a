#pragma once

#include "mine/spade/devices/pattern_batch.hpp"

namespace spikeweave::spade {

/// The part of a warp in a `pattern_store`: it adds the patterns of one task after another.
template <class Warp>
class store_writer {
    using u32 = std::uint32_t;

public:
    SPIKEWEAVE_LANES store_writer(Warp warp, const pattern_store& store)
        : warp_(warp), store_(store) {}

    /// Begins with the patterns of another task.
    SPIKEWEAVE_LANES void begin_task(std::uint64_t task) {
        task_ = task;
        is_first_ = true;
        is_full_ = false;
    }

    /// The place of a pattern's items, with that of its occurrences behind; null if the task has to
    /// be searched again.
    SPIKEWEAVE_LANES u32* add(const device_pattern& p, bool with_occurrences) {
        const std::uint64_t words =
            std::uint64_t{store_.header} + p.size + (with_occurrences ? p.count : 0);
        if (is_full_ || (words + store_.header > left_ && !claim(words))) {
            forget();
            return nullptr;
        }
        u32* const to = store_.words + at_;
        if (warp_.lane() == 0) {
            if (is_first_) store_.begins[task_] = at_;
            to[0] = p.size;
            to[1] = p.count;
        }
        is_first_ = false;
        at_ += words;
        left_ -= static_cast<u32>(words);
        return to + store_.header;
    }

private:
    // Goes on in a new chunk, if there is one that has room for this.
    SPIKEWEAVE_LANES bool claim(std::uint64_t words) {
        if (words + store_.header > store_.chunk_words) return false;
        u32 chunk = 0;
        if (warp_.lane() == 0) chunk = Warp::add(store_.next_chunk, 1);
        chunk = warp_.first_lane(chunk);
        if (chunk >= store_.chunks) return false;
        if (!is_first_ && warp_.lane() == 0) {
            store_.words[at_] = 0;
            store_.words[at_ + 1] = chunk;
        }
        at_ = std::uint64_t{chunk} * store_.chunk_words;
        left_ = store_.chunk_words;
        return true;
    }

    SPIKEWEAVE_LANES void forget() {
        is_full_ = true;
        if (warp_.lane() == 0) store_.begins[task_] = pattern_store::none;
    }

    Warp warp_;
    const pattern_store& store_;
    std::uint64_t at_ = 0;
    std::uint64_t task_ = 0;
    u32 left_ = 0;
    bool is_first_ = true;
    bool is_full_ = false;
};

/// Copies the patterns of a task from the store to the output.
template <class Warp>
SPIKEWEAVE_LANES void copy_stored(Warp warp, const pattern_batch& batch, std::uint64_t task) {
    using u32 = std::uint32_t;
    const pattern_store& store = batch.store;
    const u32* from = store.words + store.begins[task];
    task_place to = batch.places[task];
    for (u32 left = batch.totals[task].patterns; left > 0; --left) {
        if (from[0] == 0) from = store.words + std::uint64_t{from[1]} * store.chunk_words;
        const u32 size = from[0];
        const u32 count = from[1];
        const u32 occurrences = batch.with_occurrences ? count : 0;
        from += store.header;
        if (warp.lane() == 0) {
            batch.sizes[to.patterns] = size;
            batch.counts[to.patterns] = count;
        }
        for (u32 i = warp.lane(); i < size; i += Warp::size)
            batch.pattern_items[to.items + i] = from[i];
        for (u32 i = warp.lane(); i < occurrences; i += Warp::size)
            batch.occurrences[to.occurrences + i] = from[size + i];
        from += std::uint64_t{size} + occurrences;
        ++to.patterns;
        to.items += size;
        to.occurrences += occurrences;
    }
}

}  // namespace spikeweave::spade
