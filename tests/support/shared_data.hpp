#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

/// The real recordings are next to the checkout, in ../shared/data, or where SPIKEWEAVE_SHARED_DATA
/// says. Without them the test is skipped by name.
inline std::filesystem::path shared_data(const std::filesystem::path& name) {
    const char* const folder = std::getenv("SPIKEWEAVE_SHARED_DATA");
    if (folder != nullptr) return folder / name;
    return std::filesystem::path(SPIKEWEAVE_SOURCE_DIR).parent_path() / "shared" / "data" / name;
}

#define SPIKEWEAVE_NEEDS_SHARED_DATA(name) \
    if (!std::filesystem::exists(shared_data(name))) GTEST_SKIP() << "no " << shared_data(name)
