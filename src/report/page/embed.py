"""embed.py IN OUT NAME: a text file as a C array of bytes with a zero behind it, so that the library needs no file at
run time."""
import sys

data = open(sys.argv[1], "rb").read() + b"\0"
with open(sys.argv[2], "w") as out:
    out.write("extern const char %s[];\nconst char %s[] = {\n" % (sys.argv[3], sys.argv[3]))
    for i in range(0, len(data), 24):
        out.write(" ".join("%d," % (b if b < 128 else b - 256) for b in data[i:i + 24]) + "\n")
    out.write("};\n")
