"""ThreadSanitizer looks on: where nothing is reported there is nothing, and not nobody."""

import os
import subprocess
import sys

PROGRAM = """
import ctypes, os, threading
race = ctypes.CDLL(os.environ["ESPALIER_RACE"]).race
threads = [threading.Thread(target=race) for _ in range(2)]
for t in threads: t.start()
for t in threads: t.join()
"""


def test_a_race_of_two_threads_is_reported():
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "TSAN_OPTIONS": "exitcode=66"},
    )
    assert done.returncode == 66, done.stderr
    assert "data race" in done.stderr and "race.cpp" in done.stderr
