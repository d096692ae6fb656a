#include <chrono>
#include <variant>

#include "bindings/core/arguments.hpp"
#include "bindings/core/episodes.hpp"
#include "bindings/core/options.hpp"
#include "bindings/core/spikes.hpp"
#include "spikeweave/live/feed.hpp"

namespace spikeweave::python {
namespace {

constexpr std::chrono::milliseconds patience{50};

// Names of units, and the bounds of each delay in seconds.
using named_in =
    std::vector<std::pair<std::vector<std::string>, std::vector<std::pair<double, double>>>>;

// The iterator is the caller to which the library passes the results.
option_list list_of_options(live_options& options) {
    option_list list = describe(options);
    list.change("to").by_default("only the iterator has them");
    return list;
}

// The source is a path or an address, spikes, or None for spikes that `add` passes.
void make_feed(live_feed* self, nb::handle source, const named_in& armed, const nb::dict& given) {
    live_options options;
    option_list list = list_of_options(options);
    if (!armed.empty()) list.remove("episodes");  // given as objects: options may need them
    const call_options call = take_options(given, list);
    if (!call.progress.is_none()) refuse_argument("progress");
    for (const auto& [units, delays] : armed) {
        named_episode& one = options.armed.emplace_back(named_episode{.units = units});
        for (const auto& [low, high] : delays)
            one.delays.push_back({duration_from_seconds(low), duration_from_seconds(high)});
    }
    shared_spikes spikes;
    if (source.is_none())
        new (self) live_feed(options);
    else if (nb::try_cast(source, spikes))
        new (self) live_feed(*spikes.sequence, options);
    else
        new (self) live_feed(text_of("source", source), options);
}

double seconds_of(std::int64_t us) {
    return to_seconds(duration{us});
}

template <class Value, class Show = std::identity>
nb::tuple tuple_of(const std::vector<Value>& values, Show show = {}) {
    nb::list out;
    for (const Value& one : values) out.append(show(one));
    return nb::tuple(out);
}

// Makes the name of the Python type of each event, and its arguments.
struct shown {
    nb::tuple operator()(const live_detection& event) const {
        const nb::object number = nb::cast(event.number);
        const nb::object why = event.suppressed.empty() ? nb::none() : nb::cast(event.suppressed);
        return nb::make_tuple("Detection", event.is_pattern ? nb::none() : number,
                              tuple_of(event.units), tuple_of(event.times_us, seconds_of),
                              seconds_of(event.begin_us), event.is_pattern ? number : nb::none(),
                              why);
    }
    nb::tuple operator()(const live_window& event) const {
        const window_bounds& bounds = event.mined.bounds;
        if (event.is_skipped())
            return nb::make_tuple("Skipped", bounds.number, to_seconds(bounds.begin),
                                  to_seconds(bounds.end), event.mined.spikes, event.has_gap,
                                  event.epoch);
        return nb::make_tuple("Window", window_arrays(event.mined), *event.unit_names,
                              event.has_gap, event.epoch);
    }
    nb::tuple operator()(const live_counts& event) const {
        return nb::make_tuple("Counts", to_seconds(event.window.begin),
                              to_seconds(event.window.end), tuple_of(event.counts));
    }
    nb::tuple operator()(const live_chance& event) const {
        return nb::make_tuple("Chance", to_seconds(event.interval.begin),
                              to_seconds(event.interval.end), tuple_of(event.per_minute));
    }
    nb::tuple operator()(const live_arming& event) const {
        const auto bounds = [](const delay_interval& one) {
            return nb::make_tuple(to_seconds(one.low), to_seconds(one.high));
        };
        return nb::make_tuple("Arming", event.change, event.number, tuple_of(event.units),
                              tuple_of(event.delays, bounds), seconds_of(event.from_us),
                              event.window, event.window_epoch, event.is_late, event.per_minute);
    }
    nb::tuple operator()(const live_alarm& event) const {
        const bool is_of_destination = !event.to.empty();
        return nb::make_tuple(
            "Alarm", event.missing, event.unreadable, event.late,
            is_of_destination ? nb::cast(event.to) : nb::none(), event.undelivered,
            is_of_destination ? nb::cast(event.reason) : nb::none(), event.behind_s);
    }
    nb::tuple operator()(const live_epoch& it) const { return nb::make_tuple("Epoch", it.number); }
    nb::tuple operator()(const live_result& event) const {
        return nb::make_tuple("Stats", event.units, event.spikes, event.late, event.duplicates,
                              event.missing, event.unreadable, event.epochs, event.detections,
                              event.triggers, event.windows, event.incomplete, event.skipped,
                              event.untested, event.undelivered, event.warnings, summarize(event));
    }
};

// Returns None if a block of spikes is wanted.
nb::object next_event(live_feed& feed) {
    std::optional<live_event> event;
    const auto look = [&] {
        event = feed.next(patience);
        return event || feed.wants_block() || feed.is_over();
    };
    wait_unlocked(look, [&] { feed.stop(); });
    if (event) return std::visit(shown{}, *event);
    if (feed.is_over()) throw nb::stop_iteration();
    return nb::none();
}

void close(live_feed& feed) {
    feed.stop();
    wait_unlocked([&] { return !feed.next(patience) && feed.is_over(); }, [] {});
}

void add(live_feed& feed, const array_in<double>& times, const array_in<std::uint32_t>& units,
         const std::vector<std::string>& names, nb::handle until) {
    live_block block{microseconds_of(times), ids_of(units), names, {}};
    if (!until.is_none()) block.watermark_us = time_of("until", until).count();
    feed.add(block);
}

}  // namespace

void bind_live(nb::module_& m) {
    nb::class_<live_feed>(m, "LiveFeed")
        .def("__init__", &make_feed, "source"_a.none(), "armed"_a, "given"_a)
        .def("next", &next_event)
        .def("add", &add, "times"_a, "units"_a, "names"_a, "until"_a.none())
        .def("end", &live_feed::end)
        .def("close", &close);
    m.def("live_options", [] {
        live_options options;
        return description_of(list_of_options(options));
    });
}

}  // namespace spikeweave::python
