#include <nanobind/stl/string.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <utility>

#include "arrays.hpp"
#include "bindings.hpp"
#include "spikes.hpp"
#include "spikeweave/assess/pattern_search.hpp"

namespace spikeweave::python {
namespace {

using rule_field = std::uint32_t pattern_rule::*;

// What Python calls the fields of a request that its own words reserve.
std::string name_in_python(std::string_view field) {
    if (field == "from") return "t_start";
    if (field == "until") return "t_stop";
    return std::string(field);
}

void take_min_occ(given& how, min_occ_choice& into) {
    const auto value = how.find("min_occ");
    if (!value) return;
    constexpr std::uint64_t most = UINT32_MAX;
    if (nb::isinstance<nb::str>(*value)) {
        if (nb::cast<std::string>(*value) != "auto")
            refuse_type("min_occ", "a number, 'auto' or {spikes: number}", *value);
        into = auto_min_occ{};
    } else if (nb::isinstance<nb::dict>(*value)) {
        min_occ_by_size by_size;
        for (const auto& [size, number] : nb::borrow<nb::dict>(*value))
            by_size.emplace_back(
                static_cast<std::uint32_t>(given::whole("min_occ", size, 1, most)),
                static_cast<std::uint32_t>(given::whole("min_occ", number, 1, most)));
        std::ranges::sort(by_size);
        into = std::move(by_size);
    } else {
        into = static_cast<std::uint32_t>(given::whole("min_occ", *value, 1, most));
    }
}

// Each rule is a mapping from the names of its thresholds to numbers.
void take_rules(given& how, std::vector<pattern_rule>& into) {
    const auto rules = how.find("rules");
    if (!rules) return;
    for (const nb::handle one : given::items("rules", *rules)) {
        if (!nb::isinstance<nb::dict>(one))
            refuse_type("rules", "mappings such as {'min_occ': 10, 'min_spikes': 3}", one);
        given thresholds{nb::borrow<nb::dict>(one)};
        pattern_rule rule;
        for (const auto& [name, field] :
             {std::pair<const char*, rule_field>{"min_occ", &pattern_rule::min_occ},
              {"min_spikes", &pattern_rule::min_spikes},
              {"max_spikes", &pattern_rule::max_spikes},
              {"min_neu", &pattern_rule::min_neu}})
            thresholds.take(name, rule.*field);
        thresholds.check_all_known();
        into.push_back(rule);
    }
}

void take_epochs(given& how, std::vector<time_span>& into) {
    const auto epochs = how.find("epochs");
    if (!epochs) return;
    for (const nb::handle one : given::items("epochs", *epochs)) {
        const nb::list ends = given::items("epochs", one);
        if (nb::len(ends) != 2) refuse_type("epochs", "pairs of a begin and an end", one);
        into.push_back({given::time("epochs", ends[0]), given::time("epochs", ends[1])});
    }
}

void take_reduction(given& how, std::optional<std::array<std::uint32_t, 3>>& into) {
    std::vector<std::uint32_t> numbers;
    if (!how.find("reduce")) return;
    how.take("reduce", numbers);
    if (numbers.size() != 3)
        throw invalid_argument("reduce: expected three numbers h, k, l, found " +
                               std::to_string(numbers.size()));
    into = {numbers[0], numbers[1], numbers[2]};
}

void take_stability(given& how, pattern_request& into) {
    if (const auto subsets = how.find("stability")) {
        stability_options stable;
        if (nb::isinstance<nb::tuple>(*subsets) && nb::len(*subsets) == 2) {
            const nb::list both = given::items("stability", *subsets);
            stable.delta = given::number("stability", both[0]);
            stable.epsilon = given::number("stability", both[1]);
        } else {
            how.take("stability", stable.n_subsets);
        }
        into.stable = stable;
    }
    std::vector<double> thresholds;
    how.take("stability_threshold", thresholds);
    if (!how.find("stability_threshold")) return;
    if (thresholds.size() != 2)
        throw invalid_argument(
            "stability_threshold: expected two numbers (intensional, extensional), found " +
            std::to_string(thresholds.size()));
    into.least_stable = {thresholds[0], thresholds[1]};
}

void take_intervals(given& how, joint_isi_options& into) {
    how.take("isi_truncation", into.truncation_limit);
    how.take("isi_bins", into.bins);
    how.take("isi_sigma", into.sigma);
    how.take("isi_alternate", into.alternate);
    how.take("isi_sqrt", into.use_sqrt);
    how.take("isi_cutoff", into.cutoff);
    how.take("isi_refractory", into.refractory_period);
    how.take("isi_steps", into.steps, [](const std::string& name) {
        if (name == "fast") return joint_isi_steps::fast;
        if (name != "window") throw invalid_argument("'" + name + "' is neither window nor fast");
        return joint_isi_steps::window;
    });
}

void take_surrogates(given& how, pattern_request& into) {
    surrogate_options& surrogates = into.surrogates;
    how.take("surrogates", surrogates.surrogates);
    std::string method;
    how.take("surrogate_method", method);
    if (!method.empty())
        given::naming("surrogate_method", [&] { into.method = surrogate_method_from(method); });
    how.take("dither", surrogates.dither);
    how.take("seed", surrogates.seed);
    how.take("refractory", surrogates.refractory_period);
    how.take("sliding", surrogates.sliding);
    how.take("edges", surrogates.edges, [](const std::string& name) {
        if (name == "clamp") return surrogate_edges::clamp;
        if (name != "drop") throw invalid_argument("'" + name + "' is neither drop nor clamp");
        return surrogate_edges::drop;
    });
    how.take("trial_length", into.trial_length);
    how.take("trial_separation", into.trial_separation);
    take_intervals(how, surrogates.joint_isi);
}

pattern_request take_request(given& how) {
    pattern_request out;
    out.called = &name_in_python;
    how.take("bin", out.bin);
    how.take("window", out.window);
    how.take("t_start", out.from);
    how.take("t_stop", out.until);
    take_epochs(how, out.epochs);
    how.take("separation", out.separation);
    take_min_occ(how, out.min_occ);
    how.take("min_spikes", out.min_spikes);
    how.take("max_spikes", out.max_spikes);
    how.take("min_neu", out.min_neu);
    take_rules(how, out.rules);
    how.take("max_occ", out.max_occ);
    how.take("keep_window_subsets", out.keep_window_subsets);
    how.take("strategy", out.strategy, spade_strategy_from);
    take_surrogates(how, out);
    how.take("spectrum", out.kind, spectrum_kind_from);
    how.take("alpha", out.alpha);
    how.take("correction", out.correct, correction_from);
    take_reduction(how, out.reduce);
    take_stability(how, out);
    how.take("compat", out.elephant, [](const std::string& name) {
        if (name == "elephant") return elephant_mode::seconds;
        if (name == "elephant-ms") return elephant_mode::milliseconds;
        if (name != "none")
            throw invalid_argument("'" + name + "' is none of none, elephant, elephant-ms");
        return elephant_mode::none;
    });
    return out;
}

nb::dict table_arrays(const pattern_table& table, const pattern_axes& axes) {
    const auto as_is = [](auto value) { return value; };
    nb::dict out;
    out["offsets"] = column<std::int64_t>(table.item_offsets, as_is);
    out["units"] = column<std::uint32_t>(
        table.items, [&](pattern_item item) { return index(table.unit(item)); });
    out["lag_bins"] =
        column<std::uint32_t>(table.items, [&](pattern_item item) { return table.lag(item); });
    out["counts"] = to_numpy(std::span{table.counts});
    out["occurrence_offsets"] = column<std::int64_t>(table.occurrence_offsets, as_is);
    out["windows"] = to_numpy(std::span{table.occurrences});
    out["times"] = column<double>(
        table.occurrences, [&](std::uint32_t start) { return to_seconds(axes.time_of(start)); });
    return out;
}

nb::dict tested_arrays(const std::vector<assessed_signature>& tested) {
    nb::dict out;
    out["size"] = column<std::uint32_t>(tested, [](const auto& s) { return s.what.size; });
    out["count"] = column<std::uint32_t>(tested, [](const auto& s) { return s.what.count; });
    out["duration"] = column<std::uint32_t>(tested, [](const auto& s) { return s.what.duration; });
    out["patterns"] = column<std::uint64_t>(tested, [](const auto& s) { return s.patterns; });
    out["reached"] = column<std::uint32_t>(tested, [](const auto& s) { return s.reached; });
    out["p"] = column<double>(tested, [](const auto& s) { return s.p; });
    out["q"] = column<double>(tested, [](const auto& s) { return s.q; });
    // NumPy's truth values are bytes, which std::vector<bool> is not.
    out["tested"] = column<std::uint8_t>(tested, [](const auto& s) { return s.tested; });
    out["significant"] = column<std::uint8_t>(tested, [](const auto& s) { return s.significant; });
    nb::list reasons;
    for (const assessed_signature& one : tested) reasons.append(std::string(to_string(one.reason)));
    out["reason"] = reasons;
    return out;
}

// Signatures that were counted but not tested.
nb::dict counted_arrays(const std::vector<signature_count>& found) {
    nb::dict out;
    out["size"] = column<std::uint32_t>(found, [](const auto& s) { return s.size; });
    out["count"] = column<std::uint32_t>(found, [](const auto& s) { return s.count; });
    out["duration"] = column<std::uint32_t>(found, [](const auto& s) { return s.duration; });
    out["patterns"] = column<std::uint64_t>(found, [](const auto& s) { return s.patterns; });
    return out;
}

nb::dict spectrum_arrays(const pvalue_spectrum& spectrum) {
    const auto& entries = spectrum.entries;
    nb::dict out;
    out["size"] = column<std::uint32_t>(entries, [](const auto& e) { return e.what.size; });
    out["count"] = column<std::uint32_t>(entries, [](const auto& e) { return e.what.count; });
    out["duration"] = column<std::uint32_t>(entries, [](const auto& e) { return e.what.duration; });
    out["reached"] = column<std::uint32_t>(entries, [](const auto& e) { return e.reached; });
    out["p"] = column<double>(entries, [](const auto& e) { return e.p; });
    return out;
}

// The p and q of each pattern's signature.
void add_probabilities(nb::dict& out, const pattern_table& table, spectrum_kind kind,
                       const std::vector<assessed_signature>& tested) {
    std::map<signature, const assessed_signature*> of;
    for (const assessed_signature& one : tested) of.emplace(one.what, &one);
    std::vector<double> p;
    std::vector<double> q;
    for (std::size_t i = 0; i < table.size(); ++i) {
        const assessed_signature& one = *of.at(signature_of(table, i, kind));
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

nb::list rule_list(const std::vector<pattern_rule>& rules) {
    nb::list out;
    for (const pattern_rule& rule : rules) {
        nb::dict one;
        one["min_occ"] = rule.min_occ;
        one["min_spikes"] = rule.min_spikes;
        one["max_spikes"] = rule.max_spikes;
        one["min_neu"] = rule.min_neu;
        out.append(one);
    }
    return out;
}

nb::dict facts_of(const prepared_windows& prepared, const pattern_request& request,
                  const pattern_findings& found) {
    const surrogate_options& surrogates = prepared.surrogates;
    nb::dict out;
    out["bin"] = to_seconds(request.bin);
    out["window"] = request.window;
    out["origin"] = to_seconds(prepared.axes.origin);
    out["beginning"] = prepared.beginning;
    out["rules"] = rule_list(prepared.mining.rules);
    out["max_occ"] = request.max_occ;
    out["strategy"] = std::string(to_string(found.ran_on));
    out["spectrum"] = std::string(to_string(request.kind));
    out["surrogates"] = surrogates.surrogates;
    if (request.is_tested()) {
        out["surrogate_method"] = std::string(to_string(surrogates.method));
        out["dither"] = to_seconds(surrogates.dither);
        out["trials"] = surrogates.trials.size();
        out["alpha"] = request.alpha;
        out["correction"] = std::string(to_string(request.correct));
    }
    out["seed"] = surrogates.seed;
    out["reduce"] = nb::none();
    if (const auto& h_k_l = request.reduce)
        out["reduce"] = nb::make_tuple((*h_k_l)[0], (*h_k_l)[1], (*h_k_l)[2]);
    out["spikes"] = prepared.facts.spikes;
    out["clipped"] = prepared.facts.clipped;
    out["outside"] = prepared.facts.outside;
    out["bins"] = prepared.facts.bins;
    out["windows"] = prepared.facts.windows;
    return out;
}

nb::dict spade(const shared_spikes& spikes, const nb::dict& arguments) {
    given how(arguments);
    const pattern_request request = take_request(how);
    const call_options call = how.take_call();
    how.check_all_known();
    if (call.devices && !call.devices->empty())
        throw invalid_argument("device: patterns are mined on the CPU");
    double seconds = 0;
    auto [prepared, found] = run_for_result(call, [&](const execution& run) {
        const auto began = std::chrono::steady_clock::now();
        prepared_windows made = prepare_windows(
            bin_recording(*spikes.sequence, request, spikes.states_span), request, run);
        pattern_findings left = find_patterns(made, request, run);
        seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
        return std::pair(std::move(made), std::move(left));
    });
    nb::dict table = table_arrays(found.table, prepared.axes);
    nb::dict out;
    if (found.assessment) {
        const auto& tested = found.assessment->tests.signatures;
        add_probabilities(table, found.table, request.kind, tested);
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
    out["facts"] = facts_of(prepared, request, found);
    nb::list warnings = text_list(prepared.warnings);
    for (const std::string& warning : found.warnings) warnings.append(warning);
    out["warnings"] = warnings;
    out["seconds"] = seconds;
    return out;
}

}  // namespace

void bind_spade(nb::module_& m) {
    m.def("spade", &spade, nb::arg("spikes"), nb::arg("given"));
}

}  // namespace spikeweave::python
