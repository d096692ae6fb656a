#pragma once

#include <memory>
#include <optional>
#include <stop_token>

#include "spikeweave/assess/spade.hpp"
#include "spikeweave/assess/surrogates.hpp"
#include "spikeweave/core/compatibility.hpp"
#include "spikeweave/core/execution.hpp"
#include "spikeweave/core/export.hpp"
#include "spikeweave/core/options.hpp"
#include "spikeweave/elephant/mining.hpp"
#include "spikeweave/spikes/binned_spikes.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"

namespace spikeweave {

/// Mines surrogates on its own threads while the caller makes the next ones.
class SPIKEWEAVE_API elephant_surrogate_miner {
public:
    /// @param threads  0 means every core
    explicit elephant_surrogate_miner(const elephant_mining_options& options, int threads = 0);
    ~elephant_surrogate_miner();
    elephant_surrogate_miner(const elephant_surrogate_miner&) = delete;
    elephant_surrogate_miner& operator=(const elephant_surrogate_miner&) = delete;

    /// Adds a surrogate, after waiting until the threads have taken enough of those before it.
    /// @throws the exception of the search; invalid_argument after `close`; cancelled.
    void add(binned_spikes surrogate, const std::stop_token& stop = {});
    /// Waits for all surrogates. @throws like `add`.
    pvalue_spectrum spectrum(const std::stop_token& stop = {});
    /// Ends the threads, whatever is left to do.
    void close();

private:
    struct SPIKEWEAVE_LOCAL state;
    std::unique_ptr<state> state_;
};

/// Options of `elephant_spectrum`.
struct elephant_spectrum_options {
    elephant_mining_options mining{};
    surrogate_options surrogates{};  ///< without `edges` and `trials`
    bool drop_at_edges = true;
    duration bin = std::chrono::milliseconds{5};
    bool in_seconds = true;  ///< whether spike trains are in seconds, otherwise in milliseconds
    /// If set, the recording consists of trials of this length.
    std::optional<duration> trial_length{};
    duration trial_separation{};
};
/// Describes the options under Elephant's names.
SPIKEWEAVE_API option_list describe(elephant_spectrum_options& options);

/// The p-value spectrum that Elephant computes, of surrogates that are made here.
/// @throws invalid_argument if options are out of range; cancelled.
SPIKEWEAVE_API pvalue_spectrum elephant_spectrum(const spike_sequence& spikes,
                                                 const elephant_spectrum_options& options,
                                                 const execution& run = {});

}  // namespace spikeweave
