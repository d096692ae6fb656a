#include "record/detect/waveforms.hpp"

#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <cmath>

#include "parallel/parallel_for.hpp"
#include "record/filter/trace_rules.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave::record {
namespace {

// The sign of an axis is arbitrary. The first axis gets the sign for which spikes project above 0,
// because phylib and others use the first component as the amplitude of a spike.
bool is_axis_to_be_turned(const Eigen::VectorXd& axis, const std::vector<double>& sum,
                          std::size_t component) {
    if (component == 0) {
        double projection = 0;
        for (std::size_t i = 0; i < sum.size(); ++i)
            projection += axis[static_cast<Eigen::Index>(i)] * sum[i];
        if (projection != 0) return projection < 0;
    }
    Eigen::Index largest = 0;
    axis.cwiseAbs().maxCoeff(&largest);
    return axis[largest] < 0;
}

}  // namespace

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
    return fraction_of(trace_column{block.frame(offset) + channel, block.channels});
}

void take_waveform(const trace_block& block, std::int64_t offset, float fraction,
                   std::uint32_t channel, const waveform_window& window, std::span<float> into) {
    const trace_column around{block.frame(offset) + channel, block.channels};
    const cubic curve(fraction);
    for (std::size_t i = 0; i < into.size(); ++i)
        into[i] = curve.at(around, static_cast<std::int64_t>(i) - window.before);
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

principal_components waveform_statistics::components(std::size_t count,
                                                     const execution& run) const {
    sums all{.first = std::vector<double>(frames_),
             .second = std::vector<double>(frames_ * frames_)};
    for (const sums& each : channels_) {
        all.count += each.count;
        for (std::size_t i = 0; i < frames_; ++i) all.first[i] += each.first[i];
        for (std::size_t i = 0; i < all.second.size(); ++i) all.second[i] += each.second[i];
    }
    principal_components out(channels_.size(), count, frames_);
    parallel::parallel_for(channels_.size(), run, "components", [&](std::size_t c) {
        write_components(channels_[c].count < 2 * frames_ ? all : channels_[c], frames_, out.of(c));
    });
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
        covariance);  // reads the lower triangle
    for (std::size_t k = 0; k < into.size() / frames; ++k) {
        Eigen::VectorXd axis = solved.eigenvectors().col(n - 1 - static_cast<Eigen::Index>(k));
        if (is_axis_to_be_turned(axis, from.first, k)) axis = -axis;
        for (std::size_t i = 0; i < frames; ++i)
            into[k * frames + i] = static_cast<float>(axis[static_cast<Eigen::Index>(i)]);
    }
}

}  // namespace spikeweave::record
