#include "fuzz/spikes.hpp"
#include "io/database.hpp"
#include "io/session_schema.hpp"
#ifndef SPIKEWEAVE_FUZZ
#include "live/log/session_file.hpp"
#include "spikeweave/live/recorded_session.hpp"
#endif

namespace spikeweave::fuzz {
namespace {

// A small session, with rows in all tables.
named_bytes session_seeds() {
    const temporary_folder folder;
    const auto path = folder.path() / "s.session";
    {
        const auto file = io::open_database(path, io::database::access::create);
        file->run("PRAGMA page_size = 512; PRAGMA synchronous = OFF");
        io::create_session_tables(*file);
        file->run(
            "INSERT INTO meta VALUES ('order', "
            "'{\"policy\":\"block\",\"lateness_us\":1,\"most_margin_us\":2}'), "
            "('detector', '{\"ties\":\"time\"}'), "
            "('triggers', '{\"max_triggers\":\"10/s\",\"hold_off\":5}'), "
            "('pattern_bin_us', '5000'), "
            "('windows', '{\"window\":20,\"delays\":\"0-5us\",\"min_count\":1}');"
            "INSERT INTO unit VALUES (0, 'a', 0), (1, 'b', 2);"
            "INSERT INTO sender VALUES ('s', 'c', 7, 0);"
            "INSERT INTO armed VALUES (0, '[\"a\",[0,5],\"a\"]', 2), (1, '[[\"a\",0]]', 0);"
            "INSERT INTO input VALUES (1, 9, 0, 3, 0, 0, 0, 0, 0, "
            "x'0100000000000000000000000200000000000000000000000300000000000000FF000000', "
            "x'02000000'), "
            "(2, 9, 1, NULL, 1, 2, 3, 4, 5, x'090000000000000001000000', x'');"
            "INSERT INTO detection VALUES (1, 1, 0, 0, 1, 2, x'01000000000000000200000000000000', "
            "1);"
            "INSERT INTO window VALUES (1, 2, 0, 0, 0, 20, 2, 1, 0, 3, 'digest', "
            "'[[2,[\"a\"]]]');");
    }
    return {{"small", read_bytes(path)}};
}

}  // namespace

// A session is read as spikes. The part of the library that libFuzzer follows cannot read the other
// tables.
SPIKEWEAVE_FUZZ_TARGET(session, bytes, session_seeds) {
    const auto path = folder.file("s.session", bytes);
#ifndef SPIKEWEAVE_FUZZ
    try {
        live::session_file file(path);
        while (file.next_block()) {
        }
        while (file.next_detection()) {
        }
        while (file.next_window()) {
        }
        recorded_session(path).each_window([](session_window&&) {});
    } catch (const io_error& error) {
        check_message(error.what());
    }
#endif
    read_and_write_again(folder, path, spike_format::session, bytes);
}

}  // namespace spikeweave::fuzz
