#pragma once

#include <cstdint>

#include "spikeweave/core/export.hpp"
#include "spikeweave/core/time.hpp"
#include "spikeweave/spikes/binned_spikes.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"

namespace spikeweave {

/// The bins of a recording, as used by `bin_spikes`.
class SPIKEWEAVE_API bin_grid {
public:
    /// Bins for the spikes of a sequence. @throws as `bin_spikes`.
    bin_grid(const spike_sequence& spikes, const binning_options& how);

    std::uint32_t bin_count() const { return bin_count_; }
    /// Left edge of bin 0.
    duration origin() const { return duration{origin_}; }
    duration bin() const { return duration{bin_}; }
    /// The bin of a time, which never decreases with time; -1 outside.
    std::int64_t bin_of(std::int64_t time_us) const {
        const std::int64_t bin = us_per_unit_ == 0 ? exact_bin(time_us) : elephant_bin(time_us);
        return bin < bin_count_ ? bin : -1;
    }

private:
    std::int64_t exact_bin(std::int64_t time_us) const {
        if (time_us < origin_ || time_us > end_) return -1;
        return (time_us - origin_) / bin_;
    }
    std::int64_t elephant_bin(std::int64_t time_us) const {
        const double time = static_cast<double>(time_us) / us_per_unit_;
        if (time < start_ || time > stop_) return -1;
        return static_cast<std::int64_t>((time - start_) * scale_);
    }
    void set_exact(const spike_sequence& spikes, const binning_options& how);
    void set_elephant(const binning_options& how);

    std::int64_t bin_ = 1;
    std::int64_t origin_ = 0;
    std::int64_t end_ = 0;
    std::uint32_t bin_count_ = 0;
    // Elephant's numbers: in its unit of time.
    double us_per_unit_ = 0;
    double start_ = 0;
    double stop_ = 0;
    double scale_ = 0;
};

}  // namespace spikeweave
