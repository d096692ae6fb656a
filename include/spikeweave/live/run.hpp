#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "spikeweave/core/execution.hpp"
#include "spikeweave/core/export.hpp"
#include "spikeweave/core/options.hpp"
#include "spikeweave/live/arming.hpp"
#include "spikeweave/live/triggers.hpp"
#include "spikeweave/mine/episodes.hpp"
#include "spikeweave/mine/episodes/windows.hpp"
#include "spikeweave/record/motion.hpp"
#include "spikeweave/record/recording.hpp"
#include "spikeweave/spikes/files.hpp"

/// The analysis of a recording while it runs, as one call: armed episodes are detected, and windows
/// are mined. docs/live.md shows its use, docs/algorithms/live.md defines the results.
namespace spikeweave {

/// An episode by the names of its units.
struct named_episode {
    std::vector<std::string> units{};
    std::vector<delay_interval> delays{};
};

/// Takes as much of the beginning of `lines` as it can without waiting, and returns the number of
/// bytes. What it does not take is given again later, so nothing may be between a part and the
/// next.
using line_taker = std::function<std::size_t(std::string_view lines)>;

struct live_options {
    /// The speed at which a file is played, relative to the recording; 0 means as fast as possible.
    double speed = 1;
    /// The templates of the units whose spikes are found in the samples of a recording, of
    /// "open-ephys-continuous://HOST:5556", or of raw int16 samples on standard input: a file of
    /// `write_templates`, or a session that has learned its units. Empty: the source has spikes, or
    /// samples whose units are learned.
    std::filesystem::path templates{};
    /// The slow motion of the tissue that is followed in samples, as of `online_sorter`.
    motion_model drift = motion_model::automatic;
    /// The first samples, in which their units are learned if there are no templates, as by
    /// `sort_recording` without `motion`. All samples are then sorted, from the first one on. A
    /// session that is recorded has the templates.
    duration learn = std::chrono::seconds{120};
    /// Receives sentences about this learning, from one thread. May be empty.
    std::function<void(std::string_view sentence)> tell{};
    /// The options of reading a recording; of several streams, that of `stream`. Those of raw
    /// samples also describe the samples on standard input: with a rate or a number of channels,
    /// it has samples.
    recording_read_options recording{};
    /// The rule by which it is known that no earlier spike will arrive: "source", "block" or
    /// "lateness:30ms". Null: as the source needs it.
    std::optional<std::string> order{};
    /// The stream of Open Ephys that is analysed, or the probe of SpikeGLX ("imec1"); empty: the
    /// only one that has spikes, or samples.
    std::string stream{};
    /// The number of programs that send spikes to "spikeweave://": nothing is analysed before all
    /// have begun.
    std::uint64_t sources = 1;
    /// The episodes to detect, as `read_armed_episodes` reads them. Empty: none.
    std::filesystem::path episodes{};
    /// More episodes to detect, which follow those of the file.
    std::vector<named_episode> armed{};
    /// The spike of an episode at which it is detected, unless its file says it; 0: its last one.
    std::size_t fire_at = 0;
    /// The patterns to detect, as `read_patterns` reads them. Empty: none.
    std::filesystem::path patterns{};
    /// Which episodes are armed while the analysis runs.
    arming_options arming{};
    /// Which detections are triggers.
    trigger_options triggers{};
    /// Whether windows are mined.
    bool windows = true;
    episode_window_options window{};
    /// Where the results go: files; "-", which is the caller; programs that subscribe,
    /// "zmq://*:5601"; and what acts on detections, "open-ephys-ttl://HOST:5556#line=3",
    /// "open-ephys-message://HOST:5556", "serial:///dev/ttyUSB0#byte=1" and "lsl:NAME", a stream of
    /// the Lab Streaming Layer. Empty: the caller.
    std::vector<std::string> to{};
    /// Whether files that exist are replaced; false: they are an error.
    bool overwrite = true;
    /// The interval of the lines that report the arrivals so far. 0: each second to subscribers,
    /// else at the end.
    duration stats_every{0};
    /// The port of 127.0.0.1 at which metrics are served; 0: none.
    std::uint16_t metrics = 0;
    /// Receives the address of a page that shows the analysis while it runs, at any free port.
    /// Whoever has the address may see the page. Empty: there is none.
    std::function<void(std::string_view address)> dashboard{};
    /// The address of this computer at which the page is served.
    std::string dashboard_address = "127.0.0.1";
    /// The time in which a window has to be mined once it is complete; 0: any. Null: until the next
    /// one is complete, or any if a file is played as fast as possible. A search that needs more,
    /// or more than half of the memory, ends with the sizes that are finished; a window whose time
    /// is over before its search begins is skipped. A window that decides what is armed has three
    /// quarters of this time for its search and the rest for its test.
    std::optional<duration> window_budget{};
    /// The interval at which the counts of the armed episodes in the last window are reported, in
    /// the time of the recording; 0: never.
    duration track_every{0};
    /// The file for a table of the episodes of all windows; empty: none.
    std::filesystem::path window_table{};
    /// The file in which the session is recorded, which must be new; empty: none.
    std::filesystem::path record{};
    /// A recorded session that was interrupted and continues with a stream, whose clock has kept
    /// running, or with the recording whose samples were played; all other options of the analysis
    /// are those of the session. Spikes sent meanwhile count as a lost message, unless they are
    /// sent again; samples sent meanwhile as their number of frames.
    std::filesystem::path resume{};
    /// The source is a recorded session, whose blocks are processed again. The call fails if that
    /// gives other results than were recorded.
    bool verify = false;
    /// The options of reading a spike file.
    spike_read_options reading{};
    int threads = 0;
    /// The device on which samples are filtered and correlated with templates, with the same spikes
    /// as on the CPU. Null: the first GPU for 128 channels or more, else the CPU.
    std::optional<std::vector<int>> devices{};
    /// Whether the thread that takes spikes runs before all others, and no memory is paged out.
    bool realtime = false;
};

SPIKEWEAVE_API option_list describe(live_options& options);
/// The warning about the page at an address that `dashboard` received, if other computers can open
/// it; else empty.
SPIKEWEAVE_API std::string dashboard_notice(const live_options& options, std::string_view address);
/// The files that are written anew.
SPIKEWEAVE_API std::vector<std::filesystem::path> files_of(const live_options& options);
/// Whether the results are given to the caller.
SPIKEWEAVE_API bool are_printed(const live_options& options);

/// Delays of spikes, in milliseconds: that of half of them, of 99 and of 99.9 % is not larger.
struct delays {
    double median_ms = 0;
    double p99_ms = 0;
    double p999_ms = 0;
};

/// The totals of arrivals, losses and results.
struct live_result {
    std::uint64_t units = 0;
    std::uint64_t spikes = 0;      ///< those that were analysed
    std::uint64_t late = 0;        ///< spikes that came too late and were left out
    std::uint64_t duplicates = 0;  ///< second spikes of a unit at a time, which were left out
    std::uint64_t missing = 0;     ///< messages, or frames of samples, that never came
    std::uint64_t unreadable = 0;  ///< messages that could not be read
    std::uint64_t epochs = 0;      ///< the number of times that the clock was set
    std::uint64_t detections = 0;
    std::uint64_t triggers = 0;      ///< the detections that were not suppressed
    std::uint64_t windows = 0;       ///< those that were mined
    std::uint64_t incomplete = 0;    ///< windows of them whose search ended early
    std::uint64_t skipped = 0;       ///< windows that were not mined
    std::uint64_t monitored = 0;     ///< episodes and patterns that were ever armed
    std::uint64_t patterns = 0;      ///< the patterns of them
    std::uint64_t armed = 0;         ///< times that an episode was armed automatically
    std::uint64_t late_changes = 0;  ///< such changes that took effect too late
    std::uint64_t untested = 0;      ///< windows that could not be tested in time, so armed nothing
    std::uint64_t undelivered = 0;   ///< results that a destination did not take
    /// Of the missing frames, those that were left out because too many samples waited.
    std::uint64_t left_out = 0;
    /// The longest time, in seconds, from the arrival of samples to their sorting.
    double most_behind_s = 0;
    /// The delay of spikes that were found in samples after the last of these samples had arrived,
    /// if these were played at a speed.
    std::optional<delays> sorting{};
    /// Warnings about a file that was played, destinations, and units of armed episodes and
    /// patterns that have not fired, as full sentences.
    std::vector<std::string> warnings{};

