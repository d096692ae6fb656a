#include "spikeweave/mine/episodes.hpp"
#include "spikeweave/mine/episodes/detector.hpp"

namespace spikeweave {
namespace {

constexpr auto ties_help =
    "whether the next occurrence of an episode has to begin later than the last one ended (time), "
    "or may begin with another spike of the same time (order, as TDMiner counts); matters only if "
    "many spikes are simultaneous";

template <class Options>
void add_counting(option_list& list, Options& options) {
    list.begin_group("Computation");
    list.add(
        "strategy", options.strategy,
        "algorithm to count with; all give the same counts, and the result names the one that ran");
    list.add("compaction", options.compaction,
             "how the strategy occurrences builds its lists on GPUs");
    list.add(
        "split", options.split,
        "how to divide the work between several GPUs: each counts some candidates in the whole "
        "recording, or each counts in a segment of time (latest-start only); automatic "
        "divides by time if the recording is too long for one GPU or there are fewer "
        "candidates than GPUs");
}

void add_threshold(option_list& list, episode_mining_options& options) {
    list.add("min_count", options.min_count, "minimum number of occurrences")
        .basic()
        .at_least(1)
        .by_default(
            "chosen from the data: a twentieth of the spikes of a typical (median) unit, never "
            "below "
            "10, and more where over 32 pairs per unit would be frequent");
    list.add("min_fraction", options.min_fraction,
             "instead of `min_count`: the minimum as a fraction of all spikes, rounded up")
        .above(0)
        .at_most(1)
        .written("F")
        .not_with({"min_count"});
    list.add("min_rate", options.min_rate,
             "instead of `min_count`: the minimum as occurrences per second")
        .above(0)
        .written("HZ")
        .not_with({"min_count", "min_fraction"});
}

}  // namespace

option_list describe(episode_mining_options& options) {
    option_list list;
    list.begin_group("Search");
    list.add("delays", options.delays,
             "intervals for the delay from one spike of a chain to the next, such as 0-5ms,5-10ms; "
             "each excludes its lower bound and includes its upper bound")
        .basic()
        .written("LOW-HIGH,...");
    option& grid = list.add("delay_grid", options.delays,
                            "instead of `delays`, intervals of equal width: 0ms:20ms:5ms is "
                            "0-5ms,5-10ms,10-15ms,15-20ms");
    grid.written("LOW:HIGH:STEP").not_with({"delays"});
    grid.get = [] { return nullptr; };
    grid.put = [&delays = options.delays](const option_value& value) {
        delays = parse_delay_grid(std::get<std::string>(value));
    };
    grid.field.reset();
    add_threshold(list, options);
    list.add("max_size", options.max_size, "search for episodes of at most this many spikes")
        .basic()
        .unset_is("no limit");
    list.add("self_repeats", options.self_repeats, "allow a unit to follow itself");
    list.add("ties", options.ties, ties_help);
    add_counting(list, options);
    list.add("pairs", options.pairs,
             "how the strategy latest-start counts pairs: merge suits few units and wide "
             "intervals, look-back many "
             "units that rarely follow each other");
    list.add(
            "max_memory", options.max_memory_bytes,
            "memory limit, such as 2GB or 512MiB; if more is needed, the search ends with an error")
        .unset_is("the memory used at the start plus four fifths of the free memory")
        .in_bytes();
    return list;
}

option_list describe(episode_detector_options& options) {
    option_list list;
    list.begin_group("Search");
    list.add("ties", options.ties, ties_help);
    return list;
}

option_list describe(episode_count_options& options) {
    option_list list;
    list.begin_group("Search");
    list.add("ties", options.ties, ties_help);
    add_counting(list, options);
    return list;
}

}  // namespace spikeweave
