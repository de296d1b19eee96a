#!/usr/bin/env python3
"""Checks the include directions between the folders.

Usage: check_includes.py ROOT

Prints one line for each include that its folder may not have; exits 1 if there is one.
"""
import re
import sys
from pathlib import Path

from source_tree import source_files

# What a folder may include besides itself. The longest matching prefix decides; ir/core is a
# folder of its own.
FOLDERS = {
    "ir/core": [],
    "ir": ["ir/core"],
    "fusion": ["ir", "ir/core"],
    "jit": ["ir", "ir/core", "runtime/task_pool.h", "runtime/counters.h"],
    "runtime": ["ir/core"],
    "tracer": ["ir", "ir/core"],
    "api": ["tracer", "ir", "ir/core", "runtime/device.h", "runtime/stats.h"],
    "samples": ["api/include/kiln/kiln.h"],
    "benchmarks": ["api", "tracer", "ir", "ir/core", "fusion", "jit", "runtime"],
    "tests": ["api", "tracer", "ir", "ir/core", "fusion", "jit", "runtime"],
}
# Single files that may include more.
FILES = {"tracer/evaluate.cpp": ["fusion", "jit", "runtime"]}

# Libraries that only certain places may include: first path component -> prefixes of files.
LLVM = ["jit/llvm_headers.h"]
LIBRARIES = {
    "llvm": LLVM,
    "llvm-c": LLVM,
    "tbb": ["runtime/"],
    "oneapi": ["runtime/"],
    "cuda": ["runtime/"],
    "cuda.h": ["runtime/"],
    "cuda_runtime.h": ["runtime/"],
    "Eigen": ["runtime/"],
    "gtest": ["tests/"],
    "gmock": ["tests/"],
    "mpfr.h": ["tests/"],
    "png.h": ["samples/"],
    "turbojpeg.h": ["samples/"],
}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
SUFFIXES = {".h", ".cpp", ".def", ".inc"}


def folder_of(path):
    """The longest folder of the table that holds `path`, or None."""
    held = [f for f in FOLDERS if path.startswith(f + "/")]
    return max(held, key=len, default=None)


def resolve(root, source, name):
    """The repository path that `name` means in `source`, or None for a library's header."""
    candidates = [name, f"api/include/{name}", str(Path(source).parent / name)]
    for candidate in candidates:
        if (root / candidate).is_file():
            return candidate
    # A project path that does not exist (generated, or wrong) is still judged by its folder.
    return name if folder_of(name) else None


def allowed(source, target):
    home = folder_of(source)
    if folder_of(target) == home:
        return True
    for entry in FOLDERS[home] + FILES.get(source, []):
        if target == entry or folder_of(target) == entry:
            return True
    return False


def problem(root, source, name, quoted):
    """Why `source` may not include `name`, or None."""
    target = resolve(root, source, name)
    if target:
        return None if allowed(source, target) else f"{folder_of(source)} may not include {target}"
    homes = LIBRARIES.get(name.split("/")[0])
    if homes is not None and not any(source.startswith(h) for h in homes):
        return f"{name} is for {', '.join(homes)}"
    if quoted:
        return f'"{name}" is no file of the project'
    return None


def sources(root):
    return [n for n in source_files(root, SUFFIXES) if folder_of(n)]


def check(root):
    """All problems of the tree as "file:line: problem"."""
    found = []
    for source in sources(root):
        for number, line in enumerate((root / source).read_text().splitlines(), 1):
            match = INCLUDE.match(line)
            if match:
                why = problem(root, source, match[2], match[1] == '"')
                if why:
                    found.append(f"{source}:{number}: {why}")
    return found


def main():
    root = Path(sys.argv[1]).resolve()
    checked = sources(root)
    if not checked:
        sys.exit(f"no sources under {root}")
    found = check(root)
    for line in found:
        print(line)
    print(f"{len(checked)} files checked, {len(found)} problems")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
