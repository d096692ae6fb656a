#include "spikeweave/pipeline/episodes/conditions.hpp"

#include "bindings/core/episodes.hpp"
#include "bindings/core/options.hpp"
#include "bindings/core/spikes.hpp"

namespace spikeweave::python {
namespace {

// Adds the columns of one quantity, such as rate_a and rate_p.
void add_change(nb::dict& out, const std::vector<episode_change>& findings, const std::string& name,
                ratio_change episode_change::*change, double episode_change::*q) {
    const auto add = [&](const char* column_name, auto get) {
        out[(name + "_" + column_name).c_str()] =
            column(findings, [&](const episode_change& one) { return get(one.*change); });
    };
    add("a", [](const ratio_change& one) { return one.a; });
    add("b", [](const ratio_change& one) { return one.b; });
    const auto add_interval = [&](const std::string& of, interval_estimate ratio_change::*value) {
        add(of.c_str(), [=](const ratio_change& one) { return (one.*value).value; });
        add((of + "_low").c_str(), [=](const ratio_change& one) { return (one.*value).low; });
        add((of + "_high").c_str(), [=](const ratio_change& one) { return (one.*value).high; });
    };
    if (name == "rate")
        add_interval("ratio", &ratio_change::ratio);
    else
        add_interval("difference", &ratio_change::difference);
    add("p", [](const ratio_change& one) { return one.p; });
    out[(name + "_q").c_str()] = column(findings, q);
}

nb::dict to_python(const condition_comparison& found) {
    episode_table table;
    for (const episode_change& one : found.findings) table.episodes.push_back({one.what, 0});
    nb::dict out;
    out["table"] = table_arrays(table);
    nb::dict columns = table_of(found.findings, "change", &episode_change::change);
    for (const std::size_t c : {0U, 1U}) {
        const std::string end = c == 0 ? "_a" : "_b";
        const auto add = [&](const char* name, auto member) {
            columns[(name + end).c_str()] =
                column(found.findings, [=](const episode_change& one) { return (one.*member)[c]; });
        };
        add("found", &episode_change::found);
        add("count", &episode_change::counts);
        add("expected", &episode_change::expected);
        add("first_spikes", &episode_change::first_spikes);
    }
    add_change(columns, found.findings, "rate", &episode_change::rate, &episode_change::rate_q);
    add_change(columns, found.findings, "excess", &episode_change::excess,
               &episode_change::excess_q);
    out["columns"] = std::move(columns);
    out["unit_names"] = found.unit_names;
    out["samples"] = std::string(to_string(found.samples));
    out["sample_counts"] = nb::make_tuple(found.conditions[0].samples, found.conditions[1].samples);
    out["smallest_p"] = found.labellings.smallest_p;
    condition_options options = found.options;
    out["parameters"] = arguments_of(describe(options));
    out["warnings"] = found.warnings;
    out["seconds"] = found.seconds;
    return out;
}

nb::dict compare(const std::vector<shared_spikes>& a, const std::vector<shared_spikes>& b,
                 const nb::dict& given) {
    const auto found = call_with<condition_options>(given, [&](const auto&... how) {
        const auto recordings = [](const std::vector<shared_spikes>& of) {
            std::vector<spike_sequence> out;
            for (const shared_spikes& one : of) out.push_back(*one.sequence);
            return out;
        };
        return compare_conditions(recordings(a), recordings(b), how...);
    });
    return to_python(found);
}

nb::dict compare_parts(const shared_spikes& spikes, const matrix_in<double>& a,
                       const matrix_in<double>& b, const nb::dict& given) {
    const auto spans = [](const matrix_in<double>& epochs) {
        std::vector<time_span> out;
        for (std::size_t i = 0; i < epochs.shape(0); ++i)
            out.push_back(
                {duration_from_seconds(epochs(i, 0)), duration_from_seconds(epochs(i, 1))});
        return out;
    };
    const std::vector<time_span> of_a = spans(a);
    const std::vector<time_span> of_b = spans(b);
    const auto found = call_with<condition_options>(given, [&](const auto&... how) {
        return compare_epochs(*spikes.sequence, of_a, of_b, how...);
    });
    return to_python(found);
}

}  // namespace

void bind_conditions(nb::module_& m) {
    m.def("compare_conditions", &compare, "a"_a, "b"_a, "given"_a);
    m.def("compare_epochs", &compare_parts, "spikes"_a, "a"_a, "b"_a, "given"_a);
    m.def("compare_conditions_options", &description<condition_options>);
}

}  // namespace spikeweave::python
