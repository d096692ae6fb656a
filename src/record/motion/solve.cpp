#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "core/stop.hpp"
#include "record/motion/register.hpp"

namespace spikeweave::record {
namespace {

// The strength of what is assumed, in the weight that all pairs of a time bin have on average.
constexpr double smoothness = 0.05;
constexpr double likeness = 0.05;
// Steps up to about this size count as their square, larger ones by their size.
constexpr double small_step_um = 0.5;

// Two unknowns whose difference should be `um`.
struct spring {
    std::size_t from;
    std::size_t to;
    double um;
    double weight;
};

double stretch_of(const spring& one, std::span<const double> places) {
    return places[one.to] - places[one.from] - one.um;
}

// Minimizes the sum of weight × stretch² by conjugate gradients, from where the places are. A step
// takes the diagonal for the matrix.
class spring_solver {
public:
    explicit spring_solver(std::size_t unknowns) : diagonal_(unknowns) {}

    void solve(std::span<const spring> springs, std::vector<double>& places, const execution& run) {
        constexpr int most_steps = 500;
        constexpr double small = 1e-6;
        std::fill(diagonal_.begin(), diagonal_.end(), 1e-9);
        for (const spring& one : springs) {
            diagonal_[one.from] += one.weight;
            diagonal_[one.to] += one.weight;
        }
        std::vector<double> rest(places.size());
        for (const spring& one : springs) {
            const double pull = one.weight * stretch_of(one, places);
            rest[one.from] += pull;
            rest[one.to] -= pull;
        }
        std::vector<double> scaled = divided(rest);
        std::vector<double> way = scaled;
        double size = dot(rest, scaled);
        const double enough = small * small * size;
        for (int step = 0; step < most_steps && size > enough; ++step) {
            core::throw_if_stopped(run.stop);
            const std::vector<double> pulled = times(springs, way);
            const double length = size / dot(way, pulled);
            for (std::size_t i = 0; i < places.size(); ++i) {
                places[i] += length * way[i];
                rest[i] -= length * pulled[i];
            }
            scaled = divided(rest);
            const double next = dot(rest, scaled);
            for (std::size_t i = 0; i < way.size(); ++i) way[i] = scaled[i] + next / size * way[i];
            size = next;
        }
    }

private:
    static double dot(std::span<const double> a, std::span<const double> b) {
        return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
    }
    std::vector<double> divided(std::vector<double> values) const {
        for (std::size_t i = 0; i < values.size(); ++i) values[i] /= diagonal_[i];
        return values;
    }
    static std::vector<double> times(std::span<const spring> springs, std::span<const double> way) {
        std::vector<double> out(way.size());
        for (const spring& one : springs) {
            const double pull = one.weight * (way[one.to] - way[one.from]);
            out[one.from] -= pull;
            out[one.to] += pull;
        }
        return out;
    }

    std::vector<double> diagonal_;
};

// Unknown `time * windows + window`.
std::vector<spring> springs_of(const std::vector<std::vector<pair_displacement>>& pairs,
                               std::size_t times) {
    std::vector<spring> out;
    const std::size_t windows = pairs.size();
    for (std::size_t w = 0; w < windows; ++w) {
        double sum = 0;
        for (const pair_displacement& pair : pairs[w]) sum += pair.weight;
        // Each pair is of two bins.
        const double scale = sum > 0 ? static_cast<double>(times) / (2 * sum) : 0;
        for (const pair_displacement& pair : pairs[w])
            out.push_back({pair.earlier * windows + w, pair.later * windows + w, pair.um,
                           scale * pair.weight});
    }
    return out;
}

void center(std::vector<double>& places, std::size_t windows) {
    std::vector<double> one;
    for (std::size_t w = 0; w < windows; ++w) {
        one.clear();
        for (std::size_t at = w; at < places.size(); at += windows) one.push_back(places[at]);
        const auto middle = one.begin() + static_cast<std::ptrdiff_t>(one.size() / 2);
        std::nth_element(one.begin(), middle, one.end());
        for (std::size_t at = w; at < places.size(); at += windows) places[at] -= *middle;
    }
}

}  // namespace

std::vector<double> solve_displacements(const std::vector<std::vector<pair_displacement>>& pairs,
                                        std::size_t times, const execution& run) {
    // The first fits take all pairs for good; later ones less and less those that disagree.
    constexpr int fits = 12;
    constexpr double first_um = 40;
    constexpr double last_um = 5;
    constexpr double narrower = 0.7;
    const std::size_t windows = pairs.size();
    const std::vector<spring> measured = springs_of(pairs, times);
    std::vector<double> places(times * windows);
    spring_solver solver(places.size());
    double tolerated_um = first_um;
    for (int fit = 0; fit < fits; ++fit) {
        std::vector<spring> springs = measured;
        for (spring& one : springs) {
            const double relative = stretch_of(one, places) / tolerated_um;
            if (fit > 0) one.weight /= (1 + relative * relative) * (1 + relative * relative);
        }
        for (std::size_t at = 0; at < places.size(); ++at) {
            if (at + windows < places.size()) {
                spring next{at, at + windows, 0, smoothness};
                if (fit > 0)
                    next.weight *=
                        small_step_um / std::hypot(stretch_of(next, places), small_step_um);
                springs.push_back(next);
            }
            if (at % windows + 1 < windows) springs.push_back({at, at + 1, 0, likeness});
        }
        solver.solve(springs, places, run);
        if (fit > 0) tolerated_um = std::max(last_um, narrower * tolerated_um);
    }
    center(places, windows);
    return places;
}

}  // namespace spikeweave::record
