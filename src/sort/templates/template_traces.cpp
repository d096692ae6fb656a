#include "sort/templates/template_traces.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <numeric>
#include <utility>

#include "parallel/ordered_for.hpp"
#include "parallel/parallel_for.hpp"
#include "parallel/ranks.hpp"
#include "sort/templates/filter_bank.hpp"
#include "sort/templates/placed_waveforms.hpp"
#include "sort/templates/sinc.hpp"

namespace spikeweave::templates {
namespace {

constexpr std::size_t most_template_channels = 64;
constexpr std::size_t most_averaged = 400;
constexpr std::size_t most_noise_blocks = 8;
constexpr double median_of_gaussian = 0.6745;  // of its absolute value, in standard deviations

struct chosen_spikes {
    std::size_t block = 0;
    std::vector<std::uint32_t> numbers{};
};

// Every k-th spike of each unit, of those in the blocks of this rank.
std::vector<chosen_spikes> choose(std::span<const template_spike> spikes, std::size_t units,
                                  const trace_blocks& blocks, const execution& run) {
    const parallel::rank_block own = parallel::block_of_rank(blocks.block_count(), run);
    std::vector<std::size_t> count(units);
    for (const template_spike& spike : spikes) ++count[spike.unit];
    std::vector<std::size_t> seen(units);
    std::vector<chosen_spikes> by_block(blocks.block_count());
    for (std::size_t n = 0; n < spikes.size(); ++n) {
        const std::uint32_t unit = spikes[n].unit;
        const std::size_t i = seen[unit]++;
        const std::size_t all = count[unit];
        if (all > most_averaged && i * most_averaged / all == (i + 1) * most_averaged / all)
            continue;
        const auto block = static_cast<std::size_t>(spikes[n].frame) / blocks.block_frames();
        if (block < own.begin || block >= own.end) continue;
        by_block[block].block = block;
        by_block[block].numbers.push_back(static_cast<std::uint32_t>(n));
    }
    std::erase_if(by_block, [](const chosen_spikes& each) { return each.numbers.empty(); });
    return by_block;
}

// The sum of the spikes of a unit on its channels.
struct spike_sum {
    std::vector<double> values{};  ///< channels x frames
    double amplitudes = 0;
    std::uint64_t count = 0;
};

void add(const template_spike& spike, const channel_block& block,
         std::span<const std::uint32_t> channels, const template_window& window, spike_sum& into) {
    const std::int64_t begin = spike.frame - window.before -
                               static_cast<std::int64_t>(block.first) +
                               static_cast<std::int64_t>(block.apron);
    const sinc_taps between(spike.fraction);
    ++into.count;
    into.amplitudes += spike.amplitude;
    const std::size_t frames = window.size();
    into.values.resize(channels.size() * frames);
    for (std::size_t c = 0; c < channels.size(); ++c)
        between.add(block.on(channels[c]).data() + begin,
                    std::span{into.values}.subspan(c * frames, frames));
}

// The sums of all units, in parts of a standard deviation: integers have the same sum in any order.
class integer_sums {
public:
    integer_sums(std::span<const template_place> places, std::size_t frames) {
        for (const template_place& each : places)
            offsets_.push_back(offsets_.back() + each.channels.size() * frames + 2);
        values_.resize(offsets_.back());
    }

    void add(std::uint32_t unit, const spike_sum& part) {
        std::int64_t* at = values_.data() + offsets_[unit];
        for (const double value : part.values) *at++ += std::llround(value * parts);
        at = values_.data() + offsets_[unit + 1] - 2;
        at[0] += std::llround(part.amplitudes * parts);
        at[1] += static_cast<std::int64_t>(part.count);
    }

    void sum_ranks(const execution& run) { parallel::sum_ranks(values_, run); }

    spike_sum of(std::size_t unit) const {
        const std::int64_t* const begin = values_.data() + offsets_[unit];
        const std::int64_t* const end = values_.data() + offsets_[unit + 1] - 2;
        spike_sum out{.amplitudes = in_deviations_of(end[0]),
                      .count = static_cast<std::uint64_t>(end[1])};
        std::transform(begin, end, std::back_inserter(out.values), in_deviations_of);
        return out;
    }

private:
    // The sum of the most spikes that are averaged has less than 51 bits.
    static constexpr double parts = std::int64_t{1} << 32;
    static double in_deviations_of(std::int64_t sum) { return static_cast<double>(sum) / parts; }

