#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/host_device.hpp"
#include "spikeweave/record/preprocess.hpp"

/// The arithmetic of traces that the CPU and kernels share, so that both yield the same bits. It is
/// compiled without contraction on both sides.
namespace spikeweave::record {

/// The frames of the recording from which a block of filtered traces is computed.
struct block_span {
    std::uint64_t begin;     ///< the first frame that is filtered
    std::uint64_t data_end;  ///< one past the last of them in the recording
    std::uint64_t end;  ///< one past the last frame that is filtered; beyond `data_end` the last
                        ///< value is repeated
    std::uint64_t kept_begin;
    std::uint64_t kept_end;  ///< the kept frames: the block and its apron
};

/// Returns the frames for a block of `count` frames from `first` on in a recording of `total`
/// frames, with `apron` frames on both sides, if values affect others up to `reach` frames away.
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

/// One channel of a block for the filter, which runs forward and then backward.
struct column_filter {
    const std::int16_t* counts;  ///< first sample of the channel in the block
    double gain;
    const band_section* sections;
    std::uint32_t section_count;
    std::size_t stride;       ///< distance between frames: the number of channels
    std::uint64_t present;    ///< frames that the recording has
    std::uint64_t length;     ///< frames that are filtered
    std::uint64_t kept_from;  ///< relative to the first filtered frame
    std::uint64_t kept_to;
    double* values;  ///< memory for `length` frames
    float* kept;     ///< where kept frames are written; null: into `values`
    /// Memory for two numbers per section, `state_stride` apart.
    double* states;
    std::size_t state_stride;
};

/// Number of frames that are loaded while the previous ones are filtered.
constexpr unsigned frames_together = 8;

SPIKEWEAVE_HD inline void clear_states(const column_filter& f) {
    for (std::uint32_t i = 0; i < 2 * f.section_count; ++i) f.states[i * f.state_stride] = 0;
}

/// Runs all sections on some frames in turn. Extra frames at the end do no harm, because nothing
/// follows them.
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

/// Loads the values of the frames before `end`, the last one first.
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
    // Frames before the kept ones do not affect them.
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

/// Returns an integer with the same order as the values; both zeros map to the same integer.
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

/// Finds the value of `rank` (0 is the lowest) bit by bit. `count(prefix, bit)` returns how many
/// orders, shifted right by `bit`, equal `prefix`.
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

/// One channel around a frame.
struct trace_column {
    const float* at;     ///< the frame
    std::size_t stride;  ///< distance between frames

    SPIKEWEAVE_HD float operator[](std::int64_t offset) const {
        return at[offset * static_cast<std::int64_t>(stride)];
    }
};

/// Returns the offset of the peak from its frame: the vertex of a parabola through three samples.
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

/// Cubic interpolation (Catmull-Rom) at a fraction of a frame.
struct cubic {
    float weights[4]{};
    std::int64_t first;  ///< offset of the first weight

    SPIKEWEAVE_HD explicit cubic(float fraction) : first(fraction < 0 ? -2 : -1) {
        const float t = fraction < 0 ? fraction + 1 : fraction;
        const float t2 = t * t;
        const float t3 = t2 * t;
        weights[0] = (-t3 + 2 * t2 - t) / 2;
        weights[1] = (3 * t3 - 5 * t2 + 2) / 2;
        weights[2] = (-3 * t3 + 4 * t2 + t) / 2;
        weights[3] = (t3 - t2) / 2;
    }

    /// Returns the value `offset` frames from the peak.
    SPIKEWEAVE_HD float at(const trace_column& around, std::int64_t offset) const {
        float sum = 0;
        for (int k = 0; k < 4; ++k) sum += weights[k] * around[offset + first + k];
        return sum;
    }
};

/// Returns a value times a factor, limited and rounded to the nearest integer, of two to the even
/// one.
/// @param limit  at most 32767
SPIKEWEAVE_HD inline std::int16_t scaled(float value, float factor, float limit) {
    const float scaled = value * factor;
    const float limited = scaled < -limit ? -limit : scaled > limit ? limit : scaled;
    // Between 2^23 and 2^24, the distance of two numbers is 1, and integers are their lowest bits.
    const float rounded = limited + 12582912.0F;
    std::int32_t bits = 0;
    memcpy(&bits, &rounded, sizeof(bits));
    return static_cast<std::int16_t>(bits);
}

/// Returns the height of a sample in standard deviations, in the direction in which spikes point.
SPIKEWEAVE_HD inline float height_of(float value, float by_noise, bool both) {
    const float height = value * by_noise;
    return both && height < 0 ? -height : height;
}

}  // namespace spikeweave::record
