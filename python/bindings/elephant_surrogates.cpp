#include <nanobind/stl/string.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include "bindings.hpp"
#include "elephant.hpp"
#include "spikes.hpp"
#include "spikeweave/assess/pattern_significance.hpp"
#include "spikeweave/assess/surrogates.hpp"
#include "spikeweave/parallel/thread_count.hpp"

namespace spikeweave::python {
namespace {

using std::chrono_literals::operator""ms;

occurrence_maxima maxima_of(const binned_spikes& spikes, const elephant_mining& how,
                            const std::stop_token& stop) {
    if (how.is_impossible)
        return {.durations = how.kind == spectrum_kind::size_count ? 1 : how.window_bins};
    const spade_windows windows(spikes, how.window_bins, stop);
    return find_occurrence_maxima(windows, how.options, how.kind, {.threads = 1, .stop = stop});
}

nb::dict spectrum_of(const maxima_tally& tally, const elephant_mining& how) {
    const pattern_rule& rule = how.rule();
    const pvalue_spectrum spectrum =
        tally.make_spectrum(rule.min_spikes, rule.max_spikes, rule.min_occ);
    const auto& entries = spectrum.entries;
    nb::dict out;
    out["sizes"] = column<std::uint32_t>(entries, [](const auto& e) { return e.what.size; });
    out["counts"] = column<std::uint32_t>(entries, [](const auto& e) { return e.what.count; });
    out["durations"] =
        column<std::uint32_t>(entries, [](const auto& e) { return e.what.duration; });
    out["p"] = column<double>(entries, [](const auto& e) { return e.p; });
    return out;
}

// Mines surrogates on threads of its own while Python makes the next ones.
class surrogate_miner {
public:
    explicit surrogate_miner(const nb::dict& arguments)
        : surrogate_miner(keyword_arguments(arguments)) {}
    surrogate_miner(const surrogate_miner&) = delete;
    surrogate_miner(surrogate_miner&&) = delete;
    surrogate_miner& operator=(const surrogate_miner&) = delete;
    surrogate_miner& operator=(surrogate_miner&&) = delete;
    ~surrogate_miner() { close(); }

    // Ends the threads, whatever is left to do.
    void close() {
        stop_.request_stop();
        const nb::gil_scoped_release unlocked;
        workers_.clear();
    }

    // Waits while there are enough to do already.
    void add(const array_in<std::uint64_t>& offsets, const array_in<std::uint32_t>& bins,
             std::uint32_t bin_count) {
        binned_spikes surrogate = binned_of(offsets, bins, bin_count);
        wait_until([this] { return waiting_.size() < workers_.size(); });
        const std::lock_guard lock(guard_);
        waiting_.push_back(std::move(surrogate));
        ++unfinished_;
        added_.notify_one();
    }

    nb::dict spectrum() {
        wait_until([this] { return unfinished_ == 0; });
        return spectrum_of(tally_, how_);
    }

private:
    explicit surrogate_miner(keyword_arguments&& how)
        : how_(take_mining(how)), tally_(how_.kind, how_.window_bins) {
        const call_options call = how.take_call();
        how.check_all_known();
        const int threads = thread_count({.threads = call.threads});
        try {
            for (int i = 0; i < threads; ++i)
                workers_.emplace_back([this] { mine_all(stop_.get_token()); });
        } catch (...) {
            close();
            throw;
        }
    }

    void mine_all(const std::stop_token& stop) {
        std::unique_lock lock(guard_);
        while (added_.wait(lock, stop, [this] { return !waiting_.empty(); })) {
            const binned_spikes surrogate = std::move(waiting_.front());
            waiting_.pop_front();
            lock.unlock();
            std::exception_ptr error;
            occurrence_maxima maxima;
            try {
                maxima = maxima_of(surrogate, how_, stop);
            } catch (...) {
                error = std::current_exception();
            }
            lock.lock();
            if (error)
                error_ = error;
            else
                tally_.add(maxima);
            --unfinished_;
            changed_.notify_all();
        }
    }

