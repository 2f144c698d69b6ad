"""The scripts of benchmarks/ as modules, each loaded anew, from the code as it is by then."""

import importlib.util
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).parents[1]


def benchmark_script(name: str) -> ModuleType:
    """The script `benchmarks/NAME.py`, its functions ready to be called."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "benchmarks" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
