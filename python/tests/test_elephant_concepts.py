"""The list that makes concepts on demand behaves like an ordinary list of them."""

import pickle
import time

import numpy as np
import pytest

pytest.importorskip("neo")
pytest.importorskip("quantities")
from spikeweave.elephant import ConceptList


def arrays_of(concepts, order=None):
    items = [sorted(intent, key=lambda item: item % 4) for intent, _ in concepts]
    return {
        "items": np.array([i for row in items for i in row], dtype=np.uint32),
        "item_offsets": np.cumsum([0, *map(len, items)]).astype(np.uint64),
        "counts": np.array([len(extent) for _, extent in concepts], dtype=np.uint32),
        "occurrences": np.array([w for _, extent in concepts for w in extent], dtype=np.uint32),
        "occurrence_offsets": np.cumsum([0, *(len(e) for _, e in concepts)]).astype(np.uint64),
        "order": np.arange(len(concepts)) if order is None else np.array(order),
        "ranks": np.arange(1000, dtype=np.uint32),  # items descend
    }


@pytest.fixture(name="expected")
def fixture_expected():
    rng = np.random.default_rng(0)
    return [
        (
            tuple(np.sort(rng.choice(40, rng.integers(1, 6), replace=False))[::-1]),
            tuple(np.sort(rng.choice(99, rng.integers(2, 9), replace=False))),
        )
        for _ in range(9000)
    ]


@pytest.fixture(name="concepts")
def fixture_concepts(expected):
    return ConceptList.from_arrays(arrays_of(expected), 4)


def test_is_equal_to_the_list(concepts, expected):
    assert len(concepts) == len(expected)
    assert concepts == expected
    assert expected == concepts
    assert list(concepts) == expected
    assert concepts.copy() == expected
    assert isinstance(concepts.copy(), list)
    assert concepts != expected[:-1]
    assert concepts != [*expected[:-1], ((1,), (2,))]
    assert concepts != "text"


def test_elements_are_elephants_types(concepts):
    intent, extent = concepts[0]
    assert type(concepts[0]) is type(intent) is type(extent) is tuple
    assert {type(number) for number in intent + extent} == {np.int64}


def test_indexing(concepts, expected):
    for index in (0, 5, -1, np.int64(4097), 8999):
        assert concepts[index] == expected[index]
    for cut in (slice(2, 7), slice(None, None, -1), slice(10, 2, -3), slice(5, 5)):
        assert isinstance(concepts[cut], ConceptList)
        assert concepts[cut] == expected[cut]
    with pytest.raises(IndexError):
        concepts[9000]
    with pytest.raises(TypeError):
        concepts["0"]
    assert concepts[7] in concepts
    assert concepts.index(concepts[3]) == expected.index(expected[3])


def test_order_is_that_of_the_list(expected):
    reversed_order = np.arange(len(expected))[::-1]
    assert ConceptList.from_arrays(arrays_of(expected, reversed_order), 4) == expected[::-1]


def test_sums_are_lists(concepts, expected):
    assert concepts[:2] + concepts[:1] == expected[:2] + expected[:1]
    assert concepts[:2] + expected[:1] == expected[:2] + expected[:1]
    assert expected[:1] + concepts[:2] == expected[:1] + expected[:2]


def test_survives_pickling(concepts, expected):
    assert pickle.loads(pickle.dumps(concepts[10:20])) == expected[10:20]


def test_shows_the_first_and_how_many(concepts):
    assert repr(concepts).startswith("[((np.int64(")
    assert "9,000 in all" in repr(concepts)
    assert repr(concepts[:0]) == "[]"
    with pytest.raises(TypeError):
        hash(concepts)


def test_eight_million_are_made_within_a_second():
    number = 8_270_000
    arrays = {
        "items": np.tile(np.arange(4, dtype=np.uint32), number),
        "item_offsets": np.arange(0, 4 * number + 1, 4, dtype=np.uint64),
        "counts": np.full(number, 3, dtype=np.uint32),
        "occurrences": np.tile(np.arange(3, dtype=np.uint32), number),
        "occurrence_offsets": np.arange(0, 3 * number + 1, 3, dtype=np.uint64),
        "order": np.arange(number, dtype=np.uint64),
        "ranks": np.arange(4, dtype=np.uint32),
    }

    began = time.process_time()
    concepts = ConceptList.from_arrays(arrays, 4)
    last = concepts[-1]
    seconds = time.process_time() - began

    assert last == ((3, 2, 1, 0), (0, 1, 2))
    assert len(concepts) == number
    assert seconds < 1
