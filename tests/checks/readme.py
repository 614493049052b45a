"""Runs the pages for users; see readme.sh."""
import glob
import os
import re
import subprocess
import sys
import tempfile

# In the order in which README.md names them. Each is run in an empty folder of its own, so that a reader may begin with
# any of them.
PAGES = ["README.md", "sv/README.md", "sv/uvm/README.md"] + [f"examples/guide/{name}.md" for name in (
    "layouts", "compare", "numbers", "parts", "macros", "codes", "maps", "programs", "mem_bkdr_util", "speed")]
FENCED = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.S | re.M)
INDENTED = re.compile(r"\n\n {4}")


def read(root, page):
    with open(os.path.join(root, page)) as file:
        return file.read()


def anchors(text):
    """The names that GitHub gives to the headings of a page."""
    heads = re.findall(r"^#+ (.*)$", FENCED.sub("", text), re.M)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


def check_links(root, page):
    """Says which links of a page lead nowhere, and returns their number."""
    bad = 0
    for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`\n]*`", "", FENCED.sub("", read(root, page)))):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        path = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
        if not os.path.exists(os.path.join(root, path)):
            print(f"{page}: a link to {path}, which is not there")
            bad += 1
        elif anchor and anchor not in anchors(read(root, path)):
            print(f"{page}: a link to #{anchor}, which {path} does not have")
            bad += 1
    return bad


def check_pages(root):
    """Every page with code is one of PAGES, README.md names them all, and links lead somewhere."""
    bad = 0
    every = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "*.md"], cwd=root, check=True, text=True,
                           stdout=subprocess.PIPE).stdout.split()
    linked = re.findall(r"\]\(([^)#\s]+\.md)\)", read(root, "README.md"))
    names = [info for page in PAGES for info, _ in FENCED.findall(read(root, page)) if info[:14] == "systemverilog "]
    for page in every:
        text = read(root, page)
        bare = FENCED.sub("", text)
        # README.md's one indented block is the installation, which install.sh runs.
        if len(INDENTED.findall(bare)) != (page == "README.md") or "```" in bare:
            print(f"{page} has a code block that no test runs: fence it")
            bad += 1
        if page not in PAGES and FENCED.search(text):
            print(f"{page} has code blocks, and is no page of tests/checks/readme.py")
            bad += 1
        bad += check_links(root, page)
    for page in PAGES[1:]:
        if page not in linked:
            print(f"README.md has no link to {page}")
            bad += 1
    if len(set(names)) != len(names):
        print("two pages have a module of one name, of which tests/sim/readme.sh would find the first")
        bad += 1
    return bad


def run_page(page, text, folder, env):
    """Runs the blocks of a page in order in a folder; ends the program where one does not do what it says."""
    output = None
    blocks = FENCED.findall(text)
    for info, text in blocks:
        words = info.split()
        if len(words) == 2:
            with open(os.path.join(folder, words[1]), "w") as file:
                file.write(text)
        elif words == ["sh"]:
            done = subprocess.run(["bash", "-euo", "pipefail", "-c", text], cwd=folder, env=env, text=True,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            output = done.stdout
            if done.returncode:
                sys.exit(f"{page}: this block ends with status {done.returncode}:\n{text}\n{output}")
        elif words == ["text"]:
            if output is None or output.strip() != text.strip():
                sys.exit(f"{page} says\n{text}\nbut the command before it prints\n{output}")
        else:
            sys.exit(f"{page}: a block of kind \"{info}\" that no test runs:\n{text}")
    return len(blocks)


def main(root, build, only):
    if check_pages(root):
        return 1
    with tempfile.TemporaryDirectory() as folder:
        prefix = os.path.join(folder, "installed")
        subprocess.run(["meson", "install", "-C", build, "--no-rebuild", "--quiet"], check=True,
                       stdout=subprocess.DEVNULL, env={**os.environ, "DESTDIR": prefix})
        found = {name: os.path.dirname(os.path.join(at, name)) for at, _, names in os.walk(prefix) for name in names}
        with open(os.path.join(found["tensordoor.pc"], "tensordoor.pc"), "r+") as pc:
            text = re.sub(r"^prefix=", "prefix=" + prefix, pc.read(), flags=re.M)
            pc.seek(0)
            pc.write(text)
        env = {**os.environ,
               "PATH": found["tensordoor"] + ":" + os.environ["PATH"],
               "PKG_CONFIG_PATH": found["tensordoor.pc"]}
        share = os.path.dirname(os.path.dirname(os.path.join(found["td.f"], "td.f")))
        installed = {os.path.relpath(path, share) for path in glob.glob(share + "/**/*.md", recursive=True)}
        if installed != set(PAGES):
            print("installed are other pages:", *sorted(installed ^ set(PAGES)))
            return 1
        if sum(check_links(share, page) for page in PAGES):
            print("in an installation")
            return 1
        blocks = 0
        for page in PAGES:
            if only in page:
                work = os.path.join(folder, page.replace("/", "_"))
                os.mkdir(work)
                blocks += run_page(page, read(root, page), work, env)
    print(f"{blocks} code blocks of {len(PAGES)} pages ran")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else ""))
