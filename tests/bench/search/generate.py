"""Random layouts of the whole language, and every preset, with a tensor of a wanted number of bytes. A case is the
strings that a user would write; most are legal, and what the library refuses is left out of the search."""
from math import ceil, log2

# What a conversion does to one value, as C: (tensor, as, load, dump, filling).
IN_RANGE = "uniform min=-6 max=6 seed=3"
ROUND = "clipped(rintf({0} * %s), %d, %d)"
CONVERSIONS = [
    ("f32", "bf16", "to_bf16({0})", "from_bf16({0})", IN_RANGE),
    ("f32", "f16", "to_f16({0})", "from_f16({0})", IN_RANGE),
    ("f32", "e4m3", "to_e4m3({0})", "from_e4m3({0})", IN_RANGE),
    ("f32", "i8 scale=0.05", "clipped(rintf({0} / 0.05f), -128, 127)", "(0.05f * (float){0})", IN_RANGE),
    ("f32", "i8 scale=0.05 zero=3", "(int8_t)at_most(at_least((long)rintf({0} / 0.05f) + 3, -128), 127)",
     "(0.05f * (float)({0} - 3))", IN_RANGE),
    ("f32", "u8 scale=0.05 zero=128", "(uint8_t)at_most(at_least((long)rintf({0} / 0.05f) + 128, 0), 255)",
     "(0.05f * (float)({0} - 128))", IN_RANGE),
    ("f32", "i8 scale=0.05 round=away", "clipped(roundf({0} / 0.05f), -128, 127)", "(0.05f * (float){0})", IN_RANGE),
    ("f32", "i8 scale=0.05 round=zero", "clipped(truncf({0} / 0.05f), -128, 127)", "(0.05f * (float){0})", IN_RANGE),
    ("f32", "i8 scale=0.05 wrap", "(int)rintf({0} / 0.05f)", "(0.05f * (float){0})", IN_RANGE),
    ("f32", "i8 scale=0.05 error", "(int)rintf({0} / 0.05f)", "(0.05f * (float){0})", IN_RANGE),
    ("f32", "i4 scale=1", "clipped(rintf({0} / 1.0f), -8, 7)", "(1.0f * (float){0})", IN_RANGE),
    ("f32", "i16 scale=0.001", "clipped(rintf({0} / 0.001f), -32768, 32767)", "(0.001f * (float){0})", IN_RANGE),
    ("f32", "f64", "(({{ union {{ double d; uint64_t u; }} x; x.d = {0}; x.u; }}))",
     "(({{ union {{ double d; uint64_t u; }} x; x.u = {0}; (float)x.d; }}))", IN_RANGE),
    ("f64", "f32", "float_bits((float){0})", "(double)bits_float({0})", IN_RANGE),
    ("bf16", "f32", "float_bits(from_bf16({0}))", "to_bf16(bits_float({0}))", IN_RANGE),
    ("f16", "f32", "float_bits(from_f16({0}))", "to_f16(bits_float({0}))", IN_RANGE),
    ("i8", "f32 scale=0.05", "float_bits((float){0} / 0.05f)", "clipped(rintf(bits_float({0}) * 0.05f), -128, 127)",
     ""),
    ("i8", "i32", "{0}", "at_most(at_least({0}, -128), 127)", ""),
    ("i8", "i16", "{0}", "at_most(at_least({0}, -128), 127)", ""),
    ("u8", "u16", "{0}", "at_most({0}, 255)", ""),
    ("i8", "i4", "at_most(at_least({0}, -8), 7)", "{0}", ""),
    ("i4", "i8", "{0}", "at_most(at_least({0}, -8), 7)", ""),
    ("i16", "i8", "at_most(at_least({0}, -128), 127)", "{0}", ""),
    ("i32", "i8", "at_most(at_least({0}, -128), 127)", "{0}", "uniform min=-200 max=200 seed=3"),
    ("i32", "i16", "at_most(at_least({0}, -32768), 32767)", "{0}", ""),
]
CONVERTED = {(tensor, text): (load, dump, fill) for tensor, text, load, dump, fill in CONVERSIONS}


class Case:
    def __init__(self, pattern, options, address, shape, dtype, conversion=""):
        self.pattern, self.options, self.address = pattern, " ".join(options.split()), address
        self.shape, self.dtype, self.conversion = shape, dtype, conversion
        self.kind = ""
        self.width = None # of the memory; None: what the lanes need
        self.spare = 0    # bits more than that

    @property
    def memory_dtype(self):
        return self.conversion.split()[0] if self.conversion else self.dtype


