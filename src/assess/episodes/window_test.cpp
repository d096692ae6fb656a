#include "assess/episodes/window_test.hpp"

#include <algorithm>
#include <boost/math/special_functions/beta.hpp>
#include <cmath>
#include <numeric>

#include "core/double_policy.hpp"

namespace spikeweave::assess {
namespace {

constexpr double rounding = 1e-6;

}  // namespace

duration cell_for(const delay_interval& window, connection_sign sign, duration jitter_window) {
    const duration cell = std::max(jitter_window, windows_a_cell * (window.high - window.low));
    return sign == connection_sign::excitatory ? cell : wider_for_inhibition * cell;
}

window_null::window_null(const lag_grid& grid, const delay_interval& window, duration cell)
    : first_(grid.end_of(window.low)), end_(grid.end_of(window.high)) {
    if (is_empty()) return;
    const auto bins = static_cast<double>(end_ - first_);
    const double cell_bins =
        std::max(static_cast<double>(cell.count()) / grid.width_us, windows_a_cell * bins);
    const auto side = static_cast<std::size_t>(std::llround(cell_bins / 2));
    block_first_ = first_ > side ? first_ - side : 0;
    block_end_ = std::min(grid.size, end_ + side);
    share_ = bins / static_cast<double>(block_end_ - block_first_);
}

double window_null::moments::deviation() const {
    return variance > 0 ? (count - mean) / std::sqrt(variance) : 0;
}

double window_null::expected(const moments& of) const {
    // If only the window has lags, the density beside it is unknown, except that it is less than
    // one.
    constexpr double least = 0.25;
    return std::max(least, (of.mean - share_ * of.count) / (1 - share_));
}

// A replaced peak has a number of lags that is no whole number, for which the incomplete beta
// function is a tail as well.
double window_null::upper_tail(const moments& of) const {
    const double others = of.all - of.count;
    if (of.count < rounding) return 1;
    if (others < rounding) return std::pow(share_, of.count);
    return boost::math::ibeta(of.count, others + 1, share_, core::double_policy{});
}

double window_null::lower_tail(const moments& of) const {
    const double others = of.all - of.count;
    if (others < rounding) return 1;
    return boost::math::ibetac(of.count + 1, others, share_, core::double_policy{});
}

double simes(std::vector<double> p) {
    std::ranges::sort(p);
    double out = 1;
    for (std::size_t k = 0; k < p.size(); ++k)
        out = std::min(out, p[k] * static_cast<double>(p.size()) / static_cast<double>(k + 1));
    return out;
}

window_family::window_family(const lag_grid& grid, std::span<const delay_interval> windows,
                             duration jitter_window, bool both_signs) {
    for (const delay_interval& window : windows) {
        const window_null upper(grid, window,
                                cell_for(window, connection_sign::excitatory, jitter_window));
        // On a coarse clock, windows may hold no lag, or the same ones.
        if (upper.is_empty() || std::ranges::any_of(upper_, [&](const window_null& other) {
                return other.first() == upper.first() && other.end() == upper.end();
            }))
            continue;
        windows_.push_back(window);
        upper_.push_back(upper);
        if (both_signs)
            lower_.emplace_back(grid, window,
                                cell_for(window, connection_sign::inhibitory, jitter_window));
    }
}

window_family::verdict window_family::test(std::span<const double> lags, connection_sign sign,
                                           bool every_window) const {
    // A smaller deviation has a p above 0.1, which cannot make that of the family small.
    constexpr double matters = 1.2;
    const bool upper = sign == connection_sign::excitatory;
    const std::vector<window_null>& nulls = upper ? upper_ : lower_;
    verdict out{.sign = sign, .of_windows = std::vector<double>(nulls.size(), 1.0)};
    for (std::size_t w = 0; w < nulls.size(); ++w) {
        const window_null::moments found = nulls[w].moments_of(lags);
        if (!every_window && (upper ? found.deviation() : -found.deviation()) < matters) continue;
        out.of_windows[w] = upper ? nulls[w].upper_tail(found) : nulls[w].lower_tail(found);
    }
    out.window =
        static_cast<std::size_t>(std::ranges::min_element(out.of_windows) - out.of_windows.begin());
    out.p = simes(out.of_windows);
    if (!lower_.empty()) out.p = std::min(1.0, 2 * out.p);
    return out;
}

window_family::verdict window_family::test(std::span<const double> lags, bool every_window) const {
    verdict excess = test(lags, connection_sign::excitatory, every_window);
    if (lower_.empty()) return excess;
    verdict deficit = test(lags, connection_sign::inhibitory, every_window);
    if (deficit.p < excess.p) return deficit;
    return excess;
}

double window_family::least_p(std::span<const double> lags) const {
    std::vector<double> up_to(lags.size() + 1);
    std::partial_sum(lags.begin(), lags.end(), up_to.begin() + 1);
    double log_p = 0;
    for (const window_null& null : upper_)
        log_p = std::min(log_p, null.block_count_of(up_to) * std::log(null.share()));
    for (const window_null& null : lower_)
        log_p = std::min(log_p, null.block_count_of(up_to) * std::log1p(-null.share()));
    return std::exp(log_p);
}

std::optional<window_null::moments> window_null::moments_at(std::span<const double> lags,
                                                            std::int64_t shift) const {
    const auto size = static_cast<std::int64_t>(lags.size());
    const auto moved = [&](std::size_t bin) { return static_cast<std::int64_t>(bin) + shift; };
    if (moved(first_) < 0 || moved(end_) > size) return {};
    // At the ends of the histogram, a part of the block is missing.
    const std::int64_t first = std::max<std::int64_t>(0, moved(block_first_));
    const std::int64_t end = std::min(size, moved(block_end_));
    const auto bins = static_cast<double>(end - first);
    if (2 * bins < static_cast<double>(block_end_ - block_first_)) return {};
    const auto sum = [&](std::int64_t from, std::int64_t to) {
        return std::accumulate(lags.begin() + from, lags.begin() + to, 0.0);
    };
    const double share = static_cast<double>(end_ - first_) / bins;
    const double all = sum(first, end);
    if (!(all > 0)) return {};
    return moments{sum(moved(first_), moved(end_)), all, all * share, all * share * (1 - share)};
}

lag_histogram without_peaks(std::span<const double> lags, const window_null& window) {
    constexpr double is_peak = 4;
    constexpr int most_peaks = 8;
    lag_histogram out(lags.begin(), lags.end());
    const auto width = static_cast<std::int64_t>(window.end() - window.first());
    const auto size = static_cast<std::int64_t>(lags.size());
    const window_null::moments here = window.moments_of(lags);
    const double missing = here.mean - here.count;
    for (int peak = 0; peak < most_peaks; ++peak) {
        double highest = is_peak;
        std::int64_t at = 0;
        for (std::int64_t shift = -size; shift < size; ++shift) {
            if (std::abs(shift) < width) continue;  // it overlaps the window
            const auto there = window.moments_at(out, shift);
            if (!there || there->count - there->mean < missing || there->deviation() <= highest)
                continue;
            highest = there->deviation();
            at = shift;
        }
        if (at == 0) break;
        const auto moved = [&](std::size_t bin) {
            return static_cast<std::size_t>(static_cast<std::int64_t>(bin) + at);
        };
        out = without(out, extent_of(out, {moved(window.first()), moved(window.end())},
                                     connection_sign::excitatory));
    }
    return out;
}

bin_range extent_of(std::span<const double> lags, bin_range window, connection_sign sign) {
    constexpr std::size_t most = 8;  // bins on each side
    double mean = 0;
    for (const double number : lags) mean += number;
    mean /= static_cast<double>(lags.size());
    const auto deviates = [&](std::size_t bin) {
        const double beyond = lags[bin] - mean;
        return (sign == connection_sign::excitatory ? beyond : -beyond) > std::sqrt(mean + 1);
    };
    bin_range out = window;
    for (std::size_t k = 0; k < most && out.first > 0 && deviates(out.first - 1); ++k) --out.first;
    for (std::size_t k = 0; k < most && out.end < lags.size() && deviates(out.end); ++k) ++out.end;
    return out;
}

lag_histogram without(std::span<const double> lags, const bin_range& replaced) {
    constexpr std::size_t beside = 6;
    const auto mean_of = [&](std::size_t first, std::size_t end) {
        double sum = 0;
        for (std::size_t i = first; i < end; ++i) sum += lags[i];
        return end > first ? sum / static_cast<double>(end - first) : 0;
    };
    const std::size_t first = replaced.first > beside ? replaced.first - beside : 0;
    const double low = mean_of(first, replaced.first);
    const double high = mean_of(replaced.end, std::min(lags.size(), replaced.end + beside));
    lag_histogram out(lags.begin(), lags.end());
    const auto width = static_cast<double>(replaced.end - replaced.first);
    for (std::size_t i = replaced.first; i < replaced.end; ++i)
        out[i] = low + (high - low) * (static_cast<double>(i - replaced.first) + 0.5) / width;
    return out;
}

}  // namespace spikeweave::assess
