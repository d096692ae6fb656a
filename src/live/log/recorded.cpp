#include "live/log/recorded.hpp"

namespace spikeweave::live {

std::optional<source_block> recorded_source::next() {
    auto block = from_->next();
    if (block) log_->record(*block);
    return block;
}

void recorded_results::detected(const episode_detection& detection) {
    if (known_detections_ > 0) {
        --known_detections_;
        return;
    }
    log_->record(detection, epoch_);
    to_->detected(detection);
}

void recorded_results::mined(const mined_window& window) {
    log_->record(window);
    to_->mined(window);
}

// Those of blocks that were recorded have been given before.
void recorded_results::counted(const time_span& window, std::span<const std::uint64_t> counts) {
    if (replayed_ == 0) to_->counted(window, counts);
}

void recorded_results::epoch_ended() {
    ++epoch_;
    to_->epoch_ended();
}

void recorded_results::session_ended(const session_counts& counts) {
    log_->end(counts);
    to_->session_ended(counts);
}

}  // namespace spikeweave::live
