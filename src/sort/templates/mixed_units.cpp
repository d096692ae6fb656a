#include "sort/templates/mixed_units.hpp"

#include <Eigen/Core>
#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include "parallel/ordered_for.hpp"
#include "parallel/parallel_for.hpp"
#include "parallel/ranks.hpp"
#include "sort/templates/coincidences.hpp"
#include "sort/templates/placed_waveforms.hpp"
#include "sort/templates/separation.hpp"
#include "sort/templates/sinc.hpp"

namespace spikeweave::templates {
namespace {

// Of each unit so many spikes are examined, spread over the recording, and so many pairs of
// successive spikes, the nearest first.
constexpr std::size_t most_spread = 600;
constexpr std::size_t most_pairs = 150;
constexpr std::size_t least_examined = 100;
constexpr std::size_t least_side = 15;
constexpr std::size_t least_share = 20;  // one in this many spikes may be those of another neuron
// Remainders are read around a spike, at this rate, on the channels where the template is largest.
constexpr double before_s = 0.0005;
constexpr double after_s = 0.001;
constexpr double remainder_rate_hz = 15000;
constexpr std::size_t most_channels = 8;
// Nearer spikes hide each other.
constexpr double nearest_s = 0.0006;
constexpr std::array farthest_s{0.0015, 0.0025, 0.005, 0.01};
// Larger ones are those of spikes that were not subtracted.
constexpr double most_remainder = 4;
constexpr double least_distance = 3;
// Groups that are this far apart are two neurons also where their times do not show it.
constexpr double least_clear_distance = 4;
constexpr std::size_t enough_pairs = 8;
constexpr double least_deviations = 3.3;
constexpr double least_order_share = 0.25;

struct near_pair {
    std::uint32_t first = 0;
    std::uint32_t second = 0;
    std::int64_t lag = 0;
};

// The spikes of a unit that are examined.
struct examined_unit {
    std::vector<std::uint32_t> spikes{};  // ascending
    std::vector<std::uint32_t> spread{};  // those of them that stand for all
    std::vector<near_pair> pairs{};       // the nearest first
};

examined_unit examine(const std::vector<std::uint32_t>& own, std::span<const template_spike> spikes,
                      double rate_hz) {
    examined_unit out;
    if (own.size() < least_examined) return out;
    const std::size_t step = own.size() / most_spread + 1;
    for (std::size_t i = step / 2; i < own.size(); i += step) out.spread.push_back(own[i]);
    for (std::size_t i = 1; i < own.size(); ++i) {
        const std::int64_t lag = spikes[own[i]].frame - spikes[own[i - 1]].frame;
        if (static_cast<double>(lag) >= nearest_s * rate_hz &&
            static_cast<double>(lag) <= farthest_s.back() * rate_hz)
            out.pairs.push_back({own[i - 1], own[i], lag});
    }
    std::ranges::stable_sort(out.pairs, {}, &near_pair::lag);
    out.pairs.resize(std::min(out.pairs.size(), most_pairs));
    out.spikes = out.spread;
    for (const near_pair& pair : out.pairs) {
        out.spikes.push_back(pair.first);
        out.spikes.push_back(pair.second);
    }
    std::ranges::sort(out.spikes);
    out.spikes.erase(std::unique(out.spikes.begin(), out.spikes.end()), out.spikes.end());
    return out;
}

// The channels on which a template has most energy, ascending.
std::vector<std::uint32_t> largest_channels(const matched_filter& filter) {
    std::vector<double> energy;
    for (std::size_t c = 0; c < filter.channels.size(); ++c) {
        const std::vector<float> waveform = waveform_of(filter, c, 0);
        energy.push_back(
            std::inner_product(waveform.begin(), waveform.end(), waveform.begin(), 0.0));
    }
    std::vector<std::size_t> order(energy.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order,
                             [&](std::size_t a, std::size_t b) { return energy[a] > energy[b]; });
    order.resize(std::min(order.size(), most_channels));
    std::vector<std::uint32_t> out;
    for (const std::size_t c : order) out.push_back(filter.channels[c]);
    std::ranges::sort(out);
    return out;
}

// What templates leave of spikes.
class remainders {
public:
    remainders(const template_traces& traces, std::span<const template_spike> spikes,
               std::span<const matched_filter> filters)
        : traces_(traces), spikes_(spikes), placed_(filters, traces.window()) {
        const double rate = traces.source().rate_hz();
        before_ = std::min<std::int64_t>(std::llround(before_s * rate), traces.window().before);
        step_ = static_cast<std::size_t>(std::max(1LL, std::llround(rate / remainder_rate_hz)));
        frames_ = static_cast<std::size_t>(before_ + std::llround(after_s * rate)) / step_ + 1;
        for (const matched_filter& filter : filters) channels_.push_back(largest_channels(filter));
    }

