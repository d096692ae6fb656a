#pragma once

#include <cstdint>

#include "device/cuda.hpp"

namespace spikeweave::masked_gmm {

/// Symmetric matrices to invert, each by a block of threads.
struct matrices_to_invert {
    std::uint32_t count;
    const std::uint32_t* size;    ///< of each; 0 is none
    const std::uint64_t* matrix;  ///< where each one's numbers begin
    /// Lower triangles. Where one has no root, `more` is added to its diagonal and it is tried once
    /// again; `more` has `stride` numbers a matrix.
    double* covariance;
    const double* more;
    std::uint32_t stride;
    double* root_inverse;
    double* inverse;
    /// ln of each determinant; infinite where there is still no root.
    double* log_determinant;
};

void invert(const matrices_to_invert& what, const device::stream& on);

}  // namespace spikeweave::masked_gmm
