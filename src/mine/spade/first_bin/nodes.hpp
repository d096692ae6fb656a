#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "mine/spade/first_bin/bit_kernels.hpp"
#include "mine/spade/first_bin/item_index.hpp"

namespace spikeweave::spade {

/// Items of a node by number, with the number of windows that hold them.
struct counted_items {
    std::vector<std::uint32_t> numbers{};
    std::vector<std::uint32_t> counts{};
    std::size_t size = 0;

    void reserve(std::size_t items) {
        if (numbers.size() >= items + 8) return;
        numbers.resize(items + 8);
        counts.resize(items + 8);
    }
    void push(std::uint32_t number, std::uint32_t count) {
        numbers[size] = number;
        counts[size++] = count;
    }
};

/// The common part of both forms of a node with many windows: the items that can still matter,
/// renumbered by rank. Items that must no longer be added precede the candidates.
struct node_items {
    std::vector<std::uint32_t> ranks{};  ///< rank of each number
    std::uint32_t first_candidate = 0;
    std::vector<std::uint32_t> windows{};

    std::uint32_t size() const { return static_cast<std::uint32_t>(ranks.size()); }
};

/// A node's windows as lists of items, and its items as lists of windows. Counting costs a step for
/// every item of every window examined, however many windows there are in all.
struct list_node : node_items {
    struct entry {
        std::uint32_t row;
        std::uint32_t at;  ///< index within that row
    };
    std::vector<std::size_t> row_offsets{};
    std::vector<std::uint32_t> rows{};
    std::vector<std::size_t> column_offsets{};
    std::vector<entry> columns{};

    std::span<const entry> column(std::uint32_t number) const {
        return std::span{columns}.subspan(column_offsets[number],
                                          column_offsets[number + 1] - column_offsets[number]);
    }
    std::span<const std::uint32_t> row(std::uint32_t r) const {
        return std::span{rows}.subspan(row_offsets[r], row_offsets[r + 1] - row_offsets[r]);
    }
};

/// A node's items as bits over its windows: counting costs a step for 64 windows of every item.
struct bit_node : node_items {
    std::size_t planes = 0;
    std::vector<std::uint64_t> words{};

    void shape(std::size_t items, std::size_t window_count) {
        planes = (window_count + 63) / 64;
        words.assign((items + 7) / 8 * 8 * planes, 0);
    }
    /// The bits of an item at windows 64 plane and on.
    std::uint64_t& word(std::size_t number, std::size_t plane) {
        return words[word_place(number, plane, planes)];
    }
    std::uint64_t word(std::size_t number, std::size_t plane) const {
        return words[word_place(number, plane, planes)];
    }
};

/// One element for every depth of a search, which stays in place while deeper ones are made.
template <class T>
class by_depth {
public:
    void reach(std::size_t depth) {
        while (all_.size() <= depth) all_.push_back(std::make_unique<T>());
    }
    T& operator[](std::size_t depth) { return *all_[depth]; }
    const T& operator[](std::size_t depth) const { return *all_[depth]; }

private:
    std::vector<std::unique_ptr<T>> all_;
};

}  // namespace spikeweave::spade