    std::size_t width(std::uint32_t unit) const { return channels_[unit].size() * frames_; }

    // What a spike of another size, time or breadth leaves, as orthonormal columns.
    Eigen::MatrixXd changes_of_one(std::uint32_t unit, const matched_filter& filter) const {
        Eigen::MatrixX3d out(static_cast<Eigen::Index>(width(unit)), 3);
        const auto first = static_cast<std::size_t>(traces_.window().before - before_);
        Eigen::Index row = 0;
        for (const std::uint32_t channel : channels_[unit]) {
            const std::vector<float> waveform = waveform_on(filter, channel);
            for (std::size_t f = 0; f < frames_; ++f, ++row)
                out.row(row) = Eigen::RowVector3d(changes_at(waveform, first + f * step_).data());
        }
        const Eigen::HouseholderQR<Eigen::MatrixXd> solved(out);
        return solved.householderQ() * Eigen::MatrixXd::Identity(out.rows(), out.cols());
    }

    // The values of spikes of a block, one after another: channels x frames of each.
    std::vector<float> of(std::size_t number, std::span<const std::uint32_t> wanted) const {
        channel_block block = traces_.read(number);
        placed_.subtract(spikes_, block);
        std::vector<float> out;
        std::vector<double> dense((frames_ - 1) * step_ + 1);
        for (const std::uint32_t n : wanted) {
            const template_spike& spike = spikes_[n];
            const std::int64_t begin = spike.frame - before_ -
                                       static_cast<std::int64_t>(block.first) +
                                       static_cast<std::int64_t>(block.apron);
            const sinc_taps between(spike.fraction);
            for (const std::uint32_t channel : channels_[spike.unit]) {
                std::ranges::fill(dense, 0);
                between.add(block.on(channel).data() + begin, dense);
                for (std::size_t f = 0; f < frames_; ++f)
                    out.push_back(static_cast<float>(dense[f * step_]));
            }
        }
        return out;
    }

private:
    const template_traces& traces_;
    std::span<const template_spike> spikes_;
    placed_waveforms placed_;
    std::int64_t before_ = 0;
    std::size_t step_ = 1;
    std::size_t frames_ = 0;
    std::vector<std::vector<std::uint32_t>> channels_{};  // of each unit
};

// How often successive spikes are on different sides.
struct divided_pairs {
    std::uint64_t all = 0;
    std::array<std::uint64_t, 2> ordered{};  // by the side of the first one

    // More often than by chance, and in either order.
    bool are_of_two(double by_chance) const {
        const auto count = static_cast<double>(ordered[0] + ordered[1]);
        const double expected = by_chance * static_cast<double>(all);
        const double sd = std::sqrt(std::max(0.0, expected * (1 - by_chance)));
        return all >= enough_pairs && count > expected + least_deviations * sd &&
               static_cast<double>(std::ranges::min(ordered)) >= least_order_share * count;
    }
    // More often than two orders that are equally likely, by two standard deviations.
    bool come_in_one_order() const {
        const auto count = static_cast<double>(ordered[0] + ordered[1]);
        return count - 2 * static_cast<double>(std::ranges::min(ordered)) > 2 * std::sqrt(count);
    }
};

// The spikes of a unit on two sides.
class divided_unit {
public:
    divided_unit(const examined_unit& of, const separation& found) : of_(of), found_(found) {
        const auto ones = std::ranges::count(of.spread, char{1},
                                             [&](std::uint32_t spike) { return side_of(spike); });
        share_ = static_cast<double>(ones) / static_cast<double>(of.spread.size());
    }

    bool is_of_two(std::span<const template_spike> spikes, const recording& from) const {
        divided_pairs pairs;
        auto next = of_.pairs.begin();
        for (const double most_s : farthest_s) {
            for (; next != of_.pairs.end() &&
                   static_cast<double>(next->lag) <= most_s * from.rate_hz();
                 ++next) {
                ++pairs.all;
                if (side_of(next->first) != side_of(next->second))
                    ++pairs.ordered[side_of(next->first) == 0 ? 0 : 1];
            }
            if (pairs.are_of_two(2 * share_ * (1 - share_))) return true;
        }
        return found_.distance >= least_clear_distance && !pairs.come_in_one_order() &&
               !take_turns(spikes, from);
    }

