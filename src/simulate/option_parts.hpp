#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "spikeweave/core/options.hpp"

/// The common options of several models.
namespace spikeweave::simulate {

constexpr auto option_group = "Simulation";

/// Numbers may repeat, and "none" is written for an empty list.
option& add_numbers(option_list& list, std::string name, std::vector<std::uint32_t>& numbers,
                    std::string help);
void add_number_of(option_list& list, std::string name, std::uint32_t& field, std::string help);
void add_length(option_list& list, duration& length);
void add_seed(option_list& list, std::uint64_t& seed);

}  // namespace spikeweave::simulate
