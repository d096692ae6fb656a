"""The environments of other sorters, made from the pins in benchmarks/sort/peers.

`spikeinterface` and `klusta` come from PyPI. `torch` is for sorters that need PyTorch: it has the
packages of the Python that runs this, PyTorch among them, and those of wheels.txt beside them.
Where wheels were brought along there is no network, and that one serves all of SpikeInterface's
sorters.
"""

import hashlib
import importlib.util
import shutil
import site
import subprocess
import sys
from pathlib import Path

PEERS = Path(__file__).resolve().parent / "peers"
GENERATE, SORT, JUDGE, AGREE = (
    PEERS / f"{task}.py" for task in ("generate", "sort", "judge", "agree")
)
WHEELS = PEERS / "wheels.txt"
# The requirements files from which each environment is installed, in order.
ENVIRONMENTS = {
    "spikeinterface": ["spikeinterface.txt"],
    "klusta": ["klusta_build.txt", "klusta.txt"],
    "torch": ["wheels.txt"],
}
# The C libraries for which wheels are made; pip compares these names exactly.
PLATFORMS = [f"manylinux_2_{minor}_x86_64" for minor in (17, 24, 27, 28, 31, 34)] + [
    "manylinux2014_x86_64",
    "manylinux1_x86_64",
]


class Failed(Exception):  # noqa: N818
    pass


def run(*command, log):
    """Runs a command. Its output is in the log, and the last line of it in the error."""
    with open(log, "a", encoding="utf-8") as file:
        done = subprocess.run(
            [str(word) for word in command], stdout=file, stderr=subprocess.STDOUT, check=False
        )
    if done.returncode != 0:
        lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        raise Failed(lines[-1][:200] if lines else f"exit status {done.returncode}")


def install_beside_torch(place, python, wheels, log):
    """Installs into an environment that has the packages of this Python as well."""
    run(sys.executable, "-m", "venv", "--without-pip", place, log=log)
    (own,) = (place / "lib").glob("python*/site-packages")
    (own / "parent.pth").write_text("\n".join(site.getsitepackages()) + "\n")
    offline = ["--no-index", "--find-links", wheels] if wheels else []
    pip = [sys.executable, "-m", "pip", "--python", python]
    run(*pip, "install", "--no-deps", *offline, "-r", WHEELS, log=log)


def install(name, place, python, log):
    run(sys.executable, "-m", "venv", place, log=log)
    for file in ENVIRONMENTS[name]:
        pip = [python, "-m", "pip", "install", "--no-build-isolation"]
        run(*pip, "-r", PEERS / file, log=log)


def forget_results(folder, name, wheels):
    """Removes what sorters found with other pins."""
    for stale in {name, "spikeinterface"} if wheels else {name}:
        for found in folder.glob(f"*.{stale}.*"):
            if found.is_dir():
                shutil.rmtree(found)
            else:
                found.unlink()


def environment(name, folder, wheels):
    """Returns the Python of an environment with the pins, which it makes if necessary."""
    digest = hashlib.sha256(
        b"".join((PEERS / file).read_bytes() for file in ENVIRONMENTS[name])
    ).hexdigest()
    place, log = folder / name, folder / f"{name}.log"
    python, stamp = place / "bin/python", place / "pins.sha256"
    if stamp.exists() and stamp.read_text() == digest:
        return python
    if name == "klusta" and wheels:
        raise Failed("needs an old Python's packages from PyPI")
    if name == "torch" and not importlib.util.find_spec("torch"):
        raise Failed("needs PyTorch, which this Python does not have")
    print(f"making {place}", file=sys.stderr)
    shutil.rmtree(place, ignore_errors=True)
    forget_results(folder / "results", name, wheels)
    log.unlink(missing_ok=True)
    if name == "torch":
        install_beside_torch(place, python, wheels, log)
    else:
        install(name, place, python, log)
    stamp.write_text(digest)
    return python


class Environments:
    """Makes each environment when it is first asked for."""

    def __init__(self, folder, wheels):
        self.folder, self.wheels, self.made = folder, wheels, {}

    def python(self, name):
        """Returns its Python, or raises why there is none."""
        if self.wheels and name == "spikeinterface":
            name = "torch"
        if name not in self.made:
            try:
                self.made[name] = environment(name, self.folder, self.wheels)
            except Failed as reason:
                self.made[name] = reason
        if isinstance(self.made[name], Failed):
            raise self.made[name]
        return self.made[name]


def download_wheels(folder, python_version):
    """Downloads the wheels for another machine, and returns their size in bytes."""
    command = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "--no-deps",
        "-d",
        str(folder),
        "-r",
        str(WHEELS),
    ]
    if python_version:
        command += [
            "--python-version",
            python_version,
            "--implementation",
            "cp",
            "--only-binary=:all:",
        ]
        command += [word for platform in PLATFORMS for word in ("--platform", platform)]
    subprocess.run(command, check=True)
    return sum(file.stat().st_size for file in folder.iterdir())
