#include "mine/spade/devices/search_many.hpp"

#include <algorithm>
#include <exception>
#include <future>
#include <mutex>
#include <optional>
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
    std::uint32_t first;
    std::vector<binned_spikes> recordings;
    maxima_input input;
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
            while (now) {
                device.begin(now->input);
                // Threads make the next batch while the device is at work.
                std::optional<batch> later = make_next(most);
                pass_on(*now, device.end(run_.stop));
                now = std::move(later);
            }
        } catch (...) {
            const std::lock_guard lock(access_);
            next_ = what_.end;  // the other devices need not go on
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
        constexpr std::uint32_t fewest = 32;
        batch out{};
        std::uint32_t size = 0;
        {
            const std::lock_guard lock(access_);
            const std::uint32_t left = what_.end - next_;
            if (left == 0) return std::nullopt;
            const auto share = static_cast<std::uint32_t>(left / (2 * devices_));
            size = std::min({left, most, devices_ > 1 ? std::max(share, fewest) : left});
            out.first = next_;
            next_ += size;
        }
        out.recordings.resize(size);
        parallel::parallel_for(size, quietly(), surrogate_task, [&](std::size_t i) {
            out.recordings[i] = what_.make(out.first + static_cast<std::uint32_t>(i));
        });
        out.input = maxima_input_of(out.recordings, what_.window_bins, kind_);
        return out;
    }

    void pass_on(const batch& searched, const maxima_output& found) {
        parallel::parallel_for(
            searched.recordings.size(), quietly(), surrogate_task, [&](std::size_t i) {
                const bool on_cpu =
                    found.left_out[i] != 0 ||
                    (options_.take_identical_windows &&
                     may_have_identical_windows(searched.recordings[i], what_.window_bins));
                const occurrence_maxima maxima = on_cpu ? search_on_cpu(searched.recordings[i])
                                                        : found.of(i, searched.input.shape);
                const std::lock_guard lock(access_);
                take_(searched.first + static_cast<std::uint32_t>(i), maxima);
                ++done_;
                if (run_.on_progress)
                    run_.on_progress({surrogate_task, done_, what_.end - what_.begin});
            });
    }

    occurrence_maxima search_on_cpu(const binned_spikes& recording) const {
        const spade_windows windows(recording, what_.window_bins, run_.stop);
        return find_occurrence_maxima(windows, options_, kind_, {.threads = 1, .stop = run_.stop});
    }

    std::size_t devices_;
    const many_recordings& what_;
    const pattern_mining_options& options_;
    spectrum_kind kind_;
    const maxima_taker& take_;
    const execution& run_;
    std::mutex access_{};
    std::uint32_t next_;
    std::uint64_t done_ = 0;
};

}  // namespace

void search_many(std::span<const std::unique_ptr<maxima_device>> devices,
                 const many_recordings& what, const pattern_mining_options& options,
                 spectrum_kind kind, const maxima_taker& take, const execution& run) {
    many_search search(devices.size(), what, options, kind, take, run);
    std::vector<std::future<void>> parts;
    parts.reserve(devices.size());
    for (const auto& device : devices)
        parts.push_back(
            std::async(std::launch::async, [&search, &device] { search.run_on(*device); }));
    std::exception_ptr failed;
    for (auto& part : parts) {
        try {
            part.get();
        } catch (...) {
            if (!failed) failed = std::current_exception();
        }
    }
    if (failed) std::rethrow_exception(failed);
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
