#include "spikeweave/pipeline/spade.hpp"

#include "bindings/core/arguments.hpp"
#include "bindings/core/held_report.hpp"
#include "bindings/core/options.hpp"
#include "bindings/core/spikes.hpp"
#include "spikeweave/report/spade.hpp"

namespace spikeweave::python {
namespace {

nb::dict table_arrays(const pattern_table& table, const pattern_axes& axes) {
    nb::dict out = table_of(
        table.items, "units", [&](pattern_item item) { return table.unit(item); }, "lag_bins",
        [&](pattern_item item) { return table.lag(item); });
    add_columns(out, table.item_offsets, "offsets", std::identity{});
    add_columns(out, table.counts, "counts", std::identity{});
    add_columns(out, table.occurrence_offsets, "occurrence_offsets", std::identity{});
    add_columns(out, table.occurrences, "windows", std::identity{}, "times",
                [&](std::uint32_t start) { return axes.time_of(start); });
    return out;
}

// Makes columns of signatures, and of the known properties of each; `what` gets the signature of a
// row.
template <class Rows, class Signature, class... Columns>
nb::dict signature_table(const Rows& rows, Signature what, const Columns&... columns) {
    using signature = std::remove_cvref_t<std::invoke_result_t<Signature, decltype(rows.front())>>;
    return table_of(rows, "size", of(what, &signature::size), "count", of(what, &signature::count),
                    "duration", of(what, &signature::duration), columns...);
}

nb::dict input_of(const spade_result& found) {
    nb::dict out;
    add_entries(out, found, "origin", of(&spade_result::axes, &pattern_axes::origin),
                "time_origin_note", &spade_result::time_origin_note);
    out["trials"] = found.options.surrogates.trials.size();
    add_entries(out, found.counts, "spikes", &pattern_input::spikes, "clipped",
                &pattern_input::clipped, "outside", &pattern_input::outside, "bins",
                &pattern_input::bins, "windows", &pattern_input::windows);
    return out;
}

// Adds the tests of the patterns in other spikes; a count of -1 means that there is none.
void add_replication(nb::dict& out, const spade_replication& other) {
    using test = std::optional<pattern_replication>;
    constexpr double none = std::numeric_limits<double>::quiet_NaN();
    const auto figure = [](double pattern_replication::*member) {
        return [=](const test& one) { return one ? (*one).*member : none; };
    };
    nb::dict table = table_of(
        other.tests, "counts",
        [](const test& one) { return one ? static_cast<std::int64_t>(one->count) : -1; },
        "expected", figure(&pattern_replication::expected), "p", figure(&pattern_replication::p),
        "q", figure(&pattern_replication::q));
    add_entries(table, other, "seconds", &spade_replication::observed, "searched_seconds",
                &spade_replication::searched, "tested", &spade_replication::tested, "replicated",
                &spade_replication::replicated, "missing_units", &spade_replication::missing_units);
    if (!other.confirmed_elsewhere)
        add_entries(table, other, "searched_epochs", &spade_replication::searched_epochs);
    out["replication"] = std::move(table);
}

// The spikes that were searched, as they were binned.
spike_sequence binned_spikes(const shared_spikes& spikes, const spade_result& found) {
    spade_options options = found.options;
    if (found.replication && !found.replication->confirmed_elsewhere) {
        options.t_start.reset();
        options.t_stop.reset();
        options.trial_length.reset();
        options.epochs = found.replication->searched_epochs;
    }
    return bin_recording(*spikes.sequence, options, spikes.has_recorded_span).spikes;
}

// A window may also be a time.
void take_window(nb::dict& given) {
    if (!given.contains("window")) return;
    const nb::object window = given["window"];
    const bool is_text = nb::isinstance<nb::str>(window);
    if (!is_text && !nb::hasattr(window, "rescale") && !nb::hasattr(window, "total_seconds"))
        return;
    const auto bin = given.contains("bin") && !nb::object(given["bin"]).is_none()
                         ? time_of("bin", given["bin"])
                         : spade_options{}.bin;
    const std::string text = is_text ? text_of("window", window)
                                     : std::to_string(time_of("window", window).count()) + "us";
    given["window"] = window_in_bins(text, bin);
}

nb::dict spade(const shared_spikes& spikes, nb::dict given,
               const std::optional<shared_spikes>& confirm) {
    take_window(given);
    spade_result result =
        call_with<spade_options>(given, [&](const auto& options, const execution& run) {
            if (confirm)
                return run_spade(*spikes.sequence, *confirm->sequence, options,
                                 {spikes.has_recorded_span, confirm->has_recorded_span}, run);
            return run_spade(*spikes.sequence, options, spikes.has_recorded_span, run);
        });
    const auto held = std::make_shared<const spade_result>(std::move(result));
    const spade_result& found = *held;
    nb::dict table = table_arrays(found.table, found.axes);
    nb::dict out;
    out["report"] =
        held_report([held, spikes] { return report_of(binned_spikes(spikes, *held), *held); });
    if (found.assessment) {
        const auto& tested = found.assessment->tests.signatures;
        add_columns(table, tests_of_patterns(found.table, found.options.spectrum, tested), "p",
                    &signature_test::p, "q", &signature_test::q);
        out["signatures"] =
            signature_table(tested, &signature_test::what, "patterns", &signature_test::patterns,
                            "reached", &signature_test::reached, "p", &signature_test::p, "q",
                            &signature_test::q, "tested", &signature_test::tested, "significant",
                            &signature_test::significant, "reason", &signature_test::reason);
        out["pvalue_spectrum"] =
            signature_table(found.assessment->spectrum.entries, &spectrum_entry::what, "reached",
                            &spectrum_entry::reached, "p", &spectrum_entry::p);
    } else {
        out["signatures"] = signature_table(found.signatures, std::identity{}, "patterns",
                                            &signature_count::patterns);
    }
    if (!found.stabilities.empty())
        add_columns(table, found.stabilities, "intensional_stability", &stability::intensional,
                    "extensional_stability", &stability::extensional);
    out["table"] = table;
    if (found.replication) add_replication(out, *found.replication);
    out["funnel"] = column(found.funnel);
    out["input"] = input_of(found);
    add_run(out, spikes, found, found.options);
    return out;
}

}  // namespace

void bind_spade(nb::module_& m) {
    m.def("spade_options", &description<spade_options>);
    m.def("spade_arguments", &recorded_arguments<spade_options>);
    m.def("spade", &spade, "spikes"_a, "given"_a, "confirm"_a = nb::none());
}

}  // namespace spikeweave::python
