#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "report/run_json.hpp"
#include "report/several.hpp"
#include "spikeweave/assess/episodes/circuit.hpp"
#include "spikeweave/assess/episodes/significance.hpp"
#include "spikeweave/core/execution.hpp"
#include "spikeweave/mine/episodes/windows.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"

namespace spikeweave::report {

/// A page of more windows is slow, and nobody looks at each.
inline constexpr std::size_t most_windows_of_a_page = 1'000;
/// The same of edges and chains that are followed through all windows.
inline constexpr std::size_t most_episodes_of_windows = 2'000;

/// So that at most `most_windows_of_a_page` are shown: each window, every second one, and so on.
std::size_t windows_left_out_for_a_page(std::size_t windows);

/// The spikes of a window, as `mine_episodes` takes them.
spike_sequence spikes_of_window(const spike_sequence& spikes, const window_bounds& bounds);

/// The windows of a recording one after another, for a page that plays them: which edges and chains
/// there are, how often each occurs in each window, and what changed.
class window_series {
public:
    /// @param epochs  all spikes; has to live as long
    /// @param alpha   the level of the tests in a window
    window_series(std::span<const spike_sequence> epochs, tie_rule ties, double alpha)
        : epochs_(epochs), ties_(ties), alpha_(alpha) {}

    /// Takes the next window, with the tests of its episodes and its circuit. Of a window that was
    /// skipped there are none.
    void add(std::size_t epoch, bool has_gap, const episode_window& mined,
             std::span<const episode_test> tests, const circuit& found);

    /// `windows` and `episodes` of the data of a page, and the number of `comparisons`
    /// (docs/formats.md).
    /// @param alpha  the level at which rates differ
    /// @throws cancelled
    json finish(double alpha, const execution& run);

private:
    struct window {
        std::size_t epoch = 0;
        window_bounds bounds{};
        std::size_t spikes = 0;
        std::uint64_t threshold = 0;
        bool has_gap = false;
        std::optional<std::size_t> complete_to{};
        std::map<episode, double> q{};  ///< those below 1
        std::vector<circuit_edge> edges{};
        /// The last window that shares no spike with it, if both can be compared.
        std::optional<std::size_t> since{};
        std::vector<std::uint64_t> counts{};  ///< of all episodes that are followed

        bool is_mined() const { return complete_to != std::size_t{0}; }
        bool inhibits(const episode& what) const;
        /// Of a pair, that of its edge.
        std::optional<double> q_of(const episode& what) const;
        bool is_significant(const episode& what, double alpha) const;
        bool has_tested(const episode& what) const {
            return !complete_to || what.size() <= *complete_to;
        }
    };
    // An episode in two windows.
    struct compared {
        std::size_t window = 0;
        std::size_t episode = 0;
        counted_twice counts{};
    };

    std::optional<std::size_t> window_before(std::size_t number) const;
    void choose_episodes();
    void count(const execution& run);
    std::vector<compared> compare(const execution& run) const;
    json window_json(const window& one) const;
    json found_json(const window& one) const;

    std::span<const spike_sequence> epochs_;
    tie_rule ties_;
    double alpha_;
    std::vector<window> windows_{};
    std::map<episode, std::size_t> circuits_of_{};  ///< in how many circuits each is
    std::vector<episode> episodes_{};               ///< those that are followed
    std::size_t in_circuits_ = 0;                   ///< number of those to follow
};

}  // namespace spikeweave::report
