"""Compiles, in a build stage, the modules that programs import: `bytecode.py FOLDER MODULE...`

Only they are read at a start, and Python could not write its bytecode into an image that is read-only. Bytecode names
the hash of its source and is not checked against it, so that it does not depend on times of files.
"""

import importlib
import pkgutil
import py_compile
import sys
from pathlib import Path


def main(folder: Path, names: list[str]) -> None:
    import sluice

    for name in [*names, *(module.name for module in pkgutil.walk_packages(sluice.__path__, "sluice."))]:
        if not name.endswith("__main__"):
            importlib.import_module(name)
    files = {Path(file) for module in list(sys.modules.values()) if (file := getattr(module, "__file__", None))}
    sources = sorted(file for file in files if file.suffix == ".py" and file.is_relative_to(folder))
    for file in sources:
        py_compile.compile(str(file), doraise=True, invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
    print(f"{len(sources)} modules compiled")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
