#include "fuzz/recordings.hpp"

namespace spikeweave::fuzz {

SPIKEWEAVE_FUZZ_TARGET(spikeglx, parts, nullptr) {
    write_parts(folder, bytes, {"a.meta", "a.bin"});
    read_recording_and_write_again(folder, folder.path() / "a.meta",
                                   {.format = recording_format::spikeglx});
}

}  // namespace spikeweave::fuzz
