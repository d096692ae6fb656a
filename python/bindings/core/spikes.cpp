#include "bindings/core/spikes.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <string>

#include "bindings/core/arguments.hpp"
#include "bindings/core/options.hpp"
#include "spikeweave/spikes/epochs.hpp"
#include "spikeweave/spikes/files.hpp"
#include "spikeweave/spikes/order_spikes.hpp"
#include "spikeweave/spikes/spike_trains.hpp"
#include "spikeweave/spikes/unit_groups.hpp"

namespace spikeweave::python {
namespace {

nb::tuple make_spikes(const array_in<double>& times, const array_in<std::uint32_t>& units,
                      const std::vector<std::string>& names, nb::handle t_start, nb::handle t_stop,
                      const std::string& trial_column) {
    std::optional<duration> start;
    std::optional<duration> stop;
    if (!t_start.is_none()) start = time_of("t_start", t_start);
    if (!t_stop.is_none()) stop = time_of("t_stop", t_stop);
    ordered_spikes made;
    {
        const nb::gil_scoped_release unlocked;
        made = order_spikes(span_of(times), span_of(units), names, start, stop);
    }
    return nb::make_tuple(share(std::move(made.spikes), start.has_value()), made.duplicates,
                          warning_of_trials(made.begins, trial_column));
}

array_out<double> seconds_of(std::span<const std::int64_t> times_us) {
    return column(times_us, [](std::int64_t us) { return duration{us}; });
}

nb::dict file_to_python(spike_file file) {
    nb::dict out;
    std::vector<std::string> warnings = warnings_of(file);
    for (std::string& warning : warnings) warning = with_plain_names(warning);
    out["warnings"] = warnings;
    out["stimulus"] = seconds_of(file.stimulus_us);
    shared_spikes spikes = share(std::move(file.spikes), file.has_recorded_span);
    spikes.checked = true;
    spikes.are_clusters = file.are_clusters;
    out["spikes"] = std::move(spikes);
    return out;
}

nb::dict read_file(const std::string& path, const nb::dict& given) {
    return file_to_python(call(read_spikes, path, given));
}

// Units that another library has read, as a dictionary of the members of `listed_units`; those that
// are missing keep their defaults.
nb::dict take_listed(const std::string& path, const nb::dict& units, const nb::dict& given) {
    listed_units listed;
    const auto take_member = [&](const char* name, auto& member) {
        using value = std::remove_reference_t<decltype(member)>;
        if (units.contains(name)) member = nb::cast<value>(units[name]);
    };
    listed.times_s = copied(nb::cast<array_in<double>>(units["times_s"]));
    listed.ends = copied(nb::cast<array_in<std::uint64_t>>(units["ends"]));
    take_member("names", listed.names);
    take_member("ids", listed.ids);
    take_member("columns", listed.columns);
    take_member("snr", listed.snr);
    take_member("observed_s", listed.observed_s);
    take_member("are_32_bit", listed.are_32_bit);
    take_member("are_clusters", listed.are_clusters);
    take_member("warnings", listed.warnings);
    if (units.contains("places"))
        for (const auto& [x, y] : nb::cast<std::vector<std::pair<double, double>>>(units["places"]))
            listed.places.push_back({x, y});
    return file_to_python(call_with<spike_read_options>(
        given, [&](const spike_read_options& how, const execution& run) {
            return take_units(path, listed, how, run);
        }));
}

// The columns of units that may have labels or name doubtful pairs.
std::vector<std::string> columns_of_texts() {
    const auto labels = label_columns();
    std::vector<std::string> names(labels.begin(), labels.end());
    for (const unit_doubt why : unit_doubts) names.emplace_back(column_of(why));
    return names;
}

// The pairs as tuples of two names and "possibly-one-neuron" or "cross-talk".
using named_pairs = std::vector<std::tuple<std::string, std::string, std::string>>;

named_pairs doubtful_pairs(const shared_spikes& spikes) {
    named_pairs out;
    for (const doubtful_pair& pair : spikes.sequence->doubtful_pairs())
        out.emplace_back(pair.one, pair.other, to_string(pair.why));
    return out;
}

// The position of each unit, NaN where it is unknown; None if there are none.
nb::object places_of(const shared_spikes& spikes) {
    const unit_places& places = spikes.sequence->places();
    if (places.empty()) return nb::none();
    std::vector<double> columns;
    for (const std::string& name : spikes.sequence->unit_names()) {
        const auto place = places.find(name);
        constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
        columns.push_back(place == places.end() ? unknown : place->second.x_um);
        columns.push_back(place == places.end() ? unknown : place->second.y_um);
    }
    const std::size_t units = spikes.sequence->unit_count();
    return nb::cast(to_numpy(std::move(columns), {units, std::size_t{2}}));
}

shared_spikes with_doubtful_pairs(const shared_spikes& spikes, const named_pairs& pairs) {
    std::vector<doubtful_pair> kept;
    for (const auto& [one, other, why] : pairs)
        kept.push_back({one, other,
                        why == to_string(unit_doubt::cross_talk) ? unit_doubt::cross_talk
                                                                 : unit_doubt::one_neuron});
    shared_spikes out = spikes;
    spike_sequence copy = *spikes.sequence;
    copy.set_doubtful_pairs(std::move(kept));
    out.sequence = std::make_shared<const spike_sequence>(std::move(copy));
    return out;
}

void write(const std::string& path, const shared_spikes& spikes, const nb::object& progress) {
    run_unlocked([&](const execution& run) { write_spikes(path, *spikes.sequence, run); },
                 {.progress = progress});
}

// Returns all units' times one after another, and where each begins.
nb::tuple trains_of(const shared_spikes& spikes) {
    const spike_trains trains =
        run_for_result([&](const execution& /*run*/) { return spike_trains(*spikes.sequence); });
    return nb::make_tuple(seconds_of(trains.times_us()), column(trains.offsets()));
}

// Returns the spikes of the units that repeat no other, and what was left out, as sentences.
nb::tuple drop_duplicates(const shared_spikes& spikes) {
    units_without_duplicates kept = run_for_result([&](const execution& /*run*/) {
        return drop_duplicates_of_units(*spikes.sequence, find_shared_spikes(*spikes.sequence));
    });
    const std::vector<std::string> left_out = warnings_of(kept.dropped);
    return nb::make_tuple(share(std::move(kept.spikes), spikes.has_recorded_span), left_out);
}

// Returns what remains, and what was left out, as sentences.
nb::tuple clean(const shared_spikes& spikes, const nb::dict& given, const array_in<double>& snr) {
    cleaned_spikes kept = call_with<spike_cleaning_options>(
        given, [&](const spike_cleaning_options& options, const execution& /*run*/) {
            return clean_spikes(*spikes.sequence, options, span_of(snr));
        });
    const std::vector<std::string> left_out = warnings_of(kept.left_out);
    return nb::make_tuple(share(std::move(kept.spikes), spikes.has_recorded_span), left_out);
}

// Returns the groups as units, and how many spikes were not counted.
nb::tuple grouped(const shared_spikes& spikes, const std::map<std::string, std::string>& groups,
                  double window) {
    grouped_spikes out = run_for_result([&](const execution& /*run*/) {
        return group_units(*spikes.sequence, {groups.begin(), groups.end()},
                           duration_from_seconds(window));
    });
    return nb::make_tuple(share(std::move(out.spikes), spikes.has_recorded_span), out.merged);
}

// Epochs are rows of a begin and an end, in seconds.
shared_spikes with_epochs(const shared_spikes& spikes, const array_in<double>& ends) {
    std::vector<time_span> epochs;
    const auto given = span_of(ends);
    for (std::size_t i = 0; i + 1 < given.size(); i += 2)
        epochs.push_back({duration_from_seconds(given[i]), duration_from_seconds(given[i + 1])});
    return share(within_epochs(*spikes.sequence, epochs));
}

// Returns the epochs, and which ones are shorter than was asked for, as sentences.
nb::tuple around(const array_in<double>& events, nb::handle start, nb::handle stop) {
    const epochs_of_events made =
        epochs_around(microseconds_of(events), time_of("start", start), time_of("stop", stop));
    return nb::make_tuple(column(made.epochs), warnings_of(made));
}

}  // namespace

shared_spikes share(spike_sequence spikes, bool has_recorded_span) {
    return {std::make_shared<const spike_sequence>(std::move(spikes)), has_recorded_span};
}

std::vector<std::int64_t> microseconds_of(const array_in<double>& seconds) {
    std::vector<std::int64_t> out(seconds.size());
    naming("times", [&] {
        std::ranges::transform(span_of(seconds), out.begin(),
                               [](double one) { return duration_from_seconds(one).count(); });
    });
    return out;
}

std::vector<unit_id> ids_of(const array_in<std::uint32_t>& units) {
    std::vector<unit_id> out(units.size());
    std::ranges::transform(span_of(units), out.begin(), [](auto unit) { return unit_id{unit}; });
    return out;
}

void add_warnings(nb::dict& out, const shared_spikes& spikes,
                  const std::vector<std::string>& more) {
    std::vector<std::string> warnings = run_for_result([&](const execution& /*run*/) {
        return check_spikes(*spikes.sequence, spikes.are_clusters);
    });
    out["told"] = spikes.checked ? warnings.size() : 0;
    for (const std::string& warning : more) warnings.push_back(with_plain_names(warning));
    out["warnings"] = warnings;
}

void bind_spikes(nb::module_& m) {
    nb::class_<shared_spikes>(m, "SpikeSequence")
        .def("__len__", [](const shared_spikes& s) { return s.sequence->size(); })
        .def_prop_ro(
            "times", [](const shared_spikes& s) { return seconds_of(s.sequence->times_us()); },
            nb::rv_policy::move)
        .def_prop_ro(
            "times_us", [](const shared_spikes& s) { return to_numpy(s.sequence->times_us()); },
            nb::rv_policy::move)
        .def_prop_ro(
            "units", [](const shared_spikes& s) { return column(s.sequence->units()); },
            nb::rv_policy::move)
        .def_prop_ro("unit_names", [](const shared_spikes& s) { return s.sequence->unit_names(); })
        .def_prop_ro("t_start",
                     [](const shared_spikes& s) { return plain(s.sequence->span().begin); })
        .def_prop_ro("t_stop", [](const shared_spikes& s) { return plain(s.sequence->span().end); })
        .def_prop_ro(
            "epochs", [](const shared_spikes& s) { return column(s.sequence->epochs()); },
            nb::rv_policy::move)
        .def("with_epochs", &with_epochs)
        .def_prop_ro("doubtful_pairs", &doubtful_pairs)
        .def_prop_ro("places", &places_of)
        .def("with_doubtful_pairs", &with_doubtful_pairs, "pairs"_a)
        .def_ro("has_recorded_span", &shared_spikes::has_recorded_span)
        .def_rw("are_clusters", &shared_spikes::are_clusters)
        .def("trains", &trains_of)
        .def("check",
             [](const shared_spikes& s) { return check_spikes(*s.sequence, s.are_clusters); })
        .def("drop_duplicates_of_units", &drop_duplicates)
        .def("clean", &clean, "given"_a, "snr"_a)
        .def("grouped", &grouped, "groups"_a, "window"_a)
        .def("same_as", [](const shared_spikes& a, const shared_spikes& b) {
            return *a.sequence == *b.sequence;
        });
    m.def("make_spikes", &make_spikes, "times"_a, "units"_a, "names"_a, "t_start"_a.none(),
          "t_stop"_a.none(), "trial_column"_a = "");
    m.def("epochs_around", &around, "events"_a, "start"_a, "stop"_a);
    m.def("read_spikes", &read_file, "path"_a, "given"_a);
    m.def("take_units", &take_listed, "path"_a, "units"_a, "given"_a);
    m.def("text_columns", &columns_of_texts);
    m.def("warning_of_32_bits", &warning_of_32_bits, "largest_s"_a);
    m.def("read_options", &description<spike_read_options>);
    m.def("write_spikes", &write, "path"_a, "spikes"_a, "progress"_a.none());
    m.def("natural_order",
          [](const std::vector<std::string>& names) { return to_numpy(natural_order(names)); });
    m.def("seconds", [](nb::handle value) { return to_seconds(time_of("time", value)); });
}

}  // namespace spikeweave::python
