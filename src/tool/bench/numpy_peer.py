"""NumPy's side of the bench: lines in, one line out for each: `case BYTES BITS DIMS PERM [DTYPE AS...]`, `words BYTES
DIMS ADDRESS...`, `time REPETITIONS`."""
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


def make_words(elem_bytes, dims, address):
    """Rows to the words that the address says, an expression over the row `a` that Python reads as the layout does."""
    src = numpy.random.default_rng(1).integers(0, 200, size=dims).astype(CONTAINER[elem_bytes])
    place = eval(address, {"a": numpy.arange(dims[0])})
    out = numpy.zeros((int(place.max()) + 1, *dims[1:]), dtype=src.dtype)

    def put():
        out[place] = src

    return put


def to_bf16(out, view):
    bits = view.view(numpy.uint32)
    numpy.copyto(out, ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(numpy.uint16))


def make_conversion(dims, perm, dtype, target, words):
    """The same conversion as NumPy's users write it; None for types that NumPy does not have."""
    scale = numpy.float32(next((w[6:] for w in words if w.startswith("scale=")), 1))
    rng = numpy.random.default_rng(1)
    if (dtype, target) == ("i8", "f32"):
        view = rng.integers(-128, 128, size=dims).astype(numpy.int8).transpose(perm)
        out = numpy.zeros(view.shape, dtype=numpy.float32)
        return lambda: numpy.multiply(view, scale, out=out)
    src = rng.uniform(-5, 5, size=dims).astype(numpy.float32)
    view = src.transpose(perm)
    if target == "bf16":
        out = numpy.zeros(view.shape, dtype=numpy.uint16)
        return lambda: to_bf16(out, view)
    if target == "f16":
        out = numpy.zeros(view.shape, dtype=numpy.float16)
        return lambda: numpy.copyto(out, view, casting="same_kind")
    if target == "i8":
        out = numpy.zeros(view.shape, dtype=numpy.int8)
        return lambda: numpy.copyto(out, numpy.clip(numpy.rint(view / scale), -128, 127), casting="unsafe")
    if target == "f32":
        out = numpy.zeros(view.shape, dtype=numpy.float32)
        return lambda: numpy.divide(view, scale, out=out)
    return None


for line in sys.stdin:
    word = line.split()
    if word[0] == "case":
        dims = [int(n) for n in word[3].split(",")]
        perm = [int(n) for n in word[4].split(",")]
        if len(word) > 5:
            move = make_conversion(dims, perm, word[5], word[6], word[7:])
        else:
            move = make(int(word[1]), int(word[2]), dims, perm)
        print(1 if move else 0, flush=True)
    elif word[0] == "words":
        move = make_words(int(word[1]), [int(n) for n in word[2].split(",")], " ".join(word[3:]))
        print(1, flush=True)
    else:
        count = int(word[1])
        start = time.perf_counter_ns()
        for _ in range(count):
            move()
        print((time.perf_counter_ns() - start) / count, flush=True)
