#include "record/files/neuropixels.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace spikeweave::record {
namespace {

// After ProbeTable, the public table of SpikeGLX (probe_features.json, version 1.8).
constexpr std::array<neuropixels_model, 22> models{{
    {"NP1000 NP1001 NP1010 NP1011 NP1012 NP1013 NP1014 PRB_1_2_0480_2 PRB_1_4_0480_1 "
     "PRB_1_4_0480_1_C",
     32, 20, 16, 2, 480, 1, 0, 10, 0, imro_layout::banks},
    {"NP1015 NP1016 NP1017", 32, 20, 0, 2, 480, 1, 0, 10, 0, imro_layout::banks},
    {"NP1020 NP1021", 87, 20, 16, 2, 1248, 1, 0, 10, 0, imro_layout::banks},
    {"NP1022", 103, 20, 0, 2, 1248, 1, 0, 10, 0, imro_layout::banks},
    {"NP1030 NP1031", 87, 20, 16, 2, 2208, 1, 0, 10, 0, imro_layout::banks},
    {"NP1032 NP1033 NP1040 NP1041 NP1042 NP1050 NP1051", 103, 20, 0, 2, 2208, 1, 0, 10, 0,
     imro_layout::banks},
    {"NP1100", 6, 6, 0, 8, 48, 1, 0, 10, 0, imro_layout::banks},
    {"NP1110", 6, 6, 0, 8, 768, 1, 0, 10, 0, imro_layout::groups},
    {"NP1120", 4.5, 4.5, 0, 2, 192, 1, 0, 10, 0, imro_layout::banks},
    {"NP1121", 0, 3, 0, 1, 384, 1, 0, 10, 0, imro_layout::banks},
    {"NP1122", 3, 3, 0, 16, 24, 1, 0, 10, 0, imro_layout::banks},
    {"NP1123", 4.5, 4.5, 0, 12, 32, 1, 0, 10, 0, imro_layout::banks},
    {"NP1200 NP1210", 32, 31, 20, 2, 64, 1, 0, 10, 0, imro_layout::banks},
    {"NP1300 NP1400", 48, 20, 0, 2, 480, 1, 0, 10, 0, imro_layout::banks},
    {"NP2000 PRB2_1_2_0640_0", 32, 15, 0, 2, 640, 1, 0, 14, 80, imro_layout::electrodes},
    {"NP2003 NP2004 NP2005 NP3010 NP3011 NP3012", 32, 15, 0, 2, 640, 1, 0, 12, 100,
     imro_layout::electrodes},
    {"NP2006", 32, 15, 16, 2, 640, 1, 0, 12, 100, imro_layout::electrodes},
    {"NP2010 PRB2_4_2_0640_0", 32, 15, 0, 2, 640, 4, 250, 14, 80, imro_layout::shanks},
    {"NP2013 NP2014 NP2020 NP2021 NP3020 NP3021 NP3022 NP3023 NP3024", 32, 15, 0, 2, 640, 4, 250,
     12, 100, imro_layout::shanks},
    {"NP2022", 20, 15, 16, 2, 640, 4, 2141.45, 12, 100, imro_layout::shanks},
    {"NP2300", 48, 15, 0, 2, 640, 1, 0, 12, 100, imro_layout::electrodes},
    {"NP3000", 0, 15, 0, 1, 128, 1, 0, 10, 0, imro_layout::banks},
}};

bool lists(std::string_view parts, std::string_view part) {
    for (std::size_t begin = 0; begin < parts.size();) {
        const std::size_t end = std::min(parts.find(' ', begin), parts.size());
        if (parts.substr(begin, end - begin) == part) return true;
        begin = end + 1;
    }
    return false;
}

}  // namespace

const neuropixels_model* find_neuropixels(std::string_view part) {
    const auto* const found =
        std::find_if(models.begin(), models.end(),
                     [&](const neuropixels_model& one) { return lists(one.parts, part); });
    return found == models.end() ? nullptr : found;
}

const neuropixels_model* find_neuropixels_of_type(std::string_view type) {
    if (type == "0") return find_neuropixels("NP1000");
    if (type == "21") return find_neuropixels("NP2000");
    if (type == "24") return find_neuropixels("NP2010");
    return find_neuropixels("NP" + std::string(type));
}

contact_place place_of(const neuropixels_model& model, std::uint32_t shank, std::uint32_t column,
                       std::uint32_t row) {
    const double shift = row % 2 == 0 ? model.stagger_um : 0;
    return {model.column_pitch_um * column + shift + model.shank_pitch_um * shank,
            model.row_pitch_um * row};
}

// The 24 groups of NP1110 have 16 channels each: 32 channels in a row belong to two of them, the
// even channels to one and the odd channels to the other. A bank has 48 rows of 8 columns, in which
// a group covers 8 rows of 2 columns, odd channels from the top.
std::uint32_t group_of_channel(std::uint32_t channel) {
    return 2 * (channel / 32) + channel % 2;
}

std::uint32_t contact_of_group(std::uint32_t channel, group_banks banks, group_columns columns) {
    constexpr std::uint32_t columns_of_probe = 8;
    constexpr std::uint32_t rows_of_bank = 48;
    // The pair of columns of a group, in even and in odd banks.
    constexpr std::uint32_t pairs[2][4] = {{0, 3, 1, 2}, {1, 2, 0, 3}};
    const bool odd = channel % 2 != 0;
    const std::uint32_t group = group_of_channel(channel);
    const std::uint32_t within = channel % 32;
    const auto column_in = [&](std::uint32_t bank) {
        const std::uint32_t crossed = bank / 4 % 2;
        const std::uint32_t side = (within / 2 % 2) ^ crossed;
        return 2 * pairs[bank % 2][group % 4] + (odd ? 1 - side : side);
    };
    std::uint32_t bank = banks.first;
    if (columns != group_columns::all) {
        // Inner columns are the odd ones of the left half and the even ones of the right half.
        const std::uint32_t column = column_in(banks.first);
        const bool inner = (column < columns_of_probe / 2) == (column % 2 != 0);
        if (inner != (columns == group_columns::inner)) bank = banks.second;
    }
    const std::uint32_t row = 8 * (group / 4) + (odd ? 7 - within / 4 : within / 4);
    return columns_of_probe * (rows_of_bank * bank + row) + column_in(bank);
}

}  // namespace spikeweave::record
