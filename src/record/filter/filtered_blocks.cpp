#include "record/filter/filtered_blocks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "record/filter/trace_rules.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave {
namespace record {
namespace {

class filtered_blocks_on_cpu final : public filtered_blocks {
public:
    explicit filtered_blocks_on_cpu(block_reader blocks) : blocks_(std::move(blocks)) {}

    trace_block read(std::size_t block) const override { return blocks_.read(block); }

    std::vector<std::int16_t> read_scaled(std::size_t number,
                                          const trace_scale& scale) const override {
        const trace_block block = blocks_.read(number);
        const std::size_t frames = block.frames + 2 * block.apron;
        std::vector<std::int16_t> out(frames * block.channels);
        constexpr std::size_t tile = 64;  // frames whose channels fit the first cache
        for (std::size_t begin = 0; begin < frames; begin += tile) {
            const std::size_t end = std::min(frames, begin + tile);
            for (std::size_t c = 0; c < block.channels; ++c)
                for (std::size_t f = begin; f < end; ++f)
                    out[c * frames + f] =
                        scaled(block.values[f * block.channels + c], scale.factors[c], scale.limit);
        }
        return out;
    }

private:
    block_reader blocks_;
};

}  // namespace

std::unique_ptr<const filtered_blocks> filtered_blocks_of(const block_reader& blocks,
                                                          const execution& run) {
    if (run.devices.empty() || blocks.recipe().needs_cpu())
        return std::make_unique<const filtered_blocks_on_cpu>(blocks);
    return filtered_blocks_on_devices(blocks, run);
}

}  // namespace record

scaled_trace_blocks::scaled_trace_blocks(const filtered_recording& traces, std::size_t apron,
                                         trace_scale scale, const execution& run)
    : scale_(std::move(scale)),
      blocks_(record::filtered_blocks_of(record::block_reader(traces, apron), run)) {
    if (const std::size_t channels = traces.source().channel_count();
        scale_.factors.size() != channels)
        throw invalid_argument(
            fmt::format("{} factors for {} channels", scale_.factors.size(), channels));
}

std::vector<std::int16_t> scaled_trace_blocks::read(std::size_t block) const {
    return blocks_->read_scaled(block, scale_);
}

}  // namespace spikeweave
