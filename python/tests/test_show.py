"""`show()`: the page of a result in a notebook, or in a browser."""

import sys
import types
import webbrowser
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlparse

import pytest

import spikeweave


@pytest.fixture(scope="module")
def found():
    spikes = spikeweave.SpikeSequence.of(
        [[0.1, 0.2], [0.105, 0.205]], unit_names=["</script>", '"a" & <b>']
    )
    return spikeweave.episodes(spikes, min_count=1)


@pytest.fixture
def notebook(monkeypatch):
    """The display of a minimal notebook."""
    displayed = []
    shell = types.SimpleNamespace(kernel="of Jupyter")
    display = types.SimpleNamespace(
        display=lambda data, raw: displayed.append(data["text/html"]) if raw else None
    )
    monkeypatch.setitem(
        sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: shell, display=display)
    )
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    return displayed


class Elements(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.found = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))


def test_notebook_has_the_page_in_a_frame(found, notebook):
    assert found.show(height=432) is None

    ((tag, attributes),) = Elements(*notebook).found
    assert tag == "iframe"
    assert attributes["srcdoc"] == found.to_html()
    # Without `allow-same-origin`, so that the page cannot reach the notebook.
    assert set(attributes["sandbox"].split()) == {"allow-scripts", "allow-downloads"}
    assert "height:432px" in attributes["style"]


def test_results_are_not_shown_as_pages_by_themselves(found):
    assert "iframe" not in found._repr_html_()


def test_selections_patterns_sortings_and_reports_are_shown(found, notebook):
    features = spikeweave.simulate.features(spikes=300, units=2, channels=4, seed=1)
    shown = [
        found[found.sizes == 2],
        spikeweave.spade(found.spikes, min_occ=2, min_spikes=2),
        spikeweave.sort_features(features.features, features.masks),
        spikeweave.report([found, found]),
    ]

    for one in shown:
        one.show()

    pages = [Elements(frame).found[0][1]["srcdoc"] for frame in notebook]
    assert pages == [one.to_html() for one in shown]


def test_script_opens_a_browser(found, monkeypatch, tmp_path):
    opened = []
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(webbrowser, "open", lambda address: opened.append(address) or True)

    found.show()

    (address,) = opened
    path = Path(unquote(urlparse(address).path))
    assert path.parent == tmp_path
    assert path.read_text("utf-8") == found.to_html()


def test_without_a_browser_the_file_is_named(found, monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(webbrowser, "open", lambda address: False)

    with pytest.raises(RuntimeError, match="no browser") as error:
        found.show()

    (path,) = tmp_path.iterdir()
    assert str(path) in str(error.value)


@pytest.mark.parametrize("height", [0, -5, float("nan")])
def test_height_is_checked(found, notebook, height):
    with pytest.raises(ValueError, match="height"):
        found.show(height=height)

    assert notebook == []
