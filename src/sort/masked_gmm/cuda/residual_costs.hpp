#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "device/cuda.hpp"
#include "sort/masked_gmm/cuda/device_fits.hpp"

namespace spikeweave::masked_gmm {

/// Spikes whose costs in one cluster are wanted; they may belong to any cluster.
struct cost_question {
    std::uint32_t cluster;
    member_list spikes;
};

/// Computes -ln of the densities, without weights, from residuals, so that nothing cancels. Results
/// are in the order of the questions. Takes longer than the products of the E-step.
class residual_costs {
public:
    residual_costs(const resident_data& data, int ordinal);

    /// @param largest_block  number of features of the largest block of these clusters
    std::vector<double> of(const device_fits& fits, std::uint32_t largest_block,
                           std::span<const cost_question> questions, const device::stream& on);

private:
    const resident_data* data_;
    std::size_t shared_bytes_;
    device::buffer<std::uint32_t> spikes_;
    device::buffer<double> scratch_;
    device::buffer<double> costs_;
};

}  // namespace spikeweave::masked_gmm
