#include "live/metrics/latency_histogram.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace spikeweave::live {
namespace {

double low_bound_s(std::size_t of_class) {
    return of_class == 0 ? 0 : latency_histogram::bounds_s[of_class - 1];
}

}  // namespace

void latency_histogram::add(double seconds, std::uint64_t times) {
    const auto* const bound = std::ranges::lower_bound(bounds_s, seconds);
    const auto of_class = static_cast<std::size_t>(bound - bounds_s.begin());
    std::size_t part = of_class * parts;
    if (of_class < bounds_s.size()) {
        const double low_s = low_bound_s(of_class);
        const double share = std::max(0.0, seconds - low_s) / (*bound - low_s);
        part +=
            static_cast<std::size_t>(std::clamp(std::ceil(share * parts) - 1, 0.0, parts - 1.0));
    }
    counts_[part] += times;
    sum_s_ += seconds * static_cast<double>(times);
    if (times > 0) most_s_ = std::max(most_s_, seconds);
}

std::uint64_t latency_histogram::count_up_to(std::size_t bound) const {
    const std::size_t end = std::min((bound + 1) * parts, counts_.size());
    return std::accumulate(counts_.begin(), counts_.begin() + static_cast<std::ptrdiff_t>(end),
                           std::uint64_t{0});
}

double latency_histogram::within_s(double share) const {
    const double wanted = share * static_cast<double>(count());
    std::uint64_t seen = 0;
    for (std::size_t part = 0; part + 1 < counts_.size(); ++part) {
        seen += counts_[part];
        if (seen == 0 || static_cast<double>(seen) < wanted) continue;
        const double low_s = low_bound_s(part / parts);
        const double step_s = (bounds_s[part / parts] - low_s) / parts;
        return std::min(most_s_, low_s + step_s * static_cast<double>(part % parts + 1));
    }
    return most_s_;
}

}  // namespace spikeweave::live
