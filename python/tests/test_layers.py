"""The modules of the package import each other in one direction: values, adapters, commands."""

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import spikeweave

# A layer imports from itself and from earlier ones. All other modules are public: they may import
# every layer, and no layer imports them.
LAYERS = ("spikeweave._core", "spikeweave._values", "spikeweave._adapters", "spikeweave._commands")


def sources_in(folder):
    """Return the source of each module in a folder by its name, and the names of packages."""
    sources, packages = {}, set()
    for file in sorted(folder.rglob("*.py")):
        parts = (folder.name, *file.relative_to(folder).with_suffix("").parts)
        if parts[-1] == "__init__":
            parts = parts[:-1]
            packages.add(".".join(parts))
        sources[".".join(parts)] = file.read_text(encoding="utf-8")
    return sources, packages


def is_type_checking(test):
    return ast.unparse(test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING")


def imports_in(node):
    """Return all imports that can be executed, including those within functions."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.Import, ast.ImportFrom)):
            yield child
        elif isinstance(child, ast.If) and is_type_checking(child.test):
            for other in child.orelse:
                yield from imports_in(ast.Module([other], []))
        else:
            yield from imports_in(child)


def imported_by(statement, package):
    """Return the full names in an import, each with the name imported from it."""
    if isinstance(statement, ast.Import):
        for alias in statement.names:
            yield alias.name, None
        return
    origin = statement.module or ""
    if statement.level:
        parents = package.split(".")
        parents = parents[: len(parents) - statement.level + 1]
        origin = ".".join([*parents, origin] if origin else parents)
    for alias in statement.names:
        yield origin, alias.name


def imports_of(sources, packages):
    """Return the modules of the package that each of its modules imports."""
    known = {*sources, "spikeweave._core"}
    graph = {module: set() for module in known}
    for module, source in sources.items():
        package = module if module in packages else module.rpartition(".")[0]
        for statement in imports_in(ast.parse(source)):
            for origin, name in imported_by(statement, package):
                # `from package import module` imports a module, not a name of the package.
                target = f"{origin}.{name}" if f"{origin}.{name}" in known else origin
                if target in known:
                    graph[module].add(target)
    return graph


def layer_of(module):
    """Return the index of a module's layer."""
    for place, layer in enumerate(LAYERS):
        if module == layer or module.startswith(f"{layer}."):
            return place
    return len(LAYERS)


def breaches_of(sources, packages):
    """Return violations of the rules as sentences."""
    graph = imports_of(sources, packages)
    found = [
        f"{module} imports {target}"
        for module, targets in sorted(graph.items())
        for target in sorted(targets)
        if layer_of(target) > layer_of(module)
    ]
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        found.append(f"circle: {' '.join(error.args[1])}")
    return found


@pytest.fixture(scope="module")
def package():
    return sources_in(Path(spikeweave.__file__).parent)


def test_imports_go_from_later_layers_to_earlier_ones(package):
    assert breaches_of(*package) == []


def test_each_layer_is_found_with_its_imports(package):
    graph = imports_of(*package)

    assert {layer_of(module) for module in graph} == set(range(len(LAYERS) + 1))
    assert "spikeweave._values.spikes" in graph["spikeweave._adapters.neo"]
    assert "spikeweave._adapters.progress" in graph["spikeweave._commands.episodes"]
    assert "spikeweave._core" in graph["spikeweave._values.spikes"]
    assert "spikeweave._adapters.progress" in graph["spikeweave.elephant._settings"]


@pytest.mark.parametrize(
    ("module", "statement", "says"),
    [
        (
            "spikeweave._values.spikes",
            "from .._adapters.neo import to_neo",
            "spikeweave._values.spikes imports spikeweave._adapters.neo",
        ),
        (
            "spikeweave._values.spikes",
            "def late():\n    from .. import _commands",
            "spikeweave._values.spikes imports spikeweave._commands",
        ),
        (
            "spikeweave._values.spikes",
            "import spikeweave",
            "spikeweave._values.spikes imports spikeweave",
        ),
        (
            "spikeweave._adapters.neo",
            "from spikeweave._commands import sort",
            "spikeweave._adapters.neo imports spikeweave._commands.sort",
        ),
        ("spikeweave._values.arrays", "import spikeweave._values.spikes", "circle: "),
        ("spikeweave._values.arrays", "async def late():\n    from . import spikes", "circle: "),
        (
            "spikeweave._values.arrays",
            "if TYPE_CHECKING:\n    pass\nelse:\n    from .spikes import SpikeSequence",
            "circle: ",
        ),
        (
            "spikeweave.simulate",
            "class Late:\n    def late(self):\n        from .plot import raster",
            "circle: ",
        ),
    ],
)
def test_a_planted_breach_is_found(package, module, statement, says):
    sources, packages = package

    found = breaches_of({**sources, module: f"{sources[module]}\n{statement}\n"}, packages)

    assert any(one.startswith(says) for one in found), found


def test_imports_for_type_checkers_alone_are_no_breach(package):
    sources, packages = package
    module = "spikeweave._values.arrays"
    planted = "if TYPE_CHECKING:\n    from .._commands.sort import sort\n"

    assert breaches_of({**sources, module: f"{sources[module]}\n{planted}"}, packages) == []
