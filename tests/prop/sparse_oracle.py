# Sparse packings of random and adversarial tensors against lists in Python: every part element by element, and the
# tensor that comes back. Orders of metadata are made the other way round, from the strides that their documents give.
# No code of the library is shared. Usage: sparse_oracle.py LIBRARY [CASES [SEED]]; prints TAP.
import ctypes
import itertools
import random
import sys

DTYPES = {"i8": 1, "u8": 1, "i16": 2, "bf16": 2, "f32": 4, "f64": 8}


def is_zero(dtype, bits):
    """Both zeros of a float are."""
    width = 8 * DTYPES[dtype]
    return bits == 0 or (dtype[0] in "bf" and bits == 1 << (width - 1))


def magnitude(dtype, bits):
    width = 8 * DTYPES[dtype]
    if dtype[0] in "bf":
        return bits & ((1 << (width - 1)) - 1)
    return (1 << width) - bits if dtype[0] == "i" and bits >> (width - 1) else bits


# -- N:M

def ordered(shape, order):
    """Strides of a layout whose dimensions grow in that order, as CuTe's make_ordered_layout."""
    strides, stride = [0] * len(shape), 1
    for rank in range(len(shape)):
        at = order.index(rank)
        strides[at] = stride
        stride *= shape[at]
    return strides, stride


