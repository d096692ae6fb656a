#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "synfire/core/error.hpp"
#include "synfire/mine/episode.hpp"

namespace synfire {
namespace {

// The product of a decimal that a person typed and a number of spikes or seconds, rounded up. The
// decimal is no exact double, so what is a whole number but for that is taken as whole: 0.1 of 30
// is 3.
std::uint64_t product_rounded_up(double factor, double amount) {
    const double product = factor * amount;
    const double whole = std::round(product);
    const double result = std::abs(product - whole) <= 1e-12 * amount ? whole : std::ceil(product);
    return static_cast<std::uint64_t>(std::max(1.0, result));
}

[[noreturn]] void refuse(std::string_view what, double value) {
    throw invalid_argument(fmt::format("a threshold of {} {} is none: it must be positive{}", value,
                                       what, what == "of all spikes" ? " and at most 1" : ""));
}

std::uint64_t tenth_of_median(const spike_sequence& spikes) {
    std::vector<std::uint64_t> counts(spikes.unit_count());
    for (const unit_id unit : spikes.units()) ++counts[index(unit)];
    std::erase(counts, 0);
    constexpr std::uint64_t least = 10;
    if (counts.empty()) return least;
    const auto median = counts.begin() + static_cast<std::ptrdiff_t>(counts.size() / 2);
    std::nth_element(counts.begin(), median, counts.end());
    return std::max(least, (*median + 9) / 10);
}

}  // namespace

std::uint64_t resolve(const episode_threshold& threshold, const spike_sequence& spikes) {
    if (const auto* t = std::get_if<count_threshold>(&threshold)) {
        if (t->count == 0) refuse("occurrences", 0);
        return t->count;
    }
    if (const auto* t = std::get_if<fraction_threshold>(&threshold)) {
        if (!(t->fraction > 0 && t->fraction <= 1)) refuse("of all spikes", t->fraction);
        return product_rounded_up(t->fraction, static_cast<double>(spikes.size()));
    }
    if (const auto* t = std::get_if<rate_threshold>(&threshold)) {
        if (!(t->hertz > 0 && std::isfinite(t->hertz))) refuse("Hz", t->hertz);
        const double seconds =
            spikes.empty()
                ? 0
                : to_seconds(duration{spikes.times_us().back() - spikes.times_us().front()});
        return product_rounded_up(t->hertz, seconds);
    }
    return tenth_of_median(spikes);
}

}  // namespace synfire
