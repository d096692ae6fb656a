#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "spikeweave/record/preprocess.hpp"

#ifndef SPIKEWEAVE_HD
#ifdef __CUDACC__
#define SPIKEWEAVE_HD __host__ __device__
#else
#define SPIKEWEAVE_HD
#endif
#endif

/// The arithmetic of traces that the CPU and kernels share, so that both give the same bits. It is
/// built without contraction on either side.
namespace spikeweave {

/// Which frames of the recording a block of filtered traces is made of.
struct block_span {
    std::uint64_t begin;     ///< the first that is filtered
    std::uint64_t data_end;  ///< one past the last of them that there is
    std::uint64_t end;       ///< one past the last that is filtered: the last value goes on
    std::uint64_t kept_begin;
    std::uint64_t kept_end;  ///< those that are kept of all this: the block and its apron
};

/// Of a recording of `total` frames the block of `count` frames from `first` on, with `apron`
/// frames on both sides, when values change others up to `reach` frames away.
SPIKEWEAVE_HD inline block_span span_of(std::uint64_t total, std::uint64_t first,
                                        std::uint64_t count, std::uint64_t apron,
                                        std::uint64_t reach) {
    const auto back_by = [first](std::uint64_t frames) {
        return first > frames ? first - frames : 0;
    };
    const auto at_most = [total](std::uint64_t frame) { return frame < total ? frame : total; };
    const std::uint64_t end = first + count + apron + reach;
    return {back_by(apron + reach), at_most(end), end, back_by(apron),
            at_most(first + count + apron)};
}

/// One channel of a block on its way through the filter, forward and then backward.
struct column_filter {
    const std::int16_t* counts;  ///< of the block's first frame
    double gain;
    const band_section* sections;
    std::uint32_t section_count;
    std::size_t stride;       ///< from frame to frame: the number of channels
    std::uint64_t present;    ///< frames that there are
    std::uint64_t length;     ///< frames that are filtered
    std::uint64_t kept_from;  ///< counted from the block's first
    std::uint64_t kept_to;
    double* values;  ///< room for `length` frames
    float* kept;     ///< where those that are kept go; null: into their place in `values`
    /// Room for two numbers of each section, so far apart.
    double* states;
    std::size_t state_stride;
};

/// Frames that are loaded while those before are filtered.
constexpr unsigned frames_together = 8;

SPIKEWEAVE_HD inline void clear_states(const column_filter& f) {
    for (std::uint32_t i = 0; i < 2 * f.section_count; ++i) f.states[i * f.state_stride] = 0;
}

/// All sections on some frames in turn. What goes through at the end besides does no harm: nothing
/// comes after it.
SPIKEWEAVE_HD inline void run_sections_on(const column_filter& f, double* x) {
    for (std::uint32_t s = 0; s < f.section_count; ++s) {
        const band_section section = f.sections[s];
        double* const state = f.states + 2 * f.state_stride * s;
        double z1 = state[0];
        double z2 = state[f.state_stride];
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
        for (unsigned i = 0; i < frames_together; ++i) {
            const double in = section.gain * x[i];
            const double out = in + z1;
            z1 = z2 - section.a1 * out;
            z2 = -in - section.a2 * out;
            x[i] = out;
        }
        state[0] = z1;
        state[f.state_stride] = z2;
    }
}

SPIKEWEAVE_HD inline void load_counts(const column_filter& f, std::uint64_t row,
                                      std::int16_t* into) {
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
    for (unsigned i = 0; i < frames_together; ++i) {
        const std::uint64_t at = row + i < f.present ? row + i : f.present - 1;
        into[i] = f.counts[at * f.stride];
    }
}

SPIKEWEAVE_HD inline void filter_forward(const column_filter& f) {
    clear_states(f);
    const double first = f.gain * f.counts[0];
    std::int16_t next[frames_together];
    load_counts(f, 0, next);
    for (std::uint64_t row = 0; row < f.length; row += frames_together) {
        double x[frames_together];
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
        for (unsigned i = 0; i < frames_together; ++i) x[i] = f.gain * next[i] - first;
        load_counts(f, row + frames_together, next);
        run_sections_on(f, x);
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
        for (unsigned i = 0; i < frames_together; ++i)
            if (row + i < f.length) f.values[(row + i) * f.stride] = x[i];
    }
}

/// Values of the frames before `end`, the last of them first.
SPIKEWEAVE_HD inline void load_values(const column_filter& f, std::uint64_t end, double* into) {
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
    for (unsigned i = 0; i < frames_together; ++i)
        into[i] = f.values[(end > i ? end - 1 - i : 0) * f.stride];
}

SPIKEWEAVE_HD inline void filter_backward(const column_filter& f) {
    clear_states(f);
    const double last = f.values[(f.length - 1) * f.stride];
    double next[frames_together];
    load_values(f, f.length, next);
    // Nothing before the frames that are kept changes them.
    for (std::uint64_t end = f.length; end > f.kept_from;
         end = end > frames_together ? end - frames_together : 0) {
        double x[frames_together];
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
        for (unsigned i = 0; i < frames_together; ++i) x[i] = next[i] - last;
        load_values(f, end > frames_together ? end - frames_together : 0, next);
        run_sections_on(f, x);
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
        for (unsigned i = 0; i < frames_together; ++i) {
            const std::uint64_t row = end - 1 - i;
            if (end <= i || row < f.kept_from || row >= f.kept_to) continue;
            if (f.kept != nullptr) {
                f.kept[(row - f.kept_from) * f.stride] = static_cast<float>(x[i]);
            } else {
                f.values[row * f.stride] = x[i];
            }
        }
    }
}

/// A whole number that orders as the values do; both zeros are one.
SPIKEWEAVE_HD inline std::uint64_t order_of(double value) {
    constexpr std::uint64_t sign = std::uint64_t{1} << 63;
    const double one_zero = value + 0.0;
    std::uint64_t bits = 0;
    memcpy(&bits, &one_zero, sizeof(bits));
    return (bits & sign) != 0 ? ~bits : bits | sign;
}

SPIKEWEAVE_HD inline double value_of(std::uint64_t order) {
    constexpr std::uint64_t sign = std::uint64_t{1} << 63;
    const std::uint64_t bits = (order & sign) != 0 ? order & ~sign : ~order;
    double value = 0;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

/// Finds the value of `rank` (the least has 0), bit by bit. `count(prefix, bit)` says how many
/// orders, shifted right by `bit`, are `prefix`.
template <class Count>
SPIKEWEAVE_HD std::uint64_t order_of_rank(std::uint64_t rank, const Count& count) {
    std::uint64_t prefix = 0;
    for (int bit = 63; bit >= 0; --bit) {
        prefix <<= 1;
        const std::uint64_t below = count(prefix, bit);
        if (rank < below) continue;
        rank -= below;
        prefix |= 1;
    }
    return prefix;
}

/// One channel around some frame.
struct trace_column {
    const float* at;     ///< the frame
    std::size_t stride;  ///< from frame to frame

    SPIKEWEAVE_HD float operator[](std::int64_t offset) const {
        return at[offset * static_cast<std::int64_t>(stride)];
    }
};

/// How far the peak lies from its frame: the top of a parabola through three samples.
SPIKEWEAVE_HD inline float fraction_of(const trace_column& around) {
    const float left = around[-1];
    const float top = around[0];
    const float right = around[1];
    const float bend = left - 2 * top + right;
    const bool is_peak = top < 0 ? left >= top && right >= top : left <= top && right <= top;
    if (!is_peak || bend == 0) return 0;
    const float fraction = (left - right) / (2 * bend);
    return fraction < -0.5F ? -0.5F : fraction > 0.5F ? 0.5F : fraction;
}

/// Interpolation by cubics (Catmull-Rom) at a fraction of a frame.
struct cubic {
    float weights[4]{};
    std::int64_t first;  ///< the offset that the first weight belongs to

    SPIKEWEAVE_HD explicit cubic(float fraction) : first(fraction < 0 ? -2 : -1) {
        const float t = fraction < 0 ? fraction + 1 : fraction;
        const float t2 = t * t;
        const float t3 = t2 * t;
        weights[0] = (-t3 + 2 * t2 - t) / 2;
        weights[1] = (3 * t3 - 5 * t2 + 2) / 2;
        weights[2] = (-3 * t3 + 4 * t2 + t) / 2;
        weights[3] = (t3 - t2) / 2;
    }

    /// The value `offset` frames from the peak.
    SPIKEWEAVE_HD float at(const trace_column& around, std::int64_t offset) const {
        float sum = 0;
        for (int k = 0; k < 4; ++k) sum += weights[k] * around[offset + first + k];
        return sum;
    }
};

/// How high a sample goes in standard deviations, the way that spikes point.
SPIKEWEAVE_HD inline float height_of(float value, float by_noise, bool both) {
    const float height = value * by_noise;
    return both && height < 0 ? -height : height;
}

}  // namespace spikeweave
