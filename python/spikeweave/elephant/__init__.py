"""The functions of `elephant.spade`, with the same names and results.

Change ``from elephant.spade import spade`` to ``from spikeweave.elephant import spade``. Patterns,
p-values and their order are those of Elephant with its compiled miner; `settings` sets how calls
run. Needs ``pip install spikeweave[elephant]``.

Work is divided among threads, not processes: `HAVE_MPI` is False, and under mpirun each process
would do all of it.
"""

try:
    import neo as _neo  # noqa: F401
    import quantities as _quantities  # noqa: F401
except ImportError as error:
    raise ImportError(
        "spikeweave.elephant needs neo and quantities: "
        f"pip install 'spikeweave[elephant]' ({error})"
    ) from error

from ._concepts import ConceptList
from ._mining import _build_context as _build_context
from ._mining import _fast_fca as _fast_fca
from ._mining import _fpgrowth as _fpgrowth
from ._mining import concepts_mining
from ._mining import fim as fim
from ._patterns import concept_output_to_patterns
from ._reduction import pattern_set_reduction
from ._settings import settings
from ._significance import _mask_pvalue_spectrum as _mask_pvalue_spectrum
from ._significance import _pattern_spectrum_filter as _pattern_spectrum_filter
from ._significance import test_signature_significance
from ._spade import spade
from ._spectrum import pvalue_spectrum
from ._stability import approximate_stability

HAVE_FIM = True
HAVE_MPI = False

__all__ = [
    "ConceptList",
    "approximate_stability",
    "concept_output_to_patterns",
    "concepts_mining",
    "pattern_set_reduction",
    "pvalue_spectrum",
    "settings",
    "spade",
    "test_signature_significance",
]
