#include "record/detect/trace_steps.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "parallel/parallel_for.hpp"
#include "record/detect/cuda/kernels.hpp"
#include "record/filter/cuda/device_pipeline.hpp"
#include "record/filter/cuda/filter.hpp"

namespace spikeweave::record {
namespace {

// Maximum number of feature values computed at once.
constexpr std::size_t most_features = std::size_t{1} << 24U;

class device_steps final : public trace_steps {
public:
    device_steps(const filtered_recording& traces, crossing_rule rule,
                 const waveform_window& window, std::size_t block_frames, const execution& run)
        : rule_(std::move(rule)),
          window_(window),
          blocks_(traces, window.apron(), block_frames),
          stop_(run.stop),
          lanes_(blocks_.source(), blocks_.recipe(),
                 grid_of(blocks_.source(), blocks_.recipe(), block_frames, window.apron()),
                 run.devices) {}

    std::size_t piece_count() const override {
        const std::size_t together = lanes_.blocks_together();
        return (lanes_.grid().block_count() + together - 1) / together;
    }
    std::size_t piece_frames() const override {
        return lanes_.blocks_together() * static_cast<std::size_t>(lanes_.grid().block_frames);
    }
    piece_crossings crossings_of(std::size_t piece) const override;
    std::vector<float> waveforms_of(std::size_t piece,
                                    std::span<const waveform_place> places) const override;
    void describe(std::size_t piece, const spike_slice& spikes,
                  const principal_components& components) const override;

private:
    std::vector<std::size_t> blocks_of(std::size_t piece) const;
    std::size_t block_of(std::int64_t frame) const {
        return static_cast<std::size_t>(static_cast<std::uint64_t>(frame) /
                                        lanes_.grid().block_frames);
    }
    spike_row row_of(std::span<const std::size_t> blocks, std::int64_t frame,
                     std::uint32_t peak_channel, std::uint32_t channel) const;
    waveform_problem problem_for(const device_pipeline& lane,
                                 const device::buffer<spike_row>& rows) const;

