#include "mine/spade/first_bin/bit_kernels.hpp"

#include <bit>
#include <vector>

#include "core/processor.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#define SPIKEWEAVE_V2 __attribute__((target("popcnt")))
#define SPIKEWEAVE_BMI2 __attribute__((target("bmi2")))
#define SPIKEWEAVE_V4 __attribute__((target("avx512f,avx512vl,avx512vpopcntdq,popcnt,bmi,bmi2")))
#endif

namespace spikeweave::spade {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

// Each loop is written once, and compiled with and without the processor's bit count. Every 64-bit
// ARM processor has NEON, with which the compiler counts bits (`cnt`, `addv`), so there is one
// version for these.

[[gnu::always_inline]] inline narrowed narrow_loop(const u64* words, const u32* ids, std::size_t n,
                                                   u64 mask, u32 windows, u32 least,
                                                   u64* kept_words, u32* kept_ids, u32* full_ids) {
    narrowed out;
    for (std::size_t i = 0; i < n; ++i) {
        const u64 word = words[i] & mask;
        const auto count = static_cast<u32>(std::popcount(word));
        const bool full = count == windows;
        // Always written, and counted only if kept: a branch would be mispredicted too often.
        kept_words[out.kept] = word;
        kept_ids[out.kept] = ids[i];
        full_ids[out.full] = ids[i];
        out.kept += static_cast<std::size_t>(count >= least && !full);
        out.full += static_cast<std::size_t>(full);
    }
    return out;
}

[[gnu::always_inline]] inline std::size_t find_loop(const u64* words, std::size_t planes,
                                                    const u64* mask, std::size_t first,
                                                    std::size_t last, u32 least, u32* numbers,
                                                    u32* counts) {
    std::size_t found = 0;
    for (std::size_t i = first; i < last; ++i) {
        u32 count = 0;
        for (std::size_t p = 0; p < planes; ++p)
            count += static_cast<u32>(std::popcount(words[word_place(i, p, planes)] & mask[p]));
        numbers[found] = static_cast<u32>(i);
        counts[found] = count;
        found += static_cast<std::size_t>(count >= least);
    }
    return found;
}

narrowed narrow_v1(const u64* words, const u32* ids, std::size_t n, u64 mask, u32 windows,
                   u32 least, u64* kept_words, u32* kept_ids, u32* full_ids) {
    return narrow_loop(words, ids, n, mask, windows, least, kept_words, kept_ids, full_ids);
}

std::size_t find_v1(const u64* words, std::size_t planes, const u64* mask, std::size_t first,
                    std::size_t last, u32 least, u32* numbers, u32* counts) {
    return find_loop(words, planes, mask, first, last, least, numbers, counts);
}

bool any_covers_v1(const u64* words, std::size_t n, u64 mask) {
    for (std::size_t i = 0; i < n; ++i)
        if ((mask & ~words[i]) == 0) return true;
    return false;
}

u64 gather_bits_v1(u64 word, u64 mask) {
    u64 out = 0;
    for (u64 place = 1; mask != 0; mask &= mask - 1, place <<= 1U)
        if ((word & mask & (~mask + 1)) != 0) out |= place;
    return out;
}

#if defined(__x86_64__)

SPIKEWEAVE_V2 narrowed narrow_v2(const u64* words, const u32* ids, std::size_t n, u64 mask,
                                 u32 windows, u32 least, u64* kept_words, u32* kept_ids,
                                 u32* full_ids) {
    return narrow_loop(words, ids, n, mask, windows, least, kept_words, kept_ids, full_ids);
}

SPIKEWEAVE_V2 std::size_t find_v2(const u64* words, std::size_t planes, const u64* mask,
                                  std::size_t first, std::size_t last, u32 least, u32* numbers,
                                  u32* counts) {
    return find_loop(words, planes, mask, first, last, least, numbers, counts);
}

SPIKEWEAVE_BMI2 u64 gather_bits_bmi2(u64 word, u64 mask) {
    return _pext_u64(word, mask);
}

// The mask of the remaining lanes of a row of n items, from i on.
SPIKEWEAVE_V4 inline __mmask8 lanes_from(std::size_t i, std::size_t n) {
    return static_cast<__mmask8>(n - i >= 8 ? 0xFFU : (1U << (n - i)) - 1U);
}

SPIKEWEAVE_V4 inline std::size_t bits_in(__mmask8 lanes) {
    return static_cast<std::size_t>(_mm_popcnt_u32(lanes));
}

// Compressed in a register: compressing stores are slow on some processors.
SPIKEWEAVE_V4 inline void store_lanes(u32* to, __mmask8 lanes, __m256i values) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm256_maskz_compress_epi32(lanes, values));
}

