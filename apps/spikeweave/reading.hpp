#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "cli.hpp"
#include "spikeweave/spikes/files.hpp"

namespace spikeweave::cli {

/// The options that every verb has which reads spikes.
inline void add_reading(CLI::App& app, std::string& path, spike_read_options& how) {
    app.add_option("FILE", path, "file or folder of spikes; - is standard input")
        ->required()
        ->type_name("");
    add_value(
        app, "--format", how.format, value_named<spike_format>,
        "how the file is read, instead of by its content: text, wagenaar, meabench, npy, npz, "
        "phy, klustakwik or nwb")
        ->type_name("NAME");
    app.add_option("--time-unit", how.time_unit,
                   "unit of the times in text and npy files: s, ms, us or samples:RATE; without it "
                   "what the file says, else seconds")
        ->type_name("UNIT");
    app.add_flag("--allow-negative", how.allow_negative, "take times before zero");
}

}  // namespace spikeweave::cli
