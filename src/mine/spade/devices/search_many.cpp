#include "mine/spade/devices/searches.hpp"

#include <algorithm>
#include <functional>
#include <mutex>
#include <numeric>
#include <optional>
#include <set>
#include <stop_token>
#include <vector>

#include "mine/spade/search/miners.hpp"
#include "parallel/parallel_for.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave {
namespace spade {
namespace {

constexpr std::string_view surrogate_task = "mining surrogates";

// Whether all windows of a recording may hold the same items, which is handled by the shortcut of
// `take_identical_windows`: no two spikes share a window unless they share a bin.
bool may_have_identical_windows(const binned_spikes& recording, std::uint32_t window_bins) {
    std::vector<std::uint32_t> bins;
    for (std::uint32_t unit = 0; unit < recording.unit_count(); ++unit) {
        const auto own = recording.bins(unit_id{unit});
        bins.insert(bins.end(), own.begin(), own.end());
    }
    std::ranges::sort(bins);
    return std::ranges::adjacent_find(bins, [&](std::uint32_t a, std::uint32_t b) {
               return a != b && b - a < window_bins;
           }) == bins.end();
}

// Recordings that are searched together.
struct batch {
    std::vector<std::uint32_t> numbers;
    std::vector<binned_spikes> recordings{};
    maxima_input input{};
};

class many_search {
public:
    many_search(std::size_t devices, const many_recordings& what,
                const pattern_mining_options& options, spectrum_kind kind, const maxima_taker& take,
                const execution& run)
        : devices_(devices),
          what_(what),
          options_(options),
          kind_(kind),
          take_(take),
          run_(run),
          next_(what.begin) {}

    /// Searches with one device until no recording is left.
    void run_on(maxima_device& device) {
        try {
            const std::vector<binned_spikes> sample{what_.make(what_.begin)};
            const maxima_shape shape = maxima_input_of(sample, what_.window_bins, kind_).shape;
            if (!can_be_packed(shape)) return run_on_threads();
            const std::uint32_t most = device.most_recordings(shape);
            std::optional<batch> now = make_next(most);
            if (!now) now = make_those_of_threads();
            if (now) device.begin(now->input);
            while (now) {
                // Threads make the next batch, and take the results, while the device is at work.
                std::optional<batch> later = make_next(most);
                const maxima_output found = device.end(run_.stop);
                if (!later) later = make_those_of_threads();
                if (later) device.begin(later->input);
                pass_on(*now, found);
                now = std::move(later);
            }
        } catch (...) {
            end_early();
            throw;
        }
    }

    /// Searches one recording after another with the calling thread, while devices are at work.
    void help() {
        try {
            while (const std::optional<std::uint32_t> which = next_of_thread()) {
                const occurrence_maxima maxima =
                    search_on_cpu(what_.make(*which), stop_threads_.get_token());
                const std::lock_guard lock(access_);
                // It is no longer there if a device took it over.
                if (on_threads_.erase(*which) > 0) take(*which, maxima);
            }
        } catch (const cancelled&) {
            if (run_.stop.stop_requested()) throw;  // otherwise it was no longer needed
        } catch (...) {
            end_early();
            throw;
        }
    }

private:
    // The threads of this process, without progress, which is that of recordings searched.
    execution quietly() const { return {.threads = thread_count(run_), .stop = run_.stop}; }

    void run_on_threads() {
        constexpr std::uint32_t at_once = 256;
        while (const std::optional<batch> now = make_next(at_once))
            pass_on(*now, {.left_out = std::vector<std::uint32_t>(now->recordings.size(), 1)});
    }

    // The next recordings, fewer of them towards the end, so that devices end together.
    std::optional<batch> make_next(std::uint32_t most) {
        constexpr std::uint32_t fewest = 64;
        std::vector<std::uint32_t> numbers;
        {
            const std::lock_guard lock(access_);
            const std::uint32_t left = what_.end - next_;
            if (left == 0) return std::nullopt;
            const auto share = static_cast<std::uint32_t>(left / devices_);
            numbers.resize(std::min({left, most, std::max(share, fewest)}));
            std::iota(numbers.begin(), numbers.end(), next_);
            next_ += static_cast<std::uint32_t>(numbers.size());
        }
        return make(std::move(numbers));
    }

