#include "record/filter/across_channels.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "core/processor.hpp"

namespace spikeweave::record {
namespace {

// Medians of consecutive frames. Most channels are outside a bracket around the last median, and
// one comparison decides on which side. All channels are examined only if the median itself is
// outside or if there are few channels.
class running_median {
public:
    explicit running_median(std::size_t channels) : room_(channels) {}

    double of(std::span<const double> values) {
        const std::size_t middle = values.size() / 2;
        if (values.size() >= fewest) {
            const double low = last_ - width_;
            const double high = last_ + width_;
            std::size_t below = 0;
            std::size_t inside = 0;
            for (const double value : values) {
                room_[inside] = value;
                inside += static_cast<std::size_t>(value >= low) &
                          static_cast<std::size_t>(value <= high);
                below += static_cast<std::size_t>(value < low);
            }
            if (below < middle && middle < below + inside) {
                if (inside > values.size() / most_inside) width_ *= narrower;
                return last_ = selected(middle - below, inside, values.size());
            }
        }
        std::copy(values.begin(), values.end(), room_.begin());
        last_ = selected(middle, values.size(), values.size());
        const auto [least, most] = std::minmax_element(values.begin(), values.end());
        width_ = std::max(wider * width_, (*most - *least) / values_across);
        return last_;
    }

private:
    static constexpr std::size_t fewest = 32;
    static constexpr std::size_t most_inside = 8;  // at most one value in 8 is inside
    static constexpr double narrower = 0.95;
    static constexpr double wider = 1.5;
    static constexpr double values_across = 32;

    // Returns the value of this rank among the first `size` values of the buffer; for an even
    // number of channels, its mean with the previous one.
    double selected(std::size_t rank, std::size_t size, std::size_t channels) {
        const auto begin = room_.begin();
        const auto middle = begin + static_cast<std::ptrdiff_t>(rank);
        std::nth_element(begin, middle, begin + static_cast<std::ptrdiff_t>(size));
        if (channels % 2 == 1) return *middle;
        return (*middle + *std::max_element(begin, middle)) / 2;
    }

    std::vector<double> room_;
    double last_ = 0;
    double width_ = 0;
};

constexpr std::size_t columns_together = 16;
constexpr std::size_t rows_together = 4;

// A vector of as many registers as the processor needs for it.
using tile_row = float __attribute__((vector_size(columns_together * sizeof(float))));

// Keeps a tile of the product, some frames by some channels, in registers.
template <std::size_t rows, bool is_whole>
[[gnu::always_inline]] inline void multiply(const float* from, std::size_t channels,
                                            const whitener::tile& tile, float* to) {
    const std::size_t bytes = (is_whole ? columns_together : tile.columns) * sizeof(float);
    tile_row sums[rows]{};
    const float* of_source = tile.weights.data();
    for (const std::uint32_t k : tile.sources) {
        tile_row weights;
        std::memcpy(&weights, of_source, sizeof weights);
        of_source += columns_together;
        for (std::size_t r = 0; r < rows; ++r) sums[r] += from[r * channels + k] * weights;
    }
    for (std::size_t r = 0; r < rows; ++r) std::memcpy(to + r * channels, &sums[r], bytes);
}

[[gnu::always_inline]] inline void multiply_all(std::span<const whitener::tile> tiles,
                                                std::size_t channels, std::span<float> frames) {
    std::vector<float> from(rows_together * channels);
    for (std::size_t at = 0; at < frames.size(); at += from.size()) {
        const std::span<float> some = frames.subspan(at, std::min(from.size(), frames.size() - at));
        std::copy(some.begin(), some.end(), from.begin());
        const std::size_t rows = some.size() / channels;
        for (const whitener::tile& tile : tiles) {
            float* const to = some.data() + tile.first;
            if (rows == rows_together && tile.columns == columns_together)
                multiply<rows_together, true>(from.data(), channels, tile, to);
            else if (rows == rows_together)
                multiply<rows_together, false>(from.data(), channels, tile, to);
            else
                for (std::size_t r = 0; r < rows; ++r)
                    multiply<1, false>(from.data() + r * channels, channels, tile,
                                       to + r * channels);
        }
    }
}

#if defined(SPIKEWEAVE_AVX2)
SPIKEWEAVE_AVX2 void multiply_all_avx2(std::span<const whitener::tile> tiles, std::size_t channels,
                                       std::span<float> frames) {
    multiply_all(tiles, channels, frames);
}
#endif

}  // namespace

void subtract_medians(std::size_t channels, std::span<const std::uint32_t> referenced,
                      std::span<double> frames) {
    running_median median(referenced.size());
    std::vector<double> some(referenced.size());
    const bool all = referenced.size() == channels;
    for (std::size_t at = 0; at < frames.size(); at += channels) {
        const std::span<double> frame = frames.subspan(at, channels);
        if (all) {
            const double taken = median.of(frame);
            for (double& value : frame) value -= taken;
            continue;
        }
        for (std::size_t i = 0; i < some.size(); ++i) some[i] = frame[referenced[i]];
        const double taken = median.of(some);
        for (const std::uint32_t c : referenced) frame[c] -= taken;
    }
}

whitener::whitener(std::span<const float> matrix, std::size_t channels) : channels_(channels) {
    for (std::size_t c = 0; c < channels; c += columns_together) {
        tile of{.first = c, .columns = std::min(columns_together, channels - c)};
        for (std::uint32_t k = 0; k < channels; ++k) {
            const std::span<const float> weights = matrix.subspan(k * channels + c, of.columns);
            if (std::ranges::all_of(weights, [](float weight) { return weight == 0; })) continue;
            of.sources.push_back(k);
            of.weights.insert(of.weights.end(), weights.begin(), weights.end());
            of.weights.resize(of.sources.size() * columns_together);
        }
        tiles_.push_back(std::move(of));
    }
}

void whitener::apply(std::span<float> frames) const {
#if defined(SPIKEWEAVE_AVX2)
    if (core::has_avx2()) {
        multiply_all_avx2(tiles_, channels_, frames);
        return;
    }
#endif
    multiply_all(tiles_, channels_, frames);
}

}  // namespace spikeweave::record
