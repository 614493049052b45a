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


# Super blocks: a search among scales, every sum and product rounded to f32 in the order of the formulas.

def over(a, b):
    """A quotient as f32 has it, also by 0."""
    if b == 0 or math.isinf(a) and math.isinf(b):
        return math.nan if a == 0 or math.isnan(a) or b != 0 else math.copysign(math.inf, a) * math.copysign(1, b)
    return f32(a / b)


def times(*factors):
    out = factors[0]
    for factor in factors[1:]:
        out = f32(out * factor)
    return out


def near(x):
    return 0 if math.isnan(x) else round(max(-2.0 ** 22, min(2.0 ** 22, x)))


def clip(code, low, high):
    return max(low, min(high, code))


def score(x, codes):
    lx = l2 = 0.0
    for v, c in zip(x, codes):
        w = times(v, v)
        lx, l2 = f32(lx + times(w, v, c)), f32(l2 + times(w, c, c))
    return lx, l2


def peak_of(x):
    peak = 0.0
    for v in x:
        if abs(v) > abs(peak):
            peak = v
    return peak


def by_search(x, half):
    peak = peak_of(x)
    if abs(peak) < f32(1e-15):
        return 0.0, [-half] * len(x)

    def codes_at(distance):
        by = over(-f32(half + f32(f32(.1) * distance)), peak)
        return [clip(near(times(by, v)), -half, half - 1) for v in x]

    codes = codes_at(0)
    lx, l2 = score(x, codes)
    scale = over(lx, l2) if l2 else 0.0
    best = times(scale, lx)
    for distance in [*range(-9, 0), *range(1, 10)]:
        other = codes_at(distance)
        lx, l2 = score(x, other)
        if l2 > 0 and times(lx, lx) > times(best, l2):
            codes, scale = other, over(lx, l2)
            best = times(scale, lx)
    return scale, codes


def by_moves(x, half):
    peak = peak_of(x)
    if abs(peak) < f32(1e-15):
        return 0.0, [-half] * len(x)
    by = over(-half, peak)
    codes = [clip(near(times(by, v)), -half, half - 1) for v in x]
    lx, l2 = score(x, codes)
    for _ in range(5):
        moved = False
        for i, v in enumerate(x):
            w = times(v, v)
            lx_left = f32(lx - times(w, v, codes[i]))
            if not lx_left > 0:
                continue
            l2_left = f32(l2 - times(w, codes[i], codes[i]))
            code = clip(near(over(times(v, l2_left), lx_left)), -half, half - 1)
            if code == codes[i]:
                continue
            lx_new, l2_new = f32(lx_left + times(w, v, code)), f32(l2_left + times(w, code, code))
            if l2_new > 0 and times(lx_new, lx_new, l2) > times(lx, lx, l2_new):
                codes[i], lx, l2, moved = code, lx_new, l2_new, True
        if not moved:
            break
    return (over(lx, l2) if l2 > 0 else 0.0), codes


def by_lines(x, top, weights, first, steps, squared):
    def error(scale, least, codes):
        total = 0.0
        for v, w, c in zip(x, weights, codes):
            off = f32(f32(times(scale, c) + least) - v)
            total = f32(total + times(w, times(off, off) if squared else abs(off)))
        return total

    sum_w = sum_x = 0.0
    for i, (v, w) in enumerate(zip(x, weights)):
        sum_w = f32(sum_w + w) if i else w
        sum_x = f32(sum_x + times(w, v)) if i else times(w, v)
    least, high = min(0.0, min(x)), max(x)
    if high == least:
        return 0.0, least, [0] * len(x)
    by = over(top, f32(high - least))
    codes = [clip(near(times(by, f32(v - least))), 0, top) for v in x]
    scale = over(1, by)
    best = error(scale, least, codes)
    for step in range(steps + 1):
        by = over(f32(f32(first + f32(f32(.1) * step)) + top), f32(high - least))
        other = [clip(near(times(by, f32(v - least))), 0, top) for v in x]
        sum_l = sum_l2 = sum_xl = 0.0
        for v, w, c in zip(x, weights, other):
            sum_l, sum_l2 = f32(sum_l + times(w, c)), f32(sum_l2 + times(w, c, c))
            sum_xl = f32(sum_xl + times(w, c, v))
        spread = f32(times(sum_w, sum_l2) - times(sum_l, sum_l))
        if not spread > 0:
            continue
        new_scale = over(f32(times(sum_w, sum_xl) - times(sum_x, sum_l)), spread)
        new_least = over(f32(times(sum_l2, sum_x) - times(sum_l, sum_xl)), spread)
        if new_least > 0:
            new_scale, new_least = over(sum_xl, sum_l2), 0.0
        new = error(new_scale, new_least, other)
        if new < best:
            best, scale, least, codes = new, new_scale, new_least, other
    return scale, least, codes


