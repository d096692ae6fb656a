#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "assess/surrogates/generators.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/spikes/bin_grid.hpp"
#include "spikeweave/spikes/epochs.hpp"

namespace spikeweave {

using assess::bin_shuffler;
using assess::make_time_mover;
using assess::purpose_of;
using assess::time_mover;
using assess::uniform_between;

namespace {

using enum surrogate_method;

// The bins that bin_shuffling permutes.
struct shuffled_bins {
    shuffled_bins(const spike_sequence& spikes, const surrogate_options& options,
                  const binning_options& how)
        : grid(spikes, how), original(bin_spikes(spikes, how).spikes), shuffler(grid, options) {}

    bin_grid grid;
    binned_spikes original;
    bin_shuffler shuffler;
};

}  // namespace

struct surrogate_maker::set_up {
    set_up(const spike_sequence& spikes, const surrogate_options& options,
           const binning_options* bins);

    random_stream stream(std::uint32_t unit, std::uint32_t which) const {
        return {seed, purpose, unit, which};
    }
    /// The times of one unit in surrogate `which`, ascending; some may be equal.
    void times_of(unit_id unit, std::uint32_t which, std::vector<std::int64_t>& times) const;
    void times_in_epochs(unit_id unit, std::vector<std::int64_t>& times,
                         random_stream& random) const;
    void shuffled_times_of(unit_id unit, std::uint32_t which,
                           std::vector<std::int64_t>& times) const;
    void bins_of(unit_id unit, std::uint32_t which, std::vector<std::int64_t>& times,
                 std::vector<std::uint32_t>& out) const;

