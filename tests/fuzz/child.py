"""Process that opens files one after the other: paths on standard input, JSON lines as output.

It may die, which the parent process detects.
"""

import faulthandler
import json
import os
import resource
import sys
import time
import traceback
from pathlib import Path

ADDRESS_SPACE = 6 * 2**30
"""A limit far above the allowed memory, which protects the machine."""
UNIT = 1 if sys.platform == "darwin" else 1024
STATUS = Path("/proc/self/status")


def peak() -> int:
    """The largest memory this process ever held, in bytes."""
    # On Linux the kernel's own count: ru_maxrss begins at what the parent process has.
    if STATUS.exists():
        return (
            next(
                int(line.split()[1])
                for line in STATUS.read_text().splitlines()
                if line.startswith("VmHWM")
            )
            * 1024
        )
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * UNIT


def main(kind: str) -> None:
    # Only answers go to the parent: what a library prints goes to standard error.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    faulthandler.enable()
    from .targets import USES, judge

    if sys.platform == "linux":
        resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    print(json.dumps({"ready": True}), file=answers, flush=True)
    for line in sys.stdin:
        began = time.process_time()
        refused, finding = "", ""
        try:
            refused = judge(USES[kind], Path(json.loads(line)))
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # a panic of a library written in Rust is no Exception
            finding = "".join(traceback.format_exception(error))
        answer = {
            "refused": refused,
            "finding": finding,
            "seconds": time.process_time() - began,
            "peak": peak(),
        }
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
