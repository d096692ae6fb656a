#include "synfire/spikes/binned_spikes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "synfire/core/error.hpp"

namespace synfire {
namespace {

constexpr std::int64_t most_bins = std::numeric_limits<std::int32_t>::max();

std::uint32_t checked_bin_count(double bins) {
    if (bins < 1) throw invalid_argument("the span to bin is shorter than one bin");
    if (bins > static_cast<double>(most_bins))
        throw invalid_argument(
            fmt::format("{:.0f} bins are more than can be numbered ({})", bins, most_bins));
    return static_cast<std::uint32_t>(bins);
}

// Where a time goes: a bin, or nowhere (negative).
class exact_grid {
public:
    exact_grid(const spike_sequence& spikes, const binning& how) : bin_(how.bin.count()) {
        const time_span span = how.span.value_or(spikes.span());
        origin_ = span.begin.count();
        if (!how.span) {
            const std::int64_t past = origin_ % bin_;
            origin_ -= past < 0 ? past + bin_ : past;
        }
        end_ = span.end.count();
        const std::int64_t length = end_ - origin_;
        std::int64_t bins = std::max<std::int64_t>(1, (length + bin_ - 1) / bin_);
        // The span is closed: a spike on its very end may need a bin of its own.
        if (!spikes.empty() && bin_of(spikes.times_us().back()) == bins) ++bins;
        bins_ = checked_bin_count(static_cast<double>(bins));
    }
    std::int64_t bin_of(std::int64_t time_us) const {
        if (time_us < origin_ || time_us > end_) return -1;
        return (time_us - origin_) / bin_;
    }
    std::uint32_t bins() const { return bins_; }
    std::int64_t origin_us() const { return origin_; }

private:
    std::int64_t bin_;
    std::int64_t origin_;
    std::int64_t end_;
    std::uint32_t bins_;
};

class elephant_grid {
public:
    elephant_grid(const spike_sequence& spikes, const binning& how)
        : unit_(how.arithmetic == bin_arithmetic::elephant_seconds ? 1e6 : 1e3) {
        const time_span span = how.span.value_or(spikes.span());
        start_ = in_units(span.begin.count());
        stop_ = in_units(span.end.count());
        // A bin is given in milliseconds, also with trains in seconds; Elephant then multiplies.
        const double bin_ms = static_cast<double>(how.bin.count()) / 1e3;
        const double bin = unit_ == 1e6 ? bin_ms * 0.001 : bin_ms;
        scale_ = 1 / bin;
        bins_ = checked_bin_count((stop_ - start_) / bin);
        origin_ = span.begin.count();
    }
    std::int64_t bin_of(std::int64_t time_us) const {
        const double time = in_units(time_us);
        if (time < start_ || time > stop_) return -1;
        const auto bin = static_cast<std::int64_t>((time - start_) * scale_);
        return bin < bins_ ? bin : -1;
    }
    std::uint32_t bins() const { return bins_; }
    std::int64_t origin_us() const { return origin_; }

private:
    double in_units(std::int64_t us) const { return static_cast<double>(us) / unit_; }

    double unit_;
    double start_;
    double stop_;
    double scale_;
    std::uint32_t bins_;
    std::int64_t origin_;
};

template <class Grid>
binning_result bin_on(const Grid& grid, const spike_sequence& spikes) {
    binning_result result{.origin = duration{grid.origin_us()}};
    std::vector<std::int64_t> last(spikes.unit_count(), -1);
    std::vector<std::size_t> offsets(spikes.unit_count() + 1, 0);
    // Times ascend and so do their bins: what repeats a bin follows at once.
    const auto for_each_kept = [&](auto&& keep) {
        last.assign(last.size(), -1);
        for (std::size_t i = 0; i < spikes.size(); ++i) {
            const std::int64_t bin = grid.bin_of(spikes.times_us()[i]);
            const std::size_t unit = index(spikes.units()[i]);
            keep(unit, bin, bin == last[unit]);
            if (bin >= 0) last[unit] = bin;
        }
    };
    for_each_kept([&](std::size_t unit, std::int64_t bin, bool repeats) {
        if (bin < 0)
            ++result.outside;
        else if (repeats)
            ++result.clipped;
        else
            ++offsets[unit + 1];
    });
    for (std::size_t unit = 0; unit < spikes.unit_count(); ++unit)
        offsets[unit + 1] += offsets[unit];
    std::vector<std::uint32_t> bins(offsets.back());
    std::vector<std::size_t> next(offsets.begin(), offsets.end() - 1);
    for_each_kept([&](std::size_t unit, std::int64_t bin, bool repeats) {
        if (bin >= 0 && !repeats) bins[next[unit]++] = static_cast<std::uint32_t>(bin);
    });
    result.spikes = binned_spikes(std::move(offsets), std::move(bins), grid.bins());
    return result;
}

}  // namespace

binned_spikes::binned_spikes(std::vector<std::size_t> offsets, std::vector<std::uint32_t> bins,
                             std::uint32_t bin_count)
    : offsets_(std::move(offsets)), bins_(std::move(bins)), bin_count_(bin_count) {
    if (offsets_.empty() || offsets_.front() != 0 || offsets_.back() != bins_.size())
        throw invalid_argument("the offsets of binned spikes do not fit the bins");
    for (std::size_t unit = 0; unit < unit_count(); ++unit) {
        if (offsets_[unit + 1] < offsets_[unit] || offsets_[unit + 1] > bins_.size())
            throw invalid_argument("the offsets of binned spikes do not ascend");
        for (std::size_t i = offsets_[unit]; i < offsets_[unit + 1]; ++i)
            if (bins_[i] >= bin_count_ || (i > offsets_[unit] && bins_[i] <= bins_[i - 1]))
                throw invalid_argument(
                    fmt::format("the bins of unit {} do not ascend below {}", unit, bin_count_));
    }
}

binning_result bin_spikes(const spike_sequence& spikes, const binning& how) {
    if (how.bin <= duration{0}) throw invalid_argument("the bin must be above 0");
    const time_span span = how.span.value_or(spikes.span());
    if (span.end < span.begin) throw invalid_argument("the span to bin ends before it begins");
    if (how.arithmetic == bin_arithmetic::exact) return bin_on(exact_grid(spikes, how), spikes);
    return bin_on(elephant_grid(spikes, how), spikes);
}

}  // namespace synfire
