#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <random>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "io/little_endian.hpp"
#include "io/npy.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/record/recording.hpp"

/// Channels one above the other, 20 um apart, with one microvolt per count.
inline spikeweave::recording_description channels_in_a_line(std::size_t channels,
                                                            double rate_hz = 30000) {
    spikeweave::recording_description what{.rate_hz = rate_hz};
    for (std::size_t c = 0; c < channels; ++c)
        what.channels.push_back({.name = std::to_string(c), .y_um = 20 * static_cast<double>(c)});
    return what;
}

/// Noise that repeats with its seed, and troughs of random sizes on random channels in it.
inline spikeweave::recording noisy_recording(std::uint64_t seed, std::size_t channels,
                                             std::size_t frames, std::size_t troughs) {
    std::mt19937_64 random(seed);
    const auto below = [&](std::uint64_t n) { return random() % n; };
    std::vector<double> values(frames * channels);
    for (double& value : values) {
        // A sum of twelve uniform numbers is normal enough.
        double sum = -6;
        for (int i = 0; i < 12; ++i) sum += static_cast<double>(random() >> 11) * 0x1p-53;
        value = 20 * sum;
    }
    for (std::size_t i = 0; i < troughs && frames > 0; ++i) {
        const std::uint64_t at = below(frames);
        const std::uint64_t channel = below(channels);
        const double size = 50 + static_cast<double>(below(400));
        for (std::size_t k = 0; k < 12 && at + k < frames; ++k)
            for (std::size_t c = channel; c < std::min<std::size_t>(channels, channel + 3); ++c)
                values[(at + k) * channels + c] -=
                    size / static_cast<double>((1 + c - channel) * (1 + (k > 5 ? k - 5 : 5 - k)));
    }
    std::vector<std::int16_t> samples(values.size());
    for (std::size_t i = 0; i < values.size(); ++i)
        samples[i] = static_cast<std::int16_t>(values[i]);
    return {channels_in_a_line(channels), std::move(samples)};
}

inline std::vector<std::int16_t> samples_of(const spikeweave::recording& what) {
    std::vector<std::int16_t> samples(what.frame_count() * what.channel_count());
    what.read(0, samples);
    return samples;
}

/// The message of the exception that a call throws.
template <class Call>
std::string refusal_of(const Call& call) {
    try {
        call();
    } catch (const spikeweave::io_error& error) {
        return error.what();
    } catch (const spikeweave::invalid_argument& error) {
        return error.what();
    }
    return "nothing was thrown";
}

/// Samples as they are in a file.
inline std::string as_bytes(const std::vector<std::int16_t>& samples) {
    std::string out;
    for (const std::int16_t sample : samples) spikeweave::io::append(out, sample);
    return out;
}

/// The samples 0, 1, 2, …
inline std::vector<std::int16_t> counting(std::size_t n) {
    std::vector<std::int16_t> out(n);
    for (std::size_t i = 0; i < n; ++i) out[i] = static_cast<std::int16_t>(i);
    return out;
}

/// The message of the error that the reading of a recording throws.
inline std::string refused(const std::filesystem::path& path,
                           const spikeweave::recording_read_options& how = {}) {
    return refusal_of([&] { spikeweave::read_recording(path, how); });
}

/// The text with its first `what` replaced.
inline std::string replaced(std::string text, std::string_view what, std::string_view by) {
    const std::size_t at = text.find(what);
    EXPECT_NE(at, std::string::npos) << what;
    return at == std::string::npos ? text : text.replace(at, what.size(), by);
}

/// The content of a .npy of one dimension.
template <class Number>
std::string npy_of(const std::vector<Number>& numbers) {
    constexpr auto kind = std::is_floating_point_v<Number> ? spikeweave::io::npy_kind::real
                                                           : spikeweave::io::npy_kind::integer;
    return spikeweave::io::format_npy_header({kind, sizeof(Number), false, {numbers.size()}}) +
           std::string(reinterpret_cast<const char*>(numbers.data()),
                       numbers.size() * sizeof(Number));
}
