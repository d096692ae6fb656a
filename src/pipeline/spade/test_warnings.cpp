#include "pipeline/spade/search_and_test.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "core/text.hpp"
#include "spikeweave/assess/surrogate_numbers.hpp"

namespace spikeweave::pipeline {
namespace {

struct test_counts {
    std::uint64_t tested = 0;
    std::uint64_t significant = 0;
    std::uint64_t undecided = 0;  // reached by no surrogate, and still not significant
    std::uint64_t untested = 0;   // significant without a test
};

test_counts counted(const signature_test_result& tests) {
    test_counts out;
    for (const signature_test& one : tests.signatures) {
        out.tested += one.tested ? 1 : 0;
        out.significant += one.significant ? 1 : 0;
        if (one.reason != test_reason::absent) continue;
        out.undecided += one.significant ? 0 : 1;
        out.untested += one.tested ? 0 : 1;
    }
    return out;
}

void warn_of_too_few_surrogates(const test_counts& counts, const spade_input& prepared,
                                const spade_options& options, std::vector<std::string>& warnings) {
    const std::uint32_t surrogates = prepared.surrogates.surrogates;
    if (counts.undecided > 0) {
        warnings.push_back(fmt::format(
            "{} of {} signatures tested were reached by no surrogate, and still are not "
            "significant: {} surrogates are too few for so many tests. {} would be enough for any "
            "one of them.",
            core::grouped(counts.undecided), core::grouped(counts.tested),
            core::grouped(surrogates),
            core::grouped(fewest_surrogates(counts.tested, level_of(options)))));
        return;
    }
    if (counts.significant > 0) return;
    if (auto warning =
            warn_of_many_tests("signature", surrogates, counts.tested, level_of(options)))
        warnings.push_back(std::move(*warning));
}

void warn_of_untested(const test_counts& counts, const pattern_test_result& assessment,
                      const spade_input& prepared, std::vector<std::string>& warnings) {
    if (counts.untested == 0) return;
    warnings.push_back(fmt::format(
        "{} of {} signatures are kept without a test, as in Elephant, because none of {} "
        "surrogates reached them{}.",
        core::grouped(counts.untested), core::grouped(assessment.tests.signatures.size()),
        core::grouped(prepared.surrogates.surrogates),
        prepared.surrogates.method == surrogate_method::dither_spikes
            ? ", and surrogates by dither-spikes give false patterns if units are regular"
            : ""));
}

}  // namespace

test_level level_of(const spade_options& options) {
    return {options.alpha, options.correction, level_rule::at_most};
}

// Since p is never below 1 / (n + 1), a correction for many tests may need more surrogates.
void warn_of_tests(const pattern_test_result& assessment, const spade_input& prepared,
                   const spade_options& options, std::vector<std::string>& warnings) {
    const test_counts counts = counted(assessment.tests);
    if (follows_elephant(options.compat))
        warn_of_untested(counts, assessment, prepared, warnings);
    else
        warn_of_too_few_surrogates(counts, prepared, options, warnings);
}

}  // namespace spikeweave::pipeline
