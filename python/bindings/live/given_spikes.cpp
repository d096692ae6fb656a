#include "bindings/core/arguments.hpp"
#include "bindings/core/episodes.hpp"
#include "bindings/core/options.hpp"
#include "bindings/core/spikes.hpp"
#include "spikeweave/mine/episodes/detector.hpp"

namespace spikeweave::python {
namespace {

using held_detector = held<episode_detector>;
using held_windows = held<episode_windows>;

template <class Value>
void bind_common(nb::class_<held<Value>>& type) {
    type.def("flush", [](held<Value>& self) { self.alone([](Value& it) { it.flush(); }); });
    type.def_prop_ro("duplicates", [](held<Value>& self) {
        return self.alone([](Value& it) { return it.duplicates(); });
    });
}

void make_detector(held_detector* self, const episodes_in& episodes, std::size_t unit_count,
                   nb::handle fire_at, const nb::dict& given) {
    episode_detector_options options;
    take_options(given, describe(options));
    const std::uint64_t at = fire_at.is_none() ? 0 : whole_of("fire_at", fire_at, 1);
    std::vector<armed_episode> armed;
    for (episode& one : episodes_of(episodes)) armed.push_back({std::move(one), at});
    new (self) held_detector{episode_detector(std::move(armed), unit_count, options)};
}

// Returns the index of the episode of each detection, and its times.
auto detect(held_detector& self, const array_in<double>& times,
            const array_in<std::uint32_t>& units) {
    std::vector<std::pair<std::size_t, std::vector<double>>> found;
    self.alone([&](episode_detector& it) {
        it.add(microseconds_of(times), ids_of(units), [&](const episode_detection& one) {
            found.emplace_back(one.episode, std::vector<double>{});
            for (const std::int64_t us : one.times_us)
                found.back().second.push_back(to_seconds(duration{us}));
        });
    });
    return found;
}

// Returns how often each episode was detected and how often it was completed.
auto counts_of(held_detector& self) {
    return self.alone([](episode_detector& it) {
        std::vector<std::pair<std::uint64_t, std::uint64_t>> counts;
        for (std::size_t i = 0; i < it.armed().size(); ++i)
            counts.emplace_back(it.counts(i).detected, it.counts(i).completed);
        return counts;
    });
}

void make_windows(held_windows* self, const std::vector<std::string>& names,
                  const nb::dict& given) {
    episode_window_options options;
    call_options call = take_options(given, describe(options));
    new (self) held_windows{episode_windows(names, options), std::move(call)};
}

void add_spikes(held_windows& self, const array_in<double>& times,
                const array_in<std::uint32_t>& units) {
    self.alone([&](episode_windows& it) { it.add(microseconds_of(times), ids_of(units)); });
}

// Returns the next window, or None if it is not complete.
nb::object next_window(held_windows& self) {
    if (!self.alone([](episode_windows& it) { return it.complete(); })) return nb::none();
    const auto next = [&](const execution& run) {
        const std::lock_guard lock(self.in_use);
        return self.value.next(run);
    };
    const auto found = run_for_result(next, self.call);
    return found ? nb::object(window_arrays(*found)) : nb::none();
}

}  // namespace

void bind_given_spikes(nb::module_& m) {
    nb::class_<held_detector> detector(m, "Detector");
    detector
        .def("__init__", &make_detector, "episodes"_a, "unit_count"_a, "fire_at"_a.none(),
             "given"_a)
        .def("add", &detect, "times"_a, "units"_a)
        .def("counts", &counts_of);
    bind_common(detector);
    m.def("detector_options", &description<episode_detector_options>);
    nb::class_<held_windows> windows(m, "SlidingWindow");
    windows.def("__init__", &make_windows, "names"_a, "given"_a)
        .def("add", &add_spikes, "times"_a, "units"_a)
        .def("advance",
             [](held_windows& self, double time) {
                 const std::int64_t us = duration_from_seconds(time).count();
                 self.alone([us](episode_windows& it) { it.advance(us); });
             })
        .def("next", &next_window);
    bind_common(windows);
    m.def("sliding_window_options", &description<episode_window_options>);
}

}  // namespace spikeweave::python
