#include "core/processor.hpp"

#include <gtest/gtest.h>

namespace spikeweave {
namespace {

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)

// g++'s own answers, which other compilers' libraries may lack.
TEST(Processor, CanDoWhatTheCompilersLibraryFinds) {
    const core::processor& has = core::this_processor();
    EXPECT_EQ(has.popcnt, __builtin_cpu_supports("popcnt") != 0);
    EXPECT_EQ(has.bmi2, __builtin_cpu_supports("bmi") != 0 && __builtin_cpu_supports("bmi2") != 0);
    EXPECT_EQ(has.avx2, __builtin_cpu_supports("avx2") != 0);
    EXPECT_EQ(has.avx512, __builtin_cpu_supports("avx512f") != 0 &&
                              __builtin_cpu_supports("avx512vl") != 0 &&
                              __builtin_cpu_supports("avx512vpopcntdq") != 0);
}

#elif !defined(__x86_64__)

TEST(Processor, HasNothingOfAnotherKindOfProcessor) {
    const core::processor& has = core::this_processor();
    EXPECT_FALSE(has.popcnt || has.bmi2 || has.avx2 || has.avx512);
}

#else

TEST(Processor, HasItsFeaturesInTheirOrder) {
    const core::processor& has = core::this_processor();
    EXPECT_TRUE(has.popcnt || !has.avx2);  // no processor has the later without the earlier
    EXPECT_TRUE(has.avx2 || !has.avx512);
}

#endif

}  // namespace
}  // namespace spikeweave
