"""NumPy's side of the bench: lines in, one line out for each: `case BYTES BITS DIMS PERM [DTYPE AS...]`, `words BYTES
DIMS ADDRESS...`, `time REPETITIONS`."""
import mmap
import sys
import time

import numpy

HUGE = 2 << 20
CONTAINER = {1: numpy.uint8, 2: numpy.uint16, 4: numpy.uint32, 8: numpy.uint64}
move = None


def room(shape, dtype):
    """An array as ours lie: at the beginning of a huge page, where the system gives those, and touched."""
    count = int(numpy.prod(shape))
    size = count * numpy.dtype(dtype).itemsize
    pages = mmap.mmap(-1, (size + 2 * HUGE) // HUGE * HUGE)
    try:
        pages.madvise(mmap.MADV_HUGEPAGE)
    except (AttributeError, OSError):
        pass  # an older Python, or a system without them
    whole = numpy.frombuffer(pages, dtype=numpy.uint8)
    whole[:] = 1
    first = -whole.ctypes.data % HUGE
    return whole[first:first + size].view(dtype).reshape(shape)


def place(values):
    out = room(values.shape, values.dtype)
    out[...] = values
    return out


def make(elem_bytes, bits, dims, perm):
    rng = numpy.random.default_rng(1)
    src = place(rng.integers(0, 200, size=dims).astype(CONTAINER[elem_bytes]))
    if bits == 4:
        src &= 15
        flat = src.reshape(-1, 2)
        out = room(flat.shape[0], numpy.uint8)
        return lambda: numpy.copyto(out, flat[:, 0] | (flat[:, 1] << 4))
    if bits != 8 * elem_bytes:
        return None
    view = src.transpose(perm)
    out = room(view.shape, src.dtype)
    return lambda: numpy.copyto(out, view)


def make_words(elem_bytes, dims, address):
    """Rows to the words that the address says, an expression over the row `a` that Python reads as the layout does."""
    src = place(numpy.random.default_rng(1).integers(0, 200, size=dims).astype(CONTAINER[elem_bytes]))
    where = eval(address, {"a": numpy.arange(dims[0])})
    out = room((int(where.max()) + 1, *dims[1:]), src.dtype)

    def put():
        out[where] = src

    return put


def to_bf16(out, view):
    bits = view.view(numpy.uint32)
    numpy.copyto(out, ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(numpy.uint16))


def make_conversion(dims, perm, dtype, target, words):
    """The same conversion as NumPy's users write it; None for types that NumPy does not have."""
    scale = numpy.float32(next((w[6:] for w in words if w.startswith("scale=")), 1))
    rng = numpy.random.default_rng(1)
    if (dtype, target) == ("i8", "f32"):
        view = place(rng.integers(-128, 128, size=dims).astype(numpy.int8)).transpose(perm)
        out = room(view.shape, numpy.float32)
        return lambda: numpy.multiply(view, scale, out=out)
    src = place(rng.uniform(-5, 5, size=dims).astype(numpy.float32))
    view = src.transpose(perm)
    if target == "bf16":
        out = room(view.shape, numpy.uint16)
        return lambda: to_bf16(out, view)
    if target == "f16":
        out = room(view.shape, numpy.float16)
        return lambda: numpy.copyto(out, view, casting="same_kind")
    if target == "i8":
        out = room(view.shape, numpy.int8)
        return lambda: numpy.copyto(out, numpy.clip(numpy.rint(view / scale), -128, 127), casting="unsafe")
    if target == "f32":
        out = room(view.shape, numpy.float32)
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
