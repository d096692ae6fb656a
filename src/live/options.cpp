#include "spikeweave/core/options.hpp"

#include <algorithm>

#include "live/sinks/destination.hpp"
#include "live/sources/open_source.hpp"
#include "spikeweave/live/run.hpp"

namespace spikeweave {
namespace {

option_list window_options(live_options& options) {
    option_list list = describe(options.window);
    list.change("window").written("TIME|growing");
    list.begin_group("Windows");
    list.add("window_budget", options.window_budget,
             "time for the search of a window once it is complete; after it, the search ends with "
             "the sizes that are finished, and windows whose search could not begin are skipped")
        .above(0)
        .zero_is("none")
        .written("TIME|none")
        .by_default(
            "until the next window is complete; none for files that are played with --speed max");
    return list;
}

void add_armed(option_list& list, live_options& options) {
    list.add("episodes", options.episodes,
             "detect these episodes: a file with one on each line, such as n0 4-6ms n1 4-6ms n2, "
             "or the folder of a result, of which the significant chains and edges are taken; @2 "
             "at the end of a line detects its episode at the second spike")
        .basic()
        .written("EPISODES");
    list.add("fire_at", options.fire_at,
             "detect an episode at this spike of it, counted from 1, unless its line names another "
             "one")
        .unset_is("the last one")
        .only_with("episodes");
    list.add("patterns", options.patterns,
             "detect the patterns of this folder, a result of spikeweave spade; if they were "
             "tested, only the significant ones")
        .written("FOLDER");
    list.add_all(describe(options.arming));
    list.begin_group("Results");
}

void add_source_options(option_list& list, live_options& options) {
    list.begin_group("Source");
    list.add("speed", options.speed,
             "how many times as fast as it was recorded a file is played; max is as fast as "
             "possible")
        .above(0)
        .zero_is("max")
        .written("X|max");
    list.add("order", options.order,
             "how spikeweave knows that no earlier spike will come: source (spikes come in the "
             "order of their times), block (the source says so) or lateness:TIME (a spike comes at "
             "most this long after spikes with later times)")
        .written("ORDER")
        .by_default("what the source needs")
        .obeys([&options] {
            if (options.order) static_cast<void>(live::parse_order(*options.order));
        });
    list.add("stream", options.stream,
             "the stream of Open Ephys that is analysed, if several have spikes")
        .written("NAME");
    list.add("sources", options.sources,
             "how many programs send to spikeweave://; nothing is analysed before all of them have "
             "begun")
        .at_least(1);
    list.add_all(describe(options.reading));
    list.add("templates", options.templates,
             "SOURCE has samples: find the spikes of the units of this file, which spikeweave sort "
             "--save-templates wrote, or of a recorded session that has learned its units")
        .written("FILE")
        .by_default("units are learned in the first samples")
        .not_with({"verify"});
    list.add("drift", options.drift,
             "slow motion of the tissue along the probe that is followed in samples, in steps that "
             "the session records (rigid: the same motion at all depths; blocks: each range of "
             "depths separately; automatic: chosen by the probe; none: it is not followed)")
        .not_with({"verify"});
    list.add("learn", options.learn,
             "length of the first samples in which units are learned, if SOURCE has samples and "
             "there are no `templates`")
        .above(0)
        .not_with({"templates", "verify"});
    option_list samples = describe(options.recording);
    samples.remove("stream");
    for (const option& each : samples)
        samples.change(each.name).not_with({"verify"}).is_basic = false;
    list.add_all(std::move(samples));
}

void add_result_options(option_list& list, live_options& options) {
    list.begin_group("Results");
    add_armed(list, options);
    list.add("to", options.to,
             "where the results go: a file, -, zmq://*:5601 for programs that subscribe, or for "
             "each detection open-ephys-ttl://HOST:5556#line=3, open-ephys-message://HOST:5556, "
             "serial:///dev/ttyUSB0#byte=1 or lsl:NAME; may be repeated")
        .basic()
        .repeated()
        .written("DESTINATION")
        .by_default("-, standard output")
        .obeys([&options] { static_cast<void>(live::parse_destinations(options.to)); });
    list.add("stats_every", options.stats_every,
             "how often a line reports what has arrived and what was lost")
        .unset_is("every second to programs that subscribe, otherwise only at the end");
    list.add("metrics", options.metrics,
             "serve counters and times for Prometheus at http://127.0.0.1:PORT/metrics")
        .unset_is("")
        .written("PORT");
    list.add("window_table", options.window_table,
             "also write the episodes of all windows as a table")
        .written("FILE");
    list.add("record", options.record,
             "record the session in this new file, from which it can be resumed, verified and "
             "converted")
        .basic()
        .written("SESSION");
    list.add("resume", options.resume,
             "continue a recorded session that was interrupted, with its options; SOURCE is a "
             "stream whose clock has kept running, or the recording whose samples were played")
        .written("SESSION")
        .not_with({"record", "episodes", "patterns", "arm"});
    list.add("verify", options.verify,
             "analyse the spikes of a recorded session, SOURCE, again with its options, and "
             "compare the results with the recorded ones; the first difference is an error")
        .not_with({"record", "resume", "to", "stats_every", "metrics", "window_table"});
    list.add("track_every", options.track_every,
             "how often to report the counts of the detected episodes in the last window, in the "
             "time of the recording")
        .unset_is("never");
    list.add_all(describe(options.triggers));
    list.begin_group("Results");
}

}  // namespace

option_list describe(live_options& options) {
    option_list list;
    add_source_options(list, options);
    add_result_options(list, options);
    list.add("windows", options.windows, "mine windows").off_means("mine no windows");
    list.add_all(window_options(options));
    list.begin_group("Computation");
    list.add("threads", options.threads, "number of worker threads; 0 uses all cores")
        .at_most(4096);
    list.add("device", options.devices,
             "where samples are filtered and correlated with templates: cpu, cuda (the first GPU) "
             "or automatic")
        .written("DEVICE")
        .by_default("automatic: the first GPU for 128 channels or more, if there is one")
        .not_with({"verify"});
    list.add("realtime", options.realtime,
             "give the thread that receives spikes priority over all others, and keep all memory "
             "from being paged out; the system has to permit that");
    return list;
}

std::vector<std::filesystem::path> files_of(const live_options& options) {
    std::vector<std::filesystem::path> files;
    for (const live::destination& one : live::parse_destinations(options.to))
        if (one.kind == live::destination_kind::file) files.emplace_back(one.address);
    if (!options.window_table.empty()) files.push_back(options.window_table);
    return files;
}

bool are_printed(const live_options& options) {
    const auto all = live::parse_destinations(options.to);
    return std::ranges::find(all, live::destination_kind::caller, &live::destination::kind) !=
           all.end();
}

}  // namespace spikeweave