    template <class Condition>
    void wait_until(Condition done) {
        if (workers_.empty()) throw invalid_argument("a miner that is closed mines no more");
        constexpr auto patience = 50ms;
        for (;;) {
            {
                const nb::gil_scoped_release unlocked;
                std::unique_lock lock(guard_);
                const bool over =
                    changed_.wait_for(lock, patience, [&] { return error_ || done(); });
                if (error_) std::rethrow_exception(error_);
                if (over) return;
            }
            if (PyErr_CheckSignals() != 0) {
                stop_.request_stop();
                throw nb::python_error();
            }
        }
    }

    elephant_mining how_;
    maxima_tally tally_;
    std::mutex guard_;
    std::condition_variable_any added_;
    std::condition_variable changed_;
    std::deque<binned_spikes> waiting_;
    std::size_t unfinished_ = 0;
    std::exception_ptr error_;
    std::stop_source stop_;
    std::vector<std::jthread> workers_;  // last: they end before what they use
};

surrogate_options take_surrogates(keyword_arguments& how) {
    surrogate_options out;
    how.take("surrogates", out.surrogates);
    how.take("method", out.method, value_named<surrogate_method>);
    how.take("dither", out.dither);
    how.take("seed", out.seed);
    how.take("refractory_period", out.refractory_period);
    how.take("sliding", out.sliding);
    bool edges = true;
    how.take("edges", edges);
    out.edges = edges ? surrogate_edges::drop : surrogate_edges::clamp;
    how.take("truncation_limit", out.joint_isi.truncation_limit);
    how.take("n_bins", out.joint_isi.bins);
    how.take("sigma", out.joint_isi.sigma);
    how.take("alternate", out.joint_isi.alternate);
    how.take("use_sqrt", out.joint_isi.use_sqrt);
    how.take("cutoff", out.joint_isi.cutoff);
    std::string steps = "window";
    how.take("steps", steps);
    if (steps != "window" && steps != "fast")
        throw invalid_argument("method: expected 'window' or 'fast', found '" + steps + "'");
    out.joint_isi.steps = steps == "fast" ? joint_isi_steps::fast : joint_isi_steps::window;
    how.take("isi_refractory_period", out.joint_isi.refractory_period);
    return out;
}

// The spectrum of surrogates that the library makes itself.
nb::dict own_spectrum(const shared_spikes& spikes, const nb::dict& arguments) {
    keyword_arguments how(arguments);
    const elephant_mining mining = take_mining(how);
    surrogate_options options = take_surrogates(how);
    binning_options bins{.span = spikes.sequence->span()};
    how.take("bin_size", bins.bin);
    bool in_seconds = true;
    how.take("in_seconds", in_seconds);
    bins.compat = in_seconds ? compatibility::elephant : compatibility::elephant_ms;
    std::optional<duration> trial_length;
    duration trial_separation{};
    how.take("trial_length", trial_length);
    how.take("trial_separation", trial_separation);
    if (trial_length)
        options.trials =
            regular_trials(spikes.sequence->span(), *trial_length, trial_separation, bins.compat);
    const call_options call = how.take_call();
    how.check_all_known();
    const maxima_tally tally = run_for_result(call, [&](const execution& run) {
        const surrogate_maker maker(*spikes.sequence, options, bins);
        if (mining.is_impossible) {
            maxima_tally none(mining.kind, mining.window_bins);
            none.add(maxima_of({}, mining, run.stop));
            return none;
        }
        return tally_surrogates([&](std::uint32_t which) { return maker.make(which); },
                                options.surrogates, mining.window_bins, mining.options, mining.kind,
                                run);
    });
    return spectrum_of(tally, mining);
}

}  // namespace

void bind_elephant_surrogates(nb::module_& m) {
    nb::class_<surrogate_miner>(m, "ElephantSurrogateMiner")
        .def(nb::init<const nb::dict&>(), nb::arg("given"))
        .def("add", &surrogate_miner::add, nb::arg("offsets"), nb::arg("bins"),
             nb::arg("bin_count"))
        .def("spectrum", &surrogate_miner::spectrum)
        .def("close", &surrogate_miner::close);
    m.def("elephant_own_spectrum", &own_spectrum, nb::arg("spikes"), nb::arg("given"));
}

}  // namespace spikeweave::python
