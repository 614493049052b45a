"""Runs README.md; see readme.sh."""
import os
import re
import subprocess
import sys
import tempfile

root, build = sys.argv[1:3]
text = open(os.path.join(root, "README.md")).read()
fenced = r"^```([^\n]*)\n(.*?)^```$"
blocks = re.findall(fenced, text, re.S | re.M)
# The one indented block is the installation, which install.sh runs.
if len(re.findall(r"\n\n {4}", re.sub(fenced, "", text, flags=re.S | re.M))) != 1:
    sys.exit("README.md has a second indented code block, which no test runs: fence it")
if not blocks:
    sys.exit("README.md has no code blocks")

with tempfile.TemporaryDirectory() as folder:
    prefix = os.path.join(folder, ".installed")
    subprocess.run(["meson", "install", "-C", build, "--no-rebuild", "--quiet"], check=True, stdout=subprocess.DEVNULL,
                   env={**os.environ, "DESTDIR": prefix})
    found = {name: os.path.dirname(os.path.join(at, name)) for at, _, names in os.walk(prefix) for name in names}
    with open(os.path.join(found["tensordoor.pc"], "tensordoor.pc"), "r+") as pc:
        text = re.sub(r"^prefix=", "prefix=" + prefix, pc.read(), flags=re.M)
        pc.seek(0)
        pc.write(text)
    env = {**os.environ,
           "PATH": found["tensordoor"] + ":" + os.environ["PATH"],
           "PKG_CONFIG_PATH": found["tensordoor.pc"]}
    os.symlink(root, os.path.join(folder, "tensordoor"))
    work = os.path.join(folder, "work")
    os.mkdir(work)
    output = None
    for info, text in blocks:
        words = info.split()
        if len(words) == 2:
            with open(os.path.join(work, words[1]), "w") as file:
                file.write(text)
        elif words == ["sh"]:
            done = subprocess.run(["bash", "-euo", "pipefail", "-c", text], cwd=work, env=env, text=True,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            output = done.stdout
            if done.returncode:
                sys.exit(f"README.md: this block ends with status {done.returncode}:\n{text}\n{output}")
        elif words == ["text"]:
            if output is None or output.strip() != text.strip():
                sys.exit(f"README.md says\n{text}\nbut the command before it prints\n{output}")
        else:
            sys.exit(f"README.md: a block of kind \"{info}\" that no test runs:\n{text}")
print(f"{len(blocks)} code blocks of README.md ran")
