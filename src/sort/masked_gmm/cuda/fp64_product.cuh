#pragma once

namespace synfire::masked_gmm {

// sum += a * b of one warp in double precision, 16 rows x 16 terms x 8 columns, on tensor cores.
//
// With g = lane / 4 and t = lane % 4, `a[2 i + r]` is row g + 8 r of term t + 4 i, `b[i]` is term
// t + 4 i of column g, and `sum[2 r + c]` is row g + 8 r of column 2 t + c.
__device__ __forceinline__ void multiply_add(double (&sum)[4], const double (&a)[8],
                                             const double (&b)[4]) {
#if __CUDA_ARCH__ >= 900
    asm("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7, %8, %9, %10, %11}, {%12, %13, %14, %15}, "
        "{%0, %1, %2, %3};"
        : "+d"(sum[0]), "+d"(sum[1]), "+d"(sum[2]), "+d"(sum[3])
        : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]), "d"(a[7]),
          "d"(b[0]), "d"(b[1]), "d"(b[2]), "d"(b[3]));
#else
#pragma unroll
    for (int i = 0; i < 4; ++i) {
#pragma unroll
        for (int r = 0; r < 2; ++r)
            asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                : "+d"(sum[2 * r]), "+d"(sum[2 * r + 1])
                : "d"(a[2 * i + r]), "d"(b[i]));
    }
#endif
}

}  // namespace synfire::masked_gmm
