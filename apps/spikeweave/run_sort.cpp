#include "run_sort.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace spikeweave::cli {
namespace {

void take_labels(std::vector<std::uint32_t> labels, sorting_report& report) {
    report.sorted.unit_count = *std::max_element(labels.begin(), labels.end());
    report.sorted.labels = std::move(labels);
}

void save_model(const sorting_model& model, const sort_input& input, const sort_options& options) {
    if (options.save_model.empty()) return;
    write_model(options.save_model, input.basis ? model.with_basis(*input.basis) : model);
}

void sort_again(sort_input& input, const sort_options& options, sorting_report& report,
                const execution& run) {
    recluster_result found =
        recluster(input.features, std::move(input.start), input.only, options.search, run);
    report.search = std::move(found.search);
    take_labels(std::move(found.labels), report);
}

void sort_as_they_come(const sort_input& input, const sort_options& options, sorting_report& report,
                       const execution& run) {
    incremental_options how{.search = options.search, .drift = options.drift};
    how.first = options.first_fit;
    if (!options.incremental) how.drift = how.growth = std::numeric_limits<double>::infinity();
    incremental_sorter sorter =
        input.model ? incremental_sorter(*input.model, how) : incremental_sorter(how);
    sorter.add(input.features, run);
    if (sorter.model().feature_count() == 0) sorter.fit(run);
    report.fits = sorter.fits();
    report.search.stopped = stop_reason::assigned;
    // Assigning is the CPU's; fits are the device's.
    report.search.ran_on =
        run.devices.empty() || report.fits.empty() ? sort_strategy::cpu : sort_strategy::cuda;
    take_labels(sorter.labels(), report);
    save_model(sorter.model(), input, options);
}

}  // namespace

void find_units(sort_input& input, sort_options& options, sorting_report& report,
                const execution& run) {
    if (!input.only.empty()) return sort_again(input, options, report, run);
    if (options.incremental || !options.model.empty())
        return sort_as_they_come(input, options, report, run);
    options.search.start = std::move(input.start);
    report.search = sort_spikes(input.features, options.search, run);
    report.sorted.labels = std::move(report.search.labels);
    report.sorted.unit_count = report.search.units;
    if (!options.save_model.empty())
        save_model(fit_model(input.features, report.sorted.labels, options.search, run), input,
                   options);
}

}  // namespace spikeweave::cli
