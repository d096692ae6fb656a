#include "spikeweave/spikes/cleaning.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string_view>
#include <utility>

#include "core/text.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/spikes/epochs.hpp"

namespace spikeweave {
namespace {

// The number of different units among spikes.
std::size_t number_of_units(std::span<const unit_id> units) {
    std::vector<unit_id> found(units.begin(), units.end());
    std::ranges::sort(found);
    return static_cast<std::size_t>(std::unique(found.begin(), found.end()) - found.begin());
}

spike_sequence without_synchronous_events(const spike_sequence& spikes,
                                          const spike_cleaning_options& options,
                                          spikes_left_out& left_out) {
    const auto times = spikes.times_us();
    left_out.synchronous_units = *options.drop_synchronous;
    std::vector<std::int64_t> kept_times;
    std::vector<unit_id> kept_units;
    kept_times.reserve(times.size());
    kept_units.reserve(times.size());
    for (std::size_t begin = 0, end = 0; begin < times.size(); begin = end) {
        end = begin + 1;
        while (end < times.size() &&
               times[end] - times[end - 1] <= options.synchrony_window.count())
            ++end;
        const auto units = spikes.units().subspan(begin, end - begin);
        if (units.size() >= *options.drop_synchronous &&
            number_of_units(units) >= *options.drop_synchronous) {
            ++left_out.synchronous_events;
            left_out.synchronous_spikes += units.size();
            continue;
        }
        kept_units.insert(kept_units.end(), units.begin(), units.end());
        const auto run = times.subspan(begin, end - begin);
        kept_times.insert(kept_times.end(), run.begin(), run.end());
    }
    return taken_from(
        spikes, {std::move(kept_times), std::move(kept_units), spikes.unit_names(), spikes.span()});
}

// Names the units; `why` is the reason why each was left out.
template <class Why>
void add_units(std::vector<std::string>& out, std::span<const unit_left_out> units,
               const Why& why) {
    constexpr std::size_t most_named = 5;
    for (const unit_left_out& unit : units.first(std::min(units.size(), most_named)))
        out.push_back(fmt::format("Unit {} with {} spikes was left out: {}.", unit.name,
                                  core::grouped(unit.spikes), why(unit.value)));
    if (units.size() > most_named)
        out.push_back(fmt::format("The same holds for {} more units.", units.size() - most_named));
}

constexpr std::array<std::string_view, 4> known_labels{"good", "mua", "noise", "unsorted"};

std::string label_text(const std::string& label) {
    return label.empty() ? "unsorted" : label;
}

bool is_of_neurons(const std::string& label) {
    return label == "good" || label == "mua";
}

// "3 good, 2 mua".
std::string counts_of(std::span<const std::string> labels) {
    std::map<std::string, std::size_t> numbers;
    for (const std::string& label : labels) ++numbers[label_text(label)];
    std::vector<std::string> out;
    for (const auto& [label, number] : numbers) out.push_back(fmt::format("{} {}", number, label));
    return core::listed(out);
}

void check_labels(std::span<const std::string> labels, std::span<const std::string> wanted) {
    if (labels.empty()) throw invalid_argument("labels", "the units have no labels");
    for (const std::string& label : wanted)
        if (std::ranges::count(known_labels, label) == 0 && std::ranges::count(labels, label) == 0)
            throw invalid_argument("labels", fmt::format("no unit is labelled {}; there are {}",
                                                         label, counts_of(labels)));
}

}  // namespace

option_list describe(spike_cleaning_options& options) {
    option_list list;
    list.begin_group("Input");
    list.add("drop_synchronous", options.drop_synchronous,
             "remove artefacts of the array: leave out all spikes of moments at which at least "
             "this many units fire; a moment is a run of spikes in which each follows the one "
             "before it within `synchrony_window`, and may last longer than that")
        .at_least(2)
        .written("UNITS");
    list.add("synchrony_window", options.synchrony_window,
             "a spike at most this much later than the one before it belongs to the same moment; "
             "the default is one sample at 30 kHz")
        .above(0)
        .only_with("drop_synchronous");
    list.add("max_rate", options.max_rate,
             "leave out units with a higher mean rate, in hertz, over the whole time of the file: "
             "its "
             "recorded span, or from the first spike to the last, even if only a part or epochs "
             "are analysed; spikes that `drop_synchronous` leaves out do not count")
        .above(0)
        .written("HZ");
    list.add("min_snr", options.min_snr,
             "leave out units with a lower signal-to-noise ratio; the file must state it, in a "
             "column snr of a cluster_*.tsv in a Phy folder or of the units in an NWB file")
        .above(0)
        .written("RATIO");
    return list;
}

cleaned_spikes clean_spikes(const spike_sequence& spikes, const spike_cleaning_options& options,
                            std::span<const double> snr) {
    check_options(options);
    if (options.min_snr && snr.size() != spikes.unit_count())
        throw invalid_argument("min_snr", fmt::format("found {} signal-to-noise ratios of {} units",
                                                      snr.size(), spikes.unit_count()));
    cleaned_spikes out;
    out.spikes = options.drop_synchronous
                     ? without_synchronous_events(spikes, options, out.left_out)
                     : spikes;
    std::vector<std::size_t> counts(spikes.unit_count());
    for (const unit_id unit : out.spikes.units()) ++counts[to_index(unit)];
    const double seconds = to_seconds(spikes.observed_time());
    std::vector<std::string> kept;
    for (std::size_t u = 0; u < counts.size(); ++u) {
        const std::string& name = spikes.unit_names()[u];
        const double rate = static_cast<double>(counts[u]) / seconds;
        if (options.min_snr && std::isnan(snr[u])) out.left_out.unknown.push_back(name);
        if (options.min_snr && snr[u] < *options.min_snr)
            out.left_out.noisy.push_back({name, counts[u], snr[u]});
        else if (options.max_rate && rate > *options.max_rate)
            out.left_out.fast.push_back({name, counts[u], rate});
        else
            kept.push_back(name);
    }
    if (kept.size() < counts.size()) out.spikes = select_units(out.spikes, kept);
    return out;
}

units_by_label choose_by_label(std::span<const std::string> labels,
                               std::span<const std::string> wanted) {
    const std::vector<std::string> good{"good"};
    const bool by_default = wanted.empty();
    if (by_default && std::ranges::count_if(labels, is_of_neurons) > 0) wanted = good;
    const bool takes_all = wanted.size() == 1 && wanted.front() == "all";
    if (!by_default && !takes_all) check_labels(labels, wanted);
    const auto is_wanted = [&](const std::string& label) {
        if (wanted.empty()) return label != "noise";
        return takes_all || std::ranges::count(wanted, label_text(label)) > 0;
    };
    units_by_label out;
    for (std::size_t u = 0; u < labels.size(); ++u)
        if (is_wanted(labels[u])) out.used.push_back(u);
    const std::string what = wanted.empty() ? std::string("not labelled noise")
                                            : fmt::format("labelled {}", fmt::join(wanted, " or "));
    if (out.used.empty() && !labels.empty())
        throw invalid_argument("labels", fmt::format("no unit is {}; there are {}: `labels` all "
                                                     "uses every unit",
                                                     what, counts_of(labels)));
    if (out.used.size() < labels.size())
        out.message = fmt::format("Of {} units, the {} {} {} used{}.", labels.size(),
                                  out.used.size() == 1 ? "one" : core::grouped(out.used.size()),
                                  what, out.used.size() == 1 ? "is" : "are",
                                  by_default ? "; `labels` all uses every unit" : "");
    return out;
}

std::vector<std::string> warnings_of(const spikes_left_out& left_out) {
    std::vector<std::string> out;
    if (left_out.synchronous_spikes > 0)
        out.push_back(fmt::format("{} spikes of {} were left out: at least {} units fired in {}.",
                                  core::grouped(left_out.synchronous_spikes),
                                  left_out.synchronous_events == 1
                                      ? "one moment"
                                      : core::grouped(left_out.synchronous_events) + " moments",
                                  left_out.synchronous_units,
                                  left_out.synchronous_events == 1 ? "it" : "each"));
    add_units(out, left_out.noisy,
              [](double snr) { return fmt::format("its signal-to-noise ratio is {:.3g}", snr); });
    if (!left_out.unknown.empty())
        out.push_back(fmt::format(
            "The signal-to-noise ratio of {} {} is not known, as of units that were merged or "
            "split by hand: {}.",
            left_out.unknown.size() == 1 ? "unit" : "units", core::listed(left_out.unknown),
            left_out.unknown.size() == 1 ? "it stays" : "they stay"));
    add_units(out, left_out.fast,
              [](double rate) { return fmt::format("it fires at {:.3g} Hz", rate); });
    return out;
}

}  // namespace spikeweave
