#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdlib>

/// The length of tests: the variable SPIKEWEAVE_PROPERTY_SHARE is the share of the usual random
/// cases that are drawn, below 1 under a sanitizer, above 1 for a run of hours.
inline double property_share() {
    const char* const share = std::getenv("SPIKEWEAVE_PROPERTY_SHARE");
    return share == nullptr ? 1 : std::atof(share);
}

/// Whether a test leaves out cases that take minutes.
inline bool is_shortened_run() {
    return property_share() < 1;
}

/// At the start of a long test of probabilities or sizes, which says nothing about memory or
/// threads.
#define SPIKEWEAVE_NEEDS_FULL_RUN() \
    if (is_shortened_run()) GTEST_SKIP() << "a long test of numbers, left out of shortened runs"

/// Whether a test also runs cases that take minutes and resemble the others.
inline bool is_long_run() {
    return property_share() > 1;
}

/// The number of random cases that a property test draws, at least 1.
inline std::size_t property_cases(std::size_t usual) {
    const double cases = static_cast<double>(usual) * property_share();
    return property_share() < 1 ? static_cast<std::size_t>(cases) + 1
                                : static_cast<std::size_t>(cases);
}
