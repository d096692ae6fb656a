#pragma once

#include <cstdint>
#include <vector>

#include "device/cuda.hpp"
#include "device/limits.hpp"
#include "sort/masked_gmm/cuda/device_fits.hpp"
#include "sort/masked_gmm/cuda/resident_data.hpp"

namespace spikeweave::masked_gmm {

/// Computes the cost of every spike in every cluster and keeps the two lowest.
class e_step {
public:
    /// Largest number of unmasked features of a group whose tile fits into shared memory.
    static std::uint32_t most_columns(const device::device_limits& limits);

    /// @param single  use single precision, with errors of about 1e-6 of the largest terms
    e_step(const resident_data& data, std::size_t spikes, bool single = false);

    /// Results for spikes of wide groups are meaningless.
    /// @param plain  for each cluster, the cost at the noise mean including the weight; infinite
    /// for a dead one
    void evaluate(const device_fits& fits, const std::vector<double>& plain, double noise_cost,
                  assignment& found);
    /// GPU time of the last call.
    double seconds() const { return watch_.seconds(); }

private:
    // Groups whose coefficients are gathered together.
    struct batch {
        std::uint32_t first_group = 0;
        std::uint32_t groups = 0;
        std::uint32_t first_tile = 0;
        std::uint32_t tiles = 0;
        std::uint64_t numbers = 0;
        std::uint32_t most_features = 0;
    };

    std::vector<batch> batches_of(std::uint32_t clusters, std::vector<std::uint64_t>& begin) const;
    void take_results(assignment& found) const;

    const resident_data* data_;
    std::size_t spikes_;
    bool single_;
    device::stream main_;
    device::stream other_;
    device::event ready_;
    device::event joined_;
    device::stopwatch watch_;
    std::uint32_t most_features_ = 0;
    device::buffer<uint4> pairs_;
    device::buffer<uint2> tiles_;
    std::vector<std::uint32_t> first_tile_;  // for each group, and one more
    device::buffer<double> plain_;
    device::buffer<std::uint64_t> begin_;
    device::buffer<double> coefficients_;
    device::buffer<double> other_coefficients_;
    device::buffer<std::uint32_t> best_;
    device::buffer<double> costs_;
    device::host_buffer<std::uint32_t> best_here_;
    device::host_buffer<double> costs_here_;
};

}  // namespace spikeweave::masked_gmm
