#pragma once

// Loops over numbers that do not depend on each other run twice as wide with AVX2, which compilers
// may not assume. Such a loop is compiled twice, and the processor decides when it runs. Both do
// the same operations in the same order: results are the same to the bit.

#include "core/processor.hpp"

#if defined(__x86_64__)
#define SPIKEWEAVE_AVX2 __attribute__((target("avx2")))
#endif

namespace spikeweave::core {

inline bool has_avx2() {
    return this_processor().avx2;
}

}  // namespace spikeweave::core
