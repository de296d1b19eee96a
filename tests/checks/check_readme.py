#!/usr/bin/env python3
"""The README's example is samples/hello.cpp, and its output is what that prints.

Usage: check_readme.py ROOT PROGRAM
"""
import re
import subprocess
import sys

root, program = sys.argv[1:]
readme = open(f"{root}/README.md").read()
shown_code = re.search(r"```cpp\n(.*?)```", readme, re.S).group(1)
shown_output = re.search(r"```text\n(.*?)```", readme, re.S).group(1)
if shown_code != open(f"{root}/samples/hello.cpp").read():
    sys.exit("README.md: the example is not samples/hello.cpp")
printed = subprocess.run([program], capture_output=True, text=True, check=True).stdout
if shown_output != printed:
    sys.exit(f"README.md: the example prints\n{printed}\nbut the page shows\n{shown_output}")
