#include "record/filter/filtered_blocks.hpp"

#include <algorithm>
#include <stop_token>
#include <utility>

#include "record/filter/cuda/device_pipeline.hpp"
#include "record/filter/cuda/filter.hpp"

namespace spikeweave::record {
namespace {

class device_blocks final : public filtered_blocks {
public:
    device_blocks(block_reader blocks, const execution& run)
        : blocks_(std::move(blocks)),
          stop_(run.stop),
          lanes_(
              blocks_.source(), blocks_.recipe(),
              grid_of(blocks_.source(), blocks_.recipe(), blocks_.block_frames(), blocks_.apron()),
              run.devices) {}

    trace_block read(std::size_t number) const override {
        const block_grid& grid = lanes_.grid();
        trace_block out{.first = number * grid.block_frames,
                        .frames = frames_of(number),
                        .apron = blocks_.apron(),
                        .channels = grid.channels};
        out.values.resize((out.frames + 2 * out.apron) * out.channels);
        lanes_.with_lane(stop_, [&](device_pipeline& lane) {
            lane.filter(std::span{&number, 1}, out.apron);
            lane.download(out.values);
        });
        return out;
    }

    std::vector<std::int16_t> read_scaled(std::size_t number,
                                          const trace_scale& scale) const override {
        const std::size_t channels = lanes_.grid().channels;
        const std::size_t rows = frames_of(number) + 2 * blocks_.apron();
        return lanes_.with_lane(stop_, [&](device_pipeline& lane) {
            lane.filter(std::span{&number, 1}, blocks_.apron());
            const device::buffer<float> factors(scale.factors, lane.on());
            const device::buffer<std::int16_t> scaled(rows * channels, lane.on());
            scale_columns({.traces = lane.traces(),
                           .rows = static_cast<std::uint32_t>(rows),
                           .channels = static_cast<std::uint32_t>(channels),
                           .factors = factors.data(),
                           .limit = scale.limit},
                          scaled.data(), lane.on());
            return scaled.downloaded();
        });
    }

private:
    std::size_t frames_of(std::size_t number) const {
        const block_grid& grid = lanes_.grid();
        return static_cast<std::size_t>(
            std::min(grid.block_frames, grid.total - number * grid.block_frames));
    }

    block_reader blocks_;
    std::stop_token stop_;
    mutable trace_lanes lanes_;
};

}  // namespace

std::unique_ptr<const filtered_blocks> filtered_blocks_on_devices(const block_reader& blocks,
                                                                  const execution& run) {
    return std::make_unique<const device_blocks>(blocks, run);
}

}  // namespace spikeweave::record
