#include "simulate/recording_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "spikeweave/core/error.hpp"

namespace spikeweave::simulate {
namespace {

duration start_of(const recording_options& options) {
    if (options.drift_start) return *options.drift_start;
    if (options.drift == drift_shape::zigzag) return options.length / 10;
    if (options.drift == drift_shape::jump) return options.length / 2;
    return duration{0};
}

double microseconds(duration time) {
    return static_cast<double>(time.count());
}

double line_through(const simulated_displacement& from, const simulated_displacement& to,
                    double time_us) {
    const double passed_us = time_us - microseconds(from.time);
    return from.um + (to.um - from.um) * passed_us / microseconds(to.time - from.time);
}

// Adds a turn after each half of a period, and the end wherever the units are then.
void add_zigzag(std::vector<simulated_displacement>& motion, const recording_options& options) {
    const duration start = motion.back().time;
    for (std::int64_t turn = 1;; ++turn) {
        const simulated_displacement next{start + turn * options.drift_period / 2,
                                          turn % 2 == 1 ? options.drift_um : 0};
        if (next.time < options.length) {
            motion.push_back(next);
            continue;
        }
        const double last_um = line_through(motion.back(), next, microseconds(options.length));
        motion.push_back({options.length, last_um});
        return;
    }
}

}  // namespace

std::vector<simulated_displacement> motion_of(const recording_options& options) {
    if (options.drift_um == 0) return {};
    const duration start = start_of(options);
    if (start >= options.length)
        throw invalid_argument(
            fmt::format("units cannot begin to move after {} in a recording of {}",
                        format_duration(start), format_duration(options.length)));
    std::vector<simulated_displacement> motion{{duration{0}, 0}};
    if (start > duration{0}) motion.push_back({start, 0});
    if (options.drift == drift_shape::zigzag) {
        add_zigzag(motion, options);
        return motion;
    }
    if (options.drift == drift_shape::jump) motion.push_back({start, options.drift_um});
    motion.push_back({options.length, options.drift_um});
    return motion;
}

double displacement_um(std::span<const simulated_displacement> motion, double time_us) {
    if (motion.empty()) return 0;
    const auto later = std::upper_bound(motion.begin(), motion.end(), time_us,
                                        [](double time, const simulated_displacement& one) {
                                            return time < microseconds(one.time);
                                        });
    if (later == motion.end()) return motion.back().um;
    return line_through(*std::prev(later), *later, time_us);
}

}  // namespace spikeweave::simulate