def hopper(rows, columns, bits, tile):
    """Places of 16-bit words, by (row, column): a tile of elements is listed with its strides in bits."""
    per_word = 8 if bits == 32 else 16
    weight = 16 // per_word
    if bits == 8:
        shape, order = [64, 1, 1, tile, 1, 1], [1, 2, 3, 0, 4, 5]
    else:
        shape, order = [8, 2, 4, per_word, 2, tile // per_word // 2], [3, 1, 5, 0, 4, 2]
    strides, size = ordered(shape, order)
    tiles_m, tiles_k = -(-rows // 64), -(-columns * per_word // tile)
    place = {}
    for m, k in itertools.product(range(rows), range(0, columns * per_word, per_word)):
        digits, rest = [], m % 64
        for extent in shape[:3]:
            digits.append(rest % extent)
            rest //= extent
        rest = k % tile
        for extent in shape[3:]:
            digits.append(rest % extent)
            rest //= extent
        at = sum(d * s for d, s in zip(digits, strides)) + (m // 64 + k // tile * tiles_m) * size
        place[m, k // per_word] = at * weight // 16
    return place, tiles_m * tiles_k * size * weight // 16


def interleaved(rows, columns, row_of):
    """Rows moved, squares of two by two transposed off their diagonal, then columns in pairs."""
    grid = [[None] * columns for _ in range(rows)]
    for m, k in itertools.product(range(rows), range(columns)):
        grid[row_of(m)][k] = (m, k)
    for r, c in itertools.product(range(0, rows, 2), range(0, columns, 2)):
        grid[r][c + 1], grid[r + 1][c] = grid[r + 1][c], grid[r][c + 1]
    memory = [grid[r][c + i] for c in range(0, columns, 2) for r in range(rows) for i in range(2)]
    return {word: at for at, word in enumerate(memory)}, rows * columns


def ampere_row(width):
    tile = 32 if width == 16 else 16
    rows = [g * 8 + m for m in range(8) for g in range(tile // 8)]  # in the order of memory
    return lambda m: m // tile * tile + rows.index(m % tile)


def marlin_row(m):
    rows = [None] * 64
    for b in range(64):  # b = b5..b0 of the row: b1 goes on top, b5..b3 below, then b0, then b2
        d = [b >> i & 1 for i in range(6)]
        rows[b] = d[1] << 5 | d[5] << 4 | d[4] << 3 | d[3] << 2 | d[0] << 1 | d[2]
    return m // 64 * 64 + rows[m % 64]


def ratio(words, n, m, dtype, matrix):
    width = int(words["index"][1:])
    columns = -(-len(matrix[0]) // m * 4 // width)
    place_bits = m.bit_length() - 1
    group_bits = 4 if (n, m) == (1, 2) else n * place_bits
    columns = -(-(len(matrix[0]) // m) // (width // group_bits))
    order = words.get("order", "plain")
    if order == "hopper":
        place, count = hopper(len(matrix), columns, 8 * DTYPES[dtype], int(words["tile"]))
    elif order == "plain":
        place = {(r, c): r * columns + c for r in range(len(matrix)) for c in range(columns)}
        count = len(place)
    else:
        place, count = interleaved(len(matrix), columns, ampere_row(width) if order == "ampere" else marlin_row)
    assert len(set(place.values())) == len(place) and max(place.values()) < count
    values, meta, dense = [], [0] * count, []
    for r, row in enumerate(matrix):
        for g in range(len(row) // m):
            group = row[g * m:(g + 1) * m]
            kept = [i for i, bits in enumerate(group) if not is_zero(dtype, bits)]
            if len(kept) > n and words["prune"] == "torch":
                kept = {(1, 2, 3): [1, 3], (0, 2, 3): [0, 3]}.get(tuple(kept), [0, 1])
            elif len(kept) > n:
                kept = sorted(sorted(kept, key=lambda i: (-magnitude(dtype, group[i]), i))[:n])
            spare = words.get("spare") or ("torch" if (n, m) in ((2, 4), (1, 2)) else "last")
            free = [i for i in range(m) if i not in kept]
            if spare == "torch" and (n, m) == (2, 4) and len(kept) < 2:
                named = {(): [2, 3], (3,): [2, 3], (2,): [2, 3], (1,): [1, 2], (0,): [0, 2]}[tuple(kept)]
            else:
                need = n - len(kept)
                named = sorted(kept + (free[:need] if spare == "first" else free[len(free) - need:]))
            values += [group[i] if i in kept else 0 for i in named]
            dense += [bits if i in kept else 0 for i, bits in enumerate(group)]
            code = sum(i << (k * place_bits) for k, i in enumerate(named))
            if (n, m) == (1, 2):
                code = 0xe if named[0] else 4
            per_word = width // group_bits
            meta[place[r, g // per_word]] |= code << (g % per_word * group_bits)
    return {"values": values, "meta": meta}, dense


# -- masks

def packed(bits, width, msb):
    out = []
    for at in range(0, len(bits), width):
        word = bits[at:at + width] + [0] * (width - len(bits[at:at + width]))
        out.append(int("".join(map(str, word if msb else word[::-1])), 2))
    return out


def mask(words, dtype, flat):
    bits = [int(not is_zero(dtype, b)) for b in flat]
    width = int(words.get("word", "u1")[1:])
    chunk = int(words.get("chunk", len(flat)))
    chunks = [bits[at:at + chunk] for at in range(0, len(bits), chunk)]
    parts = {"values": [b for b, keep in zip(flat, bits) if keep],
             "mask": [w for c in chunks for w in packed(c, width, words.get("first") == "msb")]}
    if "chunk" in words:
        unit = DTYPES[dtype] if words.get("pointers") == "bytes" else 1
        parts["pointers"] = [unit * sum(map(sum, chunks[:i])) for i in range(len(chunks))]
    return parts


def nvdla(words, dtype, flat):
    size, align, group = DTYPES[dtype], int(words.get("align", 128)), int(words["group"])
    tool = words.get("reading") == "tool"
    bits = [int(not is_zero(dtype, b)) for b in flat]
    values = [b for b, keep in zip(flat, bits) if keep]
    values += [0] * (-len(values) % (align // size))
    surface = packed(bits, 8, tool)
    surface += [0] * (-len(surface) % align)
    sizes = [size * sum(bits[at:at + group]) for at in range(0, len(bits), group)]
    if tool:  # what a group has too little for whole lines it takes from the next
        for i in range(len(sizes) - 1):
            short = -sizes[i] % align
            sizes[i] += short
            sizes[i + 1] -= short
        sizes[-1] += -sum(sizes) % align
    return {"values": values, "mask": surface, "sizes": [s % 2**32 for s in sizes]}


# -- lists

def lists(name, words, dtype, matrix):
    base, pad = int(words.get("base", 0)), int(words.get("pad", 1))
    zeros = words.get("zeros", "none")
    rows = [list(row) for row in (zip(*matrix) if name == "csc" else matrix)]
    values, inner, outer, starts = [], [], [], [0]
    for o, row in enumerate(rows):
        kept = [(i, b) for i, b in enumerate(row) if not is_zero(dtype, b) or (zeros == "signed" and b)]
        if not kept and zeros == "row":
            kept = [(0, 0)]
        while len(kept) % pad:
            kept.append((kept[-1][0], 0))
        values += [b for _, b in kept]
        inner += [i + base for i, _ in kept]
        outer += [o + base] * len(kept)
        starts.append(len(values))
    if name == "coo":
        return {"values": values, "rows": outer, "columns": inner}
    unit = DTYPES[dtype] if words.get("pointers") == "bytes" else 1
    starts = [s * unit + base for s in starts]
    first, second = ("columns", "rows") if name == "csr" else ("rows", "columns")
    return {"values": values, first: inner, second: starts}


def runs(words, dtype, flat):
    most = (1 << int(words["index"][1:])) - 1
    values, before, run = [], [], 0
    for i, b in enumerate(flat):
        if is_zero(dtype, b) and run < most and i + 1 < len(flat):
            run += 1
            continue
        values.append(0 if is_zero(dtype, b) else b)
        before.append(run)
        run = 0
    return {"values": values, "runs": before}


# -- tensors

def draw_matrix(rng, dtype, rows, columns):
    """Random densities, and what breaks designs: full, one value, empty rows, the last element, signed zeros."""
    width = 8 * DTYPES[dtype]
    kind = rng.randrange(8)
    density = rng.choice([0.02, 0.2, 0.5, 0.9])

    def value(r, c):
        if kind == 0:
            keep = True
        elif kind == 1:
            keep = (r, c) == (rows - 1, columns - 1)
        elif kind == 2:
            keep = r % 3 == 1
        elif kind == 3:
            keep = c % 4 >= 2
        else:
            keep = rng.random() < density
        if keep:
            return rng.choice([1, (1 << width) - 1, 1 << (width - 2), rng.randrange(1, 1 << width)])
        return 1 << (width - 1) if dtype[0] in "bf" and rng.randrange(3) == 0 else 0
    return [[value(r, c) for c in range(columns)] for r in range(rows)]


def draw(rng):
    dtype = rng.choice(list(DTYPES))
    rows, columns = rng.randrange(1, 9), rng.randrange(1, 40)
    kind = rng.choice(["ratio", "order", "order", "mask", "nvdla", "csr", "csc", "coo", "runs"])
    words = {}

    def maybe(key, *choices):
        if rng.randrange(2):
            words[key] = str(rng.choice(choices))
    if kind in ("ratio", "order"):
        n, m = rng.choice([(2, 4), (2, 4), (1, 2), (1, 4), (4, 8)])
        words["index"] = {(1, 4): "u16", (4, 8): "u12"}.get((n, m)) or rng.choice(["u16", "u32"])
        words["prune"] = rng.choice(["magnitude"] + ["torch"] * ((n, m) == (2, 4)))
        maybe("spare", "first", "last")
        columns = m * rng.randrange(1, 30)
        if kind == "order":
            n, m = (2, 4)
            words["order"] = rng.choice(["ampere", "marlin", "hopper"])
            words["index"] = rng.choice(["u16", "u32"])
            if words["order"] == "hopper":
                dtype = rng.choice(["i8", "bf16", "f32"])
                n, m = (1, 2) if dtype == "f32" else (2, 4)
                block = 64 // DTYPES[dtype]
                words["tile"] = str(block * rng.randrange(1, 5))
                words["index"] = "u16"
                rows, columns = rng.randrange(1, 140), m * rng.randrange(1, 100)
            else:
                rows = rng.choice([64, 128])
                columns = rng.randrange(1, 5) * 2 * int(words["index"][1:])
                columns = columns // 4 * 4
            words["prune"] = "magnitude"
        matrix = draw_matrix(rng, dtype, rows, columns)
        parts, dense = ratio(words, n, m, dtype, matrix)
        return f"{n}:{m}", words, dtype, matrix, parts, dense
    if kind == "coo" or kind[:2] == "cs":
        words["index"] = "u16"
        maybe("base", 0, 1)
        maybe("zeros", "none", "signed", "row")
        if kind != "coo":
            maybe("pad", 1, 2, 3, 8)
            maybe("pointers", "elements", "bytes")
        matrix = draw_matrix(rng, dtype, rows, columns)
        parts = lists(kind, words, dtype, matrix)
        keep = words.get("zeros") == "signed"
    else:
        matrix = draw_matrix(rng, dtype, rows, columns)
        flat = [b for row in matrix for b in row]
        keep = False
        if kind == "mask":
            maybe("word", "u1", "u8", "u16", "u13", "u64")
            if words.get("word", "u1") != "u1":
                maybe("first", "lsb", "msb")
            maybe("chunk", 1, 5, 8, 32, 1000)
            maybe("pointers", "elements", "bytes")
            parts = mask(words, dtype, flat)
        elif kind == "nvdla":
            words["group"] = str(rng.randrange(1, len(flat) + 1))
            maybe("reading", "document", "tool")
            maybe("align", 8, 32, 128)
            parts = nvdla(words, dtype, flat)
        else:
            words["index"] = f"u{rng.choice([1, 2, 4, 8])}"
            parts = runs(words, dtype, flat)
    dense = [b if keep or not is_zero(dtype, b) else 0 for row in matrix for b in row]
    return kind, words, dtype, matrix, parts, dense


def main(library, cases, seed):
    td = ctypes.CDLL(library)
    td.td_tensor_data.restype = ctypes.c_void_p
    td.td_tensor_elem_bytes.restype = ctypes.c_size_t
    td.td_tensor_elems.restype = ctypes.c_uint64
    td.td_last_error.restype = ctypes.c_char_p

    class Shape(ctypes.Structure):
        _fields_ = [("rank", ctypes.c_size_t), ("dim", ctypes.c_uint64 * 32)]

    def elems(tensor):
        size, count = td.td_tensor_elem_bytes(tensor), td.td_tensor_elems(tensor)
        data = ctypes.string_at(td.td_tensor_data(tensor), count * size)
        return [int.from_bytes(data[i * size:(i + 1) * size], "little") for i in range(count)]

    rng = random.Random(seed)
    for case in range(cases):
        name, words, dtype, matrix, want, dense = draw(rng)
        if not want["values"]:
            continue  # it has no parts
        text = " ".join([name] + [f"{key}={v}" for key, v in words.items()])
        flat = [b for row in matrix for b in row]
        tensor, parts, back = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()

        def fail(what):
            print(f"# seed {seed} case {case}: {dtype} {len(matrix)}x{len(matrix[0])} {text}\n# {what}")
            print("not ok 1 - sparse packings\n1..1")
            return 1
        if td.td_tensor_create(dtype.encode(), Shape(2, (ctypes.c_uint64 * 32)(len(matrix), len(matrix[0]))),
                               ctypes.byref(tensor)):
            return fail(td.td_last_error().decode())
        size = DTYPES[dtype]
        ctypes.memmove(td.td_tensor_data(tensor), b"".join(b.to_bytes(size, "little") for b in flat), size * len(flat))
        if td.td_parts_pack(tensor, text.encode(), ctypes.byref(parts)):
            return fail(td.td_last_error().decode())
        for part, expected in want.items():
            found = ctypes.c_void_p()
            if td.td_parts_part(parts, part.encode(), ctypes.byref(found)):
                return fail(td.td_last_error().decode())
            got = elems(found)
            if got != expected:
                at = next((i for i, (a, b) in enumerate(zip(got, expected)) if a != b), min(len(got), len(expected)))
                return fail(f"{part}: {len(got)} elements, the oracle has {len(expected)}; the first other is {at}: "
                            f"{got[at:at + 4]}, not {expected[at:at + 4]}")
        if td.td_parts_unpack(parts, None, ctypes.byref(back)):
            return fail(td.td_last_error().decode())
        if elems(back) != dense:
            return fail("the tensor that comes back is another")
        td.td_tensor_destroy(ctypes.byref(back))
        td.td_parts_destroy(ctypes.byref(parts))
        td.td_tensor_destroy(ctypes.byref(tensor))
    print(f"ok 1 - {cases} sparse packings\n1..1")
    return 0


sys.exit(main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1500,
              int(sys.argv[3]) if len(sys.argv) > 3 else 1))