def choose_dtype(r):
    kind = r.random()
    if kind < .2:
        tensor, text = r.choice(CONVERSIONS)[:2]
        return tensor, text
    if kind < .5:
        bits = r.choice([1, 2, 3, 4, 4, 4, 5, 6, 7, 9, 10, 12, 12, 14, 20, 24, 33, 40])
        return r.choice("ui") + str(bits), ""
    return r.choice(["u8", "i8", "i8", "e4m3", "i16", "bf16", "f16", "f32", "f32", "u32", "f64", "i64"]), ""


def bits_of(dtype):
    return {"bf16": 16, "e4m3": 8}.get(dtype) or int(dtype[1:])


def bytes_of(dtype):
    return next(n for n in (1, 2, 4, 8) if 8 * n >= bits_of(dtype))


def split_sizes(r, total, count):
    """`count` sizes whose product is about `total`."""
    sizes = []
    for i in range(count):
        left = count - i
        share = total ** (1 / left) * (2 ** r.uniform(-2, 2) if left > 1 else 1)
        size = max(1, min(int(share), int(total)))
        if r.random() < .5:
            size = 1 << int(round(log2(size))) if size > 1 else 1
        sizes.append(size)
        total = max(1, total / size)
    r.shuffle(sizes)
    return sizes


class Draft:
    """Axes with sizes, the groups of the left, the order of the right, and options as they come."""

    def __init__(self, r, elems, bits):
        self.r, self.bits = r, bits
        rank = r.choice([1, 2, 2, 2, 3, 3, 4])
        self.size, self.left, self.options = {}, [], []
        inner = []
        for d in range(rank):
            name = "abcd"[d]
            depth = r.choice([1, 1, 1, 2, 2, 3]) if rank > 1 else r.choice([2, 2, 3])
            group = [name] + [name + str(k) for k in range(1, depth)]
            for axis in group[1:]:
                self.size[axis] = r.choice([2, 2, 3, 4, 4, 5, 7, 8, 8, 12, 16, 16, 32, 64])
                inner.append(axis)
            self.left.append(group)
        product = 1
        for axis in inner:
            product *= self.size[axis]
        while product > elems / 4 and inner:
            axis = inner.pop()
            product //= self.size[axis]
            self.size[axis] = 1
        for group, size in zip(self.left, split_sizes(r, max(2, elems / product), rank)):
            self.size[group[0]] = size
        self.shape = []
        self.ragged = r.random() < .4
        for group in self.left:
            total = 1
            for axis in group:
                total *= self.size[axis]
            inside = total // self.size[group[0]]
            short = r.randrange(1, inside) if self.ragged and inside > 1 and r.random() < .8 else 0
            self.shape.append(total - short)
        self.order = [axis for group in self.left for axis in group]
        if r.random() < .75:
            r.shuffle(self.order)

    def deal(self):
        """The lanes are the last axes, as many bits as this time's word holds."""
        most = self.r.choice([8, 16, 32, 32, 64, 64, 128, 128, 256, 512, 1024, 4096, 65536])
        self.lanes, bits = [], self.bits
        while len(self.order) > 1 and bits * self.size[self.order[-1]] <= max(most, self.bits):
            bits *= self.size[self.order[-1]]
            self.lanes.insert(0, self.order.pop())
        self.words, self.banks = self.order, []
        small = [axis for axis in self.words if 1 < self.size[axis] <= 8]
        if small and self.r.random() < .1:
            self.banks = [self.r.choice(small)]
            self.words = [axis for axis in self.words if axis not in self.banks]

    def count(self, names):
        product = 1
        for name in names:
            product *= self.size[name]
        return product

    def pattern(self):
        def group(names):
            return names[0] if len(names) == 1 else "(%s)" % " ".join(names)
        right = ([self.banks] if self.banks else []) + [self.words, self.lanes]
        return " ".join(group(g) for g in self.left) + " -> " + " ".join(group(g) for g in right)


def choose_options(r, d):
    sizes = ["%s=%d" % (axis, d.size[axis]) for group in d.left for axis in group[1:]]
    lanes, slot = d.count(d.lanes), d.bits
    if d.ragged:
        d.options.append(r.choice(["pad=0", "pad=0", "pad=0", "pad=1", "pad=0 pad_at=begin", "tail=clip"]))
    if r.random() < .12:
        slot = d.bits + r.choice([1, 2, 3, 4, 8])
        d.options.append("slot=%d" % slot)
    if r.random() < .1:
        d.options.append("lsb=%d" % r.choice([1, 3, 4, 8, 16]))
    if r.random() < .12:
        d.options.append("lanes=msb")
    if r.random() < .1:
        beats = [n for n in (2, 3, 4, 8) if lanes * slot % n == 0]
        if beats:
            d.options.append("beats=%d" % r.choice(beats))
    if r.random() < .12:
        d.options.append("fill=keep")
    d.options = sizes + d.options


