#include "report/replication_json.hpp"

#include <utility>

namespace spikeweave::report {

json replication_json(const replication_record& what, std::optional<other_recording> other) {
    json out{{"searched_s", to_seconds(what.searched)},
             {"tested_s", to_seconds(what.tested_in)},
             {"tested", what.tested}};
    if (what.significant) out["significant"] = *what.significant;
    out["replicated"] = what.replicated;
    if (!other) return out;
    out[other->role] = std::move(other->file);
    out["missing_units"] = std::move(other->missing_units);
    out["untested"] = other->untested;
    return out;
}

}  // namespace spikeweave::report
