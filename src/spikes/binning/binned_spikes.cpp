#include "spikeweave/spikes/binned_spikes.hpp"

#include <fmt/format.h>

#include <utility>

#include "spikeweave/core/error.hpp"
#include "spikeweave/spikes/bin_grid.hpp"

namespace spikeweave {

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
