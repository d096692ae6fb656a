#pragma once

#include <cstddef>
#include <cstdint>

#include "record/detect/flood_fill.hpp"
#include "record/filter/plan.hpp"
#include "record/filter/trace_recipe.hpp"
#include "record/filter/trace_rules.hpp"

/// The work of one thread of each kernel. Tests also run it on the CPU.
namespace spikeweave::record {

constexpr std::uint32_t most_sections = 8;

struct filter_problem {
    const staged_block* blocks;
    const std::int16_t* counts;
    const double* gains;
    band_section sections[most_sections];
    std::uint32_t section_count;
    std::uint32_t block_count;
    std::uint32_t channels;
    const std::uint32_t* referenced;  ///< channels whose common median is subtracted from them
    const double* shares;             ///< for each channel: 1 if it is one of these, else 0
    std::uint32_t referenced_count;   ///< 0: no median is subtracted
    double* values;
    std::uint64_t value_rows;
    float* traces;
    std::uint64_t trace_rows;
};

SPIKEWEAVE_HD inline double* values_of(const filter_problem& p, std::uint32_t block) {
    return p.values + block * p.value_rows * p.channels;
}

/// Returns where the kept traces of a block are written.
SPIKEWEAVE_HD inline float* kept_traces_of(const filter_problem& p, std::uint32_t block) {
    return p.traces + (block * p.trace_rows + p.blocks[block].kept_at) * p.channels;
}

/// Filters one channel of one block.
SPIKEWEAVE_HD inline void filter_column_of(const filter_problem& p, std::uint32_t block,
                                           std::uint32_t channel, double* states,
                                           std::size_t state_stride) {
    const staged_block& where = p.blocks[block];
    const column_filter column{
        .counts = p.counts + where.counts_at * p.channels + channel,
        .gain = p.gains[channel],
        .sections = p.sections,
        .section_count = p.section_count,
        .stride = p.channels,
        .present = where.present,
        .length = where.length,
        .kept_from = where.kept_from,
        .kept_to = where.kept_to,
        .values = values_of(p, block) + channel,
        .kept = p.referenced_count > 0 ? nullptr : kept_traces_of(p, block) + channel,
        .states = states,
        .state_stride = state_stride,
    };
    filter_forward(column);
    filter_backward(column);
}

/// Frames that follow those of the last call with these states.
struct forward_problem {
    const std::int16_t* counts;  ///< frame by frame
    const double* gains;
    const double* first;  ///< the first frame of all, in microvolts
    band_section sections[most_sections];
    std::uint32_t section_count;
    std::uint32_t channels;
    std::uint32_t frames;
    double* states;  ///< sections x 2 x channels
    double* values;  ///< frame by frame; null: into `traces`
    float* traces;
};

/// Filters one channel forward.
SPIKEWEAVE_HD inline void filter_column_forward(const forward_problem& p, std::uint32_t channel) {
    double z1[most_sections];
    double z2[most_sections];
    // The two states of a section are a row of channels apart.
    const auto state_of = [&](std::uint32_t section) {
        return p.states + std::size_t{2} * section * p.channels + channel;
    };
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
    for (std::uint32_t s = 0; s < most_sections; ++s) {
        z1[s] = s < p.section_count ? state_of(s)[0] : 0;
        z2[s] = s < p.section_count ? state_of(s)[p.channels] : 0;
    }
    for (std::uint32_t begin = 0; begin < p.frames; begin += frames_together) {
        std::int16_t counts[frames_together];
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
        for (std::uint32_t i = 0; i < frames_together; ++i)
            counts[i] = begin + i < p.frames
                            ? p.counts[std::size_t{begin + i} * p.channels + channel]
                            : std::int16_t{0};
        for (std::uint32_t i = 0; i < frames_together && begin + i < p.frames; ++i) {
            double x = p.gains[channel] * counts[i] - p.first[channel];
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
            for (std::uint32_t s = 0; s < most_sections; ++s) {
                if (s >= p.section_count) continue;
                const band_section section = p.sections[s];
                const double in = section.gain * x;
                const double out = in + z1[s];
                z1[s] = z2[s] - section.a1 * out;
                z2[s] = -in - section.a2 * out;
                x = out;
            }
            const std::size_t at = std::size_t{begin + i} * p.channels + channel;
            if (p.values != nullptr)
                p.values[at] = x;
            else
                p.traces[at] = static_cast<float>(x);
        }
    }
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
    for (std::uint32_t s = 0; s < most_sections; ++s) {
        if (s >= p.section_count) continue;
        state_of(s)[0] = z1[s];
        state_of(s)[p.channels] = z2[s];
    }
}

/// Returns one channel of one frame, mixed from `sources` others.
/// @param from, weights  of the channel
SPIKEWEAVE_HD inline float mixed(const float* frame, const std::uint32_t* from,
                                 const float* weights, std::uint32_t sources) {
    float sum = 0;
    for (std::uint32_t k = 0; k < sources; ++k) sum += weights[k] * frame[from[k]];
    return sum;
}

/// Returns the median of a frame. `count(order, bit)` is as in `order_of_rank`;
/// `greatest_below(order, less)` returns the greatest order below another, and stores in `less` the
/// number of lower orders.
template <class Count, class Below>
SPIKEWEAVE_HD double median_by(std::uint32_t channels, const Count& count,
                               const Below& greatest_below) {
    const std::uint64_t middle = order_of_rank(channels / 2, count);
    if (channels % 2 == 1) return value_of(middle);
    std::uint32_t less = 0;
    const std::uint64_t before = greatest_below(middle, less);
    return (value_of(middle) + value_of(less == channels / 2 ? before : middle)) / 2;
}

/// Returns one channel of one frame times a matrix `[from * channels + to]`.
SPIKEWEAVE_HD inline float whitened(const float* frame, const float* matrix, std::uint32_t channels,
                                    std::uint32_t channel) {
    float sum = 0;
    for (std::uint32_t k = 0; k < channels; ++k)
        sum += frame[k] * matrix[std::size_t{k} * channels + channel];
    return sum;
}

struct crossing_problem {
    const float* traces;  ///< frame by frame, without an apron
    const float* by_noise;
    std::uint32_t channels;
    float above;
    bool both;

