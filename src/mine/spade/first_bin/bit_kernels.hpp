#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace spikeweave::spade {

/// Numbers of items over a few windows. Bit i of an item's word is set if it is in window i.
struct narrowed {
    std::size_t kept = 0;  ///< items in at least `least` of the windows, but not in all
    std::size_t full = 0;  ///< items in all of them
};

/// Counts the bits of a word. Not every x86-64 has an instruction for it, and without one
/// std::popcount calls a function.
constexpr int bit_count(std::uint64_t word) {
    word -= word >> 1U & 0x5555555555555555U;
    word = (word & 0x3333333333333333U) + (word >> 2U & 0x3333333333333333U);
    word = (word + (word >> 4U)) & 0x0F0F0F0F0F0F0F0FU;
    return static_cast<int>(word * 0x0101010101010101U >> 56U);
}

/// The index of an item's word for windows 64 plane to 64 plane + 63. Eight items are stored side
/// by side, plane by plane, so that counting reads memory from front to back.
constexpr std::size_t word_place(std::size_t item, std::size_t plane, std::size_t planes) {
    return (item / 8 * planes + plane) * 8 + item % 8;
}

/// The inner loops of the search, in the best version that this processor runs. Their output needs
/// room for 8 elements more than there are items.
struct bit_kernels {
    std::string_view name;
    /// Restricts n items to the windows in `mask`, whose number is `windows`. Writes the words and
    /// ids of those kept, in order, and the ids of the full ones.
    narrowed (*narrow)(const std::uint64_t* words, const std::uint32_t* ids, std::size_t n,
                       std::uint64_t mask, std::uint32_t windows, std::uint32_t least,
                       std::uint64_t* kept_words, std::uint32_t* kept_ids, std::uint32_t* full_ids);
    /// Whether one of n items is in every window of `mask`.
    bool (*any_covers)(const std::uint64_t* words, std::size_t n, std::uint64_t mask);
    /// Finds the items [first, last) that are in at least `least` of the windows in `mask`. Writes
    /// their numbers and counts, in order, and returns how many there are. `words` are placed by
    /// `word_place`.
    std::size_t (*find)(const std::uint64_t* words, std::size_t planes, const std::uint64_t* mask,
                        std::size_t first, std::size_t last, std::uint32_t least,
                        std::uint32_t* numbers, std::uint32_t* counts);
    /// Extracts the bits of `word` at the places of `mask` and packs them (like BMI2's pext).
    std::uint64_t (*gather_bits)(std::uint64_t word, std::uint64_t mask);
    /// The cost of `find` for an item and a plane, in steps of counting over lists; measured.
    double find_cost;
};

/// All versions of the loops that this processor runs, the best one last.
std::span<const bit_kernels> runnable_bit_kernels();

inline const bit_kernels& best_bit_kernels() {
    return runnable_bit_kernels().back();
}

}  // namespace spikeweave::spade
