#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "device/cuda.hpp"
#include "sort/masked_gmm/cuda/device_fits.hpp"

namespace spikeweave::masked_gmm {

/// What some spikes cost in one cluster, wherever they are from.
struct cost_question {
    std::uint32_t cluster;
    member_list spikes;
};

/// -ln of the densities, weights left out, computed from residuals: nothing cancels, whatever the
/// cluster. The answers stand one after another. Takes longer than the E-step's products.
class residual_costs {
public:
    residual_costs(const resident_data& data, int ordinal);

    /// @param largest_block  features, of all these clusters
    std::vector<double> of(const device_fits& fits, std::uint32_t largest_block,
                           std::span<const cost_question> questions, const device::stream& on);

private:
    const resident_data* data_;
    std::size_t shared_bytes_;
    device::buffer<std::uint32_t> spikes_;
    device::buffer<double> room_;
    device::buffer<double> costs_;
};

}  // namespace spikeweave::masked_gmm
