// Masked Gaussian mixtures on a GPU compared with the CPU's threads, on the same machine in the
// same run. Results are compared first.
//
// e_step_…: the costs of 10^6 spikes in K clusters on the GPU alone (including the gathering of
// coefficients). dense: 96 features, all unmasked; masked: 96 features, with units on neighbouring
// channels; probe: the same on 384 channels. `teraflops` counts products of terms with
// coefficients, two operations each.
//
// iteration_…: M-step and E-step with all copies. The CPU runs them on a sample of the spikes,
// `spikes` of them.
//
// search: whole searches of 50,000 spikes of 60 units. …_seed_stop: with the published stopping
// rule, from the same number of clusters. …_published: the search as published, from 500 clusters
// on the CPU and from 50 on the GPU.

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "benchmarks/support/ratios.hpp"
#include "device/cuda.hpp"
#include "sort/masked_gmm/cuda/device_fits.hpp"
#include "sort/masked_gmm/cuda/e_step.hpp"
#include "sort/masked_gmm/cuda/resident_data.hpp"
#include "sort/masked_gmm/steps.hpp"
#include "spikeweave/core/device.hpp"
#include "spikeweave/sort/masked_gmm.hpp"
#include "tests/support/spike_clouds.hpp"

namespace {

using namespace spikeweave;
using masked_gmm::assignment;
using masked_gmm::partition;

int all_threads() {
    return static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

struct load {
    spike_features features{};
    partition start{};
};

struct load_shape {
    std::size_t spikes;
    std::size_t channels;
    std::uint32_t units;
    std::size_t reach =
        4;  ///< channels on each side of a unit's channel that may record it; 0: no masks

    bool masked() const { return reach > 0; }
    auto operator<=>(const load_shape&) const = default;
};

constexpr std::size_t per_channel = 3;

// Draws spikes [begin, end) on a few channels each; masked features are noise with SD 1.
spike_masks draw(const load_shape& shape, std::size_t begin, std::size_t end, load& into,
                 std::vector<double>& values) {
    std::minstd_rand fast(static_cast<unsigned>(begin) + 1);
    cloud_random random(begin + 1);
    const std::size_t features = shape.channels * per_channel;
    const std::size_t reach = shape.masked() ? shape.reach : 4;
    const double width_of_unit = static_cast<double>(reach) / 3.3;
    spike_masks all;
    std::vector<double> masks;
    for (std::size_t n = begin; n < end; ++n) {
        const auto unit = static_cast<std::uint32_t>(random.below(shape.units));
        into.start.labels[n] = unit + 1;
        double* const row = values.data() + n * features;
        constexpr double width = 3.4641016151377544;  // width of a uniform distribution with SD 1
        for (std::size_t i = 0; i < features; ++i)
            row[i] = width * (static_cast<double>(fast()) / 2147483646.0 - 0.5);
        const std::size_t centre = std::size_t{unit} * shape.channels / shape.units;
        const double height = (8 + unit % 12) * (1 + 0.12 * random.normal());
        masks.assign(features, shape.masked() ? 0.0 : 1.0);
        for (std::size_t away = 0; away <= 2 * reach; ++away) {
            const std::size_t channel = centre + away - reach;
            if (channel >= shape.channels)
                continue;  // this also excludes channels before the first one
            const double distance =
                (static_cast<double>(away) - static_cast<double>(reach)) / width_of_unit;
            double most = 0;
            for (std::size_t c = 0; c < per_channel; ++c) {
                double& value = row[channel * per_channel + c];
                value += height * std::exp(-distance * distance / 2) *
                         std::cos(static_cast<double>(unit * (c + 1)));
                most = std::max(most, std::abs(value));
            }
            if (shape.masked())
                std::fill_n(masks.begin() + static_cast<std::ptrdiff_t>(channel * per_channel),
                            per_channel,
                            std::clamp((most - 2) / 2.5, away == reach ? 0.1 : 0.0, 1.0));
        }
        all.append(masks);
    }
    return all;
}

std::unique_ptr<load> make_load(const load_shape& shape) {
    auto made = std::make_unique<load>();
    made->start = {std::vector<std::uint32_t>(shape.spikes), shape.units + 1};
    std::vector<double> values(shape.spikes * shape.channels * per_channel);
    const auto threads = static_cast<std::size_t>(all_threads());
    std::vector<spike_masks> parts(threads);
    std::vector<std::thread> all;
    for (std::size_t t = 0; t < threads; ++t)
        all.emplace_back([&, t] {
            parts[t] = draw(shape, shape.spikes * t / threads, shape.spikes * (t + 1) / threads,
                            *made, values);
        });
    for (std::thread& one : all) one.join();
    spike_masks masks;
    for (const spike_masks& part : parts) {
        const std::uint64_t before = masks.columns.size();
        masks.columns.insert(masks.columns.end(), part.columns.begin(), part.columns.end());
        masks.values.insert(masks.values.end(), part.values.begin(), part.values.end());
        for (std::size_t n = 1; n < part.offsets.size(); ++n)
            masks.offsets.push_back(before + part.offsets[n]);
    }
    made->features = {shape.channels * per_channel, std::move(values), std::move(masks)};
    return made;
}

// Makes a load and keeps only the last one: the largest takes 10 GB.
const load& load_of(const load_shape& shape) {
    static std::unique_ptr<load> kept;
    static std::optional<load_shape> of;
    if (!of || *of != shape) {
        kept.reset();
        kept = make_load(shape);
        of = shape;
    }
    return *kept;
}

// Compares the steps of one iteration by the CPU and by the GPU on few spikes.
bool agree(load_shape shape) {
    shape.spikes = 5'000;
    const auto few = make_load(shape);
    const auto cpu = masked_gmm::make_cpu(few->features, {}, {});
    const auto cuda = masked_gmm::make_cuda(few->features, {}, {.devices = {0}});
    const assignment a = cpu->assign(few->start, {});
    const assignment b = cuda->assign(few->start, {});
    double most = 0;
    for (std::size_t n = 0; n < a.best.size(); ++n)
        most = std::max(most, std::abs(a.best_cost[n] - b.best_cost[n]));
    return a.best == b.best && most < 1e-6;
}

void e_step(benchmark::State& state, const load_shape& shape, bool single) {
    if (!agree(shape)) {
        state.SkipWithError("the answer differs from the CPU's");
        return;
    }
    const load& what = load_of(shape);
    const device::scoped_device scope(0);
    const device::stream on;
    const std::uint32_t most_columns = masked_gmm::e_step::most_columns(device::limits_of(0));
    const masked_gmm::sparse_data data(what.features, masked_gmm::device_group_rules(most_columns),
                                       {});
    const masked_gmm::resident_data resident(data, most_columns, on);
    const masked_gmm_options options;
    masked_gmm::fitter fitter(resident, options);
    masked_gmm::member_lists members;
    const masked_gmm::member_lists all(what.start);
    for (std::size_t k = 1; k < all.size(); ++k)
        if (!all.of(k).empty()) members.add(all.of(k));
    const masked_gmm::fit_summary& fits = fitter.fit(members, on);
    std::vector<double> plain;
    for (std::size_t k = 0; k < members.size(); ++k)
        plain.push_back(fits.plain[k] + fits.at_noise[k] / 2);
    masked_gmm::e_step step(resident, what.features.size(), single);
    assignment found{std::vector<std::uint32_t>(what.features.size()),
                     std::vector<std::uint32_t>(what.features.size()),
                     std::vector<double>(what.features.size()),
                     std::vector<double>(what.features.size())};
    double seconds = 0;
    for (auto _ : state) {
        step.evaluate(fitter.fits(), plain, 0, found);
        state.SetIterationTime(step.seconds());
        seconds += step.seconds();
    }
    double operations = 0;
    std::uint64_t columns = 0;
    for (const masked_gmm::device_group& group : resident.groups()) {
        const double v = group.features;
        operations += group.spikes * (v * (v + 3) / 2) * 2 * static_cast<double>(members.size());
        columns += std::uint64_t{group.spikes} * group.features;
    }
    const auto iterations = static_cast<double>(state.iterations());
    state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(shape.spikes));
    state.counters["clusters"] = static_cast<double>(members.size());
    state.counters["groups"] = static_cast<double>(resident.groups().size());
    state.counters["features_of_group"] =
        static_cast<double>(columns) / static_cast<double>(shape.spikes);
    state.counters["teraflops"] = operations * iterations / seconds / 1e12;
}

struct contender {
    std::string name;
    execution run{};
    std::size_t share = 1;  // one in this number of spikes
};

std::vector<contender> contenders(std::size_t serial_share, std::size_t parallel_share) {
    return {{"cpu-1-thread", {.threads = 1}, serial_share},
            {"cpu-all-threads", {.threads = all_threads()}, parallel_share},
            {"cuda", {.devices = {0}}, 1}};
}

void iterate(benchmark::State& state, load_shape shape, const contender& by) {
    shape.spikes /= by.share;
    const load& what = load_of(shape);
    const auto steps = by.run.devices.empty() ? masked_gmm::make_cpu(what.features, {}, by.run)
                                              : masked_gmm::make_cuda(what.features, {}, by.run);
    for (auto _ : state) {
        const assignment found = steps->assign(what.start, by.run);
        benchmark::DoNotOptimize(
            steps->deletion_gains(found, what.start.clusters, {.threads = by.run.threads}));
    }
    if (!by.run.devices.empty()) {
        const device::device_limits limits = device::limits_of(0);
        state.counters["device_gigabytes"] =
            static_cast<double>(limits.total_bytes - limits.free_bytes) / 1e9;
    }
    state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(shape.spikes));
    state.counters["spikes"] = static_cast<double>(shape.spikes);
    state.counters["threads"] = by.run.devices.empty() ? by.run.threads : 0;
}

