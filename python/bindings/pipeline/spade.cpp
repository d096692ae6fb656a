#include <nanobind/stl/string.h>

#include <cstdint>
#include <map>
#include <utility>

#include "bindings/bindings.hpp"
#include "bindings/core/arrays.hpp"
#include "bindings/core/options.hpp"
#include "bindings/core/spikes.hpp"
#include "spikeweave/pipeline/spade.hpp"

namespace spikeweave::python {
namespace {

nb::dict table_arrays(const pattern_table& table, const pattern_axes& axes) {
    nb::dict out;
    out["units"] = column<std::uint32_t>(
        table.items, [&](pattern_item item) { return to_index(table.unit(item)); });
    add_columns(out, table.item_offsets, "offsets", std::identity{});
    add_columns(out, table.items, "lag_bins", [&](pattern_item item) { return table.lag(item); });
    add_columns(out, table.counts, "counts", std::identity{});
    add_columns(out, table.occurrence_offsets, "occurrence_offsets", std::identity{});
    add_columns(out, table.occurrences, "windows", std::identity{}, "times",
                [&](std::uint32_t start) { return to_seconds(axes.time_of(start)); });
    return out;
}

// Makes columns of the size, count and duration of the signature of each row.
template <class Rows, class Signature>
nb::dict signature_table(const Rows& rows, Signature signature) {
    return table_of(
        rows, "size", [=](const auto& row) { return signature(row).size; }, "count",
        [=](const auto& row) { return signature(row).count; }, "duration",
        [=](const auto& row) { return signature(row).duration; });
}

nb::dict tested_arrays(const std::vector<signature_test>& tested) {
    nb::dict out = signature_table(tested, [](const auto& row) { return row.what; });
    add_columns(out, tested, "patterns", &signature_test::patterns, "reached",
                &signature_test::reached, "p", &signature_test::p, "q", &signature_test::q,
                "tested", &signature_test::tested, "significant", &signature_test::significant);
    out["reason"] =
        list_of(tested, [](const auto& one) { return std::string(to_string(one.reason)); });
    return out;
}

// These signatures were counted but not tested.
nb::dict counted_arrays(const std::vector<signature_count>& found) {
    nb::dict out = signature_table(found, [](const auto& row) { return row; });
    add_columns(out, found, "patterns", &signature_count::patterns);
    return out;
}

nb::dict spectrum_arrays(const pvalue_spectrum& spectrum) {
    nb::dict out = signature_table(spectrum.entries, [](const auto& row) { return row.what; });
    add_columns(out, spectrum.entries, "reached", &spectrum_entry::reached, "p",
                &spectrum_entry::p);
    return out;
}

// Adds the p and q of each pattern's signature.
void add_probabilities(nb::dict& out, const pattern_table& table, spectrum_kind kind,
                       const std::vector<signature_test>& tested) {
    std::map<pattern_signature, const signature_test*> by_signature;
    for (const signature_test& one : tested) by_signature.emplace(one.what, &one);
    std::vector<const signature_test*> of_patterns;
    for (std::size_t i = 0; i < table.size(); ++i)
        of_patterns.push_back(by_signature.at(signature_of(table, i, kind)));
    add_columns(out, of_patterns, "p", &signature_test::p, "q", &signature_test::q);
}

nb::dict input_of(const spade_result& found) {
    nb::dict out;
    out["origin"] = to_seconds(found.axes.origin);
    out["time_origin_note"] = found.time_origin_note;
    out["trials"] = found.options.surrogates.trials.size();
    add_entries(out, found.counts, "spikes", &pattern_input::spikes, "clipped",
                &pattern_input::clipped, "outside", &pattern_input::outside, "bins",
                &pattern_input::bins, "windows", &pattern_input::windows);
    return out;
}

nb::dict spade(const shared_spikes& spikes, const nb::dict& arguments) {
    spade_options options;
    const call_options call = take_options(arguments, describe(options));
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
    if (!found.stabilities.empty())
        add_columns(table, found.stabilities, "intensional_stability", &stability::intensional,
                    "extensional_stability", &stability::extensional);
    out["table"] = table;
    out["funnel"] =
        dicts_of(found.funnel, "step", &funnel_step::step, "removed", &funnel_step::removed, "left",
                 &funnel_step::left, "why", &funnel_step::why);
    out["parameters"] = arguments_of(describe(found.options));
    out["input"] = input_of(found);
    add_warnings(out, spikes, found.warnings);
    out["seconds"] = found.seconds;
    return out;
}

}  // namespace

void bind_spade(nb::module_& m) {
    m.def("spade_options", &description<spade_options>);
    m.def("spade", &spade, nb::arg("spikes"), nb::arg("given"));
}

}  // namespace spikeweave::python
