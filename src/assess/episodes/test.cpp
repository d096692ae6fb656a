#include "spikeweave/assess/episodes.hpp"

#include <fmt/format.h>

#include "assess/episodes/shared_rates.hpp"
#include "core/given_time.hpp"
#include "core/grouped.hpp"
#include "core/stop.hpp"

namespace spikeweave {

using assess::measure_shared_rates;
using assess::shared_rates;

namespace {

void check_shared_rates(const spike_sequence& spikes, significance_test test,
                        std::vector<std::string>& out) {
    const shared_rates rates = measure_shared_rates(spikes);
    if (!rates.certain) return;
    out.push_back(fmt::format(
        "The units' rates rise and fall together: the number of spikes of all units in 100 ms "
        "varies {:.3g} times as much as that of independent units. The test {} takes rates for "
        "constant, so most of what it calls significant here is not a connection. Use the test "
        "jitter, or surrogates.",
        rates.ratio, to_string(test)));
}

void check_surrogates(const significance_options& significance, const surrogate_options& surrogates,
                      std::vector<std::string>& out) {
    const auto least_p = [](std::uint64_t number) {
        return 1.0 / (1.0 + static_cast<double>(number));
    };
    if (surrogates.surrogates == 0) return;
    if (least_p(surrogates.surrogates) >= significance.alpha) {
        auto enough = static_cast<std::uint64_t>(1 / significance.alpha);
        while (least_p(enough) >= significance.alpha) ++enough;
        out.push_back(fmt::format(
            "With {} surrogates nothing can be significant at alpha {}: no p is below {:.2g}. Use "
            "at least {}.",
            core::grouped(surrogates.surrogates), significance.alpha,
            least_p(surrogates.surrogates), core::grouped(enough)));
    }
    core::check_given_time("The dither is", surrogates.dither, out);
}

}  // namespace

std::vector<std::string> check_tests(const spike_sequence& spikes,
                                     const significance_options& significance,
                                     const surrogate_options& surrogates) {
    std::vector<std::string> out;
    if (significance.test != significance_test::jitter && surrogates.surrogates == 0)
        check_shared_rates(spikes, significance.test, out);
    check_surrogates(significance, surrogates, out);
    return out;
}

episode_test_result test_episodes(const spike_sequence& spikes, const episode_table& table,
                                  const significance_options& significance,
                                  const surrogate_options& surrogates, const execution& run,
                                  const surrogate_tally* counted) {
    execution on_cpu = run;
    on_cpu.devices.clear();
    episode_test_result out{.assessed = test_against_null(spikes, table, significance, on_cpu)};
    core::throw_if_stopped(run.stop);
    if (surrogates.surrogates > 0)
        out.surrogates = test_against_surrogates(
            spikes, table,
            counted != nullptr ? *counted : count_in_surrogates(spikes, table, surrogates, run),
            significance.correction);
    out.circuit = find_circuit(
        spikes, table,
        out.surrogates.empty() ? out.assessed : with_surrogate_tests(out.assessed, out.surrogates),
        {.alpha = significance.alpha}, on_cpu);
    core::throw_if_stopped(run.stop);
    out.warnings = check_tests(spikes, significance, surrogates);
    return out;
}

}  // namespace spikeweave
