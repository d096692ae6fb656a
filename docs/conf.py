"""Pages of spikeweave: `script/docs` builds them."""

import os
from pathlib import Path

import spikeweave
import spikeweave.plot
from sphinx.util import logging

ROOT = Path(__file__).resolve().parent.parent
LOG = logging.getLogger(__name__)

project = "spikeweave"
author = "The spikeweave maintainers"
project_copyright = author
version = release = spikeweave.__version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
]
root_doc = "index"
html_theme = "furo"
html_title = "spikeweave"
html_copy_source = False
templates_path = []

# Names in single backticks are names of Python.
default_role = "py:obj"
add_module_names = False
autodoc_member_order = "bysource"
autodoc_typehints = "none"
napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_use_rtype = False
toc_object_entries_show_parents = "hide"

myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence", "deflist"]

# Outputs in pages are computed during the build; if that fails, the build fails.
nb_execution_mode = "force"
nb_execution_in_temp = True
# An exception is a warning with its traceback, and warnings fail script/docs.
nb_execution_show_tb = True
nb_execution_timeout = 120
nb_merge_streams = True
copybutton_exclude = ".linenos, .gp, .go"

# Pages show no progress bars, and no warning, with a path of this computer, that other packages cannot draw any.
os.environ["TQDM_DISABLE"] = "1"
os.environ["PYTHONWARNINGS"] = "ignore:IProgress not found"

# Tutorials on real recordings, and the files of each under $SPIKEWEAVE_SHARED_DATA.
NEEDS = {
    "tutorials/episodes": ["wagenaar2006/2-1-20.spk.txt"],
    "tutorials/spade": ["songbird_hvc.tsv.gz"],
    "tutorials/sort": ["sorting/klusta32.npz"],
    "tutorials/data": ["wagenaar2006/6-1-10.spk.txt", "hippocampus_linear-track.tsv.gz"],
}
DATA = Path(os.environ.setdefault("SPIKEWEAVE_SHARED_DATA", str(ROOT.parent / "shared" / "data")))


def say_what_is_missing(app, page, source):
    """A tutorial without its recording runs on simulated spikes."""
    missing = [file for file in NEEDS.get(page, []) if not (DATA / file).exists()]
    if missing:
        print(f"simulated: {page}, because SPIKEWEAVE_SHARED_DATA has no {', '.join(missing)}")


def check_complete(app, env):
    """Every public name has an entry, every picture a place in the gallery."""
    described = env.domains["py"].objects
    names = [f"spikeweave.{name}" for name in spikeweave.__all__]
    for module in (spikeweave.plot, spikeweave.simulate):
        names += [f"{module.__name__}.{name}" for name in module.__all__]
    for name in names:
        if name not in described:
            LOG.warning("%s is not described in docs/api", name)
    gallery = (Path(app.srcdir) / "gallery.md").read_text(encoding="utf-8")
    for name in spikeweave.plot.__all__:
        if f"plot.{name}(" not in gallery:
            LOG.warning("spikeweave.plot.%s has no picture in docs/gallery.md", name)


def setup(app):
    app.connect("source-read", say_what_is_missing)
    app.connect("env-check-consistency", check_complete)
