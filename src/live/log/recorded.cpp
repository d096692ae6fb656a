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
    if (!block) log_->set_warnings(from_->sampling().value_or(sampling_state{}).warnings);
    if (block && !block->new_units.empty())
        if (const auto learned = from_->learned()) log_->record_templates(archive_of(*learned));
    if (block && !(*block == source_block{})) log_->record(*block);
    return block;
}

// Detections that are known, and counts in windows of blocks that were recorded, have been given
// before.
void recorded_results::take(const event& what) {
    bool is_new = true;
    what.visit(handlers{[&](const detection& one) {
                            is_new = known_detections_ == 0;
                            if (is_new)
                                log_->record(one, epoch_);
                            else
                                --known_detections_;
                        },
                        [&](const mined_window& window) { log_->record(window); },
                        [&](const counts_in_window&) { is_new = repeated_ == 0; },
                        [&](const arming_change& change) {
                            if (!change.was_told) log_->record(change, place().input);
                        },
                        [&](const epoch_ended&) { ++epoch_; },
                        [&](const session_ends&) { log_->begin_end(); },
                        [&](const session_ended& end) { log_->end(end.counts); }});
    if (is_new) to_->take(what);
}

// All blocks before the last one had been processed with what is recorded of them.
record_place recorded_results::place() const {
    const std::int64_t last = log_->recorded_inputs();
    return {repeated_ > 0 ? repeated_ : last,
            known_detections_ == 0 && (repeated_ == 0 || repeated_ == last)};
}

}  // namespace spikeweave::live
