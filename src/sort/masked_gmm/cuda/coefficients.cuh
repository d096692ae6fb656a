#pragma once

#include <cstdint>

#include "device/cuda.hpp"
#include "sort/masked_gmm/cuda/device_fits.hpp"
#include "sort/masked_gmm/cuda/resident_data.hpp"

/// The coefficients by which the terms of spikes are multiplied, in the order in which the lanes of
/// the product read them.
namespace spikeweave::masked_gmm::gathered_terms {

constexpr unsigned step_terms = 16;
constexpr unsigned columns_at_once = 8;  // clusters of one product
constexpr unsigned fragment_numbers = step_terms * columns_at_once;

__host__ __device__ constexpr unsigned pieces(unsigned n, unsigned size) {
    return (n + size - 1) / size;
}
// Products of two factors among 1 and the deltas: 1 x 1 is left out, and the squares are counted
// with the etas.
__host__ __device__ constexpr unsigned product_steps(unsigned features) {
    return pieces(features * (features + 1) / 2, step_terms);
}
__host__ __device__ constexpr unsigned steps(unsigned features) {
    return product_steps(features) + pieces(features, step_terms);
}

struct gathering {
    const device_group* groups;  // groups of the batch
    const std::uint64_t* begin;  // first coefficient of each group
    const std::uint32_t* columns;
    const uint4* pairs;
    const double* plain;
    unsigned column_products;  // number of groups of eight clusters
    double* coefficients;      // or as many pairs of floats
};

/// Gathers the coefficients of `groups` groups for products of numbers of type `Real`, float or
/// double.
template <class Real>
void gather_all(const gathering& problem, const device_fits& fits, unsigned groups,
                const device::stream& on);

}  // namespace spikeweave::masked_gmm::gathered_terms
