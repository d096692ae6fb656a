#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "io/npy.hpp"

namespace spikeweave::sort {

/// Reads all items in blocks, so that a damaged header cannot ask for more memory than the file has
/// items. @throws io_error as the reader does, and for data after the items.
template <class Item>
std::vector<Item> read_whole(io::npy_reader& array) {
    std::vector<Item> items;
    constexpr std::size_t block = 4096;
    for (std::size_t got = block; got == block;) {
        items.resize(items.size() + block);
        got = array.read(std::span{items}.last(block));
        items.resize(items.size() - block + got);
    }
    array.expect_end();
    return items;
}

}  // namespace spikeweave::sort
