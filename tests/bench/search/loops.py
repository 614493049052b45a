"""The plain loops of a layout in C, as a user would write them by hand: nested loops over the axes, the element and the
address as expressions of them, shifts for bits. One of four bodies fits the lanes of a word: whole bytes are stored one
by one, a word of up to 64 bits is put together in an integer, wider words of bits stream through one, and what is left
goes bit field by bit field."""
import re
import struct

from layout import Unsupported

C_TYPE = {("u", 1): "uint8_t", ("u", 2): "uint16_t", ("u", 4): "uint32_t", ("u", 8): "uint64_t",
          ("i", 1): "int8_t", ("i", 2): "int16_t", ("i", 4): "int32_t", ("i", 8): "int64_t"}


def value_type(dtype):
    if dtype.name in ("f32", "f64"):
        return "float" if dtype.name == "f32" else "double"
    return C_TYPE["i" if dtype.signed else "u", dtype.bytes]


def pad_bits(text, dtype):
    if re.fullmatch(r"[ui]\d+", dtype.name):
        return int(text, 0) & (1 << dtype.bits) - 1
    value = float(text)
    if dtype.name == "bf16":
        return struct.unpack("<I", struct.pack("<f", value))[0] >> 16
    form = {"f16": "<e", "f32": "<f", "f64": "<d"}.get(dtype.name)
    if form is None and value != 0:
        raise Unsupported("pad")
    return int.from_bytes(struct.pack(form, value), "little") if form else 0


