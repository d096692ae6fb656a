#include "live/log/recorded.hpp"

namespace spikeweave::live {

std::optional<source_block> recorded_source::next() {
    auto block = from_->next();
    if (block && !(*block == source_block{})) log_->record(*block);
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
    log_->record(window, epoch_);
    to_->mined(window);
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
