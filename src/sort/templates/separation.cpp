#include "sort/templates/separation.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

namespace spikeweave::templates {
namespace {

constexpr Eigen::Index most_components = 6;
constexpr int most_rounds = 30;

struct group {
    double count = 0;
    Eigen::VectorXd mean{};
    Eigen::MatrixXd covariance{};
};

group describe(const Eigen::MatrixXd& points, std::span<const char> side, char which) {
    const Eigen::Index width = points.cols();
    group out{.mean = Eigen::VectorXd::Zero(width),
              .covariance = Eigen::MatrixXd::Zero(width, width)};
    for (Eigen::Index n = 0; n < points.rows(); ++n)
        if (side[static_cast<std::size_t>(n)] == which) {
            out.mean += points.row(n).transpose();
            ++out.count;
        }
    out.mean /= std::max(out.count, 1.0);
    for (Eigen::Index n = 0; n < points.rows(); ++n)
        if (side[static_cast<std::size_t>(n)] == which) {
            const Eigen::VectorXd off = points.row(n).transpose() - out.mean;
            out.covariance.selfadjointView<Eigen::Lower>().rankUpdate(off);
        }
    out.covariance = out.covariance.selfadjointView<Eigen::Lower>();
    // A spike of noise keeps the covariance of few spikes regular.
    out.covariance += Eigen::MatrixXd::Identity(width, width);
    out.covariance /= out.count + 1;
    return out;
}

Eigen::MatrixXd principal(const Eigen::MatrixXd& points) {
    const Eigen::RowVectorXd mean = points.colwise().mean();
    const Eigen::MatrixXd centred = points.rowwise() - mean;
    const Eigen::MatrixXd covariance = centred.transpose() * centred;
    const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solved(covariance);
    const Eigen::Index count = std::min(most_components, points.cols());
    return centred * solved.eigenvectors().rightCols(count).rowwise().reverse();
}

// Cuts a component where the two sides vary least.
std::vector<char> cut(const Eigen::VectorXd& values) {
    const auto count = static_cast<std::size_t>(values.size());
    std::vector<std::size_t> order(count);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return std::pair{values[static_cast<Eigen::Index>(a)], a} <
               std::pair{values[static_cast<Eigen::Index>(b)], b};
    });
    const double total = values.sum();
    double sum = 0;
    double best = -1;
    std::size_t at = count / 2;
    for (std::size_t i = 1; i < count; ++i) {
        sum += values[static_cast<Eigen::Index>(order[i - 1])];
        const auto left = static_cast<double>(i);
        const auto right = static_cast<double>(count - i);
        const double gap = sum / left - (total - sum) / right;
        const double between = gap * gap * left * right;
        if (between > best) {
            best = between;
            at = i;
        }
    }
    std::vector<char> side(count, 0);
    for (std::size_t i = at; i < count; ++i) side[order[i]] = 1;
    return side;
}

// Moves spikes to the Gaussian that explains them better until none moves.
void iterate(const Eigen::MatrixXd& points, std::size_t least, std::vector<char>& side) {
    for (int round = 0; round < most_rounds; ++round) {
        std::array<group, 2> groups{describe(points, side, 0), describe(points, side, 1)};
        if (std::min(groups[0].count, groups[1].count) < static_cast<double>(least)) return;
        std::array<Eigen::LLT<Eigen::MatrixXd>, 2> roots{
            Eigen::LLT<Eigen::MatrixXd>(groups[0].covariance),
            Eigen::LLT<Eigen::MatrixXd>(groups[1].covariance)};
        Eigen::MatrixXd costs(points.rows(), 2);
        for (int g = 0; g < 2; ++g) {
            const auto which = static_cast<std::size_t>(g);
            const Eigen::MatrixXd lower = roots[which].matrixL();
            const double constant =
                2 * lower.diagonal().array().log().sum() - 2 * std::log(groups[which].count);
            const Eigen::MatrixXd off = points.rowwise() - groups[which].mean.transpose();
            costs.col(g) = roots[which].matrixL().solve(off.transpose()).colwise().squaredNorm();
            costs.col(g).array() += constant;
        }
        bool moved = false;
        for (Eigen::Index n = 0; n < points.rows(); ++n) {
            const char better = costs(n, 1) < costs(n, 0) ? 1 : 0;
            moved = moved || better != side[static_cast<std::size_t>(n)];
            side[static_cast<std::size_t>(n)] = better;
        }
        if (!moved) return;
    }
}

}  // namespace

double distance_of_sides(const Eigen::MatrixXd& points, std::span<const char> side) {
    const group a = describe(points, side, 0);
    const group b = describe(points, side, 1);
    if (a.count < 2 || b.count < 2) return 0;
    const Eigen::MatrixXd both = (a.covariance + b.covariance) / 2;
    const Eigen::VectorXd gap = a.mean - b.mean;
    const Eigen::VectorXd direction = both.ldlt().solve(gap);
    const double variance = direction.dot(both * direction);
    return variance > 0 ? std::abs(direction.dot(gap)) / std::sqrt(variance) : 0;
}

std::vector<separation> separations(const Eigen::MatrixXd& points, std::size_t least) {
    std::vector<separation> out;
    const auto count = static_cast<std::size_t>(points.rows());
    if (count < 2 * least || points.cols() == 0) return out;
    const Eigen::MatrixXd reduced = principal(points);
    for (Eigen::Index c = 0; c < reduced.cols(); ++c) {
        std::vector<char> side = cut(reduced.col(c));
        iterate(reduced, least, side);
        const auto ones = static_cast<std::size_t>(std::count(side.begin(), side.end(), 1));
        const std::size_t smaller = std::min(ones, count - ones);
        if (smaller < least) continue;
        const double distance = distance_of_sides(reduced, side);
        out.push_back({distance, std::move(side), smaller});
    }
    std::ranges::stable_sort(out, std::greater{}, &separation::distance);
    return out;
}

separation separate(const Eigen::MatrixXd& points, std::size_t least) {
    std::vector<separation> found = separations(points, least);
    return found.empty() ? separation{} : std::move(found.front());
}

}  // namespace spikeweave::templates
