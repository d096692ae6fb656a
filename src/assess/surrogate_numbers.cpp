#include "spikeweave/assess/surrogate_numbers.hpp"

#include <fmt/format.h>

#include <array>

#include "core/text.hpp"

namespace spikeweave {
namespace {

double least_p(std::uint64_t surrogates) {
    return 1 / (1 + static_cast<double>(surrogates));
}

}  // namespace

bool can_be_significant(std::uint64_t surrogates, std::uint64_t tests, const test_level& level) {
    const std::array p{least_p(surrogates)};
    const correction_result corrected = correct_tests(p, tests, level.correction, level.alpha);
    return level.rule == level_rule::below ? corrected.q.front() < level.alpha
                                           : corrected.rejected.front();
}

std::uint64_t fewest_surrogates(std::uint64_t tests, const test_level& level) {
    constexpr std::uint64_t most = std::uint64_t{1} << 53U;
    std::uint64_t enough = 1;
    while (enough < most && !can_be_significant(enough, tests, level)) enough *= 2;
    std::uint64_t too_few = enough / 2;
    while (enough - too_few > 1) {
        const std::uint64_t middle = too_few + (enough - too_few) / 2;
        (can_be_significant(middle, tests, level) ? enough : too_few) = middle;
    }
    return enough;
}

std::optional<std::string> warn_of_few_surrogates(std::uint64_t surrogates,
                                                  const test_level& level) {
    const test_level alone{level.alpha, correction_method::none, level.rule};
    if (can_be_significant(surrogates, 1, alone)) return {};
    return fmt::format(
        "With {} surrogates nothing can be significant at alpha {}: no p is below {:.2g}. Use at "
        "least {}.",
        core::grouped(surrogates), level.alpha, least_p(surrogates),
        core::grouped(fewest_surrogates(1, alone)));
}

std::optional<std::string> warn_of_many_tests(std::string_view what, std::uint64_t surrogates,
                                              std::uint64_t tests, const test_level& level) {
    if (tests == 0 || warn_of_few_surrogates(surrogates, level) ||
        can_be_significant(surrogates, tests, level))
        return {};
    return fmt::format(
        "No {} is significant, and with {} surrogates no single one of the {} tested could be: {} "
        "would be enough for any one of them.",
        what, core::grouped(surrogates), core::grouped(tests),
        core::grouped(fewest_surrogates(tests, level)));
}

}  // namespace spikeweave
