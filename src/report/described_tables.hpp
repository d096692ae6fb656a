#pragma once

#include <vector>

#include "report/columns.hpp"
#include "spikeweave/report/assemblies.hpp"
#include "spikeweave/report/bursts.hpp"
#include "spikeweave/report/compare.hpp"
#include "spikeweave/report/replay.hpp"
#include "spikeweave/report/track.hpp"

/// The tables of results that are described in one file. What they are of has to outlive them.
namespace spikeweave::report {

std::vector<result_table> tables_of(const assembly_report& from);
std::vector<result_table> tables_of(const burst_report& from);
std::vector<result_table> tables_of(const episode_comparison_report& from);
std::vector<result_table> tables_of(const replay_report& from);
std::vector<result_table> tables_of(const tracking_report& from);

}  // namespace spikeweave::report
