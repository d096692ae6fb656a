#include "assess/surrogates/generators.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "spikeweave/core/error.hpp"

namespace spikeweave::assess {
namespace {

// Draws different places from `order`, which holds 0, 1, … in any order, and adds `first` to them.
// The result is ascending.
void append_places(std::size_t count, std::uint32_t first, std::span<std::uint32_t> order,
                   std::vector<std::uint32_t>& out, random_stream& random) {
    const auto begin = static_cast<std::ptrdiff_t>(out.size());
    for (std::size_t i = 0; i < count; ++i) {
        std::swap(order[i], order[i + random.below(order.size() - i)]);
        out.push_back(first + order[i]);
    }
    std::sort(out.begin() + begin, out.end());
}

std::vector<std::uint32_t> numbers_below(std::uint32_t n) {
    std::vector<std::uint32_t> out(n);
    std::iota(out.begin(), out.end(), 0U);
    return out;
}

}  // namespace

bin_shuffler::bin_shuffler(const bin_grid& grid, const surrogate_options& options)
    : bin_count_(grid.bin_count()), sliding_(options.sliding) {
    const std::int64_t displacement = options.dither / grid.bin();
    if (displacement < 1)
        throw invalid_argument(
            fmt::format("bin-shuffling needs a dither of at least one bin ({}), not {}",
                        format_duration(grid.bin()), format_duration(options.dither)));
    block_ = static_cast<std::uint32_t>(std::min<std::int64_t>(2 * displacement, bin_count_));
}

void bin_shuffler::shuffle(std::span<const std::uint32_t> bins, std::vector<std::uint32_t>& out,
                           random_stream& random) const {
    out.clear();
    out.reserve(bins.size());
    if (sliding_ && block_ < bin_count_)
        slide(bins, out, random);
    else
        shuffle_blocks(bins, out, random);
}

// Bins are only occupied or empty, so a permutation of them is a choice of the occupied ones.
void bin_shuffler::shuffle_blocks(std::span<const std::uint32_t> bins,
                                  std::vector<std::uint32_t>& out, random_stream& random) const {
    std::vector<std::uint32_t> order = numbers_below(block_);
    for (std::size_t begin = 0; begin < bins.size();) {
        const std::uint32_t first = bins[begin] / block_ * block_;
        if (bin_count_ - first < block_) order = numbers_below(bin_count_ - first);
        std::size_t end = begin + 1;
        while (end < bins.size() && bins[end] - first < block_) ++end;
        append_places(end - begin, first, order, out, random);
        begin = end;
    }
}

// After each permutation only the number of occupied bins in the block matters: its first bin,
// which no later block contains, is one of them with that probability. As in Elephant the last
// block ends
// before the last bin.
void bin_shuffler::slide(std::span<const std::uint32_t> bins, std::vector<std::uint32_t>& out,
                         random_stream& random) const {
    auto next = std::lower_bound(bins.begin(), bins.end(), block_);
    auto fired = static_cast<std::size_t>(next - bins.begin());
    std::uint32_t first = 0;
    for (; first + block_ < bin_count_; ++first) {
        if (random.below(block_) < fired) {
            out.push_back(first);
            --fired;
        }
        if (next == bins.end() || *next != first + block_) continue;
        ++next;
        if (first + block_ + 1 < bin_count_) ++fired;
    }
    std::vector<std::uint32_t> order = numbers_below(block_ - 1);
    append_places(fired, first, order, out, random);
    if (!bins.empty() && bins.back() + 1 == bin_count_) out.push_back(bins.back());
}

}  // namespace spikeweave::assess
