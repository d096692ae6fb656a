#include "spikeweave/report/run_record.hpp"

#include "io/digest.hpp"

namespace spikeweave {

input_record describe_input(const std::filesystem::path& path, const execution& run) {
    const io::digest digest = io::digest_of(path, run.stop);
    return {path.string(), digest.bytes, std::string(io::digest_algorithm), digest.hex};
}

}  // namespace spikeweave