def strides(r, d, beats):
    """A sum that gives every word its own place, in another order, some axes backwards."""
    names = d.words[:]
    if r.random() < .6:
        r.shuffle(names)
    stride, base, terms = beats, r.randrange(40), []
    if r.random() < .3:
        stride *= r.choice([2, 3, 4])
    for name in reversed(names):
        if r.random() < .15:
            base += stride * (d.size[name] - 1)
            terms.append(" - %d*%s" % (stride, name))
        else:
            terms.append(" + %d*%s" % (stride, name))
        stride *= d.size[name]
        if r.random() < .15:
            stride += r.randrange(4)
    return str(base) + "".join(terms)


def choose_address(r, d):
    options = " ".join(d.options)
    beats = int(options.split("beats=")[1].split()[0]) if "beats=" in options else 1
    words = d.count(d.words)
    kind = r.random()
    if kind < .4 or not d.words:
        return ""
    if kind < .58:
        text = strides(r, d, beats)
        return text
    if beats > 1 or words < 4:
        return ""
    bits = max(1, ceil(log2(words)))
    choices = ["index ^ %d" % r.randrange(1, 8), "index ^ (index >> %d & %d)" % (r.choice([2, 3, 4, 5]),
                                                                              r.choice([1, 3, 7])),
               "index ^ (index & %d) >> 3" % r.choice([56, 448]), "rev(index, %d)" % bits,
               "(index + %d) %% %d" % (r.randrange(1, words), words), "%d - index" % (words - 1),
               "index / 4 * 4 + (3 - index % 4)"]
    if words & (words - 1) == 0:
        choices.append("index*(index + 1)/2 %% %d" % words)
        choices.append("index*%d %% %d" % (2 * r.randrange(1, 4000) + 1, words))
    if len(d.words) == 2:
        a, b = d.words
        choices += ["interleave(%s, %s)" % (b, a), "%d*%s + (%s + %s) %% %d" % (d.size[b], a, b, a, d.size[b])]
    if not d.banks:
        n = r.choice([2, 3, 4, 8])
        choices += ["bank = index %% %d; addr = index / %d" % (n, n)] * 2
        choices.append("bank = (index ^ index / 8) % 8; addr = index / 8")
        choices.append("bank = %s %% %d; addr = index" % (r.choice(d.words), n))
    if d.lanes and r.random() < .12:
        return "index + %s" % r.choice(d.lanes)
    return r.choice(choices)


