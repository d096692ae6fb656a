#include "record/waveforms.hpp"

#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>

#include "synfire/core/error.hpp"

namespace synfire {

waveform_window window_of(const detection_options& options, double rate_hz) {
    const auto frames_in = [&](duration d) {
        return static_cast<std::int64_t>(std::lround(to_seconds(d) * rate_hz));
    };
    constexpr auto longest = std::chrono::milliseconds{20};
    if (options.before < duration{0} || options.after < duration{0} || options.before > longest ||
        options.after > longest)
        throw invalid_argument(
            fmt::format("a waveform from {} before its peak to {} after it (expected 0 to 20 ms)",
                        format_duration(options.before), format_duration(options.after)));
    const waveform_window window{frames_in(options.before), frames_in(options.after)};
    if (options.features_per_channel == 0 || options.features_per_channel > window.size())
        throw invalid_argument(fmt::format("{} features of waveforms of {} frames",
                                           options.features_per_channel, window.size()));
    return window;
}

float fraction_of(const trace_block& block, std::int64_t offset, std::uint32_t channel) {
    const float left = block.frame(offset - 1)[channel];
    const float top = block.frame(offset)[channel];
    const float right = block.frame(offset + 1)[channel];
    const float bend = left - 2 * top + right;
    const bool is_peak = top < 0 ? left >= top && right >= top : left <= top && right <= top;
    if (!is_peak || bend == 0) return 0;
    return std::clamp((left - right) / (2 * bend), -0.5F, 0.5F);
}

void take_waveform(const trace_block& block, std::int64_t offset, float fraction,
                   std::uint32_t channel, const waveform_window& window, std::span<float> into) {
    const std::int64_t back = fraction < 0 ? 1 : 0;
    const float t = fraction + static_cast<float>(back);
    const float t2 = t * t;
    const float t3 = t2 * t;
    const float weights[4] = {(-t3 + 2 * t2 - t) / 2, (3 * t3 - 5 * t2 + 2) / 2,
                              (-3 * t3 + 4 * t2 + t) / 2, (t3 - t2) / 2};
    for (std::size_t i = 0; i < into.size(); ++i) {
        const std::int64_t at = offset - window.before + static_cast<std::int64_t>(i) - back;
        float sum = 0;
        for (int k = 0; k < 4; ++k) sum += weights[k] * block.frame(at + k - 1)[channel];
        into[i] = sum;
    }
}

waveform_statistics::waveform_statistics(std::size_t channels, std::size_t frames)
    : frames_(frames), channels_(channels) {
    for (sums& each : channels_) {
        each.first.assign(frames, 0);
        each.second.assign(frames * frames, 0);
    }
}

void waveform_statistics::add(std::size_t channel, std::span<const float> waveform) {
    sums& into = channels_[channel];
    ++into.count;
    for (std::size_t i = 0; i < frames_; ++i) {
        const double value = waveform[i];
        into.first[i] += value;
        for (std::size_t j = 0; j <= i; ++j) into.second[i * frames_ + j] += value * waveform[j];
    }
}

principal_components waveform_statistics::components(std::size_t count) const {
    sums all{.first = std::vector<double>(frames_),
             .second = std::vector<double>(frames_ * frames_)};
    for (const sums& each : channels_) {
        all.count += each.count;
        for (std::size_t i = 0; i < frames_; ++i) all.first[i] += each.first[i];
        for (std::size_t i = 0; i < all.second.size(); ++i) all.second[i] += each.second[i];
    }
    principal_components out(channels_.size(), count, frames_);
    for (std::size_t c = 0; c < channels_.size(); ++c)
        write_components(channels_[c].count < 2 * frames_ ? all : channels_[c], frames_, out.of(c));
    return out;
}

void waveform_statistics::write_components(const sums& from, std::size_t frames,
                                           std::span<float> into) {
    if (from.count == 0) return;
    const auto n = static_cast<Eigen::Index>(frames);
    const auto count = static_cast<double>(from.count);
    Eigen::MatrixXd covariance(n, n);
    for (std::size_t i = 0; i < frames; ++i)
        for (std::size_t j = 0; j <= i; ++j)
            covariance(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)) =
                from.second[i * frames + j] / count - from.first[i] / count * from.first[j] / count;
    const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solved(
        covariance);  // reads the lower half
    for (std::size_t k = 0; k < into.size() / frames; ++k) {
        Eigen::VectorXd axis = solved.eigenvectors().col(n - 1 - static_cast<Eigen::Index>(k));
        Eigen::Index largest = 0;
        axis.cwiseAbs().maxCoeff(&largest);
        if (axis[largest] < 0) axis = -axis;
        for (std::size_t i = 0; i < frames; ++i)
            into[k * frames + i] = static_cast<float>(axis[static_cast<Eigen::Index>(i)]);
    }
}

}  // namespace synfire
