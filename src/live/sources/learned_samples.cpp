#include "live/sources/learned_samples.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "spikeweave/core/error.hpp"
#include "spikeweave/core/time.hpp"

namespace spikeweave::live {

learned_samples::learned_samples(std::unique_ptr<kept_samples> from, unit_learning how,
                                 std::stop_token stop)
    : from_(std::move(from)), samples_(from_.get()), how_(std::move(how)), stop_(std::move(stop)) {}

learned_samples::~learned_samples() {
    learning_stop_.request_stop();
}

void learned_samples::tell(const std::string& sentence) const {
    if (how_.tell) how_.tell(sentence);
}

// Waits for the next block until there are enough.
void learned_samples::keep() {
    const bool had_none = from_->kept_frames() == 0;
    const bool goes_on = from_->keep_next();
    if (stop_.stop_requested()) return;
    const double rate_hz = from_->description().rate_hz;
    if (had_none && from_->kept_frames() > 0)
        tell(
            fmt::format("units are learned in the first {:g} s of samples; then all samples are "
                        "sorted, from the first one on",
                        to_seconds(how_.length)));
    if (goes_on && from_->kept_frames() == 0) return;
    const auto enough = static_cast<std::uint64_t>(std::ceil(to_seconds(how_.length) * rate_hz));
    if (!goes_on && from_->kept_frames() == 0)
        throw io_error("the source ended without samples, from which units could be learned");
    if (!goes_on || from_->kept_frames() >= enough) begin_to_learn(enough);
}

void learned_samples::begin_to_learn(std::uint64_t frames) {
    recording first = from_->kept(frames);
    from_->read_ahead();
    learning_ = std::async(std::launch::async,
                           [learn = how_.learn, first = std::move(first),
                            stop = learning_stop_.get_token()] { return learn(first, stop); });
}

// The first block of the session: it names the units.
source_block learned_samples::begin_to_sort() {
    learned_units found = learning_.get();
    learned_at_ = clock::now();
    warnings_ = std::move(found.warnings);
    learned_ = std::make_shared<const template_set>(found.set);
    sorted_ = std::make_unique<sorted_samples>(std::move(from_), std::move(found.set), found.used,
                                               how_.drift, found.run);
    const std::size_t units = learned_->unit_count();
    tell(fmt::format("{} learned, {} used; the samples that have waited are sorted",
                     units == 1 ? "1 unit was" : fmt::format("{} units were", units),
                     found.used.size() == units ? "all" : std::to_string(found.used.size())));
    return {.new_units = sorted_->unit_names()};
}

std::optional<source_block> learned_samples::next() {
    if (sorted_) {
        auto block = sorted_->next();
        if (!has_caught_up_ && block && !samples_->has_waited()) {
            has_caught_up_ = true;
            if (samples_->arrived_after())
                tell(fmt::format(
                    "samples are sorted as they arrive, {:.0f} s after units had been learned",
                    std::chrono::duration<double>(clock::now() - learned_at_).count()));
        }
        return block;
    }
    if (stop_.stop_requested()) return {};
    if (!learning_.valid()) {
        keep();
        return source_block{};
    }
    if (learning_.wait_for(longest_silence) != std::future_status::ready) return source_block{};
    return begin_to_sort();
}

learned_samples::clock::time_point learned_samples::arrived_after() const {
    return sorted_ ? sorted_->arrived_after() : clock::now();
}

std::string learned_samples::first_unreadable() const {
    return samples_->first_unreadable();
}

std::optional<sampling_state> learned_samples::sampling() const {
    sampling_state out = sorted_ ? *sorted_->sampling() : sampling_state{};
    out.warnings.insert(out.warnings.begin(), warnings_.begin(), warnings_.end());
    if (!sorted_)
        out.warnings.push_back(
            fmt::format("No units have been learned, so there are no spikes: {:.0f} of the {:g} s "
                        "of samples that this needs have arrived.",
                        static_cast<double>(samples_->kept_frames()) /
                            std::max(samples_->description().rate_hz, 1.0),
                        to_seconds(how_.length)));
    return out;
}

}  // namespace spikeweave::live