    mixed_unit as_unit(std::uint32_t unit) const {
        mixed_unit out{.unit = unit, .distance = found_.distance};
        for (std::size_t i = 0; i < of_.spikes.size(); ++i)
            out.spikes[found_.side[i] == 0 ? 0 : 1].push_back(of_.spikes[i]);
        if (share_ > 0.5) std::swap(out.spikes[0], out.spikes[1]);
        return out;
    }

private:
    char side_of(std::uint32_t spike) const {
        return found_.side[static_cast<std::size_t>(std::ranges::lower_bound(of_.spikes, spike) -
                                                    of_.spikes.begin())];
    }
    // As a neuron does whose waveform changes during the recording.
    bool take_turns(std::span<const template_spike> spikes, const recording& from) const {
        std::array<std::vector<std::int64_t>, 2> frames;
        for (const std::uint32_t spike : of_.spread)
            frames[side_of(spike) == 0 ? 0 : 1].push_back(spikes[spike].frame);
        return templates::take_turns(
            {frames[0], frames[1], from.rate_hz(), static_cast<double>(from.frame_count())});
    }

    const examined_unit& of_;
    const separation& found_;
    double share_ = 0;
};

std::optional<mixed_unit> divide(std::uint32_t unit, const examined_unit& of,
                                 const Eigen::MatrixXd& points,
                                 std::span<const template_spike> spikes, const recording& from) {
    const std::size_t least = std::max(least_side, of.spikes.size() / least_share);
    for (const separation& found : separations(points, least)) {
        if (found.distance < least_distance) break;
        const divided_unit divided(of, found);
        if (divided.is_of_two(spikes, from)) return divided.as_unit(unit);
    }
    return {};
}

// A remainder without what a spike of another size, time or breadth leaves.
Eigen::RowVectorXd unexplained(const float* values, const Eigen::MatrixXd& changes) {
    const Eigen::VectorXd remainder =
        Eigen::Map<const Eigen::VectorXf>(values, changes.rows()).cast<double>();
    return (remainder - changes * (changes.transpose() * remainder))
        .cwiseMax(-most_remainder)
        .cwiseMin(most_remainder)
        .transpose();
}

}  // namespace

std::vector<mixed_unit> find_mixed_units(const template_traces& traces,
                                         std::span<const template_spike> spikes,
                                         std::span<const matched_filter> filters,
                                         const execution& run) {
    const double rate_hz = traces.source().rate_hz();
    std::vector<std::vector<std::uint32_t>> own(filters.size());
    for (std::uint32_t n = 0; n < spikes.size(); ++n) own[spikes[n].unit].push_back(n);
    std::vector<examined_unit> units(filters.size());
    parallel::parallel_for(units.size(), run, "mixed units",
                           [&](std::size_t u) { units[u] = examine(own[u], spikes, rate_hz); });
    // Spikes of all units in the order of blocks, so that each is read once.
    const parallel::rank_block mine = parallel::block_of_rank(traces.blocks().block_count(), run);
    std::vector<std::uint32_t> wanted;
    for (const examined_unit& unit : units)
        wanted.insert(wanted.end(), unit.spikes.begin(), unit.spikes.end());
    std::ranges::sort(wanted);
    const auto block_of = [&](std::uint32_t n) {
        return static_cast<std::size_t>(spikes[n].frame) / traces.blocks().block_frames();
    };
    const remainders left(traces, spikes, filters);
    std::vector<float> values;
    parallel::for_each_in_order(
        mine.size(), run, "remainders",
        [&](std::size_t i) {
            const std::size_t number = mine.begin + i;
            const auto begin = std::ranges::lower_bound(wanted, number, {}, block_of);
            const auto end = std::ranges::upper_bound(wanted, number, {}, block_of);
            return begin == end ? std::vector<float>{} : left.of(number, std::span(begin, end));
        },
        [&](std::size_t, const std::vector<float>& found) {
            values.insert(values.end(), found.begin(), found.end());
        });
    parallel::join_ranks(values, run);
    std::vector<std::size_t> offsets;
    std::size_t next = 0;
    for (const std::uint32_t n : wanted) {
        offsets.push_back(next);
        next += left.width(spikes[n].unit);
    }
    std::vector<std::optional<mixed_unit>> found(units.size());
    parallel::parallel_for(units.size(), run, "mixed units", [&](std::size_t u) {
        const auto unit = static_cast<std::uint32_t>(u);
        if (units[u].spikes.empty()) return;
        const Eigen::MatrixXd changes = left.changes_of_one(unit, filters[unit]);
        Eigen::MatrixXd points(static_cast<Eigen::Index>(units[u].spikes.size()), changes.rows());
        for (std::size_t i = 0; i < units[u].spikes.size(); ++i) {
            const auto at = std::ranges::lower_bound(wanted, units[u].spikes[i]) - wanted.begin();
            points.row(static_cast<Eigen::Index>(i)) =
                unexplained(values.data() + offsets[static_cast<std::size_t>(at)], changes);
        }
        found[u] = divide(unit, units[u], points, spikes, traces.source());
    });
    std::vector<mixed_unit> out;
    for (std::optional<mixed_unit>& each : found)
        if (each) out.push_back(std::move(*each));
    return out;
}

}  // namespace spikeweave::templates
