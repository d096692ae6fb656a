#include "spade_arguments.hpp"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <utility>

#include "fields.hpp"

namespace spikeweave::python {
namespace {

using rule_field = std::uint32_t pattern_rule::*;

// What Python calls the fields of a request that its own words reserve.
std::string name_in_python(std::string_view field) {
    if (field == "from") return "t_start";
    if (field == "until") return "t_stop";
    return std::string(field);
}

void take_min_occ(keyword_arguments& how, min_occ_choice& into) {
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
                static_cast<std::uint32_t>(keyword_arguments::whole("min_occ", size, 1, most)),
                static_cast<std::uint32_t>(keyword_arguments::whole("min_occ", number, 1, most)));
        std::ranges::sort(by_size);
        into = std::move(by_size);
    } else {
        into = static_cast<std::uint32_t>(keyword_arguments::whole("min_occ", *value, 1, most));
    }
}

// Each rule is a mapping from the names of its thresholds to numbers.
void take_rules(keyword_arguments& how, std::vector<pattern_rule>& into) {
    const auto rules = how.find("rules");
    if (!rules) return;
    for (const nb::handle one : keyword_arguments::items("rules", *rules)) {
        if (!nb::isinstance<nb::dict>(one))
            refuse_type("rules", "mappings such as {'min_occ': 10, 'min_spikes': 3}", one);
        keyword_arguments thresholds{nb::borrow<nb::dict>(one)};
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

void take_epochs(keyword_arguments& how, std::vector<time_span>& into) {
    const auto epochs = how.find("epochs");
    if (!epochs) return;
    for (const nb::handle one : keyword_arguments::items("epochs", *epochs)) {
        const nb::list ends = keyword_arguments::items("epochs", one);
        if (nb::len(ends) != 2) refuse_type("epochs", "pairs of a begin and an end", one);
        into.push_back({keyword_arguments::time("epochs", ends[0]),
                        keyword_arguments::time("epochs", ends[1])});
    }
}

void take_reduction(keyword_arguments& how, std::optional<std::array<std::uint32_t, 3>>& into) {
    std::vector<std::uint32_t> numbers;
    if (!how.find("reduce")) return;
    how.take("reduce", numbers);
    if (numbers.size() != 3)
        throw invalid_argument("reduce: expected three numbers h, k, l, found " +
                               std::to_string(numbers.size()));
    into = {numbers[0], numbers[1], numbers[2]};
}

void take_stability(keyword_arguments& how, spade_options& into) {
    if (const auto subsets = how.find("stability")) {
        stability_options stable;
        if (nb::isinstance<nb::tuple>(*subsets) && nb::len(*subsets) == 2) {
            const nb::list both = keyword_arguments::items("stability", *subsets);
            stable.delta = keyword_arguments::number("stability", both[0]);
            stable.epsilon = keyword_arguments::number("stability", both[1]);
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

// A number of bins, or a time of so many.
void take_window(keyword_arguments& how, spade_options& into) {
    const auto window = how.find("window");
    if (!window) return;
    const bool is_time = nb::isinstance<nb::str>(*window) || nb::hasattr(*window, "rescale") ||
                         nb::hasattr(*window, "total_seconds");
    if (!is_time) {
        how.take("window", into.window);
        return;
    }
    const duration length = keyword_arguments::time("window", *window);
    if (into.bin <= duration{0} || length <= duration{0} || length % into.bin != duration{0} ||
        length / into.bin > std::int64_t{UINT32_MAX})
        throw invalid_argument("window: expected a number of bins, or a whole multiple of bin (" +
                               format_duration(into.bin) + "), found " + format_duration(length));
    into.window = static_cast<std::uint32_t>(length / into.bin);
}

joint_isi_steps steps_from(std::string_view name) {
    if (name == "fast") return joint_isi_steps::fast;
    if (name == "window") return joint_isi_steps::window;
    throw invalid_argument("'" + std::string(name) + "' is neither window nor fast");
}
std::string_view name_of_steps(joint_isi_steps steps) {
    return steps == joint_isi_steps::fast ? "fast" : "window";
}

surrogate_edges edges_from(std::string_view name) {
    if (name == "clamp") return surrogate_edges::clamp;
    if (name == "drop") return surrogate_edges::drop;
    throw invalid_argument("'" + std::string(name) + "' is neither drop nor clamp");
}
std::string_view name_of_edges(surrogate_edges edges) {
    return edges == surrogate_edges::clamp ? "clamp" : "drop";
}

elephant_mode compat_from(std::string_view name) {
    if (name == "elephant") return elephant_mode::seconds;
    if (name == "elephant-ms") return elephant_mode::milliseconds;
    if (name == "none") return elephant_mode::none;
    throw invalid_argument("'" + std::string(name) + "' is none of none, elephant, elephant-ms");
}
std::string_view name_of_mode(elephant_mode mode) {
    return mode == elephant_mode::none      ? "none"
           : mode == elephant_mode::seconds ? "elephant"
                                            : "elephant-ms";
}

template <class Each>
void each_field(joint_isi_options& options, Each each) {
    each("isi_truncation", options.truncation_limit);
    each("isi_bins", options.bins);
    each("isi_sigma", options.sigma);
    each("isi_alternate", options.alternate);
    each("isi_sqrt", options.use_sqrt);
    each("isi_cutoff", options.cutoff);
    each("isi_refractory", options.refractory_period);
    each("isi_steps", options.steps, steps_from, name_of_steps);
}

template <class Each>
void each_field(spade_options& options, Each each) {
    surrogate_options& surrogates = options.surrogates;
    each("bin", options.bin);
    each("t_start", options.from);
    each("t_stop", options.until);
    each("separation", options.separation);
    each("min_spikes", options.min_spikes);
    each.above_zero("max_spikes", options.max_spikes);
    each("min_neu", options.min_neu);
    each.above_zero("max_occ", options.max_occ);
    each("keep_window_subsets", options.keep_window_subsets);
    each("strategy", options.strategy, value_named<spade_strategy>);
    each("surrogates", surrogates.surrogates);
    each("dither", surrogates.dither);
    each("seed", surrogates.seed);
    each("refractory", surrogates.refractory_period);
    each("sliding", surrogates.sliding);
    each("edges", surrogates.edges, edges_from, name_of_edges);
    each("trial_length", options.trial_length);
    each("trial_separation", options.trial_separation);
    each_field(surrogates.joint_isi, each);
    each("spectrum", options.spectrum, value_named<spectrum_kind>);
    each("alpha", options.alpha);
    each("correction", options.correction, value_named<correction_method>);
    each("compat", options.elephant, compat_from, name_of_mode);
}

void take_method(keyword_arguments& how, std::optional<surrogate_method>& into) {
    surrogate_method method{};
    if (!how.find("surrogate_method")) return;
    how.take("surrogate_method", method, value_named<surrogate_method>);
    into = method;
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

nb::object min_occ_argument(const min_occ_choice& choice) {
    if (const auto* number = std::get_if<std::uint32_t>(&choice)) return nb::cast(*number);
    const auto* by_size = std::get_if<min_occ_by_size>(&choice);
    if (!by_size) return nb::str("auto");
    nb::dict out;
    for (const auto& [size, number] : *by_size) out[nb::cast(size)] = number;
    return out;
}

nb::object stability_argument(const std::optional<stability_options>& stable) {
    if (!stable) return nb::none();
    if (stable->n_subsets > 0) return nb::cast(stable->n_subsets);
    return nb::make_tuple(stable->delta, stable->epsilon);
}

// As the arguments of a call that does the same.
nb::dict arguments_of(spade_options request, const call_options& call) {
    nb::dict out;
    each_field(request, field_writer(out));
    out["window"] = request.window;
    nb::list epochs;
    for (const time_span& epoch : request.epochs)
        epochs.append(nb::make_tuple(to_seconds(epoch.begin), to_seconds(epoch.end)));
    out["epochs"] = request.epochs.empty() ? nb::object(nb::none()) : epochs;
    out["min_occ"] = min_occ_argument(request.min_occ);
    out["rules"] = request.rules.empty() ? nb::object(nb::none()) : rule_list(request.rules);
    out["surrogate_method"] = nb::none();
    if (request.method) out["surrogate_method"] = std::string(to_string(*request.method));
    out["reduce"] = nb::none();
    if (const auto& h_k_l = request.reduce)
        out["reduce"] = nb::make_tuple((*h_k_l)[0], (*h_k_l)[1], (*h_k_l)[2]);
    out["stability"] = stability_argument(request.stable);
    out["stability_threshold"] = nb::none();
    if (request.least_stable != stability{})
        out["stability_threshold"] =
            nb::make_tuple(request.least_stable.intensional, request.least_stable.extensional);
    write_call(call, out);
    return out;
}

}  // namespace

spade_options take_request(keyword_arguments& how) {
    spade_options out;
    out.called = &name_in_python;
    each_field(out, field_reader(how));
    take_window(how, out);
    take_epochs(how, out.epochs);
    take_min_occ(how, out.min_occ);
    take_rules(how, out.rules);
    take_method(how, out.method);
    take_reduction(how, out.reduce);
    take_stability(how, out);
    return out;
}

nb::dict arguments_of(spade_options request, call_options call, const spade_input& prepared,
                      const spade_result& found) {
    request.rules = prepared.mining.rules;
    request.min_occ = auto_min_occ{};
    request.min_spikes.reset();
    request.min_neu.reset();
    request.max_spikes = 0;
    request.strategy = found.ran_on;
    if (!request.epochs.empty()) request.separation = request.epochs_apart();
    if (request.is_tested()) {
        request.method = prepared.surrogates.method;
        if (request.method == surrogate_method::dither_spikes_with_refractory_period &&
            !request.surrogates.refractory_period)
            request.surrogates.refractory_period = request.bin;
    }
    call.devices.emplace();
    nb::dict out = arguments_of(std::move(request), call);
    // The rules stand in its place.
    out["min_occ"] = nb::none();
    return out;
}

nb::dict default_spade_arguments() {
    keyword_arguments nothing{nb::dict()};
    return arguments_of(take_request(nothing), {});
}

}  // namespace spikeweave::python
