#include "record/filter/band_filter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>

#include "core/processor.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave {
namespace {

using complex = std::complex<double>;

complex to_digital(const complex& s) {
    return (2.0 + s) / (2.0 - s);
}

band_section section_of(const complex& pole) {
    return {1, -2 * pole.real(), std::norm(pole)};
}

// Each pole of the low pass becomes two of the band pass, which the bilinear transform maps into
// the unit circle. Poles form conjugate pairs and a section contains both of a pair, so half of
// them are enough.
std::vector<band_section> sections_of(std::uint32_t order, double low, double high) {
    const double width = high - low;
    std::vector<band_section> sections;
    for (std::uint32_t k = 0; k < order / 2; ++k) {
        const double angle = std::numbers::pi * (2.0 * k + order + 1) / (2.0 * order);
        const complex half = std::polar(1.0, angle) * (width / 2);
        const complex root = std::sqrt(half * half - low * high);
        sections.push_back(section_of(to_digital(half + root)));
        sections.push_back(section_of(to_digital(half - root)));
    }
    if (order % 2 == 0) return sections;
    // The pole at -1 becomes a conjugate pair or, for a wide band, two real poles.
    const double half = -width / 2;
    const double apart = half * half - low * high;
    if (apart < 0) {
        sections.push_back(section_of(to_digital({half, std::sqrt(-apart)})));
    } else {
        const double one = to_digital(half + std::sqrt(apart)).real();
        const double two = to_digital(half - std::sqrt(apart)).real();
        sections.push_back({1, -one - two, one * two});
    }
    return sections;
}

// Runs one section over some frames of all channels; `z1` and `z2` carry the state between calls.
[[gnu::always_inline]] inline void run_section_over(const band_section& section,
                                                    std::size_t channels, std::span<double> frames,
                                                    bool backward, double* __restrict z1,
                                                    double* __restrict z2) {
    const std::size_t count = frames.size() / channels;
    for (std::size_t i = 0; i < count; ++i) {
        double* __restrict const x = frames.data() + (backward ? count - 1 - i : i) * channels;
        for (std::size_t c = 0; c < channels; ++c) {
            const double in = section.gain * x[c];
            const double out = in + z1[c];
            z1[c] = z2[c] - section.a1 * out;
            z2[c] = -in - section.a2 * out;
            x[c] = out;
        }
    }
}

void run_section(const band_section& section, std::size_t channels, std::span<double> frames,
                 bool backward, double* z1, double* z2) {
    run_section_over(section, channels, frames, backward, z1, z2);
}

#if defined(SPIKEWEAVE_AVX2)
SPIKEWEAVE_AVX2 void run_section_avx2(const band_section& section, std::size_t channels,
                                      std::span<double> frames, bool backward, double* z1,
                                      double* z2) {
    run_section_over(section, channels, frames, backward, z1, z2);
}
#else
constexpr auto run_section_avx2 = run_section;
#endif

// Runs all sections. Frames are processed in groups that stay in the cache for all sections,
// unlike a whole block of many channels.
void run_sections(std::span<const band_section> sections, std::size_t channels,
                  std::span<double> states, std::span<double> frames, bool backward) {
    constexpr std::size_t together = 64;
    const std::size_t count = frames.size() / channels;
    const auto run = core::has_avx2() ? run_section_avx2 : run_section;
    for (std::size_t begin = 0; begin < count; begin += together) {
        const std::size_t n = std::min(together, count - begin);
        const std::size_t first = backward ? count - begin - n : begin;
        double* state = states.data();
        for (const band_section& section : sections) {
            run(section, channels, frames.subspan(first * channels, n * channels), backward, state,
                state + channels);
            state += 2 * channels;
        }
    }
}

std::vector<double> no_states(std::span<const band_section> sections, std::size_t channels) {
    return std::vector<double>(2 * sections.size() * channels, 0.0);
}

// A band pass removes constants: if a frame is subtracted, the state that a constant past equal to
// this frame would have left is 0.
void subtract_frame(std::size_t channels, std::size_t which, std::span<double> frames) {
    const std::vector<double> taken(
        frames.begin() + static_cast<std::ptrdiff_t>(which * channels),
        frames.begin() + static_cast<std::ptrdiff_t>((which + 1) * channels));
    for (std::size_t at = 0; at < frames.size(); at += channels)
        for (std::size_t c = 0; c < channels; ++c) frames[at + c] -= taken[c];
}

}  // namespace

std::vector<band_section> butterworth_band(std::uint32_t order, double low_hz, double high_hz,
                                           double rate_hz) {
    if (!(low_hz > 0 && low_hz < high_hz && high_hz < rate_hz / 2))
        throw invalid_argument(fmt::format(
            "a band of {} to {} Hz at {} samples a second (expected 0 < low < high < {})", low_hz,
            high_hz, rate_hz, rate_hz / 2));
    constexpr std::uint32_t most = 8;
    if (order == 0 || order > most)
        throw invalid_argument(fmt::format("a filter of order {} (expected 1 to {})", order, most));
    const double low = 2 * std::tan(std::numbers::pi * low_hz / rate_hz);
    const double high = 2 * std::tan(std::numbers::pi * high_hz / rate_hz);

    std::vector<band_section> sections = sections_of(order, low, high);
    const complex middle = std::polar(1.0, 2 * std::atan(std::sqrt(low * high) / 2));
    const complex back = 1.0 / middle;
    for (band_section& section : sections)
        section.gain = std::abs(1.0 + section.a1 * back + section.a2 * back * back) /
                       std::abs(1.0 - back * back);
    return sections;
}

namespace record {

void filter_both_ways(std::span<const band_section> sections, std::size_t channels,
                      std::span<double> frames) {
    if (frames.empty()) return;
    for (const bool backward : {false, true}) {
        subtract_frame(channels, backward ? frames.size() / channels - 1 : 0, frames);
        std::vector<double> states = no_states(sections, channels);
        run_sections(sections, channels, states, frames, backward);
    }
}

void filter_forward(std::span<const band_section> sections, std::size_t channels,
                    std::span<double> states, std::span<double> frames) {
    run_sections(sections, channels, states, frames, false);
}

std::size_t reach_of(std::span<const band_section> sections, double part) {
    // The impulse response itself is measured, because sections with nearby poles decay more slowly
    // than any one of them.
    constexpr std::size_t most = std::size_t{1} << 22;
    for (std::size_t length = 256; length < most; length *= 2) {
        std::vector<double> response(length, 0.0);
        response[1] = 1;
        std::vector<double> states = no_states(sections, 1);
        run_sections(sections, 1, states, response, false);
        double beyond = 0;
        std::size_t at = length;
        while (at > 0 && beyond + std::abs(response[at - 1]) < part)
            beyond += std::abs(response[--at]);
        if (at < length / 2) return at;
    }
    throw invalid_argument("the pass band is too narrow for its sample rate");
}

}  // namespace record

}  // namespace spikeweave
