#include "record/filter/across_channels.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "core/processor.hpp"

#if defined(SPIKEWEAVE_AVX2)
#include <immintrin.h>
#endif

namespace spikeweave::record {
namespace {

struct split_counts {
    std::size_t below = 0;  // of the bracket
    std::size_t inside = 0;
};

// Copies the values inside the bracket to `room`, which has space for all.
split_counts split_plain(std::span<const double> values, double low, double high, double* room) {
    split_counts out;
    for (const double value : values) {
        room[out.inside] = value;
        out.inside +=
            static_cast<std::size_t>(value >= low) & static_cast<std::size_t>(value <= high);
        out.below += static_cast<std::size_t>(value < low);
    }
    return out;
}

#if defined(SPIKEWEAVE_AVX2)
// Few values are inside.
SPIKEWEAVE_AVX2 split_counts split_avx2(std::span<const double> values, double low, double high,
                                        double* room) {
    constexpr std::size_t step = 4;
    const __m256d lows = _mm256_set1_pd(low);
    const __m256d highs = _mm256_set1_pd(high);
    __m256i below = _mm256_setzero_si256();
    std::size_t inside = 0;
    std::size_t at = 0;
    for (; at + step <= values.size(); at += step) {
        const __m256d some = _mm256_loadu_pd(values.data() + at);
        const __m256d is_below = _mm256_cmp_pd(some, lows, _CMP_LT_OQ);
        below = _mm256_sub_epi64(below, _mm256_castpd_si256(is_below));
        const __m256d is_inside = _mm256_and_pd(_mm256_cmp_pd(some, lows, _CMP_GE_OQ),
                                                _mm256_cmp_pd(some, highs, _CMP_LE_OQ));
        for (auto bits = static_cast<unsigned>(_mm256_movemask_pd(is_inside)); bits != 0;
             bits &= bits - 1)
            room[inside++] = values[at + static_cast<unsigned>(std::countr_zero(bits))];
    }
    std::array<std::size_t, step> counts{};
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(counts.data()), below);
    const split_counts rest = split_plain(values.subspan(at), low, high, room + inside);
    return {counts[0] + counts[1] + counts[2] + counts[3] + rest.below, inside + rest.inside};
}
#endif

split_counts split(std::span<const double> values, double low, double high, double* room) {
#if defined(SPIKEWEAVE_AVX2)
    if (core::has_avx2()) return split_avx2(values, low, high, room);
#endif
    return split_plain(values, low, high, room);
}

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
            const auto [below, inside] = split(values, low, high, room_.data());
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

// What fits a register of the processor: compilers keep larger vectors in memory.
using four_floats = float __attribute__((vector_size(16)));
using eight_floats = float __attribute__((vector_size(32)));

// Keeps a tile of the product, some frames by some channels, in registers.
template <class vector, std::size_t rows>
[[gnu::always_inline]] inline void multiply(const float* from, std::size_t channels,
                                            const whitener::tile& tile, float* to) {
    constexpr std::size_t parts = columns_together * sizeof(float) / sizeof(vector);
    vector sums[rows][parts]{};
    const float* of_source = tile.weights.data();
    for (const std::uint32_t k : tile.sources) {
        vector weights[parts];
        std::memcpy(&weights, of_source, sizeof weights);
        of_source += columns_together;
        for (std::size_t r = 0; r < rows; ++r)
            for (std::size_t i = 0; i < parts; ++i)
                sums[r][i] += from[r * channels + k] * weights[i];
    }
    if (tile.columns == columns_together) {
        for (std::size_t r = 0; r < rows; ++r)
            std::memcpy(to + r * channels, &sums[r], sizeof sums[r]);
        return;
    }
    for (std::size_t r = 0; r < rows; ++r)
        std::memcpy(to + r * channels, &sums[r], tile.columns * sizeof(float));
}

template <class vector>
[[gnu::always_inline]] inline void multiply_all(std::span<const whitener::tile> tiles,
                                                std::size_t channels, std::span<float> frames) {
    std::vector<float> from(rows_together * channels);
    for (std::size_t at = 0; at < frames.size(); at += from.size()) {
        const std::span<float> some = frames.subspan(at, std::min(from.size(), frames.size() - at));
        std::copy(some.begin(), some.end(), from.begin());
        const std::size_t rows = some.size() / channels;
        for (const whitener::tile& tile : tiles) {
            float* const to = some.data() + tile.first;
            if (rows == rows_together) {
                multiply<vector, rows_together>(from.data(), channels, tile, to);
                continue;
            }
            for (std::size_t r = 0; r < rows; ++r)
                multiply<vector, 1>(from.data() + r * channels, channels, tile, to + r * channels);
        }
    }
}

#if defined(SPIKEWEAVE_AVX2)
SPIKEWEAVE_AVX2 void multiply_all_avx2(std::span<const whitener::tile> tiles, std::size_t channels,
                                       std::span<float> frames) {
    multiply_all<eight_floats>(tiles, channels, frames);
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
    multiply_all<four_floats>(tiles_, channels_, frames);
}

}  // namespace spikeweave::record
