"""The files of the source tree, for the checks."""
import subprocess
from pathlib import Path

NOT_SOURCE = {".git", "build", "out"}


def source_files(root, suffixes):
    """Sorted paths, relative to `root`, of files with one of `suffixes`: what git tracks or would
    add; where git does not answer, all outside the build folders."""
    listed = subprocess.run(
        ["git", "-C", str(root), "ls-files", "--cached", "--others", "--exclude-standard"],
        capture_output=True, text=True)
    if (root / ".git").exists() and listed.returncode == 0:
        names = listed.stdout.splitlines()
    else:
        relative = (p.relative_to(root) for p in root.rglob("*"))
        names = [str(p) for p in relative if p.parts[0] not in NOT_SOURCE]
    return sorted(n for n in names if Path(n).suffix in suffixes and (root / n).is_file())
