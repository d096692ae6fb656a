#include "sort/templates/filter_kernels.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

#include "core/processor.hpp"
#include "sort/templates/low_rank.hpp"

#if defined(SPIKEWEAVE_AVX2)
#include <immintrin.h>
#endif

namespace spikeweave::templates {
namespace {

std::int16_t projected(std::int32_t sum) {
    return static_cast<std::int16_t>(
        std::clamp(sum >> filter_bits, -largest_projection, largest_projection));
}

// The frames from `first` on.
void project_from(std::size_t first, std::span<const std::int16_t* const> traces,
                  std::span<const std::int16_t> weights, std::size_t frames,
                  std::span<std::int16_t* const> out) {
    std::vector<std::int32_t> sums(frames - first);
    for (std::size_t r = 0; r < out.size(); ++r) {
        std::ranges::fill(sums, half_filter);
        for (std::size_t c = 0; c < traces.size(); ++c) {
            const std::int32_t weight = weights[r * traces.size() + c];
            const std::int16_t* const trace = traces[c] + first;
            for (std::size_t f = 0; f < sums.size(); ++f) sums[f] += weight * trace[f];
        }
        std::ranges::transform(sums, out[r] + first, projected);
    }
}

void correlate_from(std::size_t first, std::span<const std::int16_t> values,
                    std::span<const std::int16_t> weights, std::span<std::int32_t> sums) {
    for (std::size_t k = 0; k < weights.size(); ++k) {
        const std::int32_t weight = weights[k];
        const std::int16_t* const from = values.data() + k;
        for (std::size_t f = first; f < sums.size(); ++f) sums[f] += weight * from[f];
    }
}

void project_plain(std::span<const std::int16_t* const> traces,
                   std::span<const std::int16_t> weights, std::size_t frames,
                   std::span<std::int16_t* const> out) {
    project_from(0, traces, weights, frames, out);
}

void correlate_plain(std::span<const std::int16_t> values, std::span<const std::int16_t> weights,
                     std::span<std::int32_t> sums) {
    correlate_from(0, values, weights, sums);
}

#if defined(SPIKEWEAVE_AVX2)

// Two numbers of 16 bits beside each other, the first one lower.
std::int32_t pair_of(std::int16_t first, std::int16_t second) {
    return std::bit_cast<std::int32_t>(std::array{first, second});
}

struct sixteen_sums {
    __m256i low;
    __m256i high;
};

// The processor multiplies pairs of 16-bit numbers and adds both products.

SPIKEWEAVE_AVX2 void project_avx2(std::span<const std::int16_t* const> traces,
                                  std::span<const std::int16_t> weights, std::size_t frames,
                                  std::span<std::int16_t* const> out) {
    constexpr std::size_t step = 16;
    const std::size_t channels = traces.size();
    const std::size_t ranks = out.size();
    std::vector<std::int32_t> pairs;  // of channels, by rank
    pairs.reserve((channels + 1) / 2 * ranks);
    for (std::size_t c = 0; c < channels; c += 2)
        for (std::size_t r = 0; r < ranks; ++r) {
            const std::int16_t* const own = weights.data() + r * channels;
            pairs.push_back(pair_of(own[c], c + 1 < channels ? own[c + 1] : std::int16_t{0}));
        }
    const __m256i least = _mm256_set1_epi32(-largest_projection);
    const __m256i most = _mm256_set1_epi32(largest_projection);
    if (frames < step) return project_from(0, traces, weights, frames, out);
    // The last step repeats frames of the one before it.
    for (std::size_t begin = 0; begin < frames; begin += step) {
        const std::size_t f = std::min(begin, frames - step);
        std::array<sixteen_sums, most_ranks> sums;
        for (std::size_t r = 0; r < ranks; ++r)
            sums[r].low = sums[r].high = _mm256_set1_epi32(half_filter);
        const std::int32_t* pair = pairs.data();
        for (std::size_t c = 0; c < channels; c += 2) {
            const std::int16_t* const next = c + 1 < channels ? traces[c + 1] : traces[c];
            const auto a = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(traces[c] + f));
            const auto b = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(next + f));
            const __m256i first = _mm256_unpacklo_epi16(a, b);
            const __m256i second = _mm256_unpackhi_epi16(a, b);
            for (std::size_t r = 0; r < ranks; ++r, ++pair) {
                const __m256i weight = _mm256_set1_epi32(*pair);
                sums[r].low = _mm256_add_epi32(sums[r].low, _mm256_madd_epi16(first, weight));
                sums[r].high = _mm256_add_epi32(sums[r].high, _mm256_madd_epi16(second, weight));
            }
        }
        for (std::size_t r = 0; r < ranks; ++r) {
            const auto limited = [&](__m256i sum) SPIKEWEAVE_AVX2 {
                return _mm256_min_epi32(
                    most, _mm256_max_epi32(least, _mm256_srai_epi32(sum, filter_bits)));
            };
            // Packing undoes the order of unpacking.
            _mm256_storeu_si256(reinterpret_cast<__m256i*>(out[r] + f),
                                _mm256_packs_epi32(limited(sums[r].low), limited(sums[r].high)));
        }
    }
}

