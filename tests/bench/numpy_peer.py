"""NumPy's side of the bench: lines in, one line out for each. `case DTYPE DIMS PERM BITS`, `time REPETITIONS`."""
import sys
import time

import numpy

CONTAINER = {1: numpy.uint8, 2: numpy.uint16, 4: numpy.uint32, 8: numpy.uint64}
move = None


def make(elem_bytes, bits, dims, perm):
    rng = numpy.random.default_rng(1)
    src = rng.integers(0, 200, size=dims).astype(CONTAINER[elem_bytes])
    if bits == 4:
        src &= 15
        flat = src.reshape(-1, 2)
        out = numpy.zeros(flat.shape[0], dtype=numpy.uint8)
        return lambda: numpy.copyto(out, flat[:, 0] | (flat[:, 1] << 4))
    if bits != 8 * elem_bytes:
        return None
    view = src.transpose(perm)
    out = numpy.zeros(view.shape, dtype=src.dtype)
    return lambda: numpy.copyto(out, view)


for line in sys.stdin:
    word = line.split()
    if word[0] == "case":
        dims = [int(n) for n in word[3].split(",")]
        perm = [int(n) for n in word[4].split(",")]
        move = make(int(word[1]), int(word[2]), dims, perm)
        print(1 if move else 0, flush=True)
    else:
        count = int(word[1])
        start = time.perf_counter_ns()
        for _ in range(count):
            move()
        print((time.perf_counter_ns() - start) / count, flush=True)
