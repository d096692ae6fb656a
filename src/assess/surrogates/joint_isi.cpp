// joint_isi_dithering and isi_dithering.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <span>
#include <utility>

#include "assess/surrogates/generators.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave::assess {
namespace {

// The weights at the centre and on one side of it.
std::vector<double> half_kernel(double sigma) {
    const auto radius = static_cast<std::size_t>(std::floor(4 * sigma + 0.5));
    std::vector<double> weights(radius + 1);
    double sum = 0;
    for (std::size_t i = 0; i <= radius; ++i) {
        const double x = static_cast<double>(i) / sigma;
        weights[i] = std::exp(-0.5 * x * x);
        sum += i == 0 ? weights[i] : 2 * weights[i];
    }
    for (double& weight : weights) weight /= sum;
    return weights;
}

// Mirrors a b c d to … c b a | a b c d | d c b …, repeated as often as needed.
std::vector<double> mirrored(std::span<const double> line, std::size_t margin) {
    const std::size_t n = line.size();
    std::vector<double> out(n + 2 * margin);
    // Where position 0 of the result lies in the endless repetition of the line and its mirror.
    const std::size_t start = 2 * n - margin % (2 * n);
    for (std::size_t i = 0; i < out.size(); ++i) {
        const std::size_t at = (start + i) % (2 * n);
        out[i] = line[at < n ? at : 2 * n - 1 - at];
    }
    return out;
}

void smooth(std::span<double> line, std::span<const double> weights) {
    const std::size_t margin = weights.size() - 1;
    const std::vector<double> source = mirrored(line, margin);
    for (std::size_t i = 0; i < line.size(); ++i) {
        const double* const middle = source.data() + i + margin;
        double sum = *middle * weights[0];
        for (std::size_t k = 1; k <= margin; ++k)
            sum += (*(middle - k) + *(middle + k)) * weights[k];
        line[i] = sum;
    }
}

void transpose(square& values) {
    for (std::size_t row = 0; row < values.side; ++row)
        for (std::size_t column = 0; column < row; ++column)
            std::swap(values.at(row, column), values.at(column, row));
}

}  // namespace

void gaussian_filter(square& values, double sigma) {
    const std::vector<double> weights = half_kernel(sigma);
    for (int axis = 0; axis < 2; ++axis) {
        transpose(values);
        for (std::size_t row = 0; row < values.side; ++row)
            smooth(std::span{values.values}.subspan(row * values.side, values.side), weights);
    }
}

namespace {

constexpr std::size_t least_spikes = 3;  // two intervals, between which a spike can move

// Divides the intervals up to the limit into cells of equal width.
struct interval_cells {
    explicit interval_cells(const joint_isi_options& how)
        : count(how.bins), limit_us(how.truncation_limit.count()) {}

    std::int64_t of(std::int64_t interval_us) const {
        return interval_us < limit_us ? interval_us * count / limit_us : count;
    }
    /// The same if the last cell is closed on both sides.
    std::int64_t counted(std::int64_t interval_us) const {
        return interval_us == limit_us ? count - 1 : of(interval_us);
    }
    double width_us() const { return static_cast<double>(limit_us) / static_cast<double>(count); }

    std::int64_t count;
    std::int64_t limit_us;
};

square count_pairs(std::span<const std::int64_t> times, const interval_cells& cells) {
    square out(static_cast<std::size_t>(cells.count));
    for (std::size_t i = 1; i + 1 < times.size(); ++i) {
        const std::int64_t a = cells.counted(times[i] - times[i - 1]);
        const std::int64_t b = cells.counted(times[i + 1] - times[i]);
        if (a < cells.count && b < cells.count)
            out.at(static_cast<std::size_t>(a), static_cast<std::size_t>(b)) += 1;
    }
    return out;
}

// The distribution of pairs if neighbouring intervals were independent.
square count_singles(std::span<const std::int64_t> times, const interval_cells& cells) {
    std::vector<double> counts(static_cast<std::size_t>(cells.count));
    for (std::size_t i = 1; i < times.size(); ++i) {
        const std::int64_t cell = cells.counted(times[i] - times[i - 1]);
        if (cell < cells.count) counts[static_cast<std::size_t>(cell)] += 1;
    }
    square out(counts.size());
    for (std::size_t a = 0; a < out.side; ++a)
        for (std::size_t b = 0; b < out.side; ++b) out.at(a, b) = counts[a] * counts[b];
    return out;
}

// Smooths the part at or after `first` on both axes, separately, and clears the rest.
void smooth_from(square& histogram, std::size_t first, double sigma) {
    square inner(histogram.side - first);
    for (std::size_t a = 0; a < inner.side; ++a)
        for (std::size_t b = 0; b < inner.side; ++b)
            inner.at(a, b) = histogram.at(first + a, first + b);
    gaussian_filter(inner, sigma);
    histogram = square(histogram.side);
    for (std::size_t a = 0; a < inner.side; ++a)
        for (std::size_t b = 0; b < inner.side; ++b)
            histogram.at(first + a, first + b) = inner.at(a, b);
}

// The distribution of the unit's pairs of neighbouring intervals.
square likely_pairs(std::span<const std::int64_t> times, std::int64_t dead_time_us,
                    const surrogate_options& options) {
    const joint_isi_options& how = options.joint_isi;
    const interval_cells cells(how);
    square histogram = options.method == surrogate_method::isi_dithering
                           ? count_singles(times, cells)
                           : count_pairs(times, cells);
    if (how.use_sqrt)
        for (double& value : histogram.values) value = std::sqrt(value);
    if (how.sigma > duration{0}) {
        const auto first = static_cast<std::size_t>(how.cutoff ? cells.of(dead_time_us) : 0);
        smooth_from(histogram, first, static_cast<double>(how.sigma.count()) / cells.width_us());
    }
    return histogram;
}

// Sums of a histogram along each line of pairs with the same sum of cells: when a spike moves
// between its neighbours, the two intervals step along such a line. 4 n (n + 1) bytes.
class pair_lines {
public:
    pair_lines() = default;
    explicit pair_lines(const square& histogram) {
        const std::size_t n = histogram.side;
        sums_.reserve(n * (n + 1) / 2);
        for (std::size_t s = 0; s < n; ++s) {
            double sum = 0;
            for (std::size_t c = 0; c <= s; ++c) sums_.push_back(sum += histogram.at(c, s - c));
        }
    }

