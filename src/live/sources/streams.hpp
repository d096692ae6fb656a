#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "live/sources/open_ephys_messages.hpp"
#include "live/sources/sample_stream.hpp"
#include "live/sources/senders.hpp"
#include "live/sources/source.hpp"
#include "spikeweave/core/time.hpp"

/// Sources that come at a speed of their own. All but `spikeglx`, `lsl_stream` and
/// `lsl_sample_stream` throw `invalid_argument` in a build without streams.
namespace spikeweave::live {

/// Reads lines of JSON from a file, a pipe or standard input (`json_lines`).
/// @throws io_error if it cannot be opened or is a terminal.
std::unique_ptr<source> json_lines_stream(const std::string& path,
                                          const std::vector<std::string>& unit_names,
                                          const std::stop_token& stop = {},
                                          duration lateness = duration{0});

/// Receives spikes from a running Open Ephys GUI. Connections that break are made again.
/// @param address     "tcp://HOST:PORT"
/// @param stream      empty: the one that has the first spike
/// @param unit_names  units that are known before they appear
/// @param stop        ends the source within a moment
/// @throws io_error if the address is invalid.
std::unique_ptr<source> open_ephys(open_ephys_sender sender, const std::string& address,
                                   const std::string& stream,
                                   const std::vector<std::string>& unit_names,
                                   const std::stop_token& stop = {});

/// Receives samples from a running Open Ephys GUI, of its plugin ZMQ Interface.
/// @param address  "tcp://HOST:PORT"
/// @param stream   empty: the one that sends samples
/// @param of       the channels and the rate that are expected, as of `open_ephys_samples`
/// @param gain_uv  as there
/// @param stop     ends the source within a moment
/// @param longest_wait  if samples may have waited longer, all that wait are left out, so that they
/// do not need more and more memory; they are missing ones
/// @throws io_error if the address is invalid.
std::unique_ptr<sample_stream> open_ephys_continuous(
    const std::string& address, const std::string& stream, const recording_description& of,
    double gain_uv = 1, const std::stop_token& stop = {},
    std::chrono::milliseconds longest_wait = std::chrono::seconds{5});

/// Fetches samples from a running SpikeGLX, by its command server. A connection that breaks is made
/// again; no run has to be on yet.
/// @param address  "HOST:PORT", or "HOST" if it is the usual one, 4142
/// @param stream, of, gain_uv, watermark_us  as of `spikeglx_samples`
/// @param stop     ends the source within a moment
/// @throws io_error if it cannot be connected; invalid_argument for another address or stream.
std::unique_ptr<sample_stream> spikeglx(const std::string& address, const std::string& stream,
                                        const recording_description& of, double gain_uv = 0,
                                        std::optional<std::int64_t> watermark_us = {},
                                        const std::stop_token& stop = {});

/// Receives spikes from a stream of the Lab Streaming Layer: one channel of text, the name of the
/// unit of a spike, or of whole numbers. Times are those of the samples, in the clock of this
/// computer: the offset of the sender's clock is measured once for each connection. A connection
/// that breaks is made again, which begins a new epoch.
/// @param name        of the stream, which is waited for for some seconds
/// @param unit_names  units that are known before they appear
/// @param stop        ends the source within a moment
/// @param lateness    as of `stream_clock`
/// @throws io_error if liblsl cannot be loaded, there is no such stream or several, or it does not
/// have spikes.
std::unique_ptr<source> lsl_stream(const std::string& name,
                                   const std::vector<std::string>& unit_names,
                                   const std::stop_token& stop = {},
                                   duration lateness = duration{0});

/// Receives samples from a stream of the Lab Streaming Layer that has a rate: int16, or float32 and
/// double64 in microvolts. Times are as of `lsl_stream`, of the first sample; those that follow
/// are as of `lsl_frames`. A connection that breaks is made again.
/// @param of, gain_uv  as of `lsl_frames`
/// @throws io_error as of `lsl_stream`, or if the stream is not as expected.
std::unique_ptr<sample_stream> lsl_sample_stream(const std::string& name,
                                                 const recording_description& of, double gain_uv,
                                                 const std::stop_token& stop = {});

/// Listens for programs that send spikes as docs/formats.md describes it, and acknowledges what
/// they have sent. It ends when all of them have finished.
/// @param address  "tcp://ADDRESS:PORT", of this computer
/// @param stop     ends the source within a moment
/// @throws io_error if it cannot listen.
std::unique_ptr<source> acknowledged_stream(const std::string& address, senders&& from,
                                            const std::stop_token& stop = {});

}  // namespace spikeweave::live