SPIKEWEAVE_V4 narrowed narrow_v4(const u64* words, const u32* ids, std::size_t n, u64 mask,
                                 u32 windows, u32 least, u64* kept_words, u32* kept_ids,
                                 u32* full_ids) {
    narrowed out;
    const __m512i masks = _mm512_set1_epi64(static_cast<long long>(mask));
    for (std::size_t i = 0; i < n; i += 8) {
        const __mmask8 lanes = lanes_from(i, n);
        const __m512i word = _mm512_and_si512(_mm512_maskz_loadu_epi64(lanes, words + i), masks);
        const __m256i id = _mm256_maskz_loadu_epi32(lanes, ids + i);
        const __m512i count = _mm512_popcnt_epi64(word);
        const __mmask8 full =
            _mm512_mask_cmpeq_epi64_mask(lanes, count, _mm512_set1_epi64(windows));
        const auto kept = static_cast<__mmask8>(
            _mm512_mask_cmpge_epi64_mask(lanes, count, _mm512_set1_epi64(least)) & ~full);
        _mm512_storeu_si512(kept_words + out.kept, _mm512_maskz_compress_epi64(kept, word));
        store_lanes(kept_ids + out.kept, kept, id);
        out.kept += bits_in(kept);
        if (full == 0) continue;
        store_lanes(full_ids + out.full, full, id);
        out.full += bits_in(full);
    }
    return out;
}

SPIKEWEAVE_V4 bool any_covers_v4(const u64* words, std::size_t n, u64 mask) {
    const __m512i masks = _mm512_set1_epi64(static_cast<long long>(mask));
    for (std::size_t i = 0; i < n; i += 8) {
        const __mmask8 lanes = lanes_from(i, n);
        const __m512i held = _mm512_and_si512(_mm512_maskz_loadu_epi64(lanes, words + i), masks);
        if (_mm512_mask_cmpeq_epi64_mask(lanes, held, masks) != 0) return true;
    }
    return false;
}

SPIKEWEAVE_V4 std::size_t find_v4(const u64* words, std::size_t planes, const u64* mask,
                                  std::size_t first, std::size_t last, u32 least, u32* numbers,
                                  u32* counts) {
    std::size_t found = 0;
    for (std::size_t i = first / 8 * 8; i < last; i += 8) {
        auto lanes = lanes_from(i, last);
        if (i < first) lanes = static_cast<__mmask8>(lanes & (0xFFU << (first - i)));
        const u64* block = words + i * planes;
        __m512i count = _mm512_setzero_si512();
        for (std::size_t p = 0; p < planes; ++p) {
            const __m512i masked =
                _mm512_and_si512(_mm512_loadu_si512(block + 8 * p),
                                 _mm512_set1_epi64(static_cast<long long>(mask[p])));
            count = _mm512_add_epi64(count, _mm512_popcnt_epi64(masked));
        }
        const __mmask8 kept = _mm512_mask_cmpge_epi64_mask(lanes, count, _mm512_set1_epi64(least));
        if (kept == 0) continue;
        const __m256i number = _mm256_add_epi32(_mm256_set1_epi32(static_cast<int>(i)),
                                                _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
        store_lanes(numbers + found, kept, number);
        store_lanes(counts + found, kept, _mm512_maskz_cvtepi64_epi32(kept, count));
        found += bits_in(kept);
    }
    return found;
}

#endif

std::vector<bit_kernels> runnable() {
    std::vector<bit_kernels> all{{"plain", narrow_v1, any_covers_v1, find_v1, gather_bits_v1, 8}};
#if defined(__x86_64__)
    bit_kernels counting{"popcnt", narrow_v2, any_covers_v1, find_v2, gather_bits_v1, 1.5};
    const core::processor& has = core::this_processor();
    if (has.bmi2) counting.gather_bits = gather_bits_bmi2;
    if (has.popcnt) all.push_back(counting);
    if (has.bmi2 && has.avx512)
        all.push_back({"avx512", narrow_v4, any_covers_v4, find_v4, gather_bits_bmi2, 0.3});
#endif
    return all;
}

}  // namespace

std::span<const bit_kernels> runnable_bit_kernels() {
    static const std::vector<bit_kernels> all = runnable();
    return all;
}

}  // namespace spikeweave::spade