    crossing_rule rule_;
    waveform_window window_;
    block_reader blocks_;
    std::stop_token stop_;
    mutable trace_lanes lanes_;
};

std::vector<std::size_t> device_steps::blocks_of(std::size_t piece) const {
    const std::size_t together = lanes_.blocks_together();
    const std::size_t first = piece * together;
    std::vector<std::size_t> blocks(std::min(together, lanes_.grid().block_count() - first));
    std::iota(blocks.begin(), blocks.end(), first);
    return blocks;
}

piece_crossings device_steps::crossings_of(std::size_t piece) const {
    const std::vector<std::size_t> blocks = blocks_of(piece);
    const block_grid& grid = lanes_.grid();
    // Without an apron, the blocks of a piece are as contiguous as in the recording.
    const std::uint64_t first = blocks.front() * grid.block_frames;
    const std::uint64_t frames = std::min(grid.total - first, blocks.size() * grid.block_frames);
    return lanes_.with_lane(stop_, [&](device_pipeline& lane) {
        lane.filter(blocks, 0);
        const device::buffer<float> by_noise(rule_.by_noise, lane.on());
        return find_crossings({.traces = lane.traces(),
                               .by_noise = by_noise.data(),
                               .channels = static_cast<std::uint32_t>(grid.channels),
                               .above = rule_.above,
                               .both = rule_.both},
                              frames * grid.channels, lane.on());
    });
}

// Returns the position of a spike's peak in the traces of these blocks.
spike_row device_steps::row_of(std::span<const std::size_t> blocks, std::int64_t frame,
                               std::uint32_t peak_channel, std::uint32_t channel) const {
    const std::size_t number = block_of(frame);
    const auto at = static_cast<std::uint64_t>(
        std::lower_bound(blocks.begin(), blocks.end(), number) - blocks.begin());
    const block_grid& grid = lanes_.grid();
    const std::uint64_t inside = static_cast<std::uint64_t>(frame) - number * grid.block_frames;
    return {at * grid.trace_rows() + grid.apron + inside, peak_channel, channel};
}

waveform_problem device_steps::problem_for(const device_pipeline& lane,
                                           const device::buffer<spike_row>& rows) const {
    return {.traces = lane.traces(),
            .spikes = rows.data(),
            .count = static_cast<std::uint32_t>(rows.size()),
            .channels = static_cast<std::uint32_t>(lanes_.grid().channels),
            .frames = static_cast<std::uint32_t>(window_.size()),
            .before = window_.before,
            .components = 0,
            .axes = nullptr};
}

std::vector<float> device_steps::waveforms_of(std::size_t,
                                              std::span<const waveform_place> places) const {
    std::vector<std::size_t> blocks;
    for (const waveform_place& place : places)
        if (const std::size_t number = block_of(place.frame);
            blocks.empty() || blocks.back() != number)
            blocks.push_back(number);
    std::vector<spike_row> rows;
    rows.reserve(places.size());
    for (const waveform_place& place : places)
        rows.push_back(row_of(blocks, place.frame, place.peak_channel, place.channel));
    std::vector<float> waveforms(places.size() * window_.size());
    lanes_.with_lane(stop_, [&](device_pipeline& lane) {
        lane.filter(blocks, window_.apron());
        const device::buffer<spike_row> wanted(rows, lane.on());
        const device::buffer<float> found(waveforms.size(), lane.on());
        cut_waveforms(problem_for(lane, wanted), found.data(), lane.on());
        found.download(waveforms);
        lane.on().wait();
    });
    return waveforms;
}

// Returns `[component][frame][channel]`, so that neighbouring threads read neighbouring values.
std::vector<float> turned(const principal_components& components, std::size_t channels,
                          std::size_t frames) {
    std::vector<float> out(channels * components.components() * frames);
    for (std::size_t c = 0; c < channels; ++c) {
        const std::span<const float> axes = components.of(c);
        for (std::size_t i = 0; i < axes.size(); ++i) out[i * channels + c] = axes[i];
    }
    return out;
}

// Takes the features of the channels on which spikes from `first` on are described.
void keep_described(std::span<const float> all, std::size_t components, std::size_t first,
                    const spike_slice& spikes) {
    const std::size_t channels = spikes.described_channels.size();
    const std::size_t kept = spikes.described_channels.front().size() * components;
    float* into = spikes.features.data() + first * kept;
    for (std::size_t n = 0; n < all.size() / (channels * components); ++n)
        for (const std::uint32_t c : spikes.described_channels[spikes.peak_channels[first + n]])
            into = std::copy_n(
                all.begin() + static_cast<std::ptrdiff_t>((n * channels + c) * components),
                components, into);
}

void device_steps::describe(std::size_t piece, const spike_slice& spikes,
                            const principal_components& components) const {
    const std::vector<std::size_t> blocks = blocks_of(piece);
    const std::size_t channels = lanes_.grid().channels;
    const std::size_t each = channels * components.components();
    const std::size_t together = std::max<std::size_t>(1, most_features / each);
    std::vector<spike_row> rows;
    rows.reserve(spikes.frames.size());
    for (std::size_t n = 0; n < spikes.frames.size(); ++n)
        rows.push_back(row_of(blocks, spikes.frames[n], spikes.peak_channels[n], 0));
    const std::vector<float> axes = turned(components, channels, window_.size());
    lanes_.with_lane(stop_, [&](device_pipeline& lane) {
        lane.filter(blocks, window_.apron());
        const device::buffer<float> projected_on(axes, lane.on());
        for (std::size_t first = 0; first < rows.size(); first += together) {
            const std::size_t count = std::min(together, rows.size() - first);
            const device::buffer<spike_row> wanted(std::span{rows}.subspan(first, count),
                                                   lane.on());
            const device::buffer<float> fractions(count, lane.on());
            const device::buffer<float> features(count * each, lane.on());
            waveform_problem problem = problem_for(lane, wanted);
            problem.components = static_cast<std::uint32_t>(components.components());
            problem.axes = projected_on.data();
            describe_spikes(problem, fractions.data(), features.data(), lane.on());
            fractions.download(spikes.fractions.subspan(first, count));
            if (spikes.described_channels.empty()) {
                features.download(spikes.features.subspan(first * each, count * each));
                lane.on().wait();
                continue;
            }
            std::vector<float> all(count * each);
            features.download(all);
            lane.on().wait();
            keep_described(all, components.components(), first, spikes);
        }
    });
}

}  // namespace

std::vector<std::vector<float>> excerpts_on_devices(const recording& from,
                                                    const trace_recipe& recipe,
                                                    std::span<const std::size_t> blocks,
                                                    const execution& run) {
    const block_grid grid = grid_of(from, recipe, standard_block_frames, 0);
    trace_lanes lanes(from, recipe, grid, run.devices);
    std::vector<std::vector<float>> out(blocks.size());
    // A lane takes as long for one block as for several.
    const std::size_t all_lanes = run.devices.size() * device::lanes_per_device;
    const std::size_t together =
        std::min(lanes.blocks_together(), std::max<std::size_t>(1, blocks.size() / all_lanes));
    const std::size_t pieces = (blocks.size() + together - 1) / together;
    parallel::parallel_for(pieces, run, "noise", [&](std::size_t piece) {
        const std::size_t first = piece * together;
        const auto some = blocks.subspan(first, std::min(together, blocks.size() - first));
        lanes.with_lane(run.stop, [&](device_pipeline& lane) {
            lane.filter(some, 0);
            for (std::size_t i = 0; i < some.size(); ++i) {
                const std::uint64_t begin = some[i] * grid.block_frames;
                const std::uint64_t rows = std::min(grid.block_frames, grid.total - begin);
                const device::buffer<float> picked(
                    (rows + excerpt_step - 1) / excerpt_step * grid.channels, lane.on());
                pick_rows(lane.traces() + i * lane.trace_rows() * grid.channels, rows,
                          static_cast<std::uint32_t>(grid.channels), picked.data(), lane.on());
                out[first + i] = picked.downloaded();
            }
        });
    });
    return out;
}

std::unique_ptr<trace_steps> steps_on_devices(const filtered_recording& traces,
                                              const crossing_rule& rule,
                                              const waveform_window& window,
                                              std::size_t block_frames, const execution& run) {
    return std::make_unique<device_steps>(traces, rule, window, block_frames, run);
}

}  // namespace spikeweave::record
