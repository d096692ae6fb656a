#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <Eigen/Core>

namespace spikeweave::templates {

/// The separation of two groups of spikes: along the direction of Fisher's discriminant, the
/// distance of their means in root mean squares of their standard deviations. A Gaussian cut in the
/// middle gives 2.65, a uniform distribution 3.46, two Gaussians nearly their distance.
struct separation {
    double distance = 0;
    std::vector<char> side{};  ///< 0 or 1 of each spike
    std::size_t smaller = 0;   ///< spikes on the side with fewer
};

/// @param points  spikes x features
/// @param side    0 or 1 of each spike, both present
double distance_of_sides(const Eigen::MatrixXd& points, std::span<const char> side);

/// The separations into two Gaussians that are found from the principal components, the farthest
/// first.
/// @param least  spikes on either side
std::vector<separation> separations(const Eigen::MatrixXd& points, std::size_t least);
/// The farthest of them.
separation separate(const Eigen::MatrixXd& points, std::size_t least);

}  // namespace spikeweave::templates
