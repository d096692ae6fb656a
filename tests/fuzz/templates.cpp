#include "fuzz/harness.hpp"
#include "spikeweave/sort/online.hpp"

namespace spikeweave::fuzz {

SPIKEWEAVE_FUZZ_TARGET(templates, parts, nullptr) {
    const auto path = folder.file(
        "rig.templates", bytes.starts_with("PK") ? std::string(bytes) : zip_of(parts_of(bytes)));
    const template_set first = read_templates(path);
    if (first.unit_count() == 0) return;
    const auto again = folder.path() / "again.templates";
    write_templates(again, first);
    const std::string written = read_bytes(again);
    write_templates(again, read_templates(again));
    require(read_bytes(again) == written, "templates come back as others");
}

}  // namespace spikeweave::fuzz
