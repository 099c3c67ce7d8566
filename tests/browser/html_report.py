"""Opens pages of `tilescope report` in headless Chromium and uses them as a reader would.

    python3 tests/browser/html_report.py PATH_TO_TILESCOPE

Needs Chromium and ChromeDriver (Debian: chromium, chromium-driver) and nothing else: it speaks WebDriver itself.
"""

import contextlib
import json
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "sample_profiles"
PHONE, DESK = (390, 800), (1280, 900)


class Browser:
    """A session of ChromeDriver."""

    def __init__(self, address, dark=False):
        self.address = address
        scheme = "0" if dark else "1"
        arguments = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run",
                     "--disable-component-update", "--disable-sync", f"--blink-settings=preferredColorScheme={scheme}"]
        capabilities = {"browserName": "chrome", "goog:chromeOptions": {"args": arguments},
                        "goog:loggingPrefs": {"browser": "ALL"}}
        said = self.ask("POST", "/session", {"capabilities": {"alwaysMatch": capabilities}})
        self.session = f"/session/{said['sessionId']}"

    def ask(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.address + path, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(error.read().decode()) from error

    def open(self, file, size):
        width, height = size
        # A window has a least width; the emulated screen has not.
        self.ask("POST", self.session + "/goog/cdp/execute", {
            "cmd": "Emulation.setDeviceMetricsOverride",
            "params": {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500},
        })
        self.ask("POST", self.session + "/url", {"url": file.as_uri()})

    def run(self, script, *arguments):
        return self.ask("POST", self.session + "/execute/sync", {"script": script, "args": list(arguments)})

    def pointer(self, *moves):
        """Moves, presses and releases the pointer: ("move", x, y), ("down",), ("up",)."""
        actions = []
        for move in moves:
            if move[0] == "move":
                actions.append({"type": "pointerMove", "duration": 50, "x": int(move[1]), "y": int(move[2])})
            else:
                actions.append({"type": f"pointer{move[0].capitalize()}", "button": 0})
        mouse = {"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": actions}
        self.ask("POST", self.session + "/actions", {"actions": [mouse]})

    def said(self):
        """What the console says: refusals of the policy, and errors."""
        return [one["message"] for one in self.ask("POST", self.session + "/se/log", {"type": "browser"})]

    def close(self):
        self.ask("DELETE", self.session)


@contextlib.contextmanager
def driver():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen([shutil.which("chromedriver"), f"--port={port}"], stdout=subprocess.DEVNULL)
    try:
        for _ in range(100):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                break
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait()


def check(is_so, what):
    if not is_so:
        raise SystemExit(f"failed: {what}")
    print(f"ok: {what}")


def curve_is_used(browser):
    box = browser.run("window.scrollTo(0, 0); const b = document.querySelector('.curve svg').getBoundingClientRect();"
                      "return [b.left, b.top, b.width, b.height]")
    left, top, width, height = box
    middle = top + height / 2
    browser.pointer(("move", left + width * 0.4, middle))
    hint = browser.run("const h = document.querySelector('.hint'); return h.hidden ? '' : h.textContent")
    check("Alive" in hint and "MiB" in hint, f"the pointer says what is alive: {hint[:60]!r}")
    areas = "return [...document.querySelectorAll('.curve svg path')].map((path) => path.getAttribute('d')).join()"
    before = browser.run(areas)
    browser.pointer(("move", left + width * 0.3, middle), ("down",), ("move", left + width * 0.5, middle), ("up",))
    check(browser.run(areas) != before, "dragging over the curve zooms in")
    browser.run("document.querySelector('.curve button').click()")
    check(browser.run(areas) == before, "all of it is shown again")


def table_is_used(browser):
    first = "return [...document.querySelectorAll('figure.table')].find((t) => t.querySelector('input'))"
    rows = f"const t = (() => {{ {first} }})(); return [...t.querySelectorAll('tbody tr')].filter((r) => !r.hidden).length"
    cell = f"const t = (() => {{ {first} }})(); return t.querySelector('tbody tr td').textContent"
    check(browser.run(rows) == 10, "of a long table ten rows are shown")
    name = browser.run(cell)
    browser.run(f"const t = (() => {{ {first} }})(); const i = t.querySelector('input'); i.value = arguments[0];"
                "i.dispatchEvent(new Event('input'))", name)
    check(browser.run(rows) >= 1 and browser.run(cell) == name, f"a filter leaves what it names: {name!r}")
    browser.run(f"const t = (() => {{ {first} }})(); const i = t.querySelector('input'); i.value = 'nothing has this';"
                "i.dispatchEvent(new Event('input'))")
    check(browser.run(rows) == 0, "a filter that nothing matches leaves nothing")
    browser.run(f"const t = (() => {{ {first} }})(); const i = t.querySelector('input'); i.value = '';"
                "i.dispatchEvent(new Event('input')); t.querySelector('th').click()")
    sort = browser.run(f"const t = (() => {{ {first} }})(); return t.querySelector('th').getAttribute('aria-sort')")
    check(sort == "ascending", "a click on a title sorts by it")


def page_is_whole(browser, file, size, what):
    browser.open(file, size)
    said = [message for message in browser.said() if "favicon" not in message]
    check(not said, f"{what}: the console says nothing {said}")
    asked = browser.run("return performance.getEntriesByType('resource').length")
    check(asked == 0, f"{what}: nothing is fetched")
    wide = browser.run("return document.scrollingElement.scrollWidth - window.innerWidth")
    check(wide <= 0, f"{what}: nothing lies beside the window ({wide})")
    check(browser.run("return window.hacked === undefined"), f"{what}: names stay text")


def main():
    program = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as folder, driver() as address:
        folder = pathlib.Path(folder)
        hostile = folder / "<img src=x onerror=hacked=1><script>hacked=1<"
        shutil.copytree(SAMPLES / "tiny", hostile)
        pages = {}
        for name, runs in {
            "pytorch": ["training/segments-0"], "pytorch-two": ["training/segments-0", "training/segments-2"],
            "xla": ["xla/keep"], "ipu": ["does-not-fit"], "tenstorrent": ["tenstorrent/too-large"],
            "hostile": [hostile],
        }.items():
            pages[name] = folder / f"{name}.html"
            runs = [str(SAMPLES / run) for run in runs]
            subprocess.run([program, "report", *runs, "-o", pages[name]], check=True, stdout=subprocess.DEVNULL)
        background = "return getComputedStyle(document.body).backgroundColor"
        colors = {}
        for dark in (False, True):
            browser = Browser(address, dark)
            for name, file in pages.items():
                for size in (DESK, PHONE):
                    page_is_whole(browser, file, size, f"{name}, {'dark' if dark else 'light'}, {size[0]} wide")
            colors[dark] = browser.run(background)
            if not dark:
                browser.open(pages["pytorch"], DESK)
                curve_is_used(browser)
                browser.open(pages["pytorch-two"], DESK)
                table_is_used(browser)
            browser.close()
        check(colors[False] != colors[True], f"both themes: {colors}")


if __name__ == "__main__":
    main()
