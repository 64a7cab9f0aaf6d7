"""Count how often hostile input crashes gradhook, loses a claim, or passes for something better.

    python benchmarks/fuzzing.py [COUNT] [SEED]

COUNT (default 100,000) pieces of real Python, with annotations put in at random places and then broken, go through the
scanner; an oracle written apart from it says which annotations must be reported. A tenth as many of each: lines of the
protocol, reports, pairs of reports for ``gradhook merge``, configurations and files of the cache. The exit status is 1
when one of them crashed, an annotation was lost, or something was believed that is better than what was written.

    python benchmarks/fuzzing.py --show NUMBER [SEED]

prints one of the pieces of Python.
"""

from __future__ import annotations

import random
import sys
import time

from fuzz import reading, scanning, sources


def main(arguments: list[str]) -> int:
    if arguments[:1] == ["--show"]:
        number, seed = int(arguments[1]), int(arguments[2]) if arguments[2:] else 0
        sys.stdout.buffer.write(sources.hostile(random.Random(f"{seed}/{number}")))
        return 0
    count, seed = (int(arguments[0]) if arguments else 100_000), int(arguments[1]) if arguments[1:] else 0
    start = time.perf_counter()
    scanned, wrong = scanning.run(count, seed)
    read, more = reading.run(count // 10, seed)
    for name, number in [*sorted(scanned.items()), *sorted(read.items())]:
        print(f"{name:26} {number:>9,}")
    print(f"{'seconds':26} {time.perf_counter() - start:>9.0f}")
    for line in [*wrong, *more][:50]:
        print(line)
    return bool(wrong or more)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
