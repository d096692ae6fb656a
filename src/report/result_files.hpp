#pragma once

#include <string_view>
#include <vector>

#include "spikeweave/report/output_place.hpp"

namespace spikeweave::report {

/// All files that a folder of results can have, for `io::result_folder`.
std::vector<std::string_view> files_of(result_kind kind);

}  // namespace spikeweave::report