def general(r, elems, dtype, conversion):
    d = Draft(r, elems, bits_of(conversion.split()[0] if conversion else dtype))
    d.deal()
    special = r.random()
    if special < .06:
        name = "k"
        d.size[name] = r.choice([2, 3, 4])
        (d.words if r.random() < .7 or not d.lanes else d.lanes).insert(0, name)
        d.options.append("k=%d" % d.size[name])
    choose_options(r, d)
    address = choose_address(r, d)
    if .06 <= special < .1 and len(d.words) > 1 and "beats" not in " ".join(d.options):
        gone = r.choice(d.words)
        kept = [n for n in d.words if n != gone]
        text, stride = "", 1
        for name in reversed(kept):
            text = "%d*%s" % (stride, name) + (" + " + text if text else "")
            stride *= d.size[name]
        address = text
        d.options.append("alias=last")
    text = " ".join(d.options)
    width = d.count(d.lanes) * d.bits
    if address and "bank" not in address and "=" not in address and r.random() < .1 and width % 8 == 0 and not any(
            k in text for k in ("slot", "lsb", "beats")):
        address = "%d*(%s)" % (width // 8, address)
        d.options.append("addr_unit=byte")
    case = Case(d.pattern(), " ".join(d.options), address, d.shape, dtype, conversion)
    case.kind = "random"
    if r.random() < .1 and "addr_unit" not in case.options:
        case.spare = r.choice([1, 3, 8, 17, 32])
    return case


def flat(r, elems, dtype, conversion):
    a = r.choice([3, 7, 16, 33, 64, 100])
    shape = [max(1, int(elems // a)), a]
    width = r.choice([8, 16, 32, 64, 128, 512, 20, 40])
    pattern = "a b -> (a b)" if width in (20, 40) or r.random() < .6 else "a b -> (b a)"
    options = "lsb=%d" % r.choice([1, 4, 8]) if r.random() < .3 else ""
    case = Case(pattern, options, str(r.randrange(10)), shape, dtype, conversion)
    case.width, case.kind = width, "flat"
    return case


def window(r, elems, dtype, conversion):
    k, step = r.choice([2, 3, 4, 5, 8]), r.choice([1, 1, 2, 3, 4])
    if r.random() < .5:
        count = max(2, int(elems // k))
        shape = [step * (count - 1) + k]
        case = Case("(%d*h + k) -> h k" % step, "k=%d" % k, "", shape, dtype, conversion)
    else:
        channels = r.choice([1, 3, 4, 8, 16])
        edge = max(2, int((elems / channels / k / k) ** .5))
        shape = [channels, step * (edge - 1) + k, step * (edge - 1) + k]
        case = Case("c (%d*h + i) (%d*w + k) -> (h w) (c i k)" % (step, step), "i=%d k=%d" % (k, k), "", shape, dtype,
                    conversion)
    case.kind = "window"
    return case


# Every preset with its parameters and the roles of its dimensions: c channels, p pixels, n few, e even, r rows.
PRESETS = [
    ("row_major cs=16", "rc"), ("nvdla_feature", "nchw"), ("nvdla_weight", "oiss"), ("vta_activation", "nchw"),
    ("vta_weight", "oiss"), ("nhcwb16", "nhwc"), ("nc1hwc0", "nchw"), ("fractal_nz", "rc"), ("fractal_z", "oiss"),
    ("nchw16c", "nchw"), ("oihw4i16o4i", "oiss"), ("vnni", "rc"), ("amx_b", "rc"), ("tpu", "rc"), ("tenstorrent", "rc"),
    ("hexagon", "nhwc"), ("int4_onnx", "rc"), ("int4_ggml", "rc"), ("mx_scale", "rc"), ("nvfp4_scale", "rc"),
    ("scale_128x4", "rc"), ("sparse24_values", "rc"), ("sparse24_index", "rc"), ("xor_swizzle b=3 s=3 cs=16", "rc"),
    ("bank_interleave banks=8 cs=16", "rc"), ("bank_rows", "v"), ("fft_bitrev bits=", "f"), ("morton", "mm"),
    ("rnn_gates", "gc"), ("im2col", "chw"),
]


def preset_shape(r, roles, elems, ragged):
    if roles == "v":
        return [int(elems) // 16 * 16 - (r.randrange(1, 16) if ragged else 0)]
    if roles == "f":
        return [1 << int(log2(elems))]
    if roles == "mm":
        edge = 1 << int(log2(elems) / 2)
        return [edge, int(elems) // edge if ragged else edge]
    if roles in ("rc", "gc"):
        cols = r.choice([256, 512, 1024, 2048])
        rows = max(8, int(elems) // cols // 128 * 128)
        if ragged:
            cols -= r.randrange(1, 31)
            rows += 0 if roles == "gc" else r.randrange(1, 31)
        return [rows, cols]
    if roles == "chw":
        channels = r.choice([1, 3, 8, 16])
        edge = max(4, int((elems / 9 / channels) ** .5))
        return [channels, edge, edge]
    if roles == "oiss":
        k = r.choice([1, 3])
        outer = 64 if elems < 1 << 19 else 256
        inner = max(32, int(elems / k / k / outer) // 32 * 32)
        return [outer - (r.randrange(1, 15) if ragged else 0), inner - (r.randrange(1, 15) if ragged else 0), k, k]
    channels = r.choice([32, 64, 128])
    edge = r.choice([14, 28, 56]) if ragged else r.choice([16, 32, 64])
    images = max(1, int(elems / channels / edge / edge))
    by_role = {"n": images, "c": channels - (r.randrange(1, 15) if ragged else 0), "h": edge, "w": edge}
    return [by_role[role] for role in roles]


def preset(r, elems, dtype, conversion):
    text, roles = r.choice(PRESETS)
    ragged = r.random() < .5
    shape = preset_shape(r, roles, elems, ragged)
    if text.endswith("bits="):
        text += str(int(log2(shape[0])))
    memory = conversion.split()[0] if conversion else dtype
    case = Case("preset:" + text, "dtype=" + memory, "", shape, dtype, conversion)
    case.kind = "preset " + ("ragged" if ragged else "whole")
    return case


def generate(r, size_bytes):
    dtype, conversion = choose_dtype(r)
    elems = size_bytes / bytes_of(dtype)
    kind = r.random()
    if kind < .05:
        dtype, conversion = (dtype, conversion) if bits_of(dtype) % 8 == 0 or r.random() < .5 else ("u8", "")
        return flat(r, size_bytes / bytes_of(dtype), dtype, conversion)
    if kind < .12:
        return window(r, elems, dtype, conversion)
    if kind < .35:
        return preset(r, elems, dtype, conversion)
    return general(r, elems, dtype, conversion)
