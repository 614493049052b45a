"""What a layout says, read from its strings: the sizes of its axes, the coordinate of every dimension as a sum over
them, and the three groups on the right. For loops.py, which writes the loops; it shares no code with the library.
Raises Unsupported for what the loops are not written for."""
import re


class Unsupported(Exception):
    pass


def container_bytes(bits):
    return next(n for n in (1, 2, 4, 8) if 8 * n >= bits)


def word_bytes(width):
    return container_bytes(width) if width <= 64 else (width + 31) // 32 * 4


class Dtype:
    """Bits, and whether a dump extends the sign."""

    def __init__(self, name):
        self.name = name
        self.signed = bool(re.fullmatch(r"i\d+", name))
        known = {"bf16": 16, "e4m3": 8, "e5m2": 8, "e3m2": 6, "e2m3": 6, "e2m1": 4, "e8m0": 8}
        match = re.fullmatch(r"[uif](\d+)", name)
        if match:
            self.bits = int(match.group(1))
        elif name in known:
            self.bits = known[name]
        else:
            raise Unsupported("dtype " + name)
        self.bytes = container_bytes(self.bits)


class Dim:
    """One dimension: its coordinate is the sum of step * axis, less what is padded in front."""

    def __init__(self, extent, terms, total, sliding):
        self.extent, self.terms, self.total, self.sliding = extent, terms, total, sliding
        self.before = 0

    @property
    def ragged(self):
        return not self.sliding and self.total != self.extent


def tokens(text):
    return re.findall(r"->|\.\.\.|[A-Za-z_]\w*|\d+|[()*+]", text)


def groups(words):
    """The groups of one side: lists of names and (step, name), `...` as itself."""
    out, inside = [], None
    i = 0
    while i < len(words):
        word = words[i]
        if word == "(":
            inside = []
        elif word == ")":
            out.append(inside)
            inside = None
        elif word == "+":
            inside.append("+")
        elif word.isdigit():
            if i + 1 < len(words) and words[i + 1] == "*":
                inside.append((int(word), words[i + 2]))
                i += 2
            elif inside is None:
                out.append([])
        elif inside is None:
            out.append(word if word == "..." else [word])
        else:
            inside.append(word)
        i += 1
    return out


class Layout:
    def __init__(self, pattern, options, address, shape, dtype, memory_dtype, width=None):
        self.pattern, self.options, self.address = pattern, options, address
        self.tensor, self.memory = Dtype(dtype), Dtype(memory_dtype)
        self.shape = shape
        self.option = dict(word.split("=", 1) for word in options.replace(",", " ").split())
        self.size = {k: int(v) for k, v in self.option.items() if re.fullmatch(r"\d+", v) and k not in
                     ("pad", "slot", "lsb", "beats")}
        left, right = pattern.split("->")
        self.read_left(groups(tokens(left)))
        self.read_right(groups(tokens(right)))
        self.read_options()
        self.read_address()
        if width is None:
            width = self.lsb + self.lanes * self.slot // self.beats
        self.width = width
        self.word_bytes = word_bytes(width)

    def read_left(self, left):
        self.dots = []
        spread = []
        for group in left:
            if group == "...":
                for k in range(len(self.shape) - (len(left) - 1)):
                    self.dots.append("dots%d" % k)
                    spread.append([self.dots[-1]])
            else:
                spread.append(group)
        self.dims = [self.bind(group, extent) for group, extent in zip(spread, self.shape)]
        if len(spread) != len(self.shape):
            raise Unsupported("rank")
        stride = 1
        for dim in reversed(self.dims):
            dim.stride = stride
            stride *= dim.extent
        self.elems = stride

    def bind(self, group, extent):
        if "+" in group:
            terms = [t if isinstance(t, tuple) else (1, t) for t in group if t != "+"]
            reach = sum(step * (self.size[name] - 1) for step, name in terms if name in self.size)
            for step, name in terms:
                if name not in self.size:
                    self.size[name] = (extent - 1 - reach) // step + 1
            return Dim(extent, terms, extent, True)
        known = 1
        for name in group:
            known *= self.size.get(name, 1)
        for name in group:
            if name not in self.size:
                self.size[name] = (extent + known - 1) // known
        terms, total = [], 1
        for name in reversed(group):
            terms.insert(0, (total, name))
            total *= self.size[name]
        return Dim(extent, terms, total, False)

    def read_right(self, right):
        def spread(group):
            return [n for name in (self.dots if group == "..." else group) for n in
                    (self.dots if name == "..." else [name])]
        right = [spread(group) for group in right]
        self.flat = len(right) == 1
        self.bank_axes = right[0] if len(right) == 3 else []
        self.word_axes = right[-2] if len(right) > 1 else []
        self.lane_axes = right[-1]
        self.lanes = 1
        for name in self.lane_axes:
            self.lanes *= self.size[name]
        used = {name for dim in self.dims for _, name in dim.terms}
        self.repeats = [n for n in self.bank_axes + self.word_axes + self.lane_axes if n not in used]

    def read_options(self):
        get = self.option.get
        self.slot, self.lsb = int(get("slot", self.memory.bits)), int(get("lsb", 0))
        self.beats = int(get("beats", 1))
        self.msb, self.keep = get("lanes") == "msb", get("fill") == "keep"
        self.pad, self.clip = get("pad"), get("tail") == "clip"
        self.alias = get("alias") == "last"
        self.bytes_addressed = get("addr_unit") == "byte"
        if get("pad_at") == "begin":
            for dim in self.dims:
                dim.before = dim.total - dim.extent if not dim.sliding else 0
        if self.lanes * self.slot % self.beats:
            raise Unsupported("beats")
        self.part = self.lanes * self.slot // self.beats

    def read_address(self):
        match = re.fullmatch(r"\s*bank\s*=(.*?);\s*addr\s*=(.*)", self.address or "")
        self.bank_text, self.address_text = match.groups() if match else ("", self.address or "")
        names = set(re.findall(r"[A-Za-z_]\w*", self.bank_text + " " + self.address_text))
        self.skewed = bool(names & set(self.lane_axes))

    @property
    def copied(self):
        """Whether an element lies in several places, so that a dump has to see that they agree."""
        return bool(self.repeats) or any(self.overlaps(dim) for dim in self.dims if dim.sliding)

    def overlaps(self, dim):
        terms = sorted(dim.terms)
        reach = 1
        for step, name in terms:
            if self.size[name] > 1 and step < reach:
                return True
            reach += step * (self.size[name] - 1)
        return False
