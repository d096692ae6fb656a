#include "commands/commands.hpp"

#include <array>

namespace spikeweave::cli {

std::span<const command_entry> all_commands() {
    static constexpr std::array<command_entry, 23> commands{{
        {"run", "Analyse a recording: sort it if needed, then find its circuit and chains.",
         &declare_run, true},
        {"example", "Write a small recording with a known answer, to try a command with.",
         &declare_example, true},
        {"info", "Summarise a file of spikes or a recording.", &declare_info, true},
        {"convert", "Write a recording's spikes in another format.", &declare_convert},
        {"simulate", "Simulate spikes with known connections, or a recording with known spikes.",
         &declare_simulate},
        {"sort", "Find units in a recording, or among spikes by their features and masks.",
         &declare_sort, true},
        {"track", "Find the units of several sorted recordings that are one neuron.",
         &declare_track},
        {"episodes", "Find chains of units that fire one after another at repeated delays.",
         &declare_episodes, true},
        {"windows", "Find chains in windows of a recording, and when its circuit changes.",
         &declare_windows},
        {"count", "Count and test given chains, such as those found in another recording.",
         &declare_count},
        {"spade", "Find spatio-temporal spike patterns (SPADE) and test them against surrogates.",
         &declare_spade, true},
        {"assemblies", "Find cell assemblies at several time scales (Russo and Durstewitz 2017).",
         &declare_assemblies},
        {"bursts", "Find the bursts of units and of the network.", &declare_bursts},
        {"merge", "Merge runs that divided the surrogates of one analysis (--part).",
         &declare_merge},
        {"live", "Detect chains of units as spikes arrive, or in a file that is played.",
         &declare_live, true},
        {"replay", "Look for chains at other speeds and in reverse, such as in sleep.",
         &declare_replay},
        {"report", "Show results as a page for a browser.", &declare_report, true},
        {"compare", "Test which episodes or patterns differ between two conditions.",
         &declare_compare},
        {"table", "Gather the results of many recordings in one table.", &declare_table},
        {"devices", "List usable GPUs.", &declare_devices},
        {"doctor", "Report what this installation can do on this computer, and what is missing.",
         &declare_doctor, true},
        {"completion", "Print a script that completes commands and options in a shell.",
         &declare_completion},
        {"manual", "Print a page of the manual, for man.", &declare_manual},
    }};
    return commands;
}

}  // namespace spikeweave::cli
