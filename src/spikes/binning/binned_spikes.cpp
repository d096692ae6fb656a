#include "spikeweave/spikes/binned_spikes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "spikeweave/core/error.hpp"
#include "spikeweave/spikes/bin_grid.hpp"

namespace spikeweave {
namespace {

constexpr std::int64_t most_bins = std::numeric_limits<std::int32_t>::max();

std::uint32_t checked_bin_count(double bins) {
    if (bins < 1) throw invalid_argument("the span to bin is shorter than one bin");
    if (bins > static_cast<double>(most_bins))
        throw invalid_argument(
            fmt::format("{:.0f} bins are more than can be numbered ({})", bins, most_bins));
    return static_cast<std::uint32_t>(bins);
}

}  // namespace

bin_grid::bin_grid(const spike_sequence& spikes, const binning_options& how)
    : bin_(how.bin.count()) {
    if (bin_ <= 0) throw invalid_argument("the bin must be above 0");
    const time_span span = how.span.value_or(spikes.span());
    if (span.end < span.begin) throw invalid_argument("the span to bin ends before it begins");
    origin_ = span.begin.count();
    end_ = span.end.count();
    if (follows_elephant(how.compat))
        set_elephant(how);
    else
        set_exact(spikes, how);
}

void bin_grid::set_exact(const spike_sequence& spikes, const binning_options& how) {
    if (!how.span) {
        const std::int64_t past = origin_ % bin_;
        origin_ -= past < 0 ? past + bin_ : past;
    }
    std::int64_t bins = std::max<std::int64_t>(1, (end_ - origin_ + bin_ - 1) / bin_);
    // The span includes its end, so a spike exactly there may need another bin.
    const bool on_end =
        std::binary_search(spikes.times_us().begin(), spikes.times_us().end(), end_);
    if (on_end && exact_bin(end_) == bins) ++bins;
    bin_count_ = checked_bin_count(static_cast<double>(bins));
}

void bin_grid::set_elephant(const binning_options& how) {
    us_per_unit_ = how.compat == compatibility::elephant ? 1e6 : 1e3;
    start_ = static_cast<double>(origin_) / us_per_unit_;
    stop_ = static_cast<double>(end_) / us_per_unit_;
    // The bin is given in milliseconds even if trains are in seconds; Elephant then converts by
    // multiplying.
    const double bin_ms = static_cast<double>(bin_) / 1e3;
    const double bin = us_per_unit_ == 1e6 ? bin_ms * 0.001 : bin_ms;
    scale_ = 1 / bin;
    bin_count_ = checked_bin_count((stop_ - start_) / bin);
}

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

binning_result bin_spikes(const spike_sequence& spikes, const binning_options& how) {
    const bin_grid grid(spikes, how);
    binning_result result{.origin = grid.origin()};
    std::vector<std::int64_t> last(spikes.unit_count(), -1);
    std::vector<std::size_t> offsets(spikes.unit_count() + 1, 0);
    // Times ascend and so do their bins, so a repeated bin of a unit follows directly.
    const auto for_each_kept = [&](auto&& keep) {
        last.assign(last.size(), -1);
        for (std::size_t i = 0; i < spikes.size(); ++i) {
            const std::int64_t bin = grid.bin_of(spikes.times_us()[i]);
            const std::size_t unit = to_index(spikes.units()[i]);
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
    result.spikes = binned_spikes(std::move(offsets), std::move(bins), grid.bin_count());
    return result;
}

}  // namespace spikeweave
