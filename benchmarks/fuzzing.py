"""Does hostile input crash gradhook, lose a claim, or pass for something else? Counts say how often that was tried.

    python benchmarks/fuzzing.py [COUNT] [SEED]

COUNT (default 100,000) pieces of real Python, with annotations put in at random places and then broken, go through the
scanner; an oracle written apart from it says which annotations must be reported. The exit status is 1 when an input
crashed it or an annotation was lost; the input is then named by its number, and ``--show NUMBER`` prints it.
"""

from __future__ import annotations

import random
import sys
import time

from fuzz import scanning, sources


def main(arguments: list[str]) -> int:
    if arguments[:1] == ["--show"]:
        number, seed = int(arguments[1]), int(arguments[2]) if arguments[2:] else 0
        sys.stdout.buffer.write(sources.hostile(random.Random(f"{seed}/{number}")))
        return 0
    count, seed = (int(arguments[0]) if arguments else 100_000), int(arguments[1]) if arguments[1:] else 0
    start = time.perf_counter()
    counts, wrong = scanning.run(count, seed)
    for name, number in sorted(counts.items()):
        print(f"{name:20} {number:>9,}")
    print(f"{'seconds':20} {time.perf_counter() - start:>9.0f}")
    for line in wrong[:50]:
        print(line)
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
