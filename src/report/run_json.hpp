#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "spikeweave/core/time.hpp"
#include "spikeweave/report/run_record.hpp"

namespace spikeweave::report {

using json = nlohmann::ordered_json;

/// What is not UTF-8 (a path may be any bytes) is replaced rather than refused.
std::string text_of(const json& document);
double ms(duration d);
/// A run's record up to what is said of its search.
/// @param contents  what the input held, beside its path, length and digest
json run_json(const run_record& run, const json& contents);

}  // namespace spikeweave::report
