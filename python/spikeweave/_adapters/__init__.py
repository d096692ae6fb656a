"""Files, objects of other packages and terminals, in terms of the package's values.

Importing this registers what values convert to and from; no other package is imported before it is
needed.
"""

from .._values.conversions import InputForm, recording_forms, spike_forms
from . import (  # noqa: F401
    arrays,
    elephant,
    files,
    neo,
    networkx,
    notebook,
    nwb,
    nwb_results,
    pandas,
    pynapple,
    recordings,
    spikeinterface,
)

# The first that matches counts, so that those that many objects match are last.
spike_forms += [
    InputForm(files.is_path, lambda path, unit_names: files.read(path)),
    InputForm(elephant.is_binned, elephant.from_binned),
    InputForm(spikeinterface.is_sorting, spikeinterface.from_sorting),
    InputForm(pynapple.is_group, pynapple.from_group),
    InputForm(neo.is_segment, neo.from_segment),
    InputForm(pandas.is_table, pandas.from_table),
    InputForm(arrays.is_mapping, arrays.from_mapping),
    InputForm(arrays.is_pair, arrays.from_pair),
    InputForm(neo.is_train, neo.refuse_train),
    InputForm(arrays.is_iterable, arrays.from_trains),
]
recording_forms += [
    InputForm(files.is_path, recordings.read_recording),
    InputForm(spikeinterface.is_recording, spikeinterface.from_recording),
]
