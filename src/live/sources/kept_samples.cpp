#include "live/sources/kept_samples.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "spikeweave/record/sample_source.hpp"

namespace spikeweave::live {
namespace {

// A stream that sends faster than it was recorded, such as a file in a pipe, waits when so much has
// arrived in addition.
constexpr double most_waiting_s = 600;

// Blocks one after another. They are shared with those who sort them later.
class samples_of_blocks : public sample_source {
public:
    samples_of_blocks(std::vector<std::shared_ptr<const sample_block>> blocks, std::size_t channels,
                      std::uint64_t most_frames)
        : blocks_(std::move(blocks)), channels_(channels) {
        for (const auto& each : blocks_) {
            begins_.push_back(frames_);
            frames_ += each->counts.size() / channels_;
        }
        frames_ = std::min(frames_, most_frames);
    }

    std::uint64_t frame_count() const override { return frames_; }

    void read(std::uint64_t first, std::span<std::int16_t> into) const override {
        auto block = static_cast<std::size_t>(std::ranges::upper_bound(begins_, first) -
                                              begins_.begin() - 1);
        std::size_t at = (first - begins_[block]) * channels_;
        while (!into.empty()) {
            const std::span counts = std::span(blocks_[block]->counts).subspan(at);
            const std::size_t count = std::min(counts.size(), into.size());
            std::ranges::copy(counts.first(count), into.begin());
            into = into.subspan(count);
            at = 0;
            ++block;
        }
    }

private:
    std::vector<std::shared_ptr<const sample_block>> blocks_;
    std::vector<std::uint64_t> begins_{};  // first frames
    std::size_t channels_;
    std::uint64_t frames_ = 0;
};

}  // namespace

kept_samples::kept_samples(std::unique_ptr<sample_stream> from,
                           std::function<recording_description(recording_description)> described)
    : from_(std::move(from)), described_(std::move(described)), of_(from_->description()) {}

kept_samples::~kept_samples() {
    const std::lock_guard lock(guard_);
    stops_reading_ = true;
    changed_.notify_all();
}

std::optional<kept_samples::waiting_block> kept_samples::read() {
    std::optional<sample_block> got = from_->next();
    if (!got) return {};
    return waiting_block{std::make_shared<const sample_block>(std::move(*got)),
                         from_->arrived_after()};
}

bool kept_samples::keep_next() {
    std::optional<waiting_block> got = read();
    is_over_ = !got;
    if (is_over_ || *got->samples == sample_block{}) return !is_over_;
    const std::vector<std::int16_t>& counts = got->samples->counts;
    if (!counts.empty() && !std::exchange(is_described_, true))
        of_ = described_(from_->description());
    if (!counts.empty()) waiting_frames_ += counts.size() / of_.channels.size();
    waiting_.push_back(std::move(*got));
    frames_ = waiting_frames_;
    return true;
}

recording kept_samples::kept(std::uint64_t most_frames) const {
    std::vector<std::shared_ptr<const sample_block>> blocks;
    for (const waiting_block& each : waiting_)
        if (!each.samples->counts.empty()) blocks.push_back(each.samples);
    return {of_, std::make_shared<samples_of_blocks>(std::move(blocks), of_.channels.size(),
                                                     most_frames)};
}

void kept_samples::read_ahead() {
    if (is_over_ || !from_->arrived_after()) return;
    reading_ = std::jthread([this] { read_until_taken(); });
}

bool kept_samples::has_room() const {
    return static_cast<double>(waiting_frames_) <
           static_cast<double>(frames_) + most_waiting_s * of_.rate_hz;
}

void kept_samples::read_until_taken() {
    std::unique_lock lock(guard_);
    while (!stops_reading_ && !is_over_ && !failure_) {
        std::optional<waiting_block> got;
        std::exception_ptr failure;
        lock.unlock();
        try {
            got = read();
        } catch (...) {
            failure = std::current_exception();
        }
        lock.lock();
        failure_ = failure;
        is_over_ = !got && !failure;
        if (!got || *got->samples == sample_block{}) continue;
        waiting_frames_ += got->samples->counts.size() / of_.channels.size();
        waiting_.push_back(std::move(*got));
        changed_.notify_all();
        changed_.wait(lock, [this] { return stops_reading_ || has_room(); });
    }
    has_read_ = true;
    changed_.notify_all();
}

// Waits for the last block of the thread, if none waits, and then for its end. Null: nothing waits
// any more.
std::optional<kept_samples::waiting_block> kept_samples::take_waiting() {
    std::unique_lock lock(guard_);
    if (reading_.joinable()) {
        stops_reading_ = stops_reading_ || waiting_.empty();
        changed_.wait(lock, [this] { return !waiting_.empty() || has_read_; });
    }
    if (!waiting_.empty()) {
        waiting_block got = std::move(waiting_.front());
        waiting_.pop_front();
        waiting_frames_ -= got.samples->counts.size() / of_.channels.size();
        changed_.notify_all();
        return got;
    }
    lock.unlock();
    if (reading_.joinable()) reading_.join();
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
    return {};
}

std::optional<sample_block> kept_samples::next() {
    std::optional<waiting_block> got = take_waiting();
    const bool has_waited = got.has_value();
    if (!got) {  // the thread has ended
        if (!is_over_) got = read();
        is_over_ = !got;
    }
    if (!got) return {};
    has_waited_ = has_waited;
    arrived_after_ = got->arrived_after;
    return *got->samples;
}

}  // namespace spikeweave::live
