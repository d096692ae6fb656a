#include "sort/templates/coincidences.hpp"

#include <cstddef>

namespace spikeweave::templates {
namespace {

// Pairs that are at most this far apart.
std::uint64_t pairs_within(std::span<const std::int64_t> a, std::span<const std::int64_t> b,
                           std::int64_t reach) {
    if (reach < 0) return 0;
    std::uint64_t sum = 0;
    std::size_t begin = 0;
    std::size_t end = 0;
    for (const std::int64_t at : a) {
        while (begin < b.size() && b[begin] < at - reach) ++begin;
        while (end < b.size() && b[end] <= at + reach) ++end;
        sum += end - begin;
    }
    return sum;
}

}  // namespace

std::uint64_t count_pairs(std::span<const std::int64_t> a, std::span<const std::int64_t> b,
                          std::int64_t least, std::int64_t most) {
    return pairs_within(a, b, most) - pairs_within(a, b, least - 1);
}

double expected_pairs(double a, double b, std::int64_t least, std::int64_t most,
                      double recording_frames) {
    const auto lags = static_cast<double>(2 * (most - least) + (least > 0 ? 2 : 1));
    return a * b * lags / recording_frames;
}

bool fire_independently(std::uint64_t found, double expected) {
    return static_cast<double>(found) > expected / 2 + 1;
}

}  // namespace spikeweave::templates
