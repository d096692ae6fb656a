#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <thread>

namespace spikeweave::cli {

/// Stops a run that takes more memory than it may. It looks from the side, a few times a second, as
/// what a step will take is not known before.
class memory_guard {
public:
    /// @param most   bytes of this process; 0: no bound
    /// @param asked  stops the run too
    memory_guard(std::uint64_t most, const std::stop_token& asked);

    /// Requested when the bound is passed, and when `asked` is.
    std::stop_token stop() const { return source_.get_token(); }
    /// @throws invalid_argument if the bound was passed.
    void check() const;

private:
    std::uint64_t most_;
    std::stop_source source_{};
    std::stop_callback<std::function<void()>> asked_;
    std::jthread watch_{};
};

}  // namespace spikeweave::cli
