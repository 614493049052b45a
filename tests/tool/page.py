"""The page of a report in a headless Chromium: it runs without an error, draws, and shows the counts. Speaks TAP; skips
without a Chromium."""
import os
import re
import shutil
import struct
import subprocess

from harness import main, run

BROWSER = next((path for path in map(shutil.which, ("chromium", "chromium-browser", "google-chrome")) if path), None)
LAYOUT = ["--width", "64", "--pattern", "h w (ct cs) -> (h w ct) cs", "--options", "cs=4"]


def npy(name, descr, shape, data):
    header = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (descr, tuple(shape))
    with open(name, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", 118) + (header.ljust(117) + "\n").encode() + data)


def dom(script=""):
    """The page's document after its script, and after `script`."""
    if script:
        page = open("r.html").read().replace("</body>", "<script>%s</script></body>" % script)
        with open("r.html", "w") as file:
            file.write(page)
    done = subprocess.run([BROWSER, "--headless", "--no-sandbox", "--disable-gpu",
                           "--user-data-dir=" + os.path.abspath("profile"),
                           "--dump-dom", "file://" + os.path.abspath("r.html")], capture_output=True, text=True,
                           timeout=100)
    text = done.stdout
    assert 'data-ready="yes"' in text, text[-2000:] + done.stderr[-2000:]
    assert "data-error" not in text, re.findall('data-error="[^"]*"', text)
    return text


def one_is_singular():
    """In the page's own words, by its own functions."""
    node = shutil.which("node")
    if not node:
        return "no node"
    make(True)
    script = open("r.html").read()
    lines = [re.search("const %s = .*?;\n" % name, script, re.S).group(0) for name in ("number", "count")]
    calls = 'console.log(count(1, "mismatch"), count(2, "mismatch"), count(1, "bit"), count(1440, "word"))'
    out = subprocess.run([node, "-e", "".join(lines) + calls], capture_output=True, text=True)
    assert out.stdout == "1 mismatch 2 mismatches 1 bit 1,440 words\n", out
    assert not re.search("[^a-z]mismatches`|} (bits|words|elements)[` ]", script.replace("elements match`", ""))
    return None


def the_layout_and_the_golden_file_are_shown():
    if not BROWSER:
        return "no chromium"
    make(True)
    text = dom().split("<script id")[0]
    for fact in "h w (ct cs) -&gt; (h w ct) cs", "cs=4", "index", "g.npy":
        assert "<b>%s</b>" % fact in text, fact
    return None


def values(stuck):
    return struct.pack("<1440h", *[0 if stuck and i % 4 == 2 else 37 * i % 30011 + 1 for i in range(1440)])


def make(stuck):
    npy("g.npy", "<i2", (6, 10, 24), values(False))
    npy("a.npy", "<i2", (6, 10, 24), values(stuck))
    assert run("pack", "a.npy", "-o", "m.hex", *LAYOUT)[0] == 0
    code, out, err = run("compare", "m.hex", "g.npy", *LAYOUT, "--html", "r.html")
    assert code == (1 if stuck else 0), (code, out, err)


def a_stuck_lane_is_seen():
    if not BROWSER:
        return "no chromium"
    make(True)
    text = dom()
    assert ">FAIL<" in text and "360 of 1,440 elements differ (25.00 %)" in text
    assert "<li>all mismatches in lane 2</li>" in text, re.findall("<li>.*?</li>", text)
    assert len(re.findall("show it in the map", text.split("<script id")[0])) == 16
    # The map stands on the axes that say most, and cs = 2 is one row or column of it.
    shown = re.search('id="[xy]name">[^<]*cs', text)
    assert shown, re.findall('id="[xy]name">[^<]*', text)
    assert int(re.search('data-cells="(\\d+)"', text).group(1)) in (6, 10), re.findall('data-cells="[^"]*"', text)
    return None


def sliders_and_choices_work():
    if not BROWSER:
        return "no chromium"
    make(True)
    text = dom("chosen.x = 1; chosen.y = 0; controls(); draw();"
               "const all = document.body.dataset.cells;"
               "const slide = byId('slide-cs'); slide.value = 1; slide.oninput(); const none = "
               "document.body.dataset.cells;"
               "slide.value = 2; slide.oninput(); const some = document.body.dataset.cells;"
               "byId('pick-color').value = 'error'; byId('pick-color').onchange();"
               "document.querySelector('#first tbody tr').onclick();"
               "document.body.dataset.found = [all, none, some, chosen.at.join('/'), chosen.mark.join('/')].join(' ');")
    # Element (0, 0, 2) is step 0 of h, w and ct and step 2 of cs.
    found = re.search('data-found="([^"]*)"', text).group(1)
    assert found == "60 0 60 -1/-1/0/2 0/0", found
    return None


def a_pass_is_short():
    if not BROWSER:
        return "no chromium"
    make(False)
    text = dom()
    assert ">PASS<" in text and "all 1,440 elements match" in text
    assert 'id="pictures" hidden' in text and 'id="firstcard" hidden' in text
    return None


def make_checkpoints():
    """Four comparisons, of which the second and the fourth differ."""
    npy("g.npy", "<i2", (6, 10, 24), values(False))
    npy("a.npy", "<i2", (6, 10, 24), values(True))
    long = "a name that is so long that the list has to break it </script>"
    lines = ['tensor %s = open "%s.npy"\n' % (name, name) for name in "ga"]
    for i, name in enumerate(["conv1", "conv2", long, "fc"]):
        lines.append('checkpoint "%s" %s g\n' % (name, "ga"[i % 2]))
    with open("infer <b>.td", "w") as file:
        file.write("".join(lines))
    code, out, err = run("run", "infer <b>.td", "--html", "r.html")
    assert code == 1 and err == "", (code, out, err)


def a_list_of_checkpoints_opens_the_first_that_differs():
    if not BROWSER:
        return "no chromium"
    make_checkpoints()
    text = dom().split("<script id")[0]
    assert "<h2>infer &lt;b&gt;</h2><p>2 of 4 checkpoints differ</p>" in text, re.findall("<nav.*?</p>", text)
    buttons = re.findall("<button[^>]*>.*?</button>", text)
    assert len(buttons) == 4 and ["differs" in b for b in buttons] == [False, True, False, True], buttons
    assert ["aria-current" in b for b in buttons] == [False, True, False, False]
    assert ">conv2: two tensors<" in text and "360 of 1,440 elements differ (25.00 %)" in text
    rows = re.findall("<tr>(.*?)</tr>", re.search('id="all">(.*?)</table>', text, re.S).group(1), re.S)
    cells = [re.findall("<t[hd][^>]*>(.*?)</t[hd]>", row) for row in rows]
    assert len(cells) == 5 and len(cells[0]) == 9, cells
    assert cells[1][:4] == ["conv1", "match", "1,440", "0"] and cells[1][6:] == ["0", "0", "1"], cells
    assert cells[2][1:4] == ["differs", "1,440", "360"] and 0.8 < float(cells[2][8]) < 0.9, cells
    assert cells[4][6:] == cells[2][6:], cells
    return None


def another_checkpoint_replaces_the_one_that_is_shown():
    if not BROWSER:
        return "no chromium"
    make_checkpoints()
    text = dom("const facts = byId('facts').children.length, press = (i) => "
               "document.querySelectorAll('#list button')[i].onclick();"
               "press(0); const hidden = byId('pictures').hidden && byId('firstcard').hidden && byId('guesses').hidden;"
               "document.querySelectorAll('#all tbody tr')[1].onclick(); const same = byId('facts').children.length;"
               "press(3); press(3);"
               "document.body.dataset.found = [hidden, facts === same, byId('groups').children.length,"
               "document.querySelectorAll('#first tbody tr').length,"
               "document.querySelectorAll('#first thead tr').length,"
               "byId('facts').textContent.includes('cosine'), byId('title').textContent].join(' ');")
    found = re.search('data-found="([^"]*)"', text).group(1)
    assert found == "true true 3 16 1 true fc: two tensors", found
    return None


main([one_is_singular, the_layout_and_the_golden_file_are_shown, a_stuck_lane_is_seen, sliders_and_choices_work,
      a_pass_is_short, a_list_of_checkpoints_opens_the_first_that_differs,
      another_checkpoint_replaces_the_one_that_is_shown])