    bool has_losses() const {
        return late > 0 || missing > 0 || unreadable > 0 || skipped > 0 || undelivered > 0;
    }
};

/// An analysis in a sentence: "2 triggers and 1 suppressed detection in 1,000 spikes of 3 units; 1
/// episode monitored; 11 windows."
SPIKEWEAVE_API std::string summarize(const live_result& result);

/// Warnings about the losses of an analysis from its source, and about the windows that it could
/// not mine, test or act on in time, as full sentences. They name options in backticks.
SPIKEWEAVE_API std::vector<std::string> loss_warnings(const live_result& result);

/// Analyses spikes as they come, until the source ends or a stop is requested; all results of what
/// had come by then are complete.
///
/// @param from    a spike file or a recording, which is played; a file of
/// lines of JSON (".jsonl", ".ndjson") or a named pipe with such lines; "-", which is standard
/// input with such lines; "open-ephys-zmq://HOST:5556" and "open-ephys-events://HOST:5557", a
/// running Open Ephys GUI with the ZMQ Interface or the Event Broadcaster; "lsl:NAME", a stream of
/// the Lab Streaming Layer; or "spikeweave://ADDRESS:5600", where programs send spikes to
/// (`spike_sender`). Samples come from a recording, from "open-ephys-continuous://HOST:5556",
/// "spikeglx://HOST:4142" or "lsl-samples:NAME", or, with `templates` or a description of them,
/// from a named pipe or "-": int16, little-endian, channels fastest
/// @param print   takes the results, lines of JSON, if the caller is one of their destinations;
/// called from any thread, but never from two at once. If it throws, it is given nothing more, and
/// the analysis goes on
/// @param abort   ends the call at once; then it throws `cancelled`
/// @throws invalid_argument if an option is invalid, or something armed is expected by chance more
/// often than `max_false_alarms`; io_error if the source or the file of episodes cannot be read, a
/// destination cannot be opened or the record written, or a session differs from what was recorded.
/// A destination that fails later loses results, which are counted.
SPIKEWEAVE_API live_result run_live(const std::string& from, const live_options& options,
                                    const line_taker& print, const execution& run = {},
                                    const std::stop_token& abort = {});

}  // namespace spikeweave
