#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace spikeweave::live {

/// Durations in classes, whose bounds grow by factors of about two.
class latency_histogram {
public:
    static constexpr std::array<double, 19> bounds_s{1e-5, 2e-5, 5e-5, 1e-4, 2e-4, 5e-4, 1e-3,
                                                     2e-3, 5e-3, 0.01, 0.02, 0.05, 0.1,  0.2,
                                                     0.5,  1,    2,    5,    10};

    void add(double seconds, std::uint64_t times = 1);
    /// Number of durations that are at most the bound of this class, or any if there is none.
    std::uint64_t count_up_to(std::size_t bound) const;
    std::uint64_t count() const { return count_up_to(bounds_s.size()); }
    double sum_s() const { return sum_s_; }
    /// The duration that this share of them do not exceed, to a sixteenth of its class; 0 if there
    /// are none.
    double within_s(double share) const;

private:
    static constexpr std::size_t parts = 16;  // of equal length, of each class

    std::array<std::uint64_t, bounds_s.size() * parts + 1> counts_{};
    double sum_s_ = 0;
    double most_s_ = 0;
};

}  // namespace spikeweave::live
