#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "spikeweave/core/time.hpp"
#include "spikeweave/report/run_record.hpp"

namespace spikeweave::report {

using json = nlohmann::ordered_json;

/// Replaces what is not UTF-8 instead of refusing it, because a path may hold any bytes.
std::string text_of(const json& document);
double ms(duration d);
/// Returns the record of a run without the part about its search.
/// @param contents  content of the input, besides its path, length and digest
json run_json(const run_record& run, const json& contents);

}  // namespace spikeweave::report
