#include "spikes.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <numeric>
#include <utility>

#include "arrays.hpp"
#include "bindings.hpp"
#include "spikeweave/core/options.hpp"
#include "spikeweave/spikes/files.hpp"
#include "spikeweave/spikes/spike_trains.hpp"

namespace spikeweave::python {
namespace {

using event = std::pair<std::int64_t, unit_id>;

std::vector<event> events_of(const array_in<double>& times, const array_in<std::uint32_t>& units) {
    if (times.shape(0) != units.shape(0))
        throw invalid_argument("spikes: found " + std::to_string(times.shape(0)) + " times and " +
                               std::to_string(units.shape(0)) + " units, expected as many");
    std::vector<event> events;
    events.reserve(times.shape(0));
    for (std::size_t i = 0; i < times.shape(0); ++i) {
        try {
            events.emplace_back(duration_from_seconds(times.data()[i]).count(),
                                unit_id{units.data()[i]});
        } catch (const invalid_argument& error) {
            throw invalid_argument("spikes: time " + std::to_string(i) + ": " + error.what());
        }
    }
    return events;
}

// The span that is stated, or else that of the spikes. What is stated holds every spike.
time_span span_of_events(const std::vector<event>& events, std::optional<duration> start,
                         std::optional<duration> stop) {
    const duration first{events.empty() ? 0 : events.front().first};
    const duration last{events.empty() ? 0 : events.back().first};
    const time_span span{start.value_or(std::min(first, stop.value_or(first))),
                         stop.value_or(std::max(last, start.value_or(last)))};
    if (span.begin > span.end)
        throw invalid_argument("t_start: expected a time not behind t_stop (" +
                               format_duration(span.end) + "), found " +
                               format_duration(span.begin));
    if (!events.empty() && first < span.begin)
        throw invalid_argument("t_start: expected a time not behind the first spike (" +
                               format_duration(first) + "), found " + format_duration(span.begin));
    if (!events.empty() && last > span.end)
        throw invalid_argument("t_stop: expected a time not before the last spike (" +
                               format_duration(last) + "), found " + format_duration(span.end));
    return span;
}

// Spikes in any order; exact duplicates are dropped and counted.
nb::tuple make_spikes(const array_in<double>& times, const array_in<std::uint32_t>& units,
                      const std::vector<std::string>& names, const nb::dict& arguments) {
    keyword_arguments how(arguments);
    std::optional<duration> start;
    std::optional<duration> stop;
    how.take("t_start", start);
    how.take("t_stop", stop);
    std::vector<event> events = events_of(times, units);
    std::size_t duplicates = events.size();
    std::optional<shared_spikes> made;
    {
        const nb::gil_scoped_release unlocked;
        if (!std::is_sorted(events.begin(), events.end())) std::sort(events.begin(), events.end());
        events.erase(std::unique(events.begin(), events.end()), events.end());
        duplicates -= events.size();
        const time_span span = span_of_events(events, start, stop);
        made = share(sequence_of(std::move(events), names, span), start.has_value());
    }
    return nb::make_tuple(nb::cast(*made), duplicates);
}

nb::dict read_file(const std::string& path, const nb::dict& arguments) {
    keyword_arguments how(arguments);
    spike_read_options reading;
    how.take("format", reading.format, value_named<spike_format>);
    how.take("time_unit", reading.time_unit);
    how.take("allow_negative", reading.allow_negative);
    const call_options call = how.take_call();
    how.check_all_known();
    spike_file file =
        run_for_result(call, [&](const execution& run) { return read_spikes(path, reading, run); });
    for (std::string& warning : check_spikes(file.spikes))
        file.warnings.push_back(std::move(warning));
    nb::dict out;
    out["format"] = std::string(to_string(file.format));
    out["duplicates"] = file.duplicates;
    out["warnings"] = text_list(file.warnings);
    out["has_recorded_span"] = file.has_recorded_span;
    out["stimulus_us"] = to_numpy(std::move(file.stimulus_us));
    shared_spikes spikes = share(std::move(file.spikes), file.has_recorded_span);
    spikes.checked = true;
    out["spikes"] = nb::cast(std::move(spikes));
    return out;
}

void write(const std::string& path, const shared_spikes& spikes, const nb::dict& arguments) {
    keyword_arguments how(arguments);
    const call_options call = how.take_call();
    how.check_all_known();
    run_unlocked(call, [&](const execution& run) { write_spikes(path, *spikes.sequence, run); });
}

array_out<double> seconds_of(std::span<const std::int64_t> times_us) {
    return column<double>(times_us, [](std::int64_t us) { return to_seconds(duration{us}); });
}

// All units' times one after another, and where each begins.
nb::tuple trains_of(const shared_spikes& spikes) {
    const spike_trains trains = run_for_result(
        {}, [&](const execution& /*run*/) { return spike_trains(*spikes.sequence); });
    return nb::make_tuple(
        seconds_of(trains.times_us()),
        column<std::int64_t>(trains.offsets(), [](std::size_t offset) { return offset; }));
}

// The positions of names in natural order: "n2" before "n10".
array_out<std::int64_t> natural_order(const std::vector<std::string>& names) {
    std::vector<std::int64_t> order(names.size());
    std::iota(order.begin(), order.end(), std::int64_t{0});
    std::ranges::sort(order, natural_less, [&](std::int64_t i) -> const std::string& {
        return names[static_cast<std::size_t>(i)];
    });
    return to_numpy(std::move(order));
}

}  // namespace

shared_spikes share(spike_sequence spikes, bool has_recorded_span) {
    return {std::make_shared<const spike_sequence>(std::move(spikes)), has_recorded_span};
}

void add_warnings(nb::dict& out, const shared_spikes& spikes,
                  const std::vector<std::string>& more) {
    std::vector<std::string> warnings = run_for_result(
        {}, [&](const execution& /*run*/) { return check_spikes(*spikes.sequence); });
    out["told"] = spikes.checked ? warnings.size() : 0;
    for (const std::string& warning : more) warnings.push_back(with_plain_names(warning));
    out["warnings"] = text_list(warnings);
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
            "units",
            [](const shared_spikes& s) {
                return column<std::uint32_t>(s.sequence->units(),
                                             [](unit_id unit) { return index(unit); });
            },
            nb::rv_policy::move)
        .def_prop_ro("unit_names", [](const shared_spikes& s) { return s.sequence->unit_names(); })
        .def_prop_ro("t_start",
                     [](const shared_spikes& s) { return to_seconds(s.sequence->span().begin); })
        .def_prop_ro("t_stop",
                     [](const shared_spikes& s) { return to_seconds(s.sequence->span().end); })
        .def_prop_ro("has_recorded_span",
                     [](const shared_spikes& s) { return s.has_recorded_span; })
        .def("trains", &trains_of)
        .def("check", [](const shared_spikes& s) { return text_list(check_spikes(*s.sequence)); })
        .def("same_as", [](const shared_spikes& a, const shared_spikes& b) {
            return *a.sequence == *b.sequence;
        });
    m.def("make_spikes", &make_spikes, nb::arg("times"), nb::arg("units"), nb::arg("names"),
          nb::arg("given"));
    m.def("read_spikes", &read_file, nb::arg("path"), nb::arg("given"));
    m.def("write_spikes", &write, nb::arg("path"), nb::arg("spikes"), nb::arg("given"));
    m.def("natural_order", &natural_order, nb::arg("names"));
    m.def("seconds",
          [](nb::handle value) { return to_seconds(keyword_arguments::time("time", value)); });
}

}  // namespace spikeweave::python
