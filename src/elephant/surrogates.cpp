#include "spikeweave/elephant/surrogates.hpp"

#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "core/stop.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/parallel/thread_count.hpp"

namespace spikeweave {
namespace {

occurrence_maxima maxima_of(const binned_spikes& spikes, const elephant_mining_options& options,
                            const std::stop_token& stop) {
    if (options.is_impossible())
        return {.durations =
                    options.spectrum == spectrum_kind::size_count ? 1 : options.window_bins};
    const spade_windows windows(spikes, options.window_bins, stop);
    return find_occurrence_maxima(windows, options.mining, options.spectrum,
                                  {.threads = 1, .stop = stop});
}

pvalue_spectrum spectrum_of(const maxima_tally& tally, const pattern_rule& rule) {
    return tally.make_spectrum(rule.min_spikes, rule.max_spikes, rule.min_occ);
}

}  // namespace

struct elephant_surrogate_miner::state {
    explicit state(const elephant_mining_options& how)
        : options(how), tally(how.spectrum, how.window_bins) {}

    // A thread runs this until it is stopped.
    void mine_all(const std::stop_token& stop) {
        std::unique_lock lock(guard);
        while (added.wait(lock, stop, [this] { return !waiting.empty(); })) {
            const binned_spikes surrogate = std::move(waiting.front());
            waiting.pop_front();
            lock.unlock();
            std::exception_ptr failure;
            occurrence_maxima maxima;
            try {
                maxima = maxima_of(surrogate, options, stop);
            } catch (...) {
                failure = std::current_exception();
            }
            lock.lock();
            if (failure)
                error = failure;
            else
                tally.add(maxima);
            --unfinished;
            changed.notify_all();
        }
    }

    template <class Condition>
    std::unique_lock<std::mutex> locked_when(Condition is_ready, const std::stop_token& stop) {
        if (workers.empty()) throw invalid_argument("a closed miner cannot mine");
        std::unique_lock lock(guard);
        if (!changed.wait(lock, stop, [&] { return error || is_ready(); })) throw cancelled();
        if (error) std::rethrow_exception(error);
        return lock;
    }

    elephant_mining_options options;
    maxima_tally tally;
    std::mutex guard;
    std::condition_variable_any added;
    std::condition_variable_any changed;
    std::deque<binned_spikes> waiting;
    std::size_t unfinished = 0;
    std::exception_ptr error;
    std::stop_source ending;
    std::vector<std::jthread> workers;  // the last member: threads end before what they use
};

elephant_surrogate_miner::elephant_surrogate_miner(const elephant_mining_options& options,
                                                   int threads)
    : state_(std::make_unique<state>(options)) {
    try {
        for (int i = thread_count({.threads = threads}); i > 0; --i)
            state_->workers.emplace_back(
                [state = state_.get()] { state->mine_all(state->ending.get_token()); });
    } catch (...) {
        close();
        throw;
    }
}

elephant_surrogate_miner::~elephant_surrogate_miner() {
    close();
}

void elephant_surrogate_miner::add(binned_spikes surrogate, const std::stop_token& stop) {
    const auto lock = state_->locked_when(
        [this] { return state_->waiting.size() < state_->workers.size(); }, stop);
    state_->waiting.push_back(std::move(surrogate));
    ++state_->unfinished;
    state_->added.notify_one();
}

pvalue_spectrum elephant_surrogate_miner::spectrum(const std::stop_token& stop) {
    const auto lock = state_->locked_when([this] { return state_->unfinished == 0; }, stop);
    return spectrum_of(state_->tally, state_->options.rule());
}

void elephant_surrogate_miner::close() {
    state_->ending.request_stop();
    state_->workers.clear();
}

option_list describe(elephant_spectrum_options& options) {
    surrogate_options& surrogates = options.surrogates;
    joint_isi_options& isi = surrogates.joint_isi;
    option_list list = describe(options.mining);
    list.add("surrogates", surrogates.surrogates, "number of surrogates");
    list.add("method", surrogates.method, "how surrogates are made");
    list.add("dither", surrogates.dither, "largest distance by which spikes or trials are moved");
    list.add("seed", surrogates.seed, "random seed");
    list.add("refractory_period", surrogates.refractory_period, "dead time between two spikes");
    list.add("sliding", surrogates.sliding, "shuffle a block from every bin on");
    list.add("edges", options.drop_at_edges, "drop spikes that leave the recording");
    list.add("truncation_limit", isi.truncation_limit, "longest interval included");
    list.add("n_bins", isi.bins, "number of bins along each axis");
    list.add("sigma", isi.sigma, "width of the Gaussian filter");
    list.add("alternate", isi.alternate, "move every second spike first");
    list.add("use_sqrt", isi.use_sqrt, "take the square root of the counts");
    list.add("cutoff", isi.cutoff, "allow no interval below the dead time");
    list.add("steps", isi.steps, "how far a spike may move");
    list.add("isi_refractory_period", isi.refractory_period, "upper bound of the dead time");
    list.add("bin_size", options.bin, "width of a bin");
    list.add("in_seconds", options.in_seconds, "whether spike trains are in seconds");
    list.add("trial_length", options.trial_length, "length of a trial");
    list.add("trial_separation", options.trial_separation, "gap between two trials");
    return list;
}

pvalue_spectrum elephant_spectrum(const spike_sequence& spikes,
                                  const elephant_spectrum_options& options, const execution& run) {
    const elephant_mining_options& mining = options.mining;
    const binning_options bins{
        .bin = options.bin,
        .span = spikes.span(),
        .compat = options.in_seconds ? compatibility::elephant : compatibility::elephant_ms};
    surrogate_options how = options.surrogates;
    how.edges = options.drop_at_edges ? surrogate_edges::drop : surrogate_edges::clamp;
    if (options.trial_length)
        how.trials = regular_trials(spikes.span(), *options.trial_length, options.trial_separation,
                                    bins.compat);
    const surrogate_maker maker(spikes, how, bins);
    if (mining.is_impossible()) {
        maxima_tally none(mining.spectrum, mining.window_bins);
        none.add(maxima_of({}, mining, run.stop));
        return spectrum_of(none, mining.rule());
    }
    const auto tally =
        tally_surrogates([&](std::uint32_t which) { return maker.make(which); }, how.surrogates,
                         mining.window_bins, mining.mining, mining.spectrum, run);
    return spectrum_of(tally, mining.rule());
}

}  // namespace spikeweave
