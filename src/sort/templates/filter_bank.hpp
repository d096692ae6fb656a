#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "sort/templates/low_rank.hpp"
#include "sort/templates/matching.hpp"
#include "spikeweave/core/execution.hpp"

namespace spikeweave::templates {

/// Correlates blocks with the same filters again and again. May be used by several threads.
class filter_bank {
public:
    filter_bank() = default;
    virtual ~filter_bank() = default;
    filter_bank(const filter_bank&) = delete;
    filter_bank& operator=(const filter_bank&) = delete;

    virtual score_table scores_of(const integer_block& block) const = 0;
};

/// It computes on the devices of `run` if it has any, with the same result as on the CPU, because
/// all sums are of integers.
/// @param before  frames of a filter before its spike
std::unique_ptr<const filter_bank> filter_bank_of(std::span<const matched_filter> filters,
                                                  std::size_t before, const execution& run);

/// @throws device_error in a build without CUDA
std::unique_ptr<const filter_bank> filter_bank_on_devices(std::span<const matched_filter> filters,
                                                          std::size_t before, const execution& run);

}  // namespace spikeweave::templates
