# Packings against NumPy: the same rules by whole arrays, the bytes of both held against each other, then the times, as
# how many times faster the library is; one thread, the least processor time of the turns. NumPy gets the tricks where
# arrays allow them: codes of floats by one sum that rounds, scales by the bits of exponents. Beside it how many times
# faster a mere copy of (bytes read + bytes written) / 2 is: more than that no packing can be.
# Usage: parts_numpy.py LIBRARY [SIDE [TURNS]]; needs NumPy (Debian: python3-numpy).
import ctypes
import sys
import time

import numpy as np

F32, U32, U8 = np.float32, np.uint32, np.uint8
GOAL = 30


def codes_of(x, man, least, most, bits):
    """f32 to a small float: to nearest even, magnitudes past the largest to the largest."""
    drop = 23 - man
    low = F32(least).view(U32)
    magnitude = np.minimum(np.abs(x), F32(most))
    at = np.maximum(magnitude.view(U32) & U32(0x7f800000), low) + U32(drop << 23)
    total = (magnitude + at.view(F32)).view(U32)
    code = total + (total >> U32(drop)) - U32(((int(low) >> 23) + drop) << man)
    return (code & U32((1 << (bits - 1)) - 1)).astype(U8) | (x.view(U32) >> U32(31)).astype(U8) << U8(bits - 1)


def e4m3_values():
    code = np.arange(256)
    exponent, man = code >> 3 & 15, code & 7
    value = np.where(exponent, (8 + man) * 2.0 ** (exponent - 10), man * 2.0 ** -9)
    return (value * np.where(code & 128, -1, 1)).astype(F32)


E4M3 = e4m3_values()
E2M1 = np.array([0, .5, 1, 1.5, 2, 3, 4, 6, -0.0, -.5, -1, -1.5, -2, -3, -4, -6], F32)


def mx(x, rule, emax, man, least, most, bits):
    blocks = x.reshape(-1, 32)
    amax = np.abs(blocks).max(axis=1)
    if rule == "floor":
        scale = np.maximum((amax.view(U32) >> U32(23)).astype(np.int32) - emax, 0)
    else:  # of ordinary numbers: the exponent, one more where there is a mantissa
        share = (amax * F32(1 / F32(most))).view(U32)
        scale = (share >> U32(23)).astype(np.int32) + ((share & U32(0x7fffff)) != 0)
    by = ((254 - scale).astype(U32) << U32(23)).view(F32)
    return codes_of(blocks * by[:, None], man, least, most, bits).reshape(x.shape), scale.astype(U8)


def nvfp4(x):
    blocks = x.reshape(-1, 16)
    amax = np.abs(blocks).max(axis=1)
    encode = F32(448 * 6) / amax.max()
    scale = codes_of(amax * (encode * F32(1 / F32(6))), 3, 2.0 ** -6, 448, 8)
    by = F32(1) / (E4M3[scale] * (F32(1) / encode))
    return codes_of(blocks * by[:, None], 1, 1, 6, 4).reshape(x.shape), scale


def int4(x, block):
    blocks = x.reshape(-1, block)
    scale = (np.abs(blocks).max(axis=1) / F32(7)).astype(np.float16)
    return np.clip(np.rint(blocks / scale.astype(F32)[:, None]), -7, 7).astype(np.int8).reshape(x.shape), scale


def two_of_four(x, prune):
    groups = x.reshape(-1, 4)
    magnitude = groups & np.uint16(0x7fff)
    kept = magnitude != 0
    if prune:
        order = np.argsort(-magnitude.astype(np.int32), axis=1, kind="stable")
        kept &= np.zeros_like(kept) | (np.argsort(order, axis=1, kind="stable") < 2)
    table = np.array([14, 8, 9, 4, 14, 8, 9, 0, 14, 12, 13, 0, 14, 0, 0, 0], U8)
    code = table[kept @ np.array([1, 2, 4, 8], U8)]
    places = np.stack([code & 3, code >> 2], axis=1).astype(np.intp)
    values = np.take_along_axis(np.where(kept, groups, 0), places, axis=1)
    words = code.astype(np.uint16).reshape(-1, 4) @ np.array([1, 16, 256, 4096], np.uint16)
    return values.reshape(x.shape[0], -1), words


