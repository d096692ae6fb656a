#pragma once

#include <cstdint>

#include "device/cuda.hpp"

namespace spikeweave::masked_gmm {

/// Symmetric matrices to invert. Each is inverted by one block of threads.
struct matrices_to_invert {
    std::uint32_t count;
    const std::uint32_t* size;    ///< size of each; 0 means no matrix
    const std::uint64_t* matrix;  ///< index of the first number of each
    /// Lower triangles. If one is not positive definite, `more` is added to its diagonal and it is
    /// tried once more; `more` has `stride` numbers per matrix.
    double* covariance;
    const double* more;
    std::uint32_t stride;
    double* root_inverse;
    double* inverse;
    /// ln of each determinant; infinite if a matrix is still not positive definite.
    double* log_determinant;
};

void invert(const matrices_to_invert& what, const device::stream& on);

}  // namespace spikeweave::masked_gmm
