#pragma once

// The features of the processor beyond those of every x86-64. The compiler's own question,
// __builtin_cpu_supports, is answered by its run-time library, and that of zig, with which wheels
// are compiled, always answers no.

//
// Loops over numbers that do not depend on each other run twice as wide with AVX2, which compilers
// may not assume. Such a loop is compiled twice, and the processor decides when it runs. Both do
// the same operations in the same order: results are the same to the bit.

#if defined(__x86_64__)
#include <cpuid.h>
#define SPIKEWEAVE_AVX2 __attribute__((target("avx2")))
#endif

namespace spikeweave::core {

struct processor {
    bool popcnt = false;
    bool bmi2 = false;  // with bmi
    bool avx2 = false;
    bool avx512 = false;  // F, VL and VPOPCNTDQ
};

#if defined(__x86_64__)

inline processor asked_processor() {
    processor has;
    unsigned a = 0;
    unsigned b = 0;
    unsigned c = 0;
    unsigned d = 0;
    if (__get_cpuid(1, &a, &b, &c, &d) == 0) return has;
    const auto bit = [](unsigned word, int place) { return (word >> place & 1U) != 0; };
    has.popcnt = bit(c, 23);
    unsigned kept = 0;  // the registers that the operating system keeps for a thread
    if (bit(c, 27)) {
        unsigned high = 0;
        __asm__("xgetbv" : "=a"(kept), "=d"(high) : "c"(0));
    }
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0) return has;
    constexpr unsigned ymm = 0x06;
    constexpr unsigned zmm = 0xE6;
    has.bmi2 = bit(b, 3) && bit(b, 8);
    has.avx2 = bit(b, 5) && (kept & ymm) == ymm;
    has.avx512 = bit(b, 16) && bit(b, 31) && bit(c, 14) && (kept & zmm) == zmm;
    return has;
}

#else

inline processor asked_processor() {
    return {};
}

#endif

inline const processor& this_processor() {
    static const processor has = asked_processor();
    return has;
}

inline bool has_avx2() {
    return this_processor().avx2;
}

}  // namespace spikeweave::core
