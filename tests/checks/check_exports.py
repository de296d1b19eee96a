#!/usr/bin/env python3
"""Checks that a shared library shows Kiln's own symbols and nothing else.

Usage: check_exports.py LIBRARY
"""
import re
import subprocess
import sys

# Mangled names of kiln::..., with their vtables, type infos and guards; kiln_... of the C ABI.
OWN = re.compile(r"_ZN[KOR]*4kiln|_Z(TI|TS|TV|GV)N4kiln|kiln_")


def main():
    listed = subprocess.run(["nm", "-D", "--defined-only", "--format=posix", sys.argv[1]],
                            capture_output=True, text=True, check=True).stdout
    names = [line.split()[0] for line in listed.splitlines()]
    foreign = [n for n in names if not OWN.match(n)]
    for name in foreign:
        print(f"foreign symbol: {name}")
    print(f"{len(names)} symbols, {len(foreign)} foreign")
    return 1 if foreign or not names else 0


if __name__ == "__main__":
    sys.exit(main())