    /// Draws the cell of the first interval, one of [first, last], if the sum of both cells is s.
    /// Returns -1 if all of these have probability 0.
    std::int64_t draw(std::int64_t s, std::int64_t first, std::int64_t last,
                      random_stream& random) const {
        if (first > last) return -1;
        const auto line = sums_.begin() + s * (s + 1) / 2;
        const double below = first == 0 ? 0 : line[first - 1];
        const double total = line[last] - below;
        if (!(total > 0)) return -1;
        const double wanted = below + (1 - random.uniform()) * total;  // above `below`
        return std::upper_bound(line + first, line + last, wanted,
                                [](double w, double sum) { return w <= sum; }) -
               line;
    }

private:
    std::vector<double> sums_;
};

struct unit_intervals {
    std::int64_t dead_time_us;
    pair_lines lines;
};

class joint_isi {
public:
    joint_isi(const spike_trains& trains, const surrogate_options& options)
        : how_(options.joint_isi), cells_(options.joint_isi), dither_us_(options.dither.count()) {
        units_.reserve(trains.unit_count());
        for (std::uint32_t u = 0; u < trains.unit_count(); ++u) {
            const auto times = trains.times_us(unit_id{u});
            const std::int64_t dead_time_us =
                shortest_interval(times, how_.refractory_period.count());
            units_.push_back(
                {dead_time_us, times.size() < least_spikes
                                   ? pair_lines()
                                   : pair_lines(likely_pairs(times, dead_time_us, options))});
        }
    }

    void move(unit_id unit, std::span<std::int64_t> times, random_stream& random) const {
        if (times.size() < least_spikes) return;
        const std::size_t stride = how_.alternate ? 2 : 1;
        for (std::size_t start = 1; start <= stride; ++start)
            for (std::size_t i = start; i + 1 < times.size(); i += stride)
                times[i] += step(units_[to_index(unit)], times[i] - times[i - 1],
                                 times[i + 1] - times[i], random);
    }

private:
    // The displacement of the spike between two intervals; neither interval becomes 0.
    std::int64_t step(const unit_intervals& unit, std::int64_t before, std::int64_t behind,
                      random_stream& random) const {
        const std::int64_t a = cells_.of(before);
        const std::int64_t s = a + cells_.of(behind);
        if (s < cells_.count) {
            const std::int64_t most = cells_.of(dither_us_);
            const bool fast = how_.steps == joint_isi_steps::fast;
            // The step back by just `most` cells is left out, as in Elephant.
            const std::int64_t first = fast ? 0 : std::max<std::int64_t>(a - most + 1, 0);
            const std::int64_t last = fast ? s : std::min(a + most, s);
            const std::int64_t drawn = unit.lines.draw(s, first, last, random);
            if (drawn >= 0) {
                const auto by = std::llround(static_cast<double>(drawn - a) * cells_.width_us());
                return std::clamp<std::int64_t>(by, 1 - before, behind - 1);
            }
        }
        const std::int64_t back = std::min(before - unit.dead_time_us, dither_us_);
        const std::int64_t forth = std::min(behind - unit.dead_time_us, dither_us_);
        return uniform_between(std::min<std::int64_t>(-back, 0), std::max<std::int64_t>(forth, 0),
                               random);
    }

    joint_isi_options how_;
    interval_cells cells_;
    std::int64_t dither_us_;
    std::vector<unit_intervals> units_;
};

void check(const joint_isi_options& how) {
    check_options(how);
    if (how.truncation_limit.count() < how.bins)
        throw invalid_argument("isi_truncation",
                               fmt::format("expected at least 1 us for each of {} bins, found {}",
                                           how.bins, format_duration(how.truncation_limit)));
    if (how.sigma > how.truncation_limit)
        throw invalid_argument("isi_sigma", fmt::format("expected at most `isi_truncation`, {}, "
                                                        "found {}",
                                                        format_duration(how.truncation_limit),
                                                        format_duration(how.sigma)));
}

}  // namespace

time_mover joint_isi_mover(const spike_trains& trains, const surrogate_options& options) {
    check(options.joint_isi);
    return [units = std::make_shared<const joint_isi>(trains, options)](
               unit_id unit, std::vector<std::int64_t>& times, random_stream& random) {
        units->move(unit, times, random);
    };
}

}  // namespace spikeweave::assess
