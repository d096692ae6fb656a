#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "record/filter/trace_rules.hpp"

/// Plans the work of a device from sizes. It runs on the host and is tested without a device.
namespace spikeweave::record {

/// The grid of the blocks of a recording.
struct block_grid {
    std::uint64_t total = 0;  ///< frames of the recording
    std::uint64_t block_frames = 0;
    std::uint64_t apron = 0;
    std::uint64_t reach = 0;
    std::size_t channels = 0;

    constexpr std::size_t block_count() const {
        return static_cast<std::size_t>((total + block_frames - 1) / block_frames);
    }
    /// Frames of the largest block; the only block of a short recording has no more than `total`.
    constexpr std::uint64_t largest() const { return std::min(block_frames, total); }
    /// Rows of the filtered values of a block.
    constexpr std::size_t value_rows() const {
        return static_cast<std::size_t>(largest() + 2 * (apron + reach));
    }
    /// Rows of the traces of a block.
    constexpr std::size_t trace_rows() const {
        return static_cast<std::size_t>(largest() + 2 * apron);
    }
};

/// The number of blocks processed together. They fill 16 MiB of page-locked memory, which takes
/// about as long to read and to copy as the filter takes to run, whose threads each process a whole
/// block.
constexpr std::size_t blocks_together(const block_grid& grid) {
    constexpr std::size_t samples = std::size_t{1} << 23U;
    return std::clamp<std::size_t>(samples / (grid.value_rows() * grid.channels), 1,
                                   std::max<std::size_t>(grid.block_count(), 1));
}

/// The position of a block in the memory of a device, in frames.
struct staged_block {
    std::uint64_t counts_at;  ///< its first sample
    std::uint64_t present;    ///< as in `column_filter`
    std::uint64_t length;
    std::uint64_t kept_from;
    std::uint64_t kept_to;
    std::uint64_t kept_at;  ///< the row of its traces at which the kept frames begin
};

/// Frames of the recording that are read at once.
struct staged_run {
    std::uint64_t begin;
    std::uint64_t end;
    std::uint64_t at;  ///< position in the memory of the device
};

struct staging {
    std::vector<staged_block> blocks{};
    std::vector<staged_run> runs{};
    std::uint64_t frames = 0;
};

/// Plans blocks given by their numbers, ascending. Frames that several of them need are read once.
inline staging stage(const block_grid& grid, std::span<const std::size_t> blocks) {
    staging out;
    out.blocks.reserve(blocks.size());
    for (const std::size_t number : blocks) {
        const std::uint64_t first = std::uint64_t{number} * grid.block_frames;
        const std::uint64_t count = std::min(grid.block_frames, grid.total - first);
        const block_span span = span_of(grid.total, first, count, grid.apron, grid.reach);
        if (out.runs.empty() || span.begin > out.runs.back().end) {
            out.runs.push_back({span.begin, span.data_end, out.frames});
        } else {
            out.runs.back().end = std::max(out.runs.back().end, span.data_end);
        }
        const staged_run& run = out.runs.back();
        out.frames = run.at + run.end - run.begin;
        out.blocks.push_back({.counts_at = run.at + span.begin - run.begin,
                              .present = span.data_end - span.begin,
                              .length = span.end - span.begin,
                              .kept_from = span.kept_begin - span.begin,
                              .kept_to = span.kept_end - span.begin,
                              .kept_at = span.kept_begin + grid.apron - first});
    }
    return out;
}

}  // namespace spikeweave::record
