#pragma once

#include <string>

#include "report/run_json.hpp"
#include "spikeweave/report/episodes/windows.hpp"

/// What windows say of the course of a recording: how stable its circuit is, and when it changes.
namespace spikeweave::report {

/// `change_points.tsv`; the result must have changes.
std::string change_points_tsv(const windowed_episode_report& report);
/// The same of all units and findings together, for `run.json`.
json change_points_json(const windowed_episode_report& report);
/// As sentences, for a terminal.
std::string stability_text(const windowed_episode_report& report);
std::string changes_text(const windowed_episode_report& report);

}  // namespace spikeweave::report
