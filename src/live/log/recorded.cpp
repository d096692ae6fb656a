#include "live/log/recorded.hpp"

namespace spikeweave::live {

// A block is safe when it is on the disk.
recorded_source::recorded_source(source& from, session_log& log) : from_(&from), log_(&log) {
    from.acknowledge_after([&log, before = log.recorded_inputs()] {
        return static_cast<std::uint64_t>(log.durable_inputs() - before);
    });
}

std::optional<source_block> recorded_source::next() {
    auto block = from_->next();
    if (block && !(*block == source_block{})) log_->record(*block);
    return block;
}

void recorded_results::detected(const detection& what) {
    if (known_detections_ > 0) {
        --known_detections_;
        return;
    }
    log_->record(what, epoch_);
    to_->detected(what);
}

void recorded_results::mined(const mined_window& window) {
    log_->record(window);
    to_->mined(window);
}

// Those of blocks that were recorded have been given before.
void recorded_results::counted(const time_span& window, std::span<const std::uint64_t> counts) {
    if (replayed_ == 0) to_->counted(window, counts);
}

void recorded_results::arming_changed(const arming_change& change) {
    if (!change.was_told) log_->record(change, input());
    to_->arming_changed(change);
}

// All blocks before the last one had been processed with what is recorded of them.
bool recorded_results::takes_new_results() const {
    return known_detections_ == 0 && (replayed_ == 0 || replayed_ == log_->recorded_inputs());
}

void recorded_results::epoch_ended() {
    ++epoch_;
    to_->epoch_ended();
}

void recorded_results::session_ends() {
    log_->begin_end();
    to_->session_ends();
}

void recorded_results::session_ended(const session_counts& counts) {
    log_->end(counts);
    to_->session_ended(counts);
}

}  // namespace spikeweave::live
