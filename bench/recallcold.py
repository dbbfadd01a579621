"""A new process's first question: started by `wholerecall.py`, and answers with one line of JSON.

    python bench/recallcold.py HOME

Nothing but the interpreter and the product's reading parts is imported before the clock runs; numpy comes with the question.
"""

from __future__ import annotations

import json
import resource
import sys
import time

import product

TEXT = "When did she go to the hospital?"


def resident() -> tuple[float, float]:
    """MB of this process's memory: all that is resident, and that without mapped files; the most so far where the machine does not say."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            _, whole, shared, *_ = (int(part) * resource.getpagesize() / 1e6 for part in file.read().split())
    except OSError:
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
        return most, most
    return whole, whole - shared


def main() -> None:
    """One question."""
    before, begun = resident(), (time.perf_counter(), time.process_time())
    with product.open_memory(sys.argv[1]) as memory:
        memory.recall(TEXT, limit=5)
        took, busy, after = time.perf_counter() - begun[0], time.process_time() - begun[1], resident()
    print(json.dumps({"seconds": took, "cpu": busy, "before": before[0], "after": after[0], "private": after[1]}))


if __name__ == "__main__":
    main()
