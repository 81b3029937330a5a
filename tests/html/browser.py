"""Chromium without a window, driven over its DevTools pipe: JSON messages, each ended by a NUL, on two descriptors."""

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
SECONDS = 120  # that an answer may take: the machine may be busy


def find_browser():
    """The path of a Chromium, $FULLBAND_CHROMIUM first; None where there is none."""
    given = os.environ.get("FULLBAND_CHROMIUM")
    return given or next((path for path in map(shutil.which, NAMES) if path), None)


class BrowserError(Exception):
    """What the browser refused, or what a script in the page threw."""


class Browser:
    """One browser with one page. `errors` holds what its console and its policies complained of."""

    def __init__(self, path, width=1360, height=900):
        self.profile = tempfile.TemporaryDirectory(prefix="fullband-browser-", ignore_cleanup_errors=True)
        to_browser, self.write_end = os.pipe()
        self.read_end, from_browser = os.pipe()

        def connect():
            """In the new process: the browser reads descriptor 3 and writes 4."""
            ends = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (to_browser, from_browser)]
            for number, end in zip((3, 4), ends):
                os.dup2(end, number)

        command = [path, "--headless=new", "--remote-debugging-pipe", f"--user-data-dir={self.profile.name}",
                   f"--window-size={width},{height}", "--no-first-run", "--disable-gpu", "--disable-dev-shm-usage",
                   "--disable-background-networking", "--disable-component-update", "--hide-scrollbars", "about:blank"]
        if os.geteuid() == 0:
            command.insert(1, "--no-sandbox")  # Chromium refuses to sandbox what root runs
        self.process = subprocess.Popen(command, preexec_fn=connect, pass_fds=(3, 4), stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.buffer, self.last_id, self.events, self.errors = b"", 0, [], []
        self.session = None
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(f"{domain}.enable")
        self.resize(width, height)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.session = None
            self.send("Browser.close")
        except (BrowserError, OSError):
            pass
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.write_end)
        os.close(self.read_end)
        self.profile.cleanup()

    def _receive(self, deadline):
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.read_end], [], [], max(0, deadline - time.monotonic()))
            chunk = os.read(self.read_end, 1 << 20) if ready else b""
            if not chunk:
                raise BrowserError("the browser is gone" if ready else "the browser does not answer")
            self.buffer += chunk
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def _note(self, event):
        """Keeps an event, and what it complains of."""
        self.events.append(event)
        params = event.get("params", {})
        if event["method"] == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            self.errors.append(details.get("exception", {}).get("description") or details["text"])
        elif event["method"] == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
            self.errors.append(str([argument.get("value") for argument in params["args"]]))
        elif event["method"] == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            self.errors.append(params["entry"]["text"])
        elif event["method"] == "Network.requestWillBeSent":
            url = params["request"]["url"]
            if not url.startswith(("file:", "data:", "about:", "blob:")):
                self.errors.append(f"asks for {url}")

    def send(self, method, **params):
        """Sends a command and returns its result."""
        self.last_id += 1
        message = {"id": self.last_id, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.write_end, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + SECONDS
        while True:
            answer = self._receive(deadline)
            if "method" in answer:
                self._note(answer)
            elif answer.get("id") == self.last_id:
                if "error" in answer:
                    raise BrowserError(f"{method}: {answer['error']['message']}")
                return answer["result"]

    def wait_for(self, method):
        """Waits for an event that comes after those already seen."""
        deadline = time.monotonic() + SECONDS
        while not any(event["method"] == method for event in self.events):
            answer = self._receive(deadline)
            if "method" in answer:
                self._note(answer)

    def open(self, path):
        """Loads a file, or about:blank; a fragment may stand behind the path."""
        self.events, self.errors = [], []
        self.send("Page.navigate", url=path if path == "about:blank" else f"file://{path}")
        self.wait_for("Page.loadEventFired")

    def run(self, script):
        """The value of a script, whose promise is waited for."""
        result = self.send("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            details = result["exceptionDetails"]
            raise BrowserError(details.get("exception", {}).get("description") or details["text"])
        return result["result"].get("value")

    def until(self, script, seconds=SECONDS):
        """Waits until a script's value counts as true."""
        deadline = time.monotonic() + seconds
        while True:
            value = self.run(f"!!({script})")
            if value:
                return
            if time.monotonic() > deadline:
                raise BrowserError(f"never true: {script}")
            time.sleep(0.05)

    def press(self, key):
        """One key: a character, or a name such as Enter, Escape, ArrowDown."""
        codes = {"Enter": 13, "Escape": 27, "End": 35, "Home": 36, "ArrowUp": 38, "ArrowDown": 40}
        text = {"text": key} if len(key) == 1 else {"text": "\r"} if key == "Enter" else {}
        code = {"windowsVirtualKeyCode": codes[key]} if key in codes else {}
        self.send("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", key=key, **text, **code)
        self.send("Input.dispatchKeyEvent", type="keyUp", key=key, **code)

    def type(self, text):
        self.send("Input.insertText", text=text)

    def resize(self, width, height, mobile=False):
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
                  mobile=mobile)

    def prefer(self, scheme, media=""):
        """The system's colours, light or dark; media: print, or the screen."""
        colours = {"name": "prefers-color-scheme", "value": scheme}
        self.send("Emulation.setEmulatedMedia", media=media, features=[colours])

    def screenshot(self, path):
        data = self.send("Page.captureScreenshot", format="png")["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def pdf(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.send("Page.printToPDF", printBackground=True)["data"]))