const spike_features& features_of_60_units() {
    static const spike_features features =
        make_cloud({.spikes = 50'000, .units = 60, .channels = 32, .seed = 1}).features;
    return features;
}

void search(benchmark::State& state, const contender& by, const masked_gmm_options& options) {
    const spike_features& features = features_of_60_units();
    std::optional<clustering_result> found;
    for (auto _ : state) found = sort_spikes(features, options, by.run);
    state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(features.size()));
    state.counters["iterations"] = static_cast<double>(found->iterations.size());
    state.counters["units"] = found->units;
    state.counters["score"] = found->score();
}

const ratios_to by_dense("iteration_dense", "cpu-1-thread");
const ratios_to by_masked("iteration_masked", "cpu-1-thread");
const ratios_to by_probe("iteration_probe", "cpu-1-thread");
const ratios_to by_search("search", "cpu-all-threads");
const ratios_to by_seed("search_seed_stop", "cpu-1-thread");
const ratios_to by_published("search_published", "cpu-1-thread-from-500");

template <class... Arguments>
void add(const std::string& name, bool device_time, int repetitions, Arguments&&... arguments) {
    auto* const made =
        benchmark::RegisterBenchmark(name.c_str(), std::forward<Arguments>(arguments)...)
            ->Unit(benchmark::kMillisecond)
            ->Iterations(1)
            ->Repetitions(repetitions);
    if (device_time) {
        made->UseManualTime();
    } else {
        made->UseRealTime();
    }
}

const bool registered = [] {
    if (devices().empty()) return false;
    const load_shape dense{1'000'000, 32, 100, 0};
    const load_shape masked{1'000'000, 32, 100, 10};
    const load_shape probe{1'000'000, 384, 500, 6};
    struct group {
        const char* name;
        load_shape shape;
        std::size_t serial_share;
        std::size_t parallel_share;
    };
    for (const group& one : {group{"dense", dense, 40, 4}, group{"masked", masked, 10, 1},
                             group{"probe", probe, 50, 10}}) {
        for (const bool single : {false, true})
            add(fmt::format("e_step_{}/{}", one.name, single ? "single" : "double"), true, 3,
                e_step, one.shape, single);
        std::vector<contender> all = contenders(one.serial_share, one.parallel_share);
        // The GPU runs first, because it uses the load that is already there.
        std::rotate(all.begin(), all.end() - 1, all.end());
        for (const contender& by : all)
            add(fmt::format("iteration_{}/{}", one.name, by.name), false,
                by.run.devices.empty() ? 1 : 3, iterate, one.shape, by);
    }
    const std::vector<contender> all = contenders(1, 1);
    for (const contender& by : all) {
        if (by.name != "cpu-1-thread")
            add("search/" + by.name, false, 1, search, by,
                masked_gmm_options{.starting_clusters = 50});
        add("search_seed_stop/" + by.name, false, 1, search, by,
            masked_gmm_options{.stop = em_stop_rule::seed});
    }
    add("search_published/cpu-1-thread-from-500", false, 1, search, all[0],
        masked_gmm_options{.stop = em_stop_rule::seed});
    add("search_published/cuda-from-50", false, 3, search, all[2],
        masked_gmm_options{.starting_clusters = 50, .stop = em_stop_rule::seed});
    return true;
}();

}  // namespace
