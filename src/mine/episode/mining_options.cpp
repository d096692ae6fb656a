#include "spikeweave/mine/episode.hpp"

namespace spikeweave {
namespace {

constexpr auto ties_help =
    "when a spike is before another: at an earlier time (time), or earlier in the file (order)";

template <class Options>
void add_counting(option_list& list, Options& options) {
    list.begin_group("Computation (the result does not depend on it)");
    list.add("strategy", options.strategy, "how to count; the result says what ran");
    list.add("compaction", options.compaction, "how the strategy occurrences makes lists on GPUs");
    list.add("split", options.split, "what several GPUs share: candidates, or segments of time");
}

void add_threshold(option_list& list, episode_mining_options& options) {
    list.add("min_count", options.min_count, "least number of occurrences")
        .at_least(1)
        .by_default(
            "a twentieth of the median unit's spikes, at least 10, and such that at most "
            "32 pairs a unit are frequent");
    list.add("min_fraction", options.min_fraction, "the same as a fraction of all spikes")
        .above(0)
        .at_most(1)
        .written("F")
        .not_with({"min_count"});
    list.add("min_rate", options.min_rate, "the same as a number of occurrences per second")
        .above(0)
        .written("HZ")
        .not_with({"min_count", "min_fraction"});
}

}  // namespace

option_list describe(episode_mining_options& options) {
    option_list list;
    list.begin_group("What to look for");
    list.add("delays", options.delays,
             "delay intervals, each without its lower and with its upper bound")
        .written("LOW-HIGH,...");
    option& grid = list.add("delay_grid", options.delays,
                            "instead of `delays`, intervals of equal width, such as 0ms:20ms:5ms");
    grid.written("LOW:HIGH:STEP").not_with({"delays"});
    grid.get = [] { return nullptr; };
    grid.put = [&delays = options.delays](const option_value& value) {
        delays = parse_delay_grid(std::get<std::string>(value));
    };
    grid.field.reset();
    add_threshold(list, options);
    list.add("max_size", options.max_size, "largest episode to look for").unset_is("no bound");
    list.add("self_repeats", options.self_repeats, "let a unit follow itself");
    list.add("ties", options.ties, ties_help);
    add_counting(list, options);
    list.add("pairs", options.pairs, "how the strategy latest-start counts pairs");
    list.add("max_memory", options.max_memory_bytes,
             "stop if the search needs more memory than this, such as 2GB")
        .unset_is("four fifths of what is free")
        .in_bytes();
    return list;
}

option_list describe(episode_count_options& options) {
    option_list list;
    list.begin_group("What to count");
    list.add("ties", options.ties, ties_help);
    add_counting(list, options);
    return list;
}

}  // namespace spikeweave