def signed_super(x, bits, scale_bits):
    """The number, the scales and the elements, from their lowest codes on."""
    half, s_half = 1 << (bits - 1), 1 << (scale_bits - 1)
    found = [(by_moves if bits == 3 else by_search)(x[16 * j:16 * j + 16], half) for j in range(16)]
    largest = peak_of([scale for scale, _ in found])
    if largest == 0 or bits != 3 and abs(largest) < f32(1e-15):
        q = [c + half for _, codes in found for c in codes]
        return to_half(0.0), [0 if bits == 3 else s_half] * 16, q if bits == 3 else [0] * 256
    by = over(-s_half, largest)
    number = to_half(over(1, by))
    d = half_of(number)
    scales, q = [], []
    for j, (scale, codes) in enumerate(found):
        scales.append(clip(near(times(by, scale)), -s_half, s_half - 1))
        step = times(d, scales[j])
        for v, c in zip(x[16 * j:16 * j + 16], codes):
            q.append((clip(near(over(v, step)), -half, half - 1) if step else c) + half)
    return number, [s + s_half for s in scales], q


def half_of(data):
    return struct.unpack("<e", data)[0]


def unsigned_super(x, bits, scale_bits, block):
    top, s_top, found = (1 << bits) - 1, (1 << scale_bits) - 1, []
    for j in range(256 // block):
        part = x[block * j:block * j + block]
        squares = 0.0
        for v in part:
            squares = f32(squares + times(v, v))
        usual = 0.0 if bits == 2 else f32(math.sqrt(f32(squares / block)))
        weights = [f32(usual + abs(v)) for v in part]
        found.append(by_lines(part, top, weights, -1.0 if bits == 4 else -.5, 20 if bits == 4 else 15, bits != 2))
    numbers, integers = [], []
    for values in ([scale for scale, _, _ in found], [-least for _, least, _ in found]):
        largest = 0.0
        for v in values:
            largest = v if v > largest else largest
        by = over(s_top, largest) if largest > 0 else 0.0
        integers.append([clip(near(times(by, v)), 0, s_top) for v in values])
        numbers.append(to_half(over(largest, s_top)))
    d, dmin = half_of(numbers[0]), half_of(numbers[1])
    q = []
    for j, (_, _, codes) in enumerate(found):
        step, below = times(d, integers[0][j]), times(dmin, integers[1][j])
        for v, c in zip(x[block * j:block * j + block], codes):
            q.append(clip(near(over(f32(v + below), step)), 0, top) if step != 0 else c)
    return numbers, integers[0], integers[1], q


def quarters(q):
    return bytes(sum((q[128 * n + 32 * j + l] & 3) << (2 * j) for j in range(4)) for n in range(2) for l in range(32))


def make_q2_k(x):
    numbers, scales, mins, q = unsigned_super(x, 2, 4, 16)
    return bytes(s | m << 4 for s, m in zip(scales, mins)) + quarters(q) + numbers[0] + numbers[1]


def make_q3_k(x):
    number, scales, q = signed_super(x, 3, 6)
    high = bytes(sum((q[32 * j + l] >> 2) << j for j in range(8)) for l in range(32))
    packed = bytes((scales[j] & 15) | (scales[j + 8] & 15) << 4 for j in range(8))
    packed += bytes(sum((scales[4 * k + j] >> 4) << (2 * k) for k in range(4)) for j in range(4))
    return high + quarters(q) + packed + number


def six_packed(scales, mins):
    out = [0] * 12
    for j in range(4):
        out[j] = scales[j] | (scales[j + 4] >> 4) << 6
        out[j + 4] = mins[j] | (mins[j + 4] >> 4) << 6
        out[j + 8] = (scales[j + 4] & 15) | (mins[j + 4] & 15) << 4
    return bytes(out)


def halves(q):
    return bytes((q[64 * n + l] & 15) | (q[64 * n + 32 + l] & 15) << 4 for n in range(4) for l in range(32))


def make_q4_k(x):
    numbers, scales, mins, q = unsigned_super(x, 4, 6, 32)
    return numbers[0] + numbers[1] + six_packed(scales, mins) + halves(q)


def make_q5_k(x):
    numbers, scales, mins, q = unsigned_super(x, 5, 6, 32)
    high = bytes(sum((q[32 * j + l] >> 4) << j for j in range(8)) for l in range(32))
    return numbers[0] + numbers[1] + six_packed(scales, mins) + high + halves(q)


def make_q6_k(x):
    number, scales, q = signed_super(x, 6, 8)
    low = bytes((q[128 * n + l] & 15) | (q[128 * n + 64 + l] & 15) << 4 for n in range(2) for l in range(64))
    high = bytes(sum((q[128 * n + 32 * j + l] >> 4) << (2 * j) for j in range(4)) for n in range(2) for l in range(32))
    return low + high + bytes((s - 128) & 255 for s in scales) + number


TYPES = {  # elements and bytes of a block
    "q4_0": (32, 18, q4_0, make_q4_0), "q4_1": (32, 20, q4_1, make_q4_1), "q5_0": (32, 22, q5_0, make_q5_0),
    "q5_1": (32, 24, q5_1, make_q5_1), "q8_0": (32, 34, q8_0, make_q8_0), "q2_K": (256, 84, q2_k, make_q2_k),
    "q3_K": (256, 110, q3_k, make_q3_k), "q4_K": (256, 144, q4_k, make_q4_k), "q5_K": (256, 176, q5_k, make_q5_k),
    "q6_K": (256, 210, q6_k, make_q6_k), "ggml_mxfp4": (32, 17, ggml_mxfp4, make_ggml_mxfp4),
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
        most = 3 if elems > 64 else 4  # super blocks take long to search in Python
        rows, blocks = rng.randrange(1, most), rng.randrange(1, most)
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
