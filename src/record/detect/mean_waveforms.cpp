#include "spikeweave/record/mean_waveforms.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <utility>

#include "parallel/ordered_for.hpp"
#include "parallel/parallel_for.hpp"
#include "record/detect/waveforms.hpp"
#include "record/filter/block_reader.hpp"
#include "record/filter/filtered_blocks.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave {

using record::block_reader;
using record::filtered_blocks_of;
using record::standard_block_frames;
using record::waveform_window;
using record::window_of;

namespace {

struct chosen_block {
    std::size_t number = 0;
    std::vector<std::pair<std::uint32_t, std::vector<std::uint32_t>>> spikes{};  // by group
};

void check(const recording& from, std::span<const std::int64_t> frames,
           std::span<const std::uint32_t> groups, std::size_t group_count) {
    if (frames.size() != groups.size())
        throw invalid_argument(
            fmt::format("there are groups of {} spikes for {}", groups.size(), frames.size()));
    for (std::size_t n = 0; n < frames.size(); ++n) {
        if (frames[n] < 0 || static_cast<std::uint64_t>(frames[n]) >= from.frame_count())
            throw invalid_argument(fmt::format("spike {} is at frame {} of a recording of {}", n,
                                               frames[n], from.frame_count()));
        if (groups[n] >= group_count)
            throw invalid_argument(
                fmt::format("spike {} belongs to group {} of {}", n, groups[n], group_count));
    }
}

// Orders blocks as the first, the middle, the quarters and so on, so that any number of them from
// the start is spread over the recording.
std::vector<std::size_t> spread(std::size_t count) {
    const auto bits = static_cast<int>(std::bit_width(count == 0 ? 0 : count - 1));
    std::vector<std::size_t> order;
    order.reserve(count);
    for (std::size_t i = 0; i < std::size_t{1} << bits; ++i) {
        std::size_t reversed = 0;
        for (int b = 0; b < bits; ++b) reversed |= (i >> b & 1U) << (bits - 1 - b);
        if (reversed < count) order.push_back(reversed);
    }
    return order;
}

// Chooses blocks with spikes of groups that still have too few. The result is in ascending order.
std::vector<chosen_block> choose(std::span<const std::int64_t> frames,
                                 std::span<const std::uint32_t> groups, std::size_t group_count,
                                 std::size_t blocks, std::size_t most) {
    std::vector<std::vector<std::uint32_t>> by_block(blocks);
    for (std::size_t n = 0; n < frames.size(); ++n)
        by_block[static_cast<std::size_t>(frames[n]) / standard_block_frames].push_back(
            static_cast<std::uint32_t>(n));
    std::vector<std::size_t> taken(group_count);
    std::vector<chosen_block> chosen;
    for (const std::size_t number : spread(blocks)) {
        std::map<std::uint32_t, std::vector<std::uint32_t>> spikes;
        for (const std::uint32_t n : by_block[number])
            if (taken[groups[n]] < most) {
                ++taken[groups[n]];
                spikes[groups[n]].push_back(n);
            }
        if (!spikes.empty()) chosen.push_back({number, {spikes.begin(), spikes.end()}});
    }
    std::sort(chosen.begin(), chosen.end(),
              [](const auto& a, const auto& b) { return a.number < b.number; });
    return chosen;
}

// Means and standard deviations from sums over the spikes of each group.
void take_moments(const std::vector<double>& sums, const std::vector<double>& squares,
                  const std::vector<double>& first_sums, std::size_t size, mean_waveforms& out) {
    for (std::vector<float>& half : out.halves) half.resize(sums.size());
    out.values.resize(sums.size());
    out.deviations.resize(sums.size());
    for (std::size_t g = 0; g < out.group_count(); ++g) {
        const auto count = static_cast<double>(std::max<std::uint64_t>(out.spikes[g], 1));
        for (std::size_t k = g * size; k < (g + 1) * size; ++k) {
            const double mean = sums[k] / count;
            const double left = std::max(0.0, squares[k] - sums[k] * mean);
            out.values[k] = static_cast<float>(mean);
            out.deviations[k] = static_cast<float>(std::sqrt(left / std::max(count - 1, 1.0)));
            for (std::size_t h = 0; h < out.halves.size(); ++h) {
                const double sum = h == 0 ? first_sums[k] : sums[k] - first_sums[k];
                const std::uint64_t spikes = std::max<std::uint64_t>(out.spikes_of_halves[h][g], 1);
                out.halves[h][k] = static_cast<float>(sum / static_cast<double>(spikes));
            }
        }
    }
}

}  // namespace

std::optional<double> mean_waveforms::signal_to_noise(std::size_t group) const {
    std::optional<double> most;
    if (spikes[group] == 0) return most;
    const std::span<const float> own = of(group);
    for (std::size_t i = 0; i < own.size(); ++i) {
        const double sd = noise[i % channel_count];
        if (sd > 0) most = std::max(most.value_or(0), std::abs(static_cast<double>(own[i])) / sd);
    }
    return most;
}

mean_waveforms average_waveforms(const recording& from, std::span<const std::int64_t> frames,
                                 std::span<const std::uint32_t> groups, std::size_t group_count,
                                 const detection_options& options, const execution& run,
                                 std::size_t most) {
    check(from, frames, groups, group_count);
    const filtered_recording traces(from, options.preprocessing, run);
    const waveform_window window = window_of(options, from.rate_hz());
    const block_reader blocks(traces, window.apron());
    const auto filtered = filtered_blocks_of(blocks, run);
    mean_waveforms out{.channel_count = from.channel_count(),
                       .frame_count = window.size(),
                       .before = static_cast<std::size_t>(window.before),
                       .spikes = std::vector<std::uint64_t>(group_count),
                       .noise = {traces.noise().begin(), traces.noise().end()}};
    const std::size_t size = out.frame_count * out.channel_count;
    std::vector<double> sums(group_count * size);
    std::vector<double> squares(group_count * size);
    std::vector<double> first_sums(group_count * size);  // of the first half of the recording
    for (std::vector<std::uint64_t>& half : out.spikes_of_halves) half.resize(group_count);
    const auto middle = static_cast<std::int64_t>(from.frame_count() / 2);
    const auto chosen = choose(frames, groups, group_count, blocks.block_count(), most);
    const execution quiet{.threads = run.threads, .stop = run.stop};
    parallel::for_each_in_order(
        chosen.size(), run, "mean waveforms",
        [&](std::size_t i) { return filtered->read(chosen[i].number); },
        [&](std::size_t i, const trace_block& block) {
            const auto& by_group = chosen[i].spikes;
            parallel::parallel_for(by_group.size(), quiet, "mean waveforms", [&](std::size_t k) {
                const auto& [group, spikes] = by_group[k];
                double* const sum = sums.data() + group * size;
                double* const square = squares.data() + group * size;
                double* const first = first_sums.data() + group * size;
                for (const std::uint32_t n : spikes) {
                    const std::int64_t offset = frames[n] - static_cast<std::int64_t>(block.first);
                    const float* const begin = block.frame(offset - window.before);
                    for (std::size_t v = 0; v < size; ++v) {
                        sum[v] += begin[v];
                        square[v] += static_cast<double>(begin[v]) * begin[v];
                    }
                    const std::size_t half = frames[n] < middle ? 0 : 1;
                    ++out.spikes_of_halves[half][group];
                    if (half == 0)
                        for (std::size_t v = 0; v < size; ++v) first[v] += begin[v];
                }
                out.spikes[group] += spikes.size();
            });
        });
    take_moments(sums, squares, first_sums, size, out);
    return out;
}

}  // namespace spikeweave
