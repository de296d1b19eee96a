#!/usr/bin/env python3
"""Checks that every C++ source is formatted as .clang-format says.

Usage: check_format.py [--fix] ROOT

With --fix the sources are rewritten instead.
"""
import argparse
import shutil
import subprocess
import sys
from pathlib import Path

from source_tree import source_files

SUFFIXES = {".h", ".cpp"}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fix", action="store_true")
    parser.add_argument("root", type=Path)
    args = parser.parse_args()

    tool = shutil.which("clang-format-19")
    if not tool:
        sys.exit("clang-format-19 is missing")
    sources = source_files(args.root, SUFFIXES)
    if not sources:
        sys.exit(f"no sources under {args.root}")
    mode = ["-i"] if args.fix else ["--dry-run", "--Werror"]
    done = subprocess.run([tool, *mode, "--style=file", *sources], cwd=args.root)
    print(f"{len(sources)} files {'formatted' if args.fix else 'checked'}")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