    // A device that has nothing left takes over searches that threads have not finished, because it
    // may be much faster than they are.
    std::optional<batch> make_those_of_threads() {
        std::vector<std::uint32_t> numbers;
        {
            const std::lock_guard lock(access_);
            if (on_threads_.empty()) return std::nullopt;
            numbers.assign(on_threads_.begin(), on_threads_.end());
            on_threads_.clear();
        }
        stop_threads_.request_stop();
        return make(std::move(numbers));
    }

    batch make(std::vector<std::uint32_t> numbers) const {
        batch out{.numbers = std::move(numbers)};
        out.recordings.resize(out.numbers.size());
        parallel::parallel_for(out.numbers.size(), quietly(), surrogate_task, [&](std::size_t i) {
            out.recordings[i] = what_.make(out.numbers[i]);
        });
        out.input = maxima_input_of(out.recordings, what_.window_bins, kind_);
        return out;
    }

    std::optional<std::uint32_t> next_of_thread() {
        const std::lock_guard lock(access_);
        if (next_ == what_.end) return std::nullopt;
        on_threads_.insert(next_);
        return next_++;
    }

    // After a failure no thread needs to continue.
    void end_early() {
        const std::lock_guard lock(access_);
        next_ = what_.end;
        on_threads_.clear();
        stop_threads_.request_stop();
    }

    void pass_on(const batch& searched, const maxima_output& found) {
        parallel::parallel_for(
            searched.recordings.size(), quietly(), surrogate_task, [&](std::size_t i) {
                const binned_spikes& recording = searched.recordings[i];
                const bool on_cpu = found.left_out[i] != 0 ||
                                    (options_.take_identical_windows &&
                                     may_have_identical_windows(recording, what_.window_bins));
                const occurrence_maxima maxima = on_cpu ? search_on_cpu(recording, run_.stop)
                                                        : found.of(i, searched.input.shape);
                const std::lock_guard lock(access_);
                take(searched.numbers[i], maxima);
            });
    }

    // The caller holds the lock.
    void take(std::uint32_t which, const occurrence_maxima& maxima) {
        take_(which, maxima);
        ++done_;
        if (run_.on_progress) run_.on_progress({surrogate_task, done_, what_.end - what_.begin});
    }

    occurrence_maxima search_on_cpu(const binned_spikes& recording,
                                    const std::stop_token& stop) const {
        const spade_windows windows(recording, what_.window_bins, stop);
        return find_occurrence_maxima(windows, options_, kind_, {.threads = 1, .stop = stop});
    }

    std::size_t devices_;
    const many_recordings& what_;
    const pattern_mining_options& options_;
    spectrum_kind kind_;
    const maxima_taker& take_;
    const execution& run_;
    std::mutex access_{};
    std::uint32_t next_;
    std::set<std::uint32_t> on_threads_{};  // those that threads are searching
    std::uint64_t done_ = 0;
    std::stop_source stop_threads_{};
    std::stop_callback<std::function<void()>> stop_with_the_call_{
        run_.stop, [this] { stop_threads_.request_stop(); }};
};

}  // namespace

void search_many(std::span<const std::unique_ptr<maxima_device>> devices,
                 const many_recordings& what, const pattern_mining_options& options,
                 spectrum_kind kind, const maxima_taker& take, const execution& run) {
    many_search search(devices.size(), what, options, kind, take, run);
    const auto helpers = static_cast<std::size_t>(std::max(thread_count(run) - 1, 0));
    // Helpers are not tasks of the pool, whose threads have to be free for what devices wait for.
    parallel::on_own_threads(devices.size() + helpers, [&](std::size_t i) {
        if (i < devices.size())
            search.run_on(*devices[i]);
        else
            search.help();
    });
}

}  // namespace spade

void find_maxima_on_devices(const many_recordings& what, const pattern_mining_options& options,
                            spectrum_kind kind, const maxima_taker& take, const execution& run) {
    spade::check_options(options);
    if (what.begin >= what.end) return;
    if (run.devices.empty()) throw invalid_argument("there is no device to search on");
    std::vector<std::unique_ptr<spade::maxima_device>> devices;
    devices.reserve(run.devices.size());
    for (const int ordinal : run.devices)
        devices.push_back(spade::open_maxima_device(ordinal, spade::maxima_rules_of(options)));
    spade::search_many(devices, what, options, kind, take, run);
}

}  // namespace spikeweave
