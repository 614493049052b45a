# The blocks of ggml against its formulas: random bytes are decoded, random values are encoded, byte for byte. f32 is
# rounded by struct alone, a logarithm is Python's. No code of the library is shared.
# Usage: ggml_oracle.py LIBRARY [CASES [SEED]]; prints TAP.
import ctypes
import math
import random
import struct
import sys

E2M1 = [0, .5, 1, 1.5, 2, 3, 4, 6]


def f32(x):
    if math.isnan(x) or math.isinf(x):
        return x
    try:
        return struct.unpack("f", struct.pack("f", x))[0]
    except OverflowError:
        return math.copysign(math.inf, x)


def half(data, at):
    return struct.unpack_from("<e", data, at)[0]


def to_half(x):
    if math.isnan(x):
        return b"\x00\x7e"
    try:
        return struct.pack("<e", x)
    except OverflowError:
        return b"\x00\x7c" if x > 0 else b"\x00\xfc"


# -- decoding: bytes to values, each product and each sum rounded once

def q4_0(b):
    d = half(b, 0)
    q = [b[2 + i] & 15 for i in range(16)] + [b[2 + i] >> 4 for i in range(16)]
    return [f32((v - 8) * d) for v in q]


def q4_1(b):
    d, m = half(b, 0), half(b, 2)
    q = [b[4 + i] & 15 for i in range(16)] + [b[4 + i] >> 4 for i in range(16)]
    return [f32(f32(v * d) + m) for v in q]


def fifth(b, at):
    high = struct.unpack_from("<I", b, at)[0]
    q = [b[at + 4 + i] & 15 for i in range(16)] + [b[at + 4 + i] >> 4 for i in range(16)]
    return [v | (high >> i & 1) << 4 for i, v in enumerate(q)]


def q5_0(b):
    return [f32((v - 16) * half(b, 0)) for v in fifth(b, 2)]


def q5_1(b):
    return [f32(f32(v * half(b, 0)) + half(b, 2)) for v in fifth(b, 4)]


def q8_0(b):
    return [f32(v * half(b, 0)) for v in struct.unpack_from("<32b", b, 2)]


def ggml_mxfp4(b):
    q = [b[1 + i] & 15 for i in range(16)] + [b[1 + i] >> 4 for i in range(16)]
    return [math.nan if b[0] == 255 else f32(sign(v) * E2M1[v & 7] * 2.0 ** (b[0] - 127)) for v in q]


def sign(code):
    return -1.0 if code & 8 else 1.0


def ue4m3(code):
    if code == 0x7f:
        return 0.0
    exponent, man = code >> 3 & 15, code & 7
    return (1 + man / 8) * 2.0 ** (exponent - 7) if exponent else man * 2.0 ** -9


def ggml_nvfp4(b):
    out = []
    for s in range(4):
        q = [b[4 + 8 * s + j] & 15 for j in range(8)] + [b[4 + 8 * s + j] >> 4 for j in range(8)]
        out += [sign(v) * E2M1[v & 7] * ue4m3(b[s]) for v in q]
    return out


def k_value(d, scale, q, dmin=0.0, least=0):
    return f32(f32(f32(d * scale) * q) - f32(dmin * least))