class Loops:
    def __init__(self, layout, conversion=None):
        """conversion: None, or (C expression of a load, of a dump) with {} for the value."""
        self.l, self.conversion = layout, conversion
        self.text = []
        l = layout
        words = set(l.bank_axes + l.word_axes)
        ragged = [d for d in l.dims if d.ragged]
        self.word_tests = [self.test(d) for d in ragged if {n for _, n in d.terms} <= words]
        self.lane_tests = [self.test(d) for d in ragged if not {n for _, n in d.terms} <= words]
        gaps = l.slot != l.memory.bits or l.lsb or l.lsb + l.part < l.width
        self.byte_lanes = (l.memory.bits in (8, 16, 32, 64) and l.slot % 8 == 0 and l.lsb % 8 == 0 and
                           l.part % l.slot == 0 and not l.skewed)
        clipped_lanes = l.clip and self.lane_tests
        if clipped_lanes and (l.beats > 1 or l.skewed or (gaps and not l.keep and l.width > 64)) and not l.flat:
            raise Unsupported("clipped lanes")
        if l.clip and l.alias and gaps:
            raise Unsupported("clipped aliases")
        self.gaps, self.clipped_lanes = gaps, clipped_lanes
        dense = l.lsb == 0 and l.part == l.width == 8 * l.word_bytes
        self.vector_bytes = l.beats * l.word_bytes
        small = l.memory.bits <= 32 and l.slot <= 32
        if l.flat:
            contiguous = l.width in (8, 16) or l.width % 32 == 0
            byte_lanes = contiguous and l.memory.bits % 8 == 0 and l.memory.bits == 8 * l.memory.bytes
            self.body = "bytes" if byte_lanes and self.base_bits() % 8 == 0 and l.slot % 8 == 0 else "fields"
        elif l.skewed:
            self.body = "fields"
        elif self.byte_lanes:
            self.body = "bytes"
        elif l.beats == 1 and l.word_bytes <= 8:
            self.body = "word"
        elif small and not l.keep and not clipped_lanes and (l.beats == 1 or dense):
            self.body = "stream"
        else:
            self.body = "fields"

    # -- expressions --

    def coordinate(self, dim):
        text = " + ".join(("%d*x_%s" % (s, n) if s != 1 else "x_" + n) for s, n in dim.terms if self.l.size[n] > 1)
        return text or "0"

    def test(self, dim):
        if dim.before:
            return "%s >= %d" % (self.coordinate(dim), dim.before)
        return "%s < %d" % (self.coordinate(dim), dim.extent)

    def element(self):
        parts = []
        for dim in self.l.dims:
            at = self.coordinate(dim)
            at = "(%s - %d)" % (at, dim.before) if dim.before else "(%s)" % at
            if at != "(0)":
                parts.append("%s*%d" % (at, dim.stride) if dim.stride > 1 else at)
        return " + ".join(parts) or "0"

    def linear(self, names):
        text = "0"
        for name in names:
            if self.l.size[name] > 1:
                text = "x_" + name if text == "0" else "(%s)*%d + x_%s" % (text, self.l.size[name], name)
        return text

    def expression(self, text):
        l = self.l
        text = re.sub(r"dim\s*\(\s*(\d+)\s*\)", lambda m: str(l.shape[int(m.group(1))]), text)
        functions = {"min": "at_most", "max": "at_least", "rev": "reversed", "interleave": "interleaved"}

        def name(match):
            word = match.group(0)
            if word == "index":
                return "(%s)" % self.linear(l.word_axes)
            return functions.get(word, "x_" + word)
        return re.sub(r"(?<![\w])[A-Za-z_]\w*", name, text)

    def address(self):
        l = self.l
        if not l.address_text.strip():
            return "(%s)*%d" % (self.linear(l.word_axes), l.beats)
        text = "(%s)" % self.expression(l.address_text)
        return "(%s / %d)" % (text, l.width // 8) if l.bytes_addressed else text

    def bank(self):
        return "(%s)" % (self.expression(self.l.bank_text) if self.l.bank_text else self.linear(self.l.bank_axes))

    def base_bits(self):
        """Of a flat layout: the bit of its first word that it begins at."""
        l = self.l
        if l.address_text.strip() and l.bytes_addressed:
            return l.lsb + 8 * (int(l.address_text, 0) % (l.width // 8))
        return l.lsb

    def lane(self):
        at = self.linear(self.l.lane_axes)
        return "(%d - (%s))" % (self.l.lanes - 1, at) if self.l.msb else "(%s)" % at

    def mask(self):
        bits = self.l.memory.bits
        return "" if bits == 8 * self.l.memory.bytes else " & 0x%xu%s" % ((1 << bits) - 1, "ll" if bits > 32 else "")

    def unsigned(self):
        return C_TYPE["u", self.l.memory.bytes]

    # -- values --

    def loaded(self, tests):
        """The bits that a lane gets."""
        value = "t[%s]" % self.element()
        if self.conversion:
            value = self.conversion[0].format(value)
        value = "((%s)(%s)%s)" % (self.unsigned(), value, self.mask())
        if tests and not self.l.clip:
            return "(%s ? %s : %d)" % (" && ".join(tests), value, pad_bits(self.l.pad, self.l.memory))
        return value

    def dumped(self, bits):
        memory = self.l.memory
        if memory.signed and memory.bits < 8 * memory.bytes:
            sign = "(%s)1 << %d" % (self.unsigned(), memory.bits - 1)
            bits = "((%s)((%s ^ (%s)) - (%s)))" % (C_TYPE["i", memory.bytes], bits, sign, sign)
        elif memory.signed:
            bits = "((%s)%s)" % (C_TYPE["i", memory.bytes], bits)
        return self.conversion[1].format(bits) if self.conversion else bits

    # -- text --

    def line(self, text, *values):
        self.text.append(text % values if values else text)

    def open(self, names, backwards=False, only_first=()):
        for name in names:
            size = self.l.size[name]
            if size == 1 or name in only_first:
                self.line("{ const long x_%s = 0; (void)x_%s;", name, name)
            elif backwards:
                self.line("for (long x_%s = %d; x_%s >= 0; x_%s--) {", name, size - 1, name, name)
            else:
                self.line("for (long x_%s = 0; x_%s < %d; x_%s++) {", name, name, size, name)

    def close(self, names):
        self.line("}" * len(names))

    def open_words(self, constant, only_first=()):
        l = self.l
        self.open(l.bank_axes + l.word_axes, False, only_first)
        if self.word_tests and l.clip:
            if all(l.size[name] == 1 for name in l.bank_axes + l.word_axes):
                raise Unsupported("one word that is clipped")
            self.line("if (!(%s)) continue;", " && ".join(self.word_tests))
        if not l.skewed:
            self.line("%sunsigned char *restrict w = m[%s] + %s * %d;", constant, self.bank(), self.address(),
                      l.word_bytes)

    # -- load --

    def load(self, name):
        l = self.l
        self.line("static void %s(unsigned char *const *m, const void *tensor)\n{", name)
        self.line("const %s *restrict t = tensor;", value_type(l.tensor) if self.conversion else
                  C_TYPE["u", l.tensor.bytes])
        words = l.bank_axes + l.word_axes
        if l.skewed and not l.keep:
            self.open(words + l.lane_axes)
            tests = self.word_tests + self.lane_tests
            if l.clip and tests:
                self.line("if (%s)", " && ".join(tests))
            self.line("memset(m[%s] + %s * %d, 0, %d);", self.bank(), self.address(), l.word_bytes, l.word_bytes)
            self.close(words + l.lane_axes)
        self.open_words("")
        tests = self.lane_tests if l.clip else self.word_tests + self.lane_tests
        guard = "if (%s) " % " && ".join(self.lane_tests) if self.clipped_lanes else ""
        getattr(self, "load_" + self.body)(self.loaded(tests), guard)
        self.close(words)
        self.line("}\n")

    def load_bytes(self, value, guard):
        l = self.l
        if self.gaps and not l.keep and not self.clipped_lanes and not l.flat:
            self.line("memset(w, 0, %d);", self.vector_bytes)
        elif self.gaps and not l.keep and self.clipped_lanes and not l.flat:
            raise Unsupported("clipped lanes in words with gaps")
        self.open(l.lane_axes)
        self.line("%s{ const %s v = %s; memcpy(w + %s, &v, sizeof v); }", guard, self.unsigned(), value,
                  self.byte_offset())
        self.close(l.lane_axes)

    def byte_offset(self):
        l = self.l
        if l.flat:
            return "%d + %s*%d" % (self.base_bits() // 8, self.lane(), l.slot // 8)
        if l.beats == 1:
            return "%d + %s*%d" % (l.lsb // 8, self.lane(), l.slot // 8)
        lanes = l.part // l.slot
        return "%s / %d * %d + %d + %s %% %d * %d" % (self.lane(), lanes, l.word_bytes, l.lsb // 8, self.lane(), lanes,
                                                      l.slot // 8)

    def word_type(self):
        return C_TYPE["u", self.l.word_bytes]

    def lanes_mask(self):
        l = self.l
        mask = 0
        for i in range(l.lanes):
            mask |= ((1 << l.memory.bits) - 1) << (l.lsb + i * l.slot)
        return mask

    def load_word(self, value, guard):
        l = self.l
        word = self.word_type()
        self.line("%s x = 0%s;", word, ", mask = 0" if guard else "")
        self.open(l.lane_axes)
        shift = "%d + %s*%d" % (l.lsb, self.lane(), l.slot)
        if guard:
            self.line("%s{ x |= (%s)((%s)%s << (%s)); mask |= (%s)((%s)0x%xull << (%s)); }", guard, word, word, value,
                      shift, word, word, (1 << l.memory.bits) - 1, shift)
        else:
            self.line("x |= (%s)((%s)%s << (%s));", word, word, value, shift)
        self.close(l.lane_axes)
        lanes = self.lanes_mask()
        if guard:
            kept = "~mask" if l.keep else "(%s)0x%xull & ~mask" % (word, lanes)
            self.line("if (mask) { %s old; memcpy(&old, w, sizeof old); x |= old & (%s); memcpy(w, &x, sizeof x); }",
                      word, kept)
        elif l.keep and lanes != (1 << l.width) - 1:
            self.line("%s old; memcpy(&old, w, sizeof old); x |= old & (%s)~0x%xull;", word, word, lanes)
            self.line("memcpy(w, &x, sizeof x);")
        else:
            self.line("memcpy(w, &x, sizeof x);")

    def unit(self):
        return 32 if self.vector_bytes % 4 == 0 else 8

    def load_stream(self, value, _guard):
        l, unit = self.l, self.unit()
        self.line("uint%d_t *p = (void *)w; uint64_t x = 0; int n = %d;", unit, l.lsb % unit)
        for _ in range(l.lsb // unit):
            self.line("*p++ = 0;")
        self.open(l.lane_axes, backwards=l.msb)
        self.line("x |= (uint64_t)%s << n; n += %d;", value, l.slot)
        self.line("%s (n >= %d) { *p++ = (uint%d_t)x; x >>= %d; n -= %d; }", "if" if unit == 32 else "while", unit,
                  unit, unit, unit)
        self.close(l.lane_axes)
        self.line("if (n > 0) *p++ = (uint%d_t)x;", unit)
        self.line("while ((unsigned char *)p < w + %d) *p++ = 0;", self.vector_bytes)

    def load_fields(self, value, guard):
        l = self.l
        bits = l.memory.bits
        if not l.keep and not l.skewed and not l.flat and not self.clipped_lanes:
            self.line("memset(w, 0, %d);", self.vector_bytes)
        self.open(l.lane_axes)
        if l.skewed:
            self.line("unsigned char *w = m[%s] + %s * %d;", self.bank(), self.address(), l.word_bytes)
        self.line("%s%s;", guard, self.field("put", ", " + value))
        self.close(l.lane_axes)

    def field(self, verb, value):
        """The bits of one lane, by the helper that its vector needs."""
        l = self.l
        bits, lane = l.memory.bits, self.lane()
        if l.flat and not (l.width in (8, 16) or l.width % 32 == 0):
            return "%s_parts(w, %d + %s*%d%s, %d, %d, %d, 0)" % (verb, self.base_bits(), lane, l.slot, value, bits,
                                                                 l.width, l.word_bytes)
        if l.flat or l.beats == 1:
            return "%s_bits(w, %d + %s*%d%s, %d)" % (verb, self.base_bits() if l.flat else l.lsb, lane, l.slot, value,
                                                     bits)
        return "%s_parts(w, %s*%d%s, %d, %d, %d, %d)" % (verb, lane, l.slot, value, bits, l.part, l.word_bytes, l.lsb)

    # -- dump --

    def dump(self, name):
        l = self.l
        kind = value_type(l.tensor) if self.conversion else C_TYPE["i" if l.memory.signed else "u", l.tensor.bytes]
        self.line("static int %s(void *tensor, unsigned char *const *m, void *scratch)\n{", name)
        self.line("%s *restrict t = tensor, *restrict s = scratch; (void)t; (void)s;", kind)
        if not l.copied:
            self.dump_pass("t[{e}] = {v};")
            self.line("return 0;\n}\n")
            return
        size = "%d * sizeof *t" % l.elems
        if any(d.sliding for d in l.dims):
            self.line("memcpy(s, t, %s);", size)
        self.dump_pass("s[{e}] = {v};", [n for n in l.repeats if n not in l.lane_axes])
        self.line("int differ = 0;")
        self.dump_pass("differ |= s[{e}] != {v};")
        self.line("if (differ) return 1;\nmemcpy(t, s, %s);\nreturn 0;\n}\n", size)

    def dump_pass(self, sink, only_first=()):
        l = self.l
        words = l.bank_axes + l.word_axes
        self.open_words("const ", only_first)
        tests = self.lane_tests + ([] if l.clip else self.word_tests)
        guard = "if (%s) " % " && ".join(tests) if tests else ""

        def store(bits):
            self.line("%s%s", guard, sink.format(e=self.element(), v=self.dumped(bits)))
        getattr(self, "dump_" + self.body)(store)
        self.close(words)

    def dump_bytes(self, store):
        self.open(self.l.lane_axes)
        self.line("%s v; memcpy(&v, w + %s, sizeof v);", self.unsigned(), self.byte_offset())
        store("v")
        self.close(self.l.lane_axes)

    def dump_word(self, store):
        l = self.l
        self.line("%s x; memcpy(&x, w, sizeof x);", self.word_type())
        self.open(l.lane_axes)
        store("((%s)(x >> (%d + %s*%d))%s)" % (self.unsigned(), l.lsb, self.lane(), l.slot, self.mask()))
        self.close(l.lane_axes)

    def dump_stream(self, store):
        l, unit = self.l, self.unit()
        self.line("const uint%d_t *p = (const void *)w; uint64_t x; int n;", unit)
        self.line("p += %d; x = *p++ >> %d; n = %d;", l.lsb // unit, l.lsb % unit, unit - l.lsb % unit)
        self.open(l.lane_axes, backwards=l.msb)
        more = "(const unsigned char *)p < w + %d" % self.vector_bytes
        self.line("%s (n < %d && %s) { x |= (uint64_t)*p++ << n; n += %d; }", "if" if unit == 32 else "while", l.slot,
                  more, unit)
        store("((%s)x%s)" % (self.unsigned(), self.mask()))
        self.line("x >>= %d; n -= %d;", l.slot, l.slot)
        self.close(l.lane_axes)

    def dump_fields(self, store):
        l = self.l
        self.open(l.lane_axes)
        if l.skewed:
            self.line("const unsigned char *w = m[%s] + %s * %d;", self.bank(), self.address(), l.word_bytes)
        self.line("const %s v = (%s)%s;", self.unsigned(), self.unsigned(), self.field("get", ""))
        store("v")
        self.close(l.lane_axes)

    # -- how far it reaches --

    def extent(self, name):
        l = self.l
        every_lane = l.skewed or self.clipped_lanes # a word whose lanes are all clipped may lie anywhere
        names = l.bank_axes + l.word_axes + (l.lane_axes if every_lane else [])
        self.line("static void %s(long *depth, long *banks)\n{\n*depth = *banks = 0;", name)
        self.open(names)
        tests = self.word_tests + (self.lane_tests if every_lane else [])
        if l.clip and tests:
            self.line("if (%s)", " && ".join(tests))
        self.line("{ const long a = %s + %d, b = %s + 1;", self.address(), l.beats, self.bank())
        self.line("*depth = a > *depth ? a : *depth; *banks = b > *banks ? b : *banks; }")
        self.close(names)
        self.line("}\n")
