#include "sort/templates/low_rank.hpp"

#include <Eigen/SVD>
#include <algorithm>
#include <cmath>

#include "sort/templates/sinc.hpp"

namespace spikeweave::templates {
namespace {

// The remainder of a template that the ranks may leave: its norm, in standard deviations of the
// noise and relative to the template.
constexpr double least_left = 1;

std::int16_t quantized(double value) {
    return static_cast<std::int16_t>(std::lround(value * (1 << filter_bits)));
}

}  // namespace

matched_filter filter_of(const unit_template& from) {
    matched_filter out{.channels = from.channels, .frames = from.frames()};
    if (from.channels.empty()) return out;
    const auto rows = static_cast<Eigen::Index>(from.channels.size());
    const auto columns = static_cast<Eigen::Index>(out.frames);
    Eigen::MatrixXd values(rows, columns);
    for (Eigen::Index c = 0; c < rows; ++c)
        for (Eigen::Index f = 0; f < columns; ++f)
            values(c, f) = from.values[static_cast<std::size_t>(c * columns + f)];
    const double energy = values.squaredNorm();
    if (energy == 0) return out;
    const Eigen::JacobiSVD<Eigen::MatrixXd> svd(values, Eigen::ComputeThinU | Eigen::ComputeThinV);
    const Eigen::VectorXd& sizes = svd.singularValues();
    const double left = std::max(least_left, most_share_left * std::sqrt(energy));
    double held = 0;
    while (out.ranks < most_ranks && static_cast<Eigen::Index>(out.ranks) < sizes.size() &&
           energy - held > left * left) {
        held += sizes[static_cast<Eigen::Index>(out.ranks)] *
                sizes[static_cast<Eigen::Index>(out.ranks)];
        ++out.ranks;
    }
    const double norm = std::sqrt(held);
    out.norm = static_cast<std::int32_t>(std::lround(norm * steps_per_sd));
    for (Eigen::Index r = 0; r < static_cast<Eigen::Index>(out.ranks); ++r) {
        for (Eigen::Index c = 0; c < rows; ++c)
            out.spatial.push_back(quantized(svd.matrixU()(c, r)));
        for (Eigen::Index f = 0; f < columns; ++f)
            out.temporal.push_back(quantized(svd.matrixV()(f, r) * sizes[r] / norm));
    }
    return out;
}

std::vector<float> waveform_of(const matched_filter& filter, std::size_t channel_index,
                               double fraction) {
    constexpr double unit = 1.0 / (1 << filter_bits) / (1 << filter_bits);
    std::vector<double> sum(filter.frames);
    for (std::size_t r = 0; r < filter.ranks; ++r)
        for (std::size_t f = 0; f < filter.frames; ++f)
            sum[f] += unit * filter.spatial_of(r)[channel_index] * filter.temporal_of(r)[f];
    const std::vector<double> moved = shift_later(sum, fraction);
    const double norm = static_cast<double>(filter.norm) / steps_per_sd;
    std::vector<float> out(filter.frames);
    std::transform(moved.begin(), moved.end(), out.begin(),
                   [norm](double x) { return static_cast<float>(x * norm); });
    return out;
}

std::vector<float> waveform_on(const matched_filter& filter, std::uint32_t channel) {
    const auto at = std::ranges::lower_bound(filter.channels, channel);
    if (at == filter.channels.end() || *at != channel) return std::vector<float>(filter.frames);
    return waveform_of(filter, static_cast<std::size_t>(at - filter.channels.begin()), 0);
}

std::array<double, changes_of_template> changes_at(std::span<const float> waveform,
                                                   std::size_t frame) {
    const auto at = [&](std::size_t f) { return f < waveform.size() ? double{waveform[f]} : 0.0; };
    const double before = frame > 0 ? at(frame - 1) : 0;
    const double after = at(frame + 1);
    return {at(frame), after - before, after - 2 * at(frame) + before};
}

}  // namespace spikeweave::templates