def q2_k(b):
    d, dmin = half(b, 80), half(b, 82)
    out = []
    for e in range(256):
        n, j, l = e // 128, e % 128 // 32, e % 32
        s = b[e // 16]
        out.append(k_value(d, s & 15, b[16 + 32 * n + l] >> (2 * j) & 3, dmin, s >> 4))
    return out


def q3_k(b):
    d = half(b, 108)
    scales = []
    for j in range(16):
        low = b[96 + j % 8] >> (4 * (j // 8)) & 15
        scales.append((low | (b[104 + j % 4] >> (2 * (j // 4)) & 3) << 4) - 32)
    out = []
    for e in range(256):
        n, j, l = e // 128, e % 128 // 32, e % 32
        q = b[32 + 32 * n + l] >> (2 * j) & 3
        out.append(k_value(d, scales[e // 16], q - (0 if b[l] >> (e // 32) & 1 else 4)))
    return out


def six_bits(s, j):
    if j < 4:
        return s[j] & 63, s[j + 4] & 63
    return (s[j + 4] & 15) | (s[j - 4] >> 6) << 4, (s[j + 4] >> 4) | (s[j] >> 6) << 4


def q4_k(b):
    d, dmin, s = half(b, 0), half(b, 2), b[4:16]
    out = []
    for e in range(256):
        sc, least = six_bits(s, e // 32)
        out.append(k_value(d, sc, b[16 + e // 64 * 32 + e % 32] >> (4 * (e // 32 % 2)) & 15, dmin, least))
    return out


def q5_k(b):
    d, dmin, s = half(b, 0), half(b, 2), b[4:16]
    out = []
    for e in range(256):
        sc, least = six_bits(s, e // 32)
        q = b[48 + e // 64 * 32 + e % 32] >> (4 * (e // 32 % 2)) & 15
        out.append(k_value(d, sc, q | (b[16 + e % 32] >> (e // 32) & 1) << 4, dmin, least))
    return out


def q6_k(b):
    d = half(b, 208)
    sc = struct.unpack_from("<16b", b, 192)
    out = []
    for e in range(256):
        n, part, l = e // 128, e % 128 // 32, e % 32
        low = b[64 * n + l + 32 * (part % 2)] >> (4 * (part // 2)) & 15
        q = low | (b[128 + 32 * n + l] >> (2 * part) & 3) << 4
        out.append(k_value(d, sc[8 * n + l // 16 + 2 * part], q - 32))
    return out


# -- encoding: values to bytes

def nibbles(q):
    n = len(q) // 2
    return bytes(q[i] | q[i + n] << 4 for i in range(n))


def inverse(d):
    by = f32(1 / d) if d else 0.0
    return by if math.isfinite(by) else 0.0


def with_fifth(q):
    return struct.pack("<I", sum((v >> 4) << i for i, v in enumerate(q))) + nibbles([v & 15 for v in q])


def signed_block(x, bits):
    largest = 0.0
    for v in x:
        if abs(v) > abs(largest):
            largest = v
    middle = 1 << (bits - 1)
    d = f32(largest / -middle)
    by = inverse(d)
    return d, [min(2 * middle - 1, int(f32(f32(v * by) + (middle + .5)))) for v in x]


def least_block(x, bits):
    low, high = min(x), max(x)
    d = f32(f32(high - low) / ((1 << bits) - 1))
    by = inverse(d)
    return d, low, [min((1 << bits) - 1, int(f32(f32(f32(v - low) * by) + .5))) for v in x]


def make_q4_0(x):
    d, q = signed_block(x, 4)
    return to_half(d) + nibbles(q)


def make_q5_0(x):
    d, q = signed_block(x, 5)
    return to_half(d) + with_fifth(q)


def make_q4_1(x):
    d, m, q = least_block(x, 4)
    return to_half(d) + to_half(m) + nibbles(q)


def make_q5_1(x):
    d, m, q = least_block(x, 5)
    return to_half(d) + to_half(m) + with_fifth(q)


def make_q8_0(x):
    d = f32(max(abs(v) for v in x) / 127)
    by = inverse(d)
    q = [f32(v * by) for v in x]
    q = [int(math.copysign(math.floor(abs(v) + .5), v)) for v in q]
    return to_half(d) + struct.pack("<32b", *q)


def e2m1_code(x, scale):
    """The first of the nearest in f32, where values far past the largest are as far from all."""
    errors = [f32(abs(m * scale - abs(x))) for m in E2M1]
    best = errors.index(min(errors))
    return best | (8 if best and x < 0 else 0)


def make_ggml_mxfp4(x):
    amax = max(abs(v) for v in x)
    e = max(0, math.floor(f32(math.log2(amax))) - 2 + 127) if amax else 0
    return bytes([e]) + nibbles([e2m1_code(v, 2.0 ** (e - 127)) for v in x])


def make_ggml_nvfp4(x):
    scales, data = b"", b""
    for s in range(4):
        part = x[16 * s:16 * s + 16]
        scale = f32(max(abs(v) for v in part) / 6)
        if scale >= 248:
            code = 0x7e
        elif scale < 2.0 ** -6:
            code = min(7, int(f32(f32(scale * 512) + .5)))
        else:  # halves up: the fourth bit of the mantissa alone decides
            exponent = math.frexp(scale)[1] - 1
            code = ((exponent + 7) << 3) + math.floor((scale / 2.0 ** exponent - 1) * 8 + .5)
        scales += bytes([code])
        data += nibbles([e2m1_code(v, ue4m3(code)) for v in part])
    return scales + data


TYPES = {  # elements and bytes of a block
    "q4_0": (32, 18, q4_0, make_q4_0), "q4_1": (32, 20, q4_1, make_q4_1), "q5_0": (32, 22, q5_0, make_q5_0),
    "q5_1": (32, 24, q5_1, make_q5_1), "q8_0": (32, 34, q8_0, make_q8_0), "q2_K": (256, 84, q2_k, None),
    "q3_K": (256, 110, q3_k, None), "q4_K": (256, 144, q4_k, None), "q5_K": (256, 176, q5_k, None),
    "q6_K": (256, 210, q6_k, None), "ggml_mxfp4": (32, 17, ggml_mxfp4, make_ggml_mxfp4),
    "ggml_nvfp4": (64, 36, ggml_nvfp4, make_ggml_nvfp4),
}


def some_value(rng, spread):
    kind = rng.randrange(8)
    if kind == 0:
        return rng.choice([0.0, -0.0])
    if kind == 1:  # halves and their neighbours
        return f32(rng.randrange(-16, 17) / 2 * spread * (1 + rng.choice([-1, 0, 1]) * 2.0 ** -23))
    if kind == 2:  # powers of two and the values below them
        bits = (rng.randrange(64, 192) << 23) - rng.randrange(0, 60)
        return struct.unpack("f", struct.pack("I", bits | rng.randrange(2) << 31))[0]
    return f32(rng.gauss(0, 1) * spread)


def main(library, cases, seed):
    td = ctypes.CDLL(library)
    td.td_tensor_data.restype = ctypes.c_void_p
    td.td_last_error.restype = ctypes.c_char_p

    class Shape(ctypes.Structure):
        _fields_ = [("rank", ctypes.c_size_t), ("dim", ctypes.c_uint64 * 32)]

    def shape(*dims):
        return Shape(len(dims), (ctypes.c_uint64 * 32)(*dims))

    def check(status):
        if status:
            raise SystemExit(f"not ok 1 - {td.td_last_error().decode()}\n1..1")

    def tensor_of(dtype, dims, data):
        tensor = ctypes.c_void_p()
        check(td.td_tensor_create(dtype, shape(*dims), ctypes.byref(tensor)))
        ctypes.memmove(td.td_tensor_data(tensor), data, len(data))
        return tensor

    def records_of(parts, size):
        records = ctypes.c_void_p()
        check(td.td_parts_record(parts, None, ctypes.byref(records)))
        data = ctypes.string_at(td.td_tensor_data(records), size)
        td.td_tensor_destroy(ctypes.byref(records))
        return data

    def refuse(case, name, what, got, want):
        print(f"not ok 1 - case {case}: {what} of {name}: {got!r} in place of {want!r}\n1..1")
        raise SystemExit(1)

    rng = random.Random(seed)
    for case in range(cases):
        name = rng.choice(list(TYPES))
        elems, size, decode, make = TYPES[name]
        rows, blocks = rng.randrange(1, 4), rng.randrange(1, 4)
        count = rows * blocks
        parts, values = ctypes.c_void_p(), ctypes.c_void_p()

        # Bytes to values. f16 scales are kept finite: a NaN is no value to compare.
        data = bytearray(rng.randbytes(count * size))
        for b in range(count):
            for at in {"q2_K": (80, 82), "q3_K": (108,), "q6_K": (208,), "ggml_mxfp4": (), "ggml_nvfp4": ()}.get(
                    name, (0, 2) if name in ("q4_1", "q5_1", "q4_K", "q5_K") else (0,)):
                data[b * size + at + 1] &= 0xbb
        data = bytes(data)
        check(td.td_parts_create(name.encode(), shape(rows, blocks * elems), ctypes.byref(parts)))
        records = tensor_of(b"u8", (rows, blocks, size), data)
        check(td.td_parts_set_record(parts, None, records))
        check(td.td_parts_unpack(parts, b"f32", ctypes.byref(values)))
        got = struct.unpack(f"{count * elems}f", ctypes.string_at(td.td_tensor_data(values), 4 * count * elems))
        want = [v for b in range(count) for v in decode(data[b * size:(b + 1) * size])]
        for g, w in zip(got, want):
            if g != w and not (math.isnan(g) and math.isnan(w)):
                refuse(case, name, "a value", g, w)
        if records_of(parts, len(data)) != data:
            refuse(case, name, "records", records_of(parts, len(data)).hex(), data.hex())
        for thing in (values, records):
            td.td_tensor_destroy(ctypes.byref(thing))
        td.td_parts_destroy(ctypes.byref(parts))
        if not make:
            continue

        # Values to bytes.
        spread = 2.0 ** rng.randrange(-12, 12)
        x = [some_value(rng, spread) for _ in range(count * elems)]
        if rng.randrange(8) == 0:
            x = [0.0] * len(x)
        if rng.randrange(8) == 0:
            x = [f32(rng.gauss(0, 1) * 2.0 ** -140) for _ in x]
        tensor = tensor_of(b"f32", (rows, blocks * elems), struct.pack(f"{len(x)}f", *x))
        check(td.td_parts_pack(tensor, name.encode(), ctypes.byref(parts)))
        want = b"".join(make(x[b * elems:(b + 1) * elems]) for b in range(count))
        got = records_of(parts, len(want))
        if got != want:
            refuse(case, name, "bytes", got.hex(), want.hex() + " of " + repr(x))
        td.td_tensor_destroy(ctypes.byref(tensor))
        td.td_parts_destroy(ctypes.byref(parts))
    print(f"ok 1 - {cases} blocks of ggml\n1..1")


main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1000, int(sys.argv[3]) if len(sys.argv) > 3 else 1)
