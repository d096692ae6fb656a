#include "spikeweave/spikes/bin_grid.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "spikeweave/core/error.hpp"

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

}  // namespace spikeweave
