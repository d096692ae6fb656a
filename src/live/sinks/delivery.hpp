#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace spikeweave::live {

/// Counts of results that a destination took and did not take. The delivering thread updates it,
/// others may read it at any time.
class delivery_report {
public:
    /// @param to  the destination, as the user names it
    explicit delivery_report(std::string to) : to_(std::move(to)) {}

    const std::string& to() const { return to_; }
    std::uint64_t delivered() const { return delivered_.load(std::memory_order_relaxed); }
    std::uint64_t lost() const { return lost_.load(std::memory_order_relaxed); }
    /// Whether something is or was wrong, also if nothing was lost.
    bool has_trouble() const { return has_trouble_.load(std::memory_order_acquire); }
    /// The last error.
    std::string reason() const;

    void tell_delivered(std::uint64_t results = 1) {
        delivered_.fetch_add(results, std::memory_order_relaxed);
    }
    void tell_lost(const std::string& reason, std::uint64_t results = 1);
    void tell_trouble(const std::string& reason);

private:
    std::string to_;
    std::atomic<std::uint64_t> delivered_{0};
    std::atomic<std::uint64_t> lost_{0};
    std::atomic<bool> has_trouble_{false};
    mutable std::mutex mutex_{};
    std::string reason_{};
};

using delivery_reports = std::vector<std::shared_ptr<const delivery_report>>;

/// Number of results that they did not take, all together.
std::uint64_t undelivered_by(const delivery_reports& reports);

}  // namespace spikeweave::live
