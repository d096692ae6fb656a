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

/// Correlates traces that arrive piece by piece with the same filters.
class score_stream {
public:
    score_stream() = default;
    virtual ~score_stream() = default;
    score_stream(const score_stream&) = delete;
    score_stream& operator=(const score_stream&) = delete;

    /// Returns as many scores of each filter as there are frames: those that became known, of
    /// spikes so long before as a filter goes on after them. Before the first frame all were 0.
    virtual score_table next(const integer_block& frames, const execution& run) = 0;
};

/// It computes on the devices of `run` if it has any, with the same result as on the CPU, because
/// all sums are of integers.
/// @param before  frames of a filter before its spike
std::unique_ptr<const filter_bank> filter_bank_of(std::span<const matched_filter> filters,
                                                  std::size_t before, const execution& run);

/// The same for pieces, on the first device.
/// @param filters  which have to live as long, with `length` frames each
std::unique_ptr<score_stream> score_stream_of(std::span<const matched_filter> filters,
                                              std::size_t length, const execution& run);

/// @throws device_error in a build without CUDA
std::unique_ptr<const filter_bank> filter_bank_on_devices(std::span<const matched_filter> filters,
                                                          std::size_t before, const execution& run);

std::unique_ptr<score_stream> score_stream_on_device(std::span<const matched_filter> filters,
                                                     std::size_t length, int device);

}  // namespace spikeweave::templates
