#include "record/filter/across_channels.hpp"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numeric>

#include "parallel/parallel_for.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave::record {
namespace {

// Standard deviations of the noise; what goes beyond is a spike.
constexpr double quiet_below = 4;

void refuse_unrest() {
    throw invalid_argument("no frame is quiet enough to whiten the channels by");
}

Eigen::MatrixXd inverse_root(const Eigen::MatrixXd& covariance) {
    const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solved(covariance);
    // Directions with almost no variance (a dead channel, the subtracted median) are left out.
    constexpr double smallest_part = 1e-4;
    const double least = smallest_part * solved.eigenvalues().maxCoeff();
    const Eigen::VectorXd roots = solved.eigenvalues().unaryExpr(
        [least](double x) { return x > least && x > 0 ? 1 / std::sqrt(x) : 0; });
    return solved.eigenvectors() * roots.asDiagonal() * solved.eigenvectors().transpose();
}

// From the frames in which all channels are quiet.
std::vector<float> whitening_of_all(std::span<const std::vector<float>> traces,
                                    std::span<const double> noise) {
    const auto channels = static_cast<Eigen::Index>(traces.size());
    Eigen::MatrixXd shared = Eigen::MatrixXd::Zero(channels, channels);
    Eigen::VectorXd frame(channels);
    double count = 0;
    for (std::size_t f = 0; f < traces.front().size(); ++f) {
        bool quiet = true;
        for (Eigen::Index c = 0; c < channels; ++c) {
            const auto channel = static_cast<std::size_t>(c);
            frame[c] = noise[channel] > 0 ? traces[channel][f] : 0;
            quiet = quiet && std::abs(frame[c]) <= quiet_below * noise[channel];
        }
        if (!quiet) continue;
        shared.selfadjointView<Eigen::Lower>().rankUpdate(frame);
        ++count;
    }
    if (count == 0) refuse_unrest();
    Eigen::MatrixXd whitening = inverse_root(shared / count);
    // Rounding errors leave a trace of the other channels in a dead channel, which normalization by
    // its noise would amplify.
    for (Eigen::Index c = 0; c < channels; ++c) {
        if (noise[static_cast<std::size_t>(c)] > 0) continue;
        whitening.row(c).setZero();
        whitening.col(c).setZero();
    }
    std::vector<float> out;
    out.reserve(static_cast<std::size_t>(whitening.size()));
    for (Eigen::Index k = 0; k < channels; ++k)
        for (Eigen::Index c = 0; c < channels; ++c)
            out.push_back(static_cast<float>(whitening(k, c)));
    return out;
}

// A channel's quiet frames; all others are 0.
struct quiet_trace {
    std::vector<float> values{};
    std::vector<std::uint64_t> is_quiet{};  // a bit for each frame
};

quiet_trace quiet_part(const std::vector<float>& of, double noise) {
    constexpr std::size_t word_bits = 64;
    quiet_trace out{.values = of};
    out.is_quiet.resize((of.size() + word_bits - 1) / word_bits);
    for (std::size_t f = 0; f < of.size(); ++f) {
        if (std::abs(of[f]) <= quiet_below * noise)
            out.is_quiet[f / word_bits] |= std::uint64_t{1} << (f % word_bits);
        else
            out.values[f] = 0;
    }
    return out;
}

// The mean product of the frames in which both are quiet.
double covariance_of(const quiet_trace& a, const quiet_trace& b) {
    int count = 0;
    for (std::size_t w = 0; w < a.is_quiet.size(); ++w)
        count += std::popcount(a.is_quiet[w] & b.is_quiet[w]);
    if (count == 0) refuse_unrest();
    constexpr std::size_t lanes = 8;  // sums that a processor can take side by side
    std::array<double, lanes> sums{};
    const std::size_t whole = a.values.size() / lanes * lanes;
    for (std::size_t f = 0; f < whole; f += lanes)
        for (std::size_t i = 0; i < lanes; ++i)
            sums[i] += static_cast<double>(a.values[f + i]) * b.values[f + i];
    for (std::size_t f = whole; f < a.values.size(); ++f)
        sums[0] += static_cast<double>(a.values[f]) * b.values[f];
    return std::accumulate(sums.begin(), sums.end(), 0.0) / count;
}

// The live channels nearest to each live one on its shank, itself among them, ascending.
std::vector<std::vector<std::uint32_t>> surroundings_of(
    const std::vector<recording_channel>& channels, std::span<const double> noise,
    std::size_t most) {
    std::vector<std::vector<std::uint32_t>> out(channels.size());
    for (std::uint32_t c = 0; c < channels.size(); ++c) {
        if (!(noise[c] > 0)) continue;
        for (std::uint32_t other = 0; other < channels.size(); ++other)
            if (noise[other] > 0 && channels[other].shank == channels[c].shank)
                out[c].push_back(other);
        std::ranges::stable_sort(out[c], {}, [&](std::uint32_t other) {
            return std::hypot(channels[other].x_um - channels[c].x_um,
                              channels[other].y_um - channels[c].y_um);
        });
        out[c].resize(std::min(out[c].size(), most));
        std::ranges::sort(out[c]);
    }
    return out;
}

// Covariances of all pairs that are in some list together.
class pair_covariances {
public:
    pair_covariances(std::span<const std::vector<float>> traces, std::span<const double> noise,
                     std::span<const std::vector<std::uint32_t>> lists, const execution& run)
        : partners_(traces.size()), values_(traces.size()) {
        for (const std::vector<std::uint32_t>& list : lists)
            for (const std::uint32_t a : list)
                for (const std::uint32_t b : list)
                    if (a <= b) partners_[a].push_back(b);
        std::vector<quiet_trace> quiet(traces.size());
        parallel::parallel_for(traces.size(), run, "whitening", [&](std::size_t c) {
            std::ranges::sort(partners_[c]);
            partners_[c].erase(std::unique(partners_[c].begin(), partners_[c].end()),
                               partners_[c].end());
            quiet[c] = quiet_part(traces[c], noise[c]);
        });
        parallel::parallel_for(traces.size(), run, "whitening", [&](std::size_t a) {
            for (const std::uint32_t b : partners_[a])
                values_[a].push_back(covariance_of(quiet[a], quiet[b]));
        });
    }

