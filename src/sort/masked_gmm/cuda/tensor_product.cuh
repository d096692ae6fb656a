#pragma once

#include <cstdint>

namespace spikeweave::masked_gmm {

// Products of one warp on tensor cores: 16 rows x 16 terms x 8 columns.
//
// With g = lane / 4 and t = lane % 4, `a[2 i + r]` is row g + 8 r of term t + 4 i, `b[i]` is term t
// + 4 i of column g, and `sum[2 r + c]` is row g + 8 r of column 2 t + c. Coefficients are in
// shared memory, 8 bytes each: for eight columns, the first two of each lane, lane by lane, and
// then the other two, so that a warp reads without bank conflicts.
template <class Real>
struct tensor_product;

// The same product without the tensor cores, which take these types from compute capability 8.0 on.
// Each lane asks the others for the terms of its rows and columns.
template <class Real>
__device__ __forceinline__ void multiply_add_by_lanes(Real (&sum)[4], const Real (&a)[8],
                                                      const Real (&b)[4]) {
    constexpr unsigned all = 0xffffffffU;
    const unsigned lane = threadIdx.x % 32;
#pragma unroll
    for (unsigned i = 0; i < 4; ++i) {
#pragma unroll
        for (unsigned t = 0; t < 4; ++t) {
#pragma unroll
            for (unsigned c = 0; c < 2; ++c) {
                const Real coefficient = __shfl_sync(all, b[i], lane % 4 * 8 + c * 4 + t);
#pragma unroll
                for (unsigned r = 0; r < 2; ++r) {
                    const Real term = __shfl_sync(all, a[2 * i + r], lane / 4 * 4 + t);
                    sum[2 * r + c] = fma(term, coefficient, sum[2 * r + c]);
                }
            }
        }
    }
}

// Uses double precision throughout.
template <>
struct tensor_product<double> {
    using coefficient = double;

    static __device__ coefficient split(double exact) { return exact; }

    static __device__ __forceinline__ void product(double (&sum)[4], const double (&a)[8],
                                                   const double (&b)[4]) {
#if __CUDA_ARCH__ >= 900
        asm("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 "
            "{%0, %1, %2, %3}, {%4, %5, %6, %7, %8, %9, %10, %11}, {%12, %13, %14, %15}, "
            "{%0, %1, %2, %3};"
            : "+d"(sum[0]), "+d"(sum[1]), "+d"(sum[2]), "+d"(sum[3])
            : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]),
              "d"(a[7]), "d"(b[0]), "d"(b[1]), "d"(b[2]), "d"(b[3]));
#elif __CUDA_ARCH__ >= 800
#pragma unroll
        for (int i = 0; i < 4; ++i) {
#pragma unroll
            for (int r = 0; r < 2; ++r)
                asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, "
                    "{%0, %1};"
                    : "+d"(sum[2 * r]), "+d"(sum[2 * r + 1])
                    : "d"(a[2 * i + r]), "d"(b[i]));
        }
#else
        multiply_add_by_lanes(sum, a, b);
#endif
    }

    template <unsigned Most>
    static __device__ __forceinline__ void multiply_add(double (&sum)[Most][4],
                                                        const double (&a)[8], const char* ring,
                                                        unsigned count) {
        const auto* const at = reinterpret_cast<const double2*>(ring) + threadIdx.x % 32;
#pragma unroll
        for (unsigned j = 0; j < Most; ++j) {
            if (j >= count) break;
            const double2 low = at[64 * j];
            const double2 high = at[64 * j + 32];
            const double b[4] = {low.x, low.y, high.x, high.y};
            product(sum[j], a, b);
        }
    }
};

// Single precision: tensor cores use 11 bits of a number, so each number is split in two, and of
// the four products that of the two small parts is left out.
template <>
struct tensor_product<float> {
    using coefficient = float2;

    static __device__ std::uint32_t rounded(float x) {
        std::uint32_t bits = __float_as_uint(x);
#if __CUDA_ARCH__ >= 800
        asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
#else
        // To the nearest, ties away from zero; an infinity or not-a-number stays what it is.
        if (isfinite(x)) bits = (bits + 0x1000U) & 0xffffe000U;
#endif
        return bits;
    }
    static __device__ coefficient split(double exact) {
        const float high = __uint_as_float(rounded(static_cast<float>(exact)));
        const auto low = static_cast<float>(exact - high);
        return {high, __uint_as_float(rounded(low))};
    }
#if __CUDA_ARCH__ >= 800
    static __device__ __forceinline__ void product(float (&sum)[4], const std::uint32_t* a,
                                                   float b0, float b1) {
        asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, "
            "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
            : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(__float_as_uint(b0)),
              "r"(__float_as_uint(b1)));
    }
    // Products into the same sum are spread out, because each waits for the one before.
    template <unsigned Most>
    static __device__ __forceinline__ void multiply_add(float (&sum)[Most][4], const float (&a)[8],
                                                        const char* ring, unsigned count) {
        std::uint32_t high[8];
        std::uint32_t low[8];
#pragma unroll
        for (int e = 0; e < 8; ++e) {
            high[e] = rounded(a[e]);
            low[e] = rounded(a[e] - __uint_as_float(high[e]));
        }
        const auto* const at = reinterpret_cast<const float4*>(ring) + threadIdx.x % 32;
        constexpr unsigned at_once = 7;
        static_assert(Most % at_once == 0);
#pragma unroll
        for (unsigned first = 0; first < Most; first += at_once) {
            float4 b[at_once][2];
#pragma unroll
            for (unsigned j = 0; j < at_once; ++j) {
                if (first + j >= count) break;
                b[j][0] = at[64 * (first + j)];
                b[j][1] = at[64 * (first + j) + 32];
            }
#pragma unroll
            for (unsigned part = 0; part < 6; ++part) {
                const unsigned half = part % 2;
                const std::uint32_t* const left = (part < 2 ? low : high) + 4 * half;
#pragma unroll
                for (unsigned j = 0; j < at_once; ++j) {
                    if (first + j >= count) break;
                    const bool small = part / 2 == 1;
                    product(sum[first + j], left, small ? b[j][half].y : b[j][half].x,
                            small ? b[j][half].w : b[j][half].z);
                }
            }
        }
    }
#else
    template <unsigned Most>
    static __device__ __forceinline__ void multiply_add(float (&sum)[Most][4], const float (&a)[8],
                                                        const char* ring, unsigned count) {
        const auto* const at = reinterpret_cast<const float4*>(ring) + threadIdx.x % 32;
#pragma unroll
        for (unsigned j = 0; j < Most; ++j) {
            if (j >= count) break;
            const float4 low = at[64 * j];
            const float4 high = at[64 * j + 32];
            // The two parts of a coefficient fit into one number together.
            const float b[4] = {low.x + low.y, low.z + low.w, high.x + high.y, high.z + high.w};
            multiply_add_by_lanes(sum[j], a, b);
        }
    }
#endif
};

}  // namespace spikeweave::masked_gmm
