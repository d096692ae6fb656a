#include <nanobind/stl/string.h>

#include <cstdint>
#include <map>
#include <utility>

#include "arrays.hpp"
#include "bindings.hpp"
#include "described_arguments.hpp"
#include "spikes.hpp"
#include "spikeweave/pipeline/spade.hpp"

namespace spikeweave::python {
namespace {

nb::dict table_arrays(const pattern_table& table, const pattern_axes& axes) {
    const auto as_is = [](auto value) { return value; };
    nb::dict out;
    out["offsets"] = column<std::int64_t>(table.item_offsets, as_is);
    out["units"] = column<std::uint32_t>(
        table.items, [&](pattern_item item) { return index(table.unit(item)); });
    out["lag_bins"] =
        column<std::int64_t>(table.items, [&](pattern_item item) { return table.lag(item); });
    out["counts"] = column<std::int64_t>(table.counts, as_is);
    out["occurrence_offsets"] = column<std::int64_t>(table.occurrence_offsets, as_is);
    out["windows"] = column<std::int64_t>(table.occurrences, as_is);
    out["times"] = column<double>(
        table.occurrences, [&](std::uint32_t start) { return to_seconds(axes.time_of(start)); });
    return out;
}

nb::dict tested_arrays(const std::vector<signature_test>& tested) {
    nb::dict out;
    out["size"] = column<std::int64_t>(tested, [](const auto& s) { return s.what.size; });
    out["count"] = column<std::int64_t>(tested, [](const auto& s) { return s.what.count; });
    out["duration"] = column<std::int64_t>(tested, [](const auto& s) { return s.what.duration; });
    out["patterns"] = column<std::int64_t>(tested, [](const auto& s) { return s.patterns; });
    out["reached"] = column<std::int64_t>(tested, [](const auto& s) { return s.reached; });
    out["p"] = column<double>(tested, [](const auto& s) { return s.p; });
    out["q"] = column<double>(tested, [](const auto& s) { return s.q; });
    // NumPy's truth values are bytes, which std::vector<bool> is not.
    out["tested"] = column<std::uint8_t>(tested, [](const auto& s) { return s.tested; });
    out["significant"] = column<std::uint8_t>(tested, [](const auto& s) { return s.significant; });
    nb::list reasons;
    for (const signature_test& one : tested) reasons.append(std::string(to_string(one.reason)));
    out["reason"] = reasons;
    return out;
}

// Signatures that were counted but not tested.
nb::dict counted_arrays(const std::vector<signature_count>& found) {
    nb::dict out;
    out["size"] = column<std::int64_t>(found, [](const auto& s) { return s.size; });
    out["count"] = column<std::int64_t>(found, [](const auto& s) { return s.count; });
    out["duration"] = column<std::int64_t>(found, [](const auto& s) { return s.duration; });
    out["patterns"] = column<std::int64_t>(found, [](const auto& s) { return s.patterns; });
    return out;
}

nb::dict spectrum_arrays(const pvalue_spectrum& spectrum) {
    const auto& entries = spectrum.entries;
    nb::dict out;
    out["size"] = column<std::int64_t>(entries, [](const auto& e) { return e.what.size; });
    out["count"] = column<std::int64_t>(entries, [](const auto& e) { return e.what.count; });
    out["duration"] = column<std::int64_t>(entries, [](const auto& e) { return e.what.duration; });
    out["reached"] = column<std::int64_t>(entries, [](const auto& e) { return e.reached; });
    out["p"] = column<double>(entries, [](const auto& e) { return e.p; });
    return out;
}

// The p and q of each pattern's signature.
void add_probabilities(nb::dict& out, const pattern_table& table, spectrum_kind kind,
                       const std::vector<signature_test>& tested) {
    std::map<pattern_signature, const signature_test*> of;
    for (const signature_test& one : tested) of.emplace(one.what, &one);
    std::vector<double> p;
    std::vector<double> q;
    for (std::size_t i = 0; i < table.size(); ++i) {
        const signature_test& one = *of.at(signature_of(table, i, kind));
        p.push_back(one.p);
        q.push_back(one.q);
    }
    out["p"] = to_numpy(std::move(p));
    out["q"] = to_numpy(std::move(q));
}

nb::list funnel_list(const std::vector<funnel_step>& funnel) {
    nb::list out;
    for (const funnel_step& step : funnel) {
        nb::dict one;
        one["step"] = step.step;
        one["removed"] = step.removed;
        one["left"] = step.left;
        one["why"] = step.why;
        out.append(one);
    }
    return out;
}

nb::dict input_of(const spade_result& found) {
    nb::dict out;
    out["origin"] = to_seconds(found.axes.origin);
    out["time_origin_note"] = found.time_origin_note;
    out["trials"] = found.options.surrogates.trials.size();
    out["spikes"] = found.counts.spikes;
    out["clipped"] = found.counts.clipped;
    out["outside"] = found.counts.outside;
    out["bins"] = found.counts.bins;
    out["windows"] = found.counts.windows;
    return out;
}

bool is_time(nb::handle value) {
    return nb::isinstance<nb::str>(value) || nb::hasattr(value, "rescale") ||
           nb::hasattr(value, "total_seconds");
}

// The arguments with the window as a number of bins, which may be given as a time.
nb::dict with_window_in_bins(const nb::dict& given) {
    auto arguments = nb::steal<nb::dict>(PyDict_Copy(given.ptr()));
    keyword_arguments how(given);
    const auto window = how.find("window");
    if (!window || !is_time(*window)) return arguments;
    duration bin = spade_options{}.bin;
    how.take("bin", bin);
    const duration length = keyword_arguments::time("window", *window);
    if (bin <= duration{0} || length <= duration{0} || length % bin != duration{0} ||
        length / bin > std::int64_t{UINT32_MAX})
        throw invalid_argument("window", "expected a number of bins, or a whole multiple of bin (" +
                                             format_duration(bin) + "), found " +
                                             format_duration(length));
    arguments["window"] = length / bin;
    return arguments;
}

nb::list spade_description() {
    nb::list list = description<spade_options>();
    for (const nb::handle entry : list)
        if (nb::cast<std::string>(entry["name"]) == "window") entry["type"] = "Bins";
    return list;
}

nb::dict spade(const shared_spikes& spikes, const nb::dict& arguments) {
    keyword_arguments how(with_window_in_bins(arguments));
    spade_options options;
    take_described(how, describe(options));
    const call_options call = how.take_progress();
    how.check_all_known();
    spade_result found = run_for_result(call, [&](const execution& run) {
        return run_spade(*spikes.sequence, options, spikes.has_recorded_span, run);
    });
    nb::dict table = table_arrays(found.table, found.axes);
    nb::dict out;
    if (found.assessment) {
        const auto& tested = found.assessment->tests.signatures;
        add_probabilities(table, found.table, options.spectrum, tested);
        out["signatures"] = tested_arrays(tested);
        out["pvalue_spectrum"] = spectrum_arrays(found.assessment->spectrum);
    } else {
        out["signatures"] = counted_arrays(found.signatures);
    }
    if (!found.stabilities.empty()) {
        table["intensional_stability"] =
            column<double>(found.stabilities, [](const auto& s) { return s.intensional; });
        table["extensional_stability"] =
            column<double>(found.stabilities, [](const auto& s) { return s.extensional; });
    }
    out["table"] = table;
    out["funnel"] = funnel_list(found.funnel);
    out["parameters"] = python::arguments_of(describe(found.options));
    out["input"] = input_of(found);
    add_warnings(out, spikes, found.warnings);
    out["seconds"] = found.seconds;
    return out;
}

}  // namespace

void bind_spade(nb::module_& m) {
    m.def("spade_options", &spade_description);
    m.def("spade", &spade, nb::arg("spikes"), nb::arg("given"));
}

}  // namespace spikeweave::python