    SPIKEWEAVE_HD float height(std::uint32_t sample) const {
        return height_of(traces[sample], by_noise[sample % channels], both);
    }
    SPIKEWEAVE_HD bool operator()(std::uint32_t sample) const { return height(sample) > above; }
};

/// A spike, given by the row of its peak in the traces.
struct spike_row {
    std::uint64_t row;
    std::uint32_t peak_channel;
    std::uint32_t channel;  ///< channel of the requested waveform
};

struct waveform_problem {
    const float* traces;
    const spike_row* spikes;
    std::uint32_t count;
    std::uint32_t channels;
    std::uint32_t frames;  ///< frames of a waveform
    std::int64_t before;
    std::uint32_t components;
    const float* axes;  ///< [component][frame][channel]
};

SPIKEWEAVE_HD inline trace_column column_around(const waveform_problem& p, std::uint64_t row,
                                                std::uint32_t channel) {
    return {p.traces + row * p.channels + channel, p.channels};
}

SPIKEWEAVE_HD inline float fraction_of(const waveform_problem& p, const spike_row& spike) {
    return fraction_of(column_around(p, spike.row, spike.peak_channel));
}

/// Returns one frame of the waveform of spike `n`.
SPIKEWEAVE_HD inline float waveform_at(const waveform_problem& p, std::uint32_t n,
                                       std::uint32_t frame) {
    const spike_row& spike = p.spikes[n];
    return cubic(fraction_of(p, spike))
        .at(column_around(p, spike.row, spike.channel), std::int64_t{frame} - p.before);
}

/// Computes all features of spike `n` on one channel.
SPIKEWEAVE_HD inline void describe_channel(const waveform_problem& p, std::uint32_t n,
                                           std::uint32_t channel, float* features) {
    constexpr std::uint32_t together = 4;
    const spike_row& spike = p.spikes[n];
    const cubic curve(fraction_of(p, spike));
    const trace_column around = column_around(p, spike.row, channel);
    for (std::uint32_t first = 0; first < p.components; first += together) {
        float sums[together] = {};
        for (std::uint32_t i = 0; i < p.frames; ++i) {
            const float value = curve.at(around, std::int64_t{i} - p.before);
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
            for (std::uint32_t k = 0; k < together; ++k)
                if (first + k < p.components)
                    sums[k] +=
                        value *
                        p.axes[(std::size_t{first + k} * p.frames + i) * p.channels + channel];
        }
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
        for (std::uint32_t k = 0; k < together; ++k)
            if (first + k < p.components) features[first + k] = sums[k];
    }
}

}  // namespace spikeweave::record