    spike_trains trains;
    std::vector<std::string> unit_names;
    time_span span;
    std::vector<time_span> epochs;  // those of the spikes; may be empty
    std::uint64_t seed;
    random_purpose purpose;
    std::optional<bin_grid> grid;
    std::vector<time_mover> moves;          // for all spikes, or one for each epoch; or
    std::optional<shuffled_bins> shuffled;  // with bin_shuffling
};

surrogate_maker::set_up::set_up(const spike_sequence& spikes, const surrogate_options& options,
                                const binning_options* bins)
    : trains(spikes),
      unit_names(spikes.unit_names()),
      span(spikes.span()),
      epochs(spikes.epochs().begin(), spikes.epochs().end()),
      seed(options.seed),
      purpose(purpose_of(options.method)) {
    check_options(options);
    const binning_options how = bins != nullptr ? *bins : binning_options{};
    if (bins != nullptr) grid.emplace(spikes, how);
    if (options.method == bin_shuffling) {
        if (!spikes.epochs().empty())
            throw invalid_argument("bin-shuffling does not keep spikes in their epochs");
        shuffled.emplace(spikes, options, how);
        return;
    }
    const duration refractory_period = options.refractory_period.value_or(how.bin);
    if (options.method == trial_shifting && options.trials.empty() && !spikes.epochs().empty()) {
        surrogate_options by_epochs = options;
        by_epochs.trials = {spikes.epochs().begin(), spikes.epochs().end()};
        moves.push_back(make_time_mover(trains, span, by_epochs, refractory_period));
        return;
    }
    // These two look at intervals only, those of the whole recording.
    const bool ignores_span =
        options.method == joint_isi_dithering || options.method == isi_dithering;
    for (const time_span& one : spikes.observed())
        moves.push_back(ignores_span && !moves.empty()
                            ? moves.front()
                            : make_time_mover(trains, one, options, refractory_period));
}

void surrogate_maker::set_up::times_of(unit_id unit, std::uint32_t which,
                                       std::vector<std::int64_t>& times) const {
    if (shuffled) return shuffled_times_of(unit, which, times);
    const auto source = trains.times_us(unit);
    times.assign(source.begin(), source.end());
    random_stream random = stream(static_cast<std::uint32_t>(to_index(unit)), which);
    if (moves.size() > 1) return times_in_epochs(unit, times, random);
    if (!times.empty()) moves.front()(unit, times, random);
}

// Each epoch is moved as if it were a separate recording, with the next numbers of one stream.
void surrogate_maker::set_up::times_in_epochs(unit_id unit, std::vector<std::int64_t>& times,
                                              random_stream& random) const {
    std::vector<std::int64_t> all;
    std::vector<std::int64_t> own;
    auto from = times.begin();
    for (std::size_t e = 0; e < epochs.size(); ++e) {
        const auto end = std::lower_bound(from, times.end(), epochs[e].end.count());
        own.assign(from, end);
        from = end;
        if (!own.empty()) moves[e](unit, own, random);
        all.insert(all.end(), own.begin(), own.end());
    }
    times.swap(all);
}

// The occupied bins keep their order. Spikes that shared a bin stay together, each at a uniform
// place in the bin.
void surrogate_maker::set_up::shuffled_times_of(unit_id unit, std::uint32_t which,
                                                std::vector<std::int64_t>& times) const {
    const bin_grid& bins = shuffled->grid;
    const auto before = shuffled->original.bins(unit);
    random_stream random = stream(static_cast<std::uint32_t>(to_index(unit)), which);
    std::vector<std::uint32_t> after;
    shuffled->shuffler.shuffle(before, after, random);
    times.clear();
    std::size_t at = 0;
    for (const std::int64_t time_us : trains.times_us(unit)) {
        const std::int64_t bin = bins.bin_of(time_us);
        if (bin < 0) continue;
        while (before[at] < bin) ++at;
        const std::int64_t edge = bins.origin().count() + after[at] * bins.bin().count();
        times.push_back(uniform_between(std::max(edge, span.begin.count()),
                                        std::min(edge + bins.bin().count() - 1, span.end.count()),
                                        random));
    }
    std::sort(times.begin(), times.end());
}

void surrogate_maker::set_up::bins_of(unit_id unit, std::uint32_t which,
                                      std::vector<std::int64_t>& times,
                                      std::vector<std::uint32_t>& out) const {
    if (shuffled) {
        random_stream random = stream(static_cast<std::uint32_t>(to_index(unit)), which);
        return shuffled->shuffler.shuffle(shuffled->original.bins(unit), out, random);
    }
    times_of(unit, which, times);
    out.clear();
    for (const std::int64_t time_us : times) {
        const std::int64_t bin = grid->bin_of(time_us);
        if (bin >= 0 && (out.empty() || out.back() != bin))
            out.push_back(static_cast<std::uint32_t>(bin));
    }
}

surrogate_maker::surrogate_maker(const spike_sequence& spikes, const surrogate_options& options)
    : set_up_(std::make_shared<const set_up>(spikes, options, nullptr)) {}

surrogate_maker::surrogate_maker(const spike_sequence& spikes, const surrogate_options& options,
                                 const binning_options& bins)
    : set_up_(std::make_shared<const set_up>(spikes, options, &bins)) {}

surrogate_spikes surrogate_maker::make_sequence(std::uint32_t which) const {
    surrogate_spikes out;
    std::vector<std::pair<std::int64_t, unit_id>> all;
    all.reserve(set_up_->trains.size());
    std::vector<std::int64_t> times;
    for (std::uint32_t u = 0; u < set_up_->trains.unit_count(); ++u) {
        set_up_->times_of(unit_id{u}, which, times);
        out.dropped += set_up_->trains.count(unit_id{u}) - times.size();
        const auto last = std::unique(times.begin(), times.end());
        out.merged += static_cast<std::size_t>(times.end() - last);
        for (auto t = times.begin(); t != last; ++t) all.emplace_back(*t, unit_id{u});
    }
    out.spikes = sequence_of(std::move(all), set_up_->unit_names, set_up_->span);
    if (!set_up_->epochs.empty()) out.spikes = within_epochs(out.spikes, set_up_->epochs);
    return out;
}

binned_spikes surrogate_maker::make(std::uint32_t which) const {
    if (!set_up_->grid) throw invalid_argument("binned surrogates need the bins");
    std::vector<std::size_t> offsets{0};
    std::vector<std::uint32_t> bins;
    offsets.reserve(set_up_->trains.unit_count() + 1);
    bins.reserve(set_up_->trains.size());
    std::vector<std::int64_t> times;
    std::vector<std::uint32_t> of_unit;
    for (std::uint32_t u = 0; u < set_up_->trains.unit_count(); ++u) {
        set_up_->bins_of(unit_id{u}, which, times, of_unit);
        bins.insert(bins.end(), of_unit.begin(), of_unit.end());
        offsets.push_back(bins.size());
    }
    return {std::move(offsets), std::move(bins), set_up_->grid->bin_count()};
}

spike_sequence make_surrogate(const spike_sequence& spikes, const surrogate_options& options,
                              std::uint32_t which) {
    return surrogate_maker(spikes, options).make_sequence(which).spikes;
}

binned_spikes make_binned_surrogate(const spike_sequence& spikes, const binning_options& bins,
                                    const surrogate_options& options, std::uint32_t which) {
    return surrogate_maker(spikes, options, bins).make(which);
}

}  // namespace spikeweave
