// Replaces cuda/ in a build without CUDA.

#include "sort/masked_gmm/steps.hpp"
#include "spikeweave/core/device.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave::masked_gmm {

std::unique_ptr<mixture> make_cuda(const spike_features&, const masked_gmm_options&,
                                   const execution&) {
    throw device_error(device_unavailable_reason());
}

std::unique_ptr<mixture> make_cuda(const spike_features&, const feature_space&,
                                   const masked_gmm_options&, const execution&) {
    throw device_error(device_unavailable_reason());
}

}  // namespace spikeweave::masked_gmm