def mask(x):
    kept = x != 0
    return x[kept], kept.astype(U8)


def rows(side):
    rng = np.random.default_rng(1)
    normal = rng.standard_normal((side, side), F32)
    sparse = np.where(rng.random((side, side)) < .5, normal, F32(0))
    half = (sparse.view(U32) >> U32(16)).astype(np.uint16)
    e4m3, e2m1 = (8, 3, 2.0 ** -6, 448, 8), (2, 1, 1, 6, 4)
    for name, form in (("mxfp8", e4m3), ("mxfp4", e2m1)):
        for rule in ("floor", "rceil"):
            yield f"{name} rule={rule}", b"f32", normal, lambda rule=rule, form=form: mx(normal, rule, *form)
    yield "nvfp4", b"f32", normal, lambda: nvfp4(normal)
    yield "int4 block=32", b"f32", normal, lambda: int4(normal, 32)
    yield "int4", b"f32", normal, lambda: int4(normal, 128)
    yield "2:4 prune=magnitude", b"bf16", half, lambda: two_of_four(half, True)
    yield "mask", b"f32", sparse, lambda: mask(sparse)


def main(library, side, turns):
    td = ctypes.CDLL(library)
    td.td_tensor_data.restype = ctypes.c_void_p
    td.td_last_error.restype = ctypes.c_char_p
    td.td_parts_name.restype = ctypes.c_char_p
    td.td_tensor_elems.restype = ctypes.c_uint64

    class Shape(ctypes.Structure):
        _fields_ = [("rank", ctypes.c_size_t), ("dim", ctypes.c_uint64 * 32)]

    def check(status):
        if status:
            raise SystemExit(td.td_last_error().decode())

    def least(work):
        best = float("inf")
        for _ in range(turns):
            begin = time.thread_time()
            work()
            best = min(best, time.thread_time() - begin)
        return best

    td.td_speed_threads(1)
    for packing, dtype, x, by_numpy in rows(side):
        tensor, parts, part = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
        check(td.td_tensor_create(dtype, Shape(2, (ctypes.c_uint64 * 32)(side, side)), ctypes.byref(tensor)))
        ctypes.memmove(td.td_tensor_data(tensor), x.ctypes.data, x.nbytes)

        def by_library():
            td.td_parts_destroy(ctypes.byref(parts))
            check(td.td_parts_pack(tensor, packing.encode(), ctypes.byref(parts)))

        ours = least(by_library)
        for number, want in enumerate(by_numpy()):
            check(td.td_parts_part(parts, td.td_parts_name(parts, ctypes.c_size_t(number)), ctypes.byref(part)))
            got = ctypes.string_at(td.td_tensor_data(part), want.nbytes)
            if td.td_tensor_elems(part) != want.size or got != want.tobytes():
                raise SystemExit(f"{packing}: the library and NumPy differ in part {number}")
        moved = (x.nbytes + sum(part.nbytes for part in by_numpy())) // 2
        a, b = np.zeros(moved, U8), np.ones(moved, U8)
        copy = least(lambda: np.copyto(a, b))
        theirs = least(by_numpy)
        verdict = "met" if theirs >= GOAL * ours else "missed"
        print(f"{side}^2  {packing:22} NumPy {theirs * 1e3:9.2f} ms  ours {ours * 1e3:7.3f} ms  "
              f"{theirs / ours:6.0f} x (goal {GOAL}, {verdict}); a copy {theirs / copy:6.0f} x", flush=True)
        td.td_parts_destroy(ctypes.byref(parts))
        td.td_tensor_destroy(ctypes.byref(tensor))


main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1024, int(sys.argv[3]) if len(sys.argv) > 3 else 5)
