#pragma once

#include <cstdint>

namespace synfire::masked_gmm {

// Products of one warp on tensor cores: 16 rows x 16 terms x 8 columns.
//
// With g = lane / 4 and t = lane % 4, `a[2 i + r]` is row g + 8 r of term t + 4 i, `b[i]` is term
// t + 4 i of column g, and `sum[2 r + c]` is row g + 8 r of column 2 t + c.
template <class Real>
struct tensor_product;

// Double precision throughout.
template <>
struct tensor_product<double> {
    using left = double[8];
    using right = double;

    static __device__ right split(double coefficient) { return coefficient; }

    static __device__ __forceinline__ void multiply_add(double (&sum)[4], const left& a,
                                                        const right (&b)[4]) {
#if __CUDA_ARCH__ >= 900
        asm("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 "
            "{%0, %1, %2, %3}, {%4, %5, %6, %7, %8, %9, %10, %11}, {%12, %13, %14, %15}, "
            "{%0, %1, %2, %3};"
            : "+d"(sum[0]), "+d"(sum[1]), "+d"(sum[2]), "+d"(sum[3])
            : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]),
              "d"(a[7]), "d"(b[0]), "d"(b[1]), "d"(b[2]), "d"(b[3]));
#else
#pragma unroll
        for (int i = 0; i < 4; ++i) {
#pragma unroll
            for (int r = 0; r < 2; ++r)
                asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, "
                    "{%0, %1};"
                    : "+d"(sum[2 * r]), "+d"(sum[2 * r + 1])
                    : "d"(a[2 * i + r]), "d"(b[i]));
        }
#endif
    }
};

// Single precision: tensor cores take 11 bits of a number, so each is split in two, and of the four
// products the one of the small parts is left out.
template <>
struct tensor_product<float> {
    using left = float[8];
    using right = float2;

    static __device__ std::uint32_t rounded(float x) {
        std::uint32_t bits = 0;
        asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
        return bits;
    }
    static __device__ right split(double coefficient) {
        const float high = __uint_as_float(rounded(static_cast<float>(coefficient)));
        const auto low = static_cast<float>(coefficient - high);
        return {high, __uint_as_float(rounded(low))};
    }
    static __device__ __forceinline__ void product(float (&sum)[4], const std::uint32_t* a,
                                                   float b0, float b1) {
        asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, "
            "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
            : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(__float_as_uint(b0)),
              "r"(__float_as_uint(b1)));
    }
    static __device__ __forceinline__ void multiply_add(float (&sum)[4], const left& a,
                                                        const right (&b)[4]) {
        std::uint32_t high[8];
        std::uint32_t low[8];
#pragma unroll
        for (int e = 0; e < 8; ++e) {
            high[e] = rounded(a[e]);
            low[e] = rounded(a[e] - __uint_as_float(high[e]));
        }
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const right& near = b[2 * half];
            const right& far = b[2 * half + 1];
            product(sum, low + 4 * half, near.x, far.x);
            product(sum, high + 4 * half, near.y, far.y);
            product(sum, high + 4 * half, near.x, far.x);
        }
    }
};

}  // namespace synfire::masked_gmm