    double of(std::uint32_t a, std::uint32_t b) const {
        const auto& partners = partners_[std::min(a, b)];
        const auto at = std::ranges::lower_bound(partners, std::max(a, b)) - partners.begin();
        return values_[std::min(a, b)][static_cast<std::size_t>(at)];
    }

private:
    std::vector<std::vector<std::uint32_t>> partners_;  // of each channel, at least as large
    std::vector<std::vector<double>> values_;
};

std::vector<float> whitening_around(std::span<const std::vector<float>> traces,
                                    std::span<const double> noise,
                                    const std::vector<recording_channel>& channels,
                                    const execution& run, std::size_t together) {
    const auto around = surroundings_of(channels, noise, together);
    const pair_covariances covariances(traces, noise, around, run);
    std::vector<float> out(channels.size() * channels.size());
    parallel::parallel_for(channels.size(), run, "whitening", [&](std::size_t c) {
        const std::vector<std::uint32_t>& near = around[c];
        if (near.empty()) return;
        const auto size = static_cast<Eigen::Index>(near.size());
        Eigen::MatrixXd shared(size, size);
        for (Eigen::Index i = 0; i < size; ++i)
            for (Eigen::Index j = 0; j < size; ++j)
                shared(i, j) = covariances.of(near[static_cast<std::size_t>(i)],
                                              near[static_cast<std::size_t>(j)]);
        const Eigen::MatrixXd root = inverse_root(shared);
        const auto own = std::ranges::lower_bound(near, static_cast<std::uint32_t>(c));
        for (Eigen::Index k = 0; k < size; ++k)
            out[near[static_cast<std::size_t>(k)] * channels.size() + c] =
                static_cast<float>(root(k, own - near.begin()));
    });
    return out;
}

}  // namespace

std::vector<float> whitening_of(std::span<const std::vector<float>> traces,
                                std::span<const double> noise,
                                const std::vector<recording_channel>& channels,
                                const execution& run, std::size_t together) {
    if (channels.size() <= together) return whitening_of_all(traces, noise);
    return whitening_around(traces, noise, channels, run, together);
}

}  // namespace spikeweave::record
