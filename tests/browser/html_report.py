"""Opens pages of `tilescope report` in headless Chromium and uses them as a reader would.

    python3 tests/browser/html_report.py PATH_TO_TILESCOPE [DIRECTORY_FOR_SCREENSHOTS]

Needs Chromium and ChromeDriver (Debian: chromium, chromium-driver) and nothing else: it speaks WebDriver itself.
scripts/test-browser installs both and runs it.
"""

import base64
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
        self.tell("Emulation.setDeviceMetricsOverride",
                  width=width, height=height, deviceScaleFactor=1, mobile=width < 500)
        self.tell("Network.enable")
        self.tell("Network.emulateNetworkConditions", offline=True, latency=0, downloadThroughput=0, uploadThroughput=0)
        self.ask("POST", self.session + "/url", {"url": file.as_uri()})

    def tell(self, command, **parameters):
        """A command of Chromium's own protocol."""
        return self.ask("POST", self.session + "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def screenshot(self, file):
        """All of the page, also what is scrolled away."""
        picture = self.tell("Page.captureScreenshot", captureBeyondViewport=True)
        file.write_bytes(base64.b64decode(picture["data"]))

    def key(self, key):
        self.tell("Input.dispatchKeyEvent", type="keyDown", key=key, text=key if len(key) == 1 else "")
        self.tell("Input.dispatchKeyEvent", type="keyUp", key=key)

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


AREAS = "return [...document.querySelectorAll('.curve svg path')].map((path) => path.getAttribute('d')).join()"
HINT = "const h = document.querySelector('.hint'); return h.hidden ? '' : h.textContent"


def curve_is_used(browser):
    box = browser.run("window.scrollTo(0, 0); const b = document.querySelector('.curve svg').getBoundingClientRect();"
                      "return [b.left, b.top, b.width, b.height]")
    left, top, width, height = box
    middle = top + height / 2
    browser.pointer(("move", left + width * 0.4, middle))
    hint = browser.run(HINT)
    check("Alive" in hint and "MiB" in hint, f"the pointer says what is alive: {hint[:60]!r}")
    inside = browser.run("const h = document.querySelector('.hint').getBoundingClientRect();"
                         "return h.left >= 0 && h.right <= window.innerWidth")
    check(inside, "what the pointer says lies within the window")
    browser.pointer(("move", left + width * 0.8, middle))
    check(browser.run(HINT) not in ("", hint), "it follows the pointer")
    before = browser.run(AREAS)
    browser.pointer(("move", left + width * 0.3, middle), ("down",), ("move", left + width * 0.5, middle), ("up",))
    zoomed = browser.run(AREAS)
    check(zoomed != before, "dragging over the curve zooms in")
    browser.pointer(("move", left + width * 0.01, middle))
    first = browser.run("return document.querySelector('.hint strong').textContent")
    check(not first.endswith(" 0"), f"the curve begins where the drag began: {first}")
    browser.run("document.querySelector('.curve button').click()")
    check(browser.run(AREAS) == before, "all of it is shown again")
    browser.run("document.querySelector('.curve svg').focus()")
    browser.key("+")
    check(browser.run(AREAS) != before, "the key + zooms in")
    browser.key("Escape")
    check(browser.run(AREAS) == before, "Escape shows all of it")
    wheel = {"type": "mouseWheel", "x": int(left + width / 2), "y": int(middle), "deltaX": 0, "deltaY": -240}
    browser.tell("Input.dispatchMouseEvent", **wheel)
    check(browser.run(AREAS) == before, "the wheel alone scrolls the page")
    browser.run("window.scrollTo(0, 0)")
    browser.tell("Input.dispatchMouseEvent", modifiers=2, **wheel)
    check(browser.run(AREAS) != before, "the wheel with Ctrl zooms in")


def table_is_used(browser):
    table = "const t = [...document.querySelectorAll('figure.table')].find((t) => t.querySelector('input'));"
    rows = table + "return [...t.querySelectorAll('tbody tr')].filter((r) => !r.hidden).length"
    cell = table + "return t.querySelector('tbody tr td').textContent"
    write = table + ("const i = t.querySelector('input'); i.value = arguments[0];"
                     "i.dispatchEvent(new Event('input'))")
    check(browser.run(rows) == 10, "of a long table ten rows are shown")
    name = browser.run(cell)
    browser.run(write, name)
    check(browser.run(rows) >= 1 and browser.run(cell) == name, f"a filter leaves what it names: {name!r}")
    browser.run(write, "nothing has this")
    check(browser.run(rows) == 0, "a filter that nothing matches leaves nothing")
    browser.run(write, "")
    browser.run(table + "t.querySelector('th').click()")
    sort = table + "return t.querySelector('th').getAttribute('aria-sort')"
    check(browser.run(sort) == "ascending", "a click on a title sorts by it")
    names = table + "return [...t.querySelectorAll('tbody tr')].map((r) => r.cells[0].textContent)"
    found = browser.run(names)
    compare = "return arguments[0].every((a, i, all) => !i || all[i - 1].localeCompare(a, 'en', {numeric: true}) <= 0)"
    check(browser.run(compare, found), "the names are in order")
    browser.run(table + "t.querySelector('th').click()")
    check(browser.run(names)[0] == found[-1] and browser.run(sort) == "descending", "a second click turns the order")
    table = "const t = [...document.querySelectorAll('figure.table')].find((t) => t.querySelector('th.number'));"
    numbers = table + ("const c = [...t.querySelectorAll('th')].findIndex((h) => h.classList.contains('number'));"
                       "return [...t.querySelectorAll('tbody tr')].map((r) => Number(r.cells[c].dataset.value))")
    for order in ("descending", "ascending"):
        browser.run(table + "t.querySelector('th.number').click()")
        found = browser.run(numbers)
        expected = sorted(found, reverse=order == "descending")
        check(found == expected and None not in found, f"numbers are {order}, by their value")
    long = "const t = [...document.querySelectorAll('figure.table')].find((t) => t.querySelector('input'));"
    browser.run(long + "t.querySelector('button').click()")
    check(browser.run(long + "return [...t.querySelectorAll('tbody tr')].every((r) => !r.hidden)"), "a button shows all rows")


def policy_is_strict(browser):
    """What a hostile name would do if it got out of its text."""
    refused = browser.ask("POST", browser.session + "/execute/async", {"args": [], "script": """
        const done = arguments[0], refused = [];
        document.addEventListener('securitypolicyviolation', (event) => refused.push(event.effectiveDirective));
        const script = document.createElement('script'); script.textContent = 'window.hacked = 1';
        const image = document.createElement('img'); image.src = 'https://example.com/a.png';
        const frame = document.createElement('iframe'); frame.src = 'https://example.com/';
        const style = document.createElement('style'); style.textContent = 'body { display: none }';
        document.body.append(script, image, frame, style);
        fetch('https://example.com/').catch(() => 0);
        setTimeout(() => { for (const one of [script, image, frame, style]) one.remove(); done(refused); }, 500);"""})
    kinds = {directive.partition("-src")[0] for directive in refused}
    check(kinds >= {"script", "img", "frame", "style", "connect"}, f"the policy refuses all of it: {sorted(kinds)}")
    check(browser.run("return window.hacked === undefined"), "nothing of it ran")
    browser.said()


def page_is_static(browser, file):
    """Without its script the page has the curve and all rows."""
    browser.tell("Emulation.setScriptExecutionDisabled", value=True)
    browser.open(file, DESK)
    # What is asked by the protocol itself runs all the same.
    text = browser.tell("DOMSnapshot.captureSnapshot", computedStyles=["display"])
    strings = text["strings"]
    names = [strings[name].lower() for name in text["documents"][0]["nodes"]["nodeName"]]
    browser.tell("Emulation.setScriptExecutionDisabled", value=False)
    check("path" in names and names.count("tr") > 20 and "input" not in names, "it reads without its script")


def page_is_whole(browser, file, size, what):
    browser.open(file, size)
    said = [message for message in browser.said() if "favicon" not in message]
    check(not said, f"{what}: the console says nothing {said}")
    asked = browser.run("return performance.getEntriesByType('resource').length")
    check(asked == 0, f"{what}: nothing is fetched")
    wide = browser.run("return document.scrollingElement.scrollWidth - window.innerWidth")
    check(wide <= 0, f"{what}: nothing lies beside the window ({wide})")
    check(browser.run("return window.hacked === undefined"), f"{what}: names stay text")
    faint = browser.run(CONTRAST)
    check(not faint, f"{what}: all text has a contrast of 4.5 {faint}")


# Texts whose color is too close to what is behind them.
CONTRAST = """
    const parts = (color) => color.match(/[\\d.]+/g).map(Number);
    const light = (color) => {
      const [r, g, b] = parts(color).map((c) => c / 255).map((c) => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const ground = (element) => {
      for (let at = element; at; at = at.parentElement) {
        const color = getComputedStyle(at).backgroundColor;
        if ((parts(color)[3] ?? 1) === 1) return color;
      }
      return getComputedStyle(document.body).backgroundColor;
    };
    const faint = new Set();
    for (const element of document.querySelectorAll('body *')) {
      const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
      if (!own || !element.offsetParent || element.closest('script, svg')) continue;
      const [a, b] = [light(getComputedStyle(element).color), light(ground(element))].sort((x, y) => y - x);
      if ((a + 0.05) / (b + 0.05) < 4.5) faint.add(element.tagName + '.' + element.className + ' ' + element.textContent.slice(0, 20));
    }
    return [...faint].slice(0, 5);
"""


def main():
    program = pathlib.Path(sys.argv[1]).resolve()
    screenshots = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else None
    if screenshots:
        screenshots.mkdir(parents=True, exist_ok=True)
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
                    theme = "dark" if dark else "light"
                    page_is_whole(browser, file, size, f"{name}, {theme}, {size[0]} wide")
                    if screenshots:
                        browser.screenshot(screenshots / f"{name}-{theme}-{size[0]}.png")
            colors[dark] = browser.run(background)
            if not dark:
                browser.open(pages["pytorch"], DESK)
                curve_is_used(browser)
                browser.open(pages["pytorch-two"], DESK)
                table_is_used(browser)
                policy_is_strict(browser)
                page_is_static(browser, pages["pytorch"])
            browser.close()
        check(colors[False] != colors[True], f"both themes: {colors}")


if __name__ == "__main__":
    main()