    std::vector<std::size_t> offsets_{0};
    std::vector<std::int64_t> values_{};
};

// The sums of the chosen spikes of a block, by unit.
std::map<std::uint32_t, spike_sum> sums_in(const channel_block& block,
                                           std::span<const template_spike> spikes,
                                           const chosen_spikes& chosen,
                                           std::span<const template_place> places,
                                           const template_window& window) {
    std::map<std::uint32_t, spike_sum> out;
    for (const std::uint32_t n : chosen.numbers)
        add(spikes[n], block, places[spikes[n].unit].channels, window, out[spikes[n].unit]);
    return out;
}

// Adds the template that was subtracted from each spike.
void add_back(const matched_filter& filter, std::span<const std::uint32_t> channels,
              std::size_t frames, spike_sum& into) {
    for (std::size_t c = 0; c < channels.size(); ++c) {
        const auto own = std::ranges::find(filter.channels, channels[c]);
        if (own == filter.channels.end()) continue;
        const std::vector<float> waveform =
            waveform_of(filter, static_cast<std::size_t>(own - filter.channels.begin()), 0);
        for (std::size_t f = 0; f < frames; ++f)
            into.values[c * frames + f] += into.amplitudes * waveform[f];
    }
}

double distance_um(const recording_channel& a, const recording_channel& b) {
    return std::hypot(a.x_um - b.x_um, a.y_um - b.y_um);
}

// The channels of the neuron among those that the mean spike reaches: near the peak channel, or
// connected with it by others. Neurons that burst together are in each other's mean.
std::vector<char> footprint(std::vector<char> is_reached, std::uint32_t peak,
                            std::span<const std::uint32_t> channels,
                            std::span<const recording_channel> contacts) {
    constexpr double near_um = 150;
    constexpr double step_um = 60;
    std::vector<char> out(channels.size());
    std::vector<std::size_t> added;
    const auto add_within = [&](double reach_um, const recording_channel& of) {
        for (std::size_t c = 0; c < channels.size(); ++c) {
            if (is_reached[c] == 0 || distance_um(contacts[channels[c]], of) > reach_um) continue;
            is_reached[c] = 0;
            out[c] = 1;
            added.push_back(c);
        }
    };
    add_within(near_um, contacts[peak]);
    while (!added.empty()) {
        const std::size_t from = added.back();
        added.pop_back();
        add_within(step_um, contacts[channels[from]]);
    }
    return out;
}

unit_template average(const spike_sum& from, const template_place& place,
                      std::span<const recording_channel> contacts, std::size_t frames) {
    unit_template out{.spikes = from.count};
    if (from.count == 0) return out;
    const auto count = static_cast<double>(from.count);
    // A mean that is nowhere larger may be the noise's.
    const double least = std::max(0.5, 4.5 / std::sqrt(count));
    std::vector<double> largest(place.channels.size());
    std::vector<char> is_reached(place.channels.size());
    for (std::size_t c = 0; c < place.channels.size(); ++c) {
        for (std::size_t f = 0; f < frames; ++f)
            largest[c] = std::max(largest[c], std::abs(from.values[c * frames + f]) / count);
        is_reached[c] = static_cast<char>(largest[c] >= least);
    }
    const std::vector<char> is_own =
        footprint(std::move(is_reached), place.peak, place.channels, contacts);
    for (std::size_t c = 0; c < place.channels.size(); ++c) {
        if (is_own[c] == 0) continue;
        if (largest[c] > out.peak) {
            out.peak = largest[c];
            out.peak_channel = place.channels[c];
        }
        out.channels.push_back(place.channels[c]);
        for (std::size_t f = 0; f < frames; ++f)
            out.values.push_back(static_cast<float>(from.values[c * frames + f] / count));
    }
    return out;
}

// The value for which `rank` others are smaller.
std::int32_t in_order(std::vector<std::int32_t>& values, std::size_t rank) {
    const auto at = values.begin() + static_cast<std::ptrdiff_t>(rank);
    std::ranges::nth_element(values, at);
    return *at;
}

float in_deviations(std::int16_t steps) {
    return static_cast<float>(steps) / steps_per_sd;
}

// Adds the remainders of all ranks.
void sum_ranks(left_over_table& table, const execution& run) {
    std::vector<std::int64_t> values;
    for (const std::vector<left_over>& rows : table)
        for (const left_over& one : rows)
            values.insert(values.end(),
                          {static_cast<std::int64_t>(one.count), one.sizes, one.squares});
    parallel::sum_ranks(values, run);
    const std::int64_t* at = values.data();
    for (std::vector<left_over>& rows : table)
        for (left_over& one : rows) {
            one = {static_cast<std::uint64_t>(at[0]), at[1], at[2]};
            at += 3;
        }
}

}  // namespace

trace_scale scale_of(std::span<const double> noise) {
    trace_scale scale{.limit = static_cast<float>(largest_step)};
    for (const double sd : noise)
        scale.factors.push_back(sd > 0 ? static_cast<float>(1 / sd) * steps_per_sd : 0.0F);
    return scale;
}

template_traces::template_traces(const filtered_recording& traces, const template_window& window,
                                 std::uint64_t kept_bytes, const execution& run)
    : window_(window),
      blocks_(traces, 3 * window.size()),
      steps_(traces, blocks_.apron(), scale_of(traces.noise()), run),
      kept_(blocks_.block_count()) {
    most_kept_ = kept_bytes / ((blocks_.block_frames() + 2 * blocks_.apron()) *
                               source().channel_count() * sizeof(std::int16_t));
    // Each thread reads a part that begins and ends in blocks of its neighbours.
    most_recent_ = 2 * static_cast<std::size_t>(thread_count(run)) + 2;
}

std::shared_ptr<const integer_block> template_traces::steps(std::size_t number) const {
    {
        const std::lock_guard lock(mutex_);
        if (kept_[number]) return kept_[number];
    }
    integer_block block{.channels = source().channel_count(), .values = steps_.read(number)};
    block.frames = block.values.size() / block.channels;
    auto made = std::make_shared<const integer_block>(std::move(block));
    const std::lock_guard lock(mutex_);
    if (kept_[number]) return kept_[number];  // another thread has just read it
    kept_[number] = made;
    if (kept_count_ < most_kept_) {
        ++kept_count_;
        return made;
    }
    recent_.push_back(number);
    if (recent_.size() > most_recent_) {
        kept_[recent_.front()].reset();
        recent_.pop_front();
    }
    return made;
}

channel_block template_traces::read(std::size_t number) const {
    const std::shared_ptr<const integer_block> from = steps(number);
    const std::size_t apron = blocks_.apron();
    channel_block out{.first = std::uint64_t{number} * blocks_.block_frames(),
                      .frames = from->frames - 2 * apron,
                      .apron = apron,
                      .channels = from->channels};
    out.values.resize(from->values.size());
    std::ranges::transform(from->values, out.values.begin(), in_deviations);
    return out;
}

channel_block template_traces::read(std::uint64_t first, std::size_t frames) const {
    channel_block out{.first = first, .frames = frames, .channels = source().channel_count()};
    out.values.resize(frames * out.channels);
    const std::size_t block_frames = blocks_.block_frames();
    for (std::size_t f = 0; f < frames;) {
        const auto number = static_cast<std::size_t>((first + f) / block_frames);
        const auto offset = static_cast<std::size_t>((first + f) % block_frames);
        const std::size_t count = std::min(frames - f, block_frames - offset);
        const std::shared_ptr<const integer_block> from = steps(number);
        for (std::size_t c = 0; c < out.channels; ++c)
            std::ranges::transform(from->on(c).subspan(blocks_.apron() + offset, count),
                                   out.on(c).begin() + static_cast<std::ptrdiff_t>(f),
                                   in_deviations);
        f += count;
    }
    return out;
}

std::vector<template_place> template_places(const recording& from,
                                            std::span<const std::uint32_t> peak_channels) {
    const auto& contacts = from.channels();
    std::vector<template_place> out;
    for (const std::uint32_t peak : peak_channels) {
        std::vector<std::uint32_t> near(contacts.size());
        std::iota(near.begin(), near.end(), 0U);
        std::erase_if(near,
                      [&](std::uint32_t c) { return contacts[c].shank != contacts[peak].shank; });
        std::ranges::stable_sort(
            near, {}, [&](std::uint32_t c) { return distance_um(contacts[c], contacts[peak]); });
        near.resize(std::min(near.size(), most_template_channels));
        std::ranges::sort(near);
        out.push_back({peak, std::move(near)});
    }
    return out;
}

std::vector<unit_template> average_templates(const template_traces& traces,
                                             std::span<const template_spike> spikes,
                                             std::span<const template_place> places,
                                             std::span<const matched_filter> filters,
                                             const execution& run) {
    const template_window& window = traces.window();
    const std::size_t frames = window.size();
    integer_sums sums(places, frames);
    const placed_waveforms placed(filters, window);
    const std::vector<chosen_spikes> chosen = choose(spikes, places.size(), traces.blocks(), run);
    parallel::for_each_in_order(
        chosen.size(), run, "templates",
        [&](std::size_t i) {
            channel_block block = traces.read(chosen[i].block);
            if (!filters.empty()) placed.subtract(spikes, block);
            return sums_in(block, spikes, chosen[i], places, window);
        },
        [&](std::size_t, const std::map<std::uint32_t, spike_sum>& found) {
            for (const auto& [unit, sum] : found) sums.add(unit, sum);
        });
    sums.sum_ranks(run);
    std::vector<unit_template> out(places.size());
    parallel::parallel_for(out.size(), run, "templates", [&](std::size_t u) {
        spike_sum sum = sums.of(u);
        if (sum.count > 0 && !filters.empty())
            add_back(filters[u], places[u].channels, frames, sum);
        out[u] = average(sum, places[u], traces.source().channels(), frames);
    });
    return out;
}

void measure_noise(const template_traces& traces, std::span<matched_filter> filters, bool moves,
                   const execution& run) {
    const std::size_t blocks = traces.blocks().block_count();
    const std::size_t measured = std::min(blocks, most_noise_blocks);
    std::vector<std::shared_ptr<const integer_block>> some(measured);
    parallel::parallel_for(measured, run, "noise", [&](std::size_t i) {
        some[i] = traces.steps((2 * i + 1) * blocks / (2 * measured));
    });
    const auto before = static_cast<std::size_t>(traces.window().before);
    parallel::parallel_for(filters.size(), run, "noise of templates", [&](std::size_t u) {
        if (filters[u].ranks == 0) return;
        std::vector<std::int32_t> sizes;
        std::vector<std::int32_t> medians;
        for (const auto& block : some) {
            std::vector<std::int32_t> scores(block->frames);
            correlate(*block, filters[u], before, scores);
            for (const std::int32_t score : scores)
                if (score != 0) sizes.push_back(std::abs(score));
            if (sizes.empty() || (!moves && block != some.back())) continue;
            medians.push_back(in_order(sizes, sizes.size() / 2));
            sizes.clear();
        }
        if (medians.empty()) return;
        const std::int32_t median = in_order(medians, medians.size() * 3 / 4);
        filters[u].noise =
            std::max(1, static_cast<std::int32_t>(std::lround(median / median_of_gaussian)));
    });
}

template_matches match_templates(const template_traces& traces, const match_plan& plan,
                                 const execution& run) {
    const auto before = static_cast<std::size_t>(traces.window().before);
    const std::unique_ptr<const filter_bank> bank = filter_bank_of(plan.filters, before, run);
    const parallel::rank_block own = parallel::block_of_rank(traces.blocks().block_count(), run);
    const auto find = [&](std::size_t n) {
        const std::size_t i = own.begin + n;
        const std::shared_ptr<const integer_block> block = traces.steps(i);
        const auto apron = static_cast<std::int32_t>(traces.blocks().apron());
        const auto length = static_cast<std::int32_t>(block->frames) - 2 * apron;
        const auto first = static_cast<std::int64_t>(i * traces.blocks().block_frames());
        block_matches in_block = match_block(plan, bank->scores_of(*block));
        template_matches found{.left_over = std::move(in_block.left_over)};
        for (const block_match& match : in_block.spikes) {
            const std::int32_t frame = match.frame - apron;
            if (frame < 0 || frame >= length) continue;
            found.spikes.push_back(
                {.frame = first + frame,
                 .fraction = static_cast<float>(match.part) / parts_of_frame,
                 .unit = match.unit,
                 .amplitude = static_cast<float>(match.size) /
                              static_cast<float>(plan.filters[match.unit].norm)});
        }
        return found;
    };
    template_matches out{.left_over = nothing_left_over(plan)};
    parallel::for_each_in_order(own.size(), run, "template matching", find,
                                [&](std::size_t, const template_matches& found) {
                                    out.spikes.insert(out.spikes.end(), found.spikes.begin(),
                                                      found.spikes.end());
                                    add(found.left_over, out.left_over);
                                });
    parallel::join_ranks(out.spikes, run);
    sum_ranks(out.left_over, run);
    return out;
}

}  // namespace spikeweave::templates
