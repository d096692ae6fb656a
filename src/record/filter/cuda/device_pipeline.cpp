#include "record/filter/cuda/device_pipeline.hpp"

#include <algorithm>

#include "record/filter/cuda/filter.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave::record {
namespace {

std::vector<double> gains_of(const recording& from) {
    std::vector<double> gains;
    gains.reserve(from.channel_count());
    for (const recording_channel& channel : from.channels()) gains.push_back(channel.gain_uv);
    return gains;
}

std::vector<double> shares_of(const trace_recipe& recipe, std::size_t channels) {
    std::vector<double> shares(channels, 0.0);
    for (const std::uint32_t c : recipe.referenced) shares[c] = 1;
    return shares;
}

}  // namespace

block_grid grid_of(const recording& from, const trace_recipe& recipe, std::size_t block_frames,
                   std::size_t apron) {
    return {.total = from.frame_count(),
            .block_frames = block_frames,
            .apron = apron,
            .reach = recipe.reach,
            .channels = from.channel_count()};
}

device_pipeline::device_pipeline(const recording& from, const trace_recipe& recipe,
                                 const block_grid& grid, std::size_t together)
    : from_(from),
      recipe_(recipe),
      grid_(grid),
      read_(together * grid.value_rows() * grid.channels),
      staged_(together),
      counts_(read_.size(), on_),
      blocks_(together, on_),
      gains_(gains_of(from), on_),
      matrix_(recipe.whitening, on_),
      referenced_(recipe.referenced, on_),
      shares_(shares_of(recipe, grid.channels), on_),
      values_(together * grid.value_rows() * grid.channels, on_),
      plain_(together * grid.trace_rows() * grid.channels, on_),
      whitened_(recipe.whitening.empty() ? 0 : plain_.size(), on_) {}

void device_pipeline::read(const staging& plan) {
    const std::size_t channels = grid_.channels;
    for (const staged_run& run : plan.runs)
        from_.read(run.begin,
                   read_.span().subspan(static_cast<std::size_t>(run.at) * channels,
                                        static_cast<std::size_t>(run.end - run.begin) * channels));
    std::copy(plan.blocks.begin(), plan.blocks.end(), staged_.data());
    counts_.upload(read_.span().first(static_cast<std::size_t>(plan.frames) * channels));
    blocks_.upload(staged_.span().first(plan.blocks.size()));
}

void device_pipeline::filter(std::span<const std::size_t> blocks, std::size_t apron) {
    // Earlier data may still be in transfer.
    on_.wait();
    grid_.apron = apron;
    read(stage(grid_, blocks));
    plain_.fill(0);
    filter_problem problem{
        .blocks = blocks_.data(),
        .counts = counts_.data(),
        .gains = gains_.data(),
        .sections = {},
        .section_count = static_cast<std::uint32_t>(recipe_.sections.size()),
        .block_count = static_cast<std::uint32_t>(blocks.size()),
        .channels = static_cast<std::uint32_t>(grid_.channels),
        .referenced = referenced_.data(),
        .shares = shares_.data(),
        .referenced_count = static_cast<std::uint32_t>(recipe_.referenced.size()),
        .values = values_.data(),
        .value_rows = grid_.value_rows(),
        .traces = plain_.data(),
        .trace_rows = grid_.trace_rows(),
    };
    if (recipe_.sections.size() > most_sections)
        throw invalid_argument("a filter of more sections than there are on a device");
    std::copy(recipe_.sections.begin(), recipe_.sections.end(), problem.sections);
    filter_blocks(problem, on_);
    if (whitened_.size() > 0)
        whiten_rows(plain_.data(), matrix_.data(), blocks.size() * grid_.trace_rows(),
                    problem.channels, whitened_.data(), on_);
}

void device_pipeline::download(std::span<float> into) const {
    result().download(into);
    on_.wait();
}

}  // namespace spikeweave::record
