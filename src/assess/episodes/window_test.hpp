#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "assess/episodes/lag_histogram.hpp"
#include "spikeweave/assess/episodes/pair_tests.hpp"
#include "spikeweave/core/time.hpp"
#include "spikeweave/mine/episodes.hpp"

namespace spikeweave::assess {

/// Cells are at least this many times as wide as a window.
constexpr int windows_a_cell = 3;
/// The cells of the test for inhibition are this many times as wide: a trough is wider than a peak.
constexpr int wider_for_inhibition = 2;

/// The width of the cells for a window and a sign.
duration cell_for(const delay_interval& window, connection_sign sign, duration jitter_window);

/// The number of lags in a window, if a lag is as likely anywhere in the block that extends half a
/// cell beyond the window on each side: a binomial variable, given how many lags the block has.
class window_null {
public:
    window_null(const lag_grid& grid, const delay_interval& window, duration cell);

    struct moments {
        double count = 0;  ///< lags in the window
        double all = 0;    ///< and in its block
        double mean = 0;
        double variance = 0;

        double deviation() const;  ///< in standard deviations; 0 if there is no variance
    };
    template <class Histogram>
    moments moments_of(const Histogram& lags) const {
        moments out;
        for (std::size_t i = first_; i < end_; ++i) out.count += static_cast<double>(lags[i]);
        for (std::size_t i = block_first_; i < block_end_; ++i)
            out.all += static_cast<double>(lags[i]);
        out.mean = out.all * share_;
        out.variance = out.mean * (1 - share_);
        return out;
    }
    /// The lags of the block, given the sums of all bins before each one.
    double block_count_of(std::span<const double> up_to) const {
        return up_to[block_end_] - up_to[block_first_];
    }
    /// P of at least this count, or of at most this count.
    double upper_tail(const moments& of) const;
    double lower_tail(const moments& of) const;
    /// The window's share of its block.
    double share() const { return share_; }
    /// The number in the window expected from the lags beside it.
    double expected(const moments& of) const;
    std::size_t first() const { return first_; }
    std::size_t end() const { return end_; }
    bool is_empty() const { return first_ >= end_; }
    /// The moments of the same window so many bins later; none if it or most of its block lies
    /// outside.
    std::optional<moments> moments_at(std::span<const double> lags, std::int64_t shift) const;

private:
    std::size_t first_;  // bins of the window
    std::size_t end_;
    std::size_t block_first_ = 0;
    std::size_t block_end_ = 0;
    double share_ = 0;
};

/// One p for m hypotheses that depend on each other positively (Simes 1986): the least of m p(k) /
/// k, where p(k) is the k-th smallest, at most 1.
double simes(std::vector<double> p);

/// The same windows for both signs, with one p for a pair.
class window_family {
public:
    /// @param both_signs  whether inhibition is tested, too
    window_family(const lag_grid& grid, std::span<const delay_interval> windows,
                  duration jitter_window, bool both_signs);

    struct verdict {
        double p = 1;
        connection_sign sign = connection_sign::excitatory;
        std::size_t window = 0;            ///< the first with the least p
        std::vector<double> of_windows{};  ///< the p of each window, for this sign
    };
    /// The sign with the smaller p. If both signs are tested, p is twice that of the sign.
    /// @param every_window  whether windows with a small deviation get their p, too; else it
    ///        counts as 1
    verdict test(std::span<const double> lags, bool every_window = true) const;
    /// The test for one sign.
    verdict test(std::span<const double> lags, connection_sign sign, bool every_window) const;
    /// The least p that lags can have in any order: all of those of a block are in its window, or
    /// none.
    double least_p(std::span<const double> lags) const;
    /// Whether some window deviates so much that the p of a pair may be below 0.05.
    template <class Histogram>
    bool deviates(const Histogram& lags) const;

    const window_null& null_of(connection_sign sign, std::size_t window) const {
        return sign == connection_sign::excitatory ? upper_[window] : lower_[window];
    }
    const delay_interval& window(std::size_t number) const { return windows_[number]; }
    /// Whether no window holds a bin: all are too narrow.
    bool is_empty() const { return windows_.empty(); }

private:
    std::vector<delay_interval> windows_{};
    std::vector<window_null> upper_{};
    std::vector<window_null> lower_{};
};

template <class Histogram>
bool window_family::deviates(const Histogram& lags) const {
    // A normal variable is beyond this with a probability of 0.045. Simes' p of a family is half of
    // a pair's, so one window must have a p below 0.025. Binomial variables have a longer upper
    // tail, and a shorter lower one, which the lower bound allows for.
    constexpr double above = 1.7;
    constexpr double below = -1.4;
    for (const window_null& null : upper_)
        if (null.moments_of(lags).deviation() > above) return true;
    for (const window_null& null : lower_)
        if (null.moments_of(lags).deviation() < below) return true;
    return false;
}

/// The bins of a peak or trough: those of the window, and those beside it that deviate in the same
/// direction from the mean of all bins by a standard deviation.
struct bin_range {
    std::size_t first;
    std::size_t end;
};
bin_range extent_of(std::span<const double> lags, bin_range window, connection_sign sign);
/// The same histogram with lines in place of the peaks beside the window in which more lags are
/// beyond chance than are missing in the window: such a peak raises the expectation there, so that
/// the remainder looks like a trough.
lag_histogram without_peaks(std::span<const double> lags, const window_null& window);
/// The same histogram with a line in place of these bins, between the means of the bins beside
/// them.
lag_histogram without(std::span<const double> lags, const bin_range& replaced);

}  // namespace spikeweave::assess