// Adds to 32 sums.
SPIKEWEAVE_AVX2 void correlate_step(const std::int32_t* pairs,
                                    std::span<const std::int32_t> weight_pairs,
                                    std::int32_t* sums) {
    auto* const into = reinterpret_cast<__m256i*>(sums);
    __m256i a = _mm256_loadu_si256(into);
    __m256i b = _mm256_loadu_si256(into + 1);
    __m256i c = _mm256_loadu_si256(into + 2);
    __m256i d = _mm256_loadu_si256(into + 3);
    for (const std::int32_t each : weight_pairs) {
        const __m256i weight = _mm256_set1_epi32(each);
        const auto* const from = reinterpret_cast<const __m256i*>(pairs);
        a = _mm256_add_epi32(a, _mm256_madd_epi16(_mm256_loadu_si256(from), weight));
        b = _mm256_add_epi32(b, _mm256_madd_epi16(_mm256_loadu_si256(from + 1), weight));
        c = _mm256_add_epi32(c, _mm256_madd_epi16(_mm256_loadu_si256(from + 2), weight));
        d = _mm256_add_epi32(d, _mm256_madd_epi16(_mm256_loadu_si256(from + 3), weight));
        pairs += 2;
    }
    _mm256_storeu_si256(into, a);
    _mm256_storeu_si256(into + 1, b);
    _mm256_storeu_si256(into + 2, c);
    _mm256_storeu_si256(into + 3, d);
}

SPIKEWEAVE_AVX2 void correlate_avx2(std::span<const std::int16_t> values,
                                    std::span<const std::int16_t> weights,
                                    std::span<std::int32_t> sums) {
    constexpr std::size_t step = 32;
    // Pairs of 0 after the last one, so that the last step is a whole one.
    std::vector<std::int32_t> pairs(values.size() + step);
    for (std::size_t i = 0; i + 1 < values.size(); ++i)
        pairs[i] = pair_of(values[i], values[i + 1]);
    if (!values.empty()) pairs[values.size() - 1] = pair_of(values.back(), 0);
    std::vector<std::int32_t> weight_pairs;
    weight_pairs.reserve((weights.size() + 1) / 2);
    for (std::size_t k = 0; k < weights.size(); k += 2)
        weight_pairs.push_back(
            pair_of(weights[k], k + 1 < weights.size() ? weights[k + 1] : std::int16_t{0}));
    std::size_t f = 0;
    for (; f + step <= sums.size(); f += step)
        correlate_step(pairs.data() + f, weight_pairs, sums.data() + f);
    if (f == sums.size()) return;
    std::array<std::int32_t, step> last{};
    std::copy(sums.begin() + static_cast<std::ptrdiff_t>(f), sums.end(), last.begin());
    correlate_step(pairs.data() + f, weight_pairs, last.data());
    std::copy_n(last.begin(), sums.size() - f, sums.begin() + static_cast<std::ptrdiff_t>(f));
}

#endif

std::vector<filter_kernels> runnable() {
    std::vector<filter_kernels> all{{"plain", project_plain, correlate_plain}};
#if defined(SPIKEWEAVE_AVX2)
    if (core::has_avx2()) all.push_back({"avx2", project_avx2, correlate_avx2});
#endif
    return all;
}

}  // namespace

std::span<const filter_kernels> runnable_filter_kernels() {
    static const std::vector<filter_kernels> all = runnable();
    return all;
}

}  // namespace spikeweave::templates
