#pragma once

// A program that sends spikes as docs/formats.md describes it, without sockets and clocks.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "live/sources/sender_messages.hpp"

namespace spikeweave::live {

class model_sender {
public:
    struct sent_frame {
        std::vector<std::int64_t> times_us{};
        std::vector<unit_id> units{};
        std::int64_t watermark_us = 0;
    };

    model_sender(sender_hello hello, std::vector<sent_frame> script)
        : hello_(std::move(hello)), script_(std::move(script)) {}

    /// What it sends next, if it may send anything. It says hello first.
    std::optional<std::string> next_message() {
        if (!said_hello_) {
            said_hello_ = true;
            is_greeted_ = false;
            if (base_) hello_.next = *base_ + acknowledged_ + 1;
            return hello_message(hello_);
        }
        if (!is_greeted_ || sent_ == script_.size() || sent_ >= limit_) return {};
        const sent_frame& frame = script_[sent_++];
        return spike_frame_message(*base_ + sent_, frame.watermark_us, sent_ == script_.size(),
                                   frame.times_us, frame.units);
    }

    void take(const sender_answer& answer) {
        if (answer.asks_for_hello || !answer.error.empty()) return say_hello_again();
        if (answer.next && !base_) base_ = *answer.next - 1;
        if (!base_) return;
        acknowledged_ = std::max(acknowledged_, answer.acknowledged - *base_);
        limit_ = std::max(limit_, answer.acknowledged + answer.credit - *base_);
        if (!answer.next) return;
        is_greeted_ = true;
        sent_ = *answer.next - 1 - *base_;
    }

    /// Nothing has been heard for a while, or something was lost.
    void say_hello_again() { said_hello_ = false; }

    bool is_done() const { return acknowledged_ == script_.size(); }
    std::uint64_t acknowledged() const { return acknowledged_; }

private:
    sender_hello hello_;
    std::vector<sent_frame> script_;
    std::optional<std::uint64_t> base_{};  // the number before that of the first frame
    std::uint64_t sent_ = 0;               // since hello; as below, counted from the first frame
    std::uint64_t acknowledged_ = 0;
    std::uint64_t limit_ = 0;
    bool said_hello_ = false;
    bool is_greeted_ = false;
};

}  // namespace spikeweave::live
