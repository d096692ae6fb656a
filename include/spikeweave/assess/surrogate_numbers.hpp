#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "spikeweave/assess/multiple_testing.hpp"
#include "spikeweave/core/export.hpp"

/// The number of surrogates that a test needs: p = (1 + r) / (1 + n), if r of n surrogates reach
/// the finding, is never below 1 / (1 + n).
namespace spikeweave {

/// Which results are significant.
enum class level_rule : std::uint8_t {
    below,    ///< those whose corrected p is below alpha
    at_most,  ///< those that the correction rejects as in statsmodels, also if p is alpha
};

/// When the tests of one family are significant.
struct test_level {
    double alpha = 0.01;  ///< in (0, 1]
    correction_method correction = correction_method::none;
    level_rule rule = level_rule::below;
};

/// Whether a test that no surrogate reaches is significant, even if it is the only such one of
/// `tests`.
/// @throws invalid_argument if alpha is out of range or there is no test.
SPIKEWEAVE_API bool can_be_significant(std::uint64_t surrogates, std::uint64_t tests,
                                       const test_level& level);

/// The smallest number of surrogates, from 1 to 2^53, for which that is so; 2^53 if none is enough.
SPIKEWEAVE_API std::uint64_t fewest_surrogates(std::uint64_t tests, const test_level& level);

/// The warning before testing if even a single test could not be significant.
SPIKEWEAVE_API std::optional<std::string> warn_of_few_surrogates(std::uint64_t surrogates,
                                                                 const test_level& level);
/// The warning if nothing was significant, and could not have been, because of the number of tests.
/// None if even a single test could not be, because the other function warns of that.
/// @param what  the noun for the findings that were tested, such as "signature"
SPIKEWEAVE_API std::optional<std::string> warn_of_many_tests(std::string_view what,
                                                             std::uint64_t surrogates,
                                                             std::uint64_t tests,
                                                             const test_level& level);

}  // namespace spikeweave
