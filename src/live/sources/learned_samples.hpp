#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "live/sources/kept_samples.hpp"
#include "live/sources/sorted_samples.hpp"
#include "live/sources/source.hpp"

namespace spikeweave::live {

/// The units of a recording that samples are sorted by, and those that are used, as of
/// `sorted_samples`.
struct learned_units {
    template_set set{};
    std::vector<std::size_t> used{};
    execution run{.threads = 1};          ///< as of `sorted_samples`
    std::vector<std::string> warnings{};  ///< full sentences
};

/// The options of learning units.
struct unit_learning {
    duration length{};     ///< the first samples, in which they are learned
    motion_model drift{};  ///< that is followed
    std::function<learned_units(const recording& from, const std::stop_token& stop)> learn{};
    /// Receives sentences about it. May be empty.
    std::function<void(std::string_view sentence)> tell{};
};

/// The spikes of units that are learned in the first samples. These, and those that arrive
/// meanwhile, are then sorted from the first one on, so that the spikes are those of a source to
/// which the templates were given.
class learned_samples : public source {
public:
    /// @param stop  ends it within a moment
    learned_samples(std::unique_ptr<kept_samples> from, unit_learning how, std::stop_token stop);
    ~learned_samples() override;
    learned_samples(const learned_samples&) = delete;
    learned_samples& operator=(const learned_samples&) = delete;

    /// Units appear when they are learned.
    const std::vector<std::string>& unit_names() const override { return no_names_; }
    /// @throws invalid_argument if there are no units; also as of the stream.
    std::optional<source_block> next() override;
    std::chrono::steady_clock::time_point arrived_after() const override;
    std::string first_unreadable() const override;
    std::shared_ptr<const template_set> learned() const override { return learned_; }
    std::optional<sampling_state> sampling() const override;

private:
    using clock = std::chrono::steady_clock;

    void keep();
    void begin_to_learn(std::uint64_t frames);
    source_block begin_to_sort();
    void tell(const std::string& sentence) const;

    std::unique_ptr<kept_samples> from_;  // until they are sorted
    const kept_samples* samples_;         // the same, also later
    unit_learning how_;
    std::stop_token stop_;
    std::stop_source learning_stop_{};
    std::vector<std::string> no_names_{};
    std::vector<std::string> warnings_{};
    std::shared_ptr<const template_set> learned_{};
    std::unique_ptr<sorted_samples> sorted_{};
    clock::time_point learned_at_{};
    bool has_caught_up_ = false;
    std::future<learned_units> learning_{};  // the last member: it ends before what it uses
};

}  // namespace spikeweave::live
