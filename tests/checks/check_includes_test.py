#!/usr/bin/env python3
"""check_includes must accept good includes and find each bad one."""
import tempfile
import unittest
from pathlib import Path

import check_includes

HEADERS = [
    "ir/core/dtype.h", "ir/graph.h", "fusion/passes.h", "jit/emitter.h", "runtime/device.h",
    "runtime/program.h", "runtime/task_pool.h", "tracer/node.h", "api/include/kiln/kiln.h",
    "api/printing.h", "samples/image.h",
]
GOOD = {
    "ir/graph.cpp": '"ir/graph.h" "ir/core/dtype.h" <vector>',
    "fusion/partition.cpp": '"fusion/passes.h" "ir/graph.h" "ir/core/dtype.h"',
    "jit/llvm_headers.h": "<llvm/IR/IRBuilder.h> <llvm-c/Core.h>",
    "jit/emitter.cpp": '"runtime/task_pool.h" "ir/graph.h"',
    "runtime/task_pool.cpp": '<tbb/task_arena.h> <oneapi/tbb/info.h> <Eigen/Core> <cuda.h>',
    "tracer/evaluate.cpp": '"fusion/passes.h" "jit/emitter.h" "runtime/program.h"',
    "api/tensor.cpp": '"kiln/kiln.h" "api/printing.h" "tracer/node.h" "runtime/device.h"',
    "samples/photo.cpp": '<kiln/kiln.h> "image.h" <CLI/CLI.hpp> <vector>',
    "tests/fusion_test.cpp": '<gtest/gtest.h> "fusion/passes.h" "kiln/kiln.h"',
}
BAD = {
    "ir/core/dtype.cpp": '"ir/graph.h"',
    "ir/bad.cpp": '"fusion/passes.h" <llvm/ADT/StringRef.h>',
    "fusion/bad.cpp": '"jit/emitter.h" "runtime/device.h" "tracer/node.h"',
    "jit/bad.cpp": '"fusion/passes.h" "runtime/program.h" <llvm/IR/Module.h> <tbb/tbb.h>',
    "runtime/bad.h": '"ir/graph.h" "jit/emitter.h"',
    "tracer/record.cpp": '"fusion/passes.h" "runtime/program.h" "kiln/kiln.h"',
    "api/include/kiln/bad.h": '"runtime/program.h" <tbb/tbb.h> <llvm-c/Core.h> "jit/emitter.h"',
    "samples/bad.cpp": '"tracer/node.h" "ir/graph.h" <gtest/gtest.h>',
    "tests/bad_test.cpp": '<llvm/IR/Module.h> <tbb/tbb.h> "no/such/file.h"',
}


class CheckIncludes(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = Path(self.folder.name)
        for header in HEADERS:
            self.write(header, "")

    def write(self, name, includes):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"#include {i}\n" for i in includes.split()))

    def test_accepts_the_directions_of_the_design(self):
        for name, includes in GOOD.items():
            self.write(name, includes)
        self.assertEqual(check_includes.check(self.root), [])

    def test_finds_every_include_against_them(self):
        for name, includes in BAD.items():
            with self.subTest(name):
                self.write(name, includes)
                found = check_includes.check(self.root)
                self.assertEqual([f.split(": ")[0] for f in found],
                                 [f"{name}:{i}" for i in range(1, len(includes.split()) + 1)])
                (self.root / name).unlink()


if __name__ == "__main__":
    unittest.main()
