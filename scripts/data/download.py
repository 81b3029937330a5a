"""One file from its origin into the data folder: whole and with the right hash, or not at all."""
import contextlib
import errno
import fcntl
import hashlib
import http.client
import os
import socket
import time
import urllib.error
import urllib.parse
import urllib.request

from data.conversions import CONVERSIONS
from data.fault import Fault, usage

ORIGIN = "https://raw.githubusercontent.com"
BLOCK = 1 << 16  # bytes
TRANSIENT = {408, 425, 429, 500, 502, 503, 504}  # answers that another try may better


class Interrupted(Exception):
    """The transfer broke off or the server is busy; another try may do."""


def base_url(given):
    """Where the origins' repositories are: `given`, $FULLBAND_DATA_URL or GitHub."""
    url = given or os.environ.get("FULLBAND_DATA_URL") or ORIGIN
    try:
        parts = urllib.parse.urlsplit(url)
        sound = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0 and url.isprintable()
    except ValueError:
        sound = False
    if not sound or " " in url:
        raise usage(url, "is not an http or https address", "--base-url or $FULLBAND_DATA_URL replaces " + ORIGIN)
    return url.rstrip("/")


class Download:
    """How files are fetched. `timeout` is the longest silence of the server in seconds; `progress` is told of bytes."""

    def __init__(self, url, timeout, retries, progress):
        self.url, self.timeout, self.retries, self.progress = base_url(url), timeout, retries, progress

    def address(self, file):
        return f"{self.url}/{urllib.parse.quote(file.url_path)}"

    def bytes_of(self, file):
        """What the origin has for the file, at most the bytes it should have (of a file to be converted: some more)."""
        url = self.address(file)
        for attempt in range(self.retries + 1):
            try:
                return self.transfer(file, url)
            except Interrupted as broken:
                if attempt == self.retries:
                    what_to_do = "run the same command again, or name a mirror with --base-url"
                    raise Fault(file.path, f"{url} {broken}", what_to_do, stop=True) from broken
                time.sleep(2**attempt)
        raise AssertionError("no attempt")

    def transfer(self, file, url):
        """One try. Raises Interrupted where another is worth it."""
        limit = 4 * file.size + BLOCK if file.convert else file.size
        request = urllib.request.Request(url, headers={"User-Agent": "fullband", "Accept-Encoding": "identity"})
        parts, got, expected = [], 0, "more"
        try:
            with urllib.request.urlopen(request, timeout=self.timeout) as reply:
                expected = reply.headers.get("Content-Length", "more")
                self.progress(file, 0)
                while block := reply.read(min(BLOCK, limit - got + 1)):
                    parts.append(block)
                    got += len(block)
                    self.progress(file, got)
                    if got > limit:
                        raise Fault(file.path, f"{url} has more than the {limit} bytes expected; none was kept",
                                    "name another mirror with --base-url")
        except http.client.IncompleteRead as error:  # some versions of Python end the reading without it
            raise Interrupted(f"broke off after {got + len(error.partial)} of {expected} bytes") from error
        except urllib.error.HTTPError as error:
            if error.code in TRANSIENT:
                raise Interrupted(f"answers {error.code} {error.reason}") from error
            raise Fault(file.path, f"{url} answers {error.code} {error.reason}",
                        "name a mirror with --base-url, or put the file there by hand") from error
        except TimeoutError as error:
            raise Interrupted(f"was silent for {self.timeout:g} s") from error
        except urllib.error.URLError as error:
            silent = isinstance(error.reason, (TimeoutError, socket.timeout))
            why = f"was silent for {self.timeout:g} s" if silent else f"cannot be reached: {reason_of(error.reason)}"
            raise Interrupted(why) from error
        except (http.client.HTTPException, OSError) as error:
            raise Interrupted(f"broke off: {reason_of(error)}") from error
        if expected.isdigit() and got < int(expected):
            raise Interrupted(f"broke off after {got} of {expected} bytes")
        return b"".join(parts)


def reason_of(error):
    return getattr(error, "strerror", None) or str(error) or type(error).__name__


def wanted_bytes(file, source, origin):
    """What is to be kept as the file, made of `source`; `origin` is where that is from, for messages."""
    content = source
    if file.convert:
        try:
            content = CONVERSIONS[file.convert](source)
        except (ValueError, RecursionError) as error:
            why = f"cannot be made of {origin}: {error}"
            raise Fault(file.path, why, "name another mirror with --base-url") from error
    sha256 = hashlib.sha256(content).hexdigest()
    if sha256 != file.sha256:
        made = "what was made of " if file.convert else ""
        raise Fault(file.path, f"{made}{origin} has SHA-256 {sha256}, not {file.sha256}; nothing of it was kept",
                    "name another mirror with --base-url")
    return content


def keep(folder, file, content):
    """Writes the file whole or not at all: beside it first, then in its place."""
    path = folder / file.path
    beside = path.with_name(f".{path.name}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(beside, "wb") as part:
            part.write(content)
            part.flush()
            os.fsync(part.fileno())
        os.replace(beside, path)
    except BaseException as error:
        with contextlib.suppress(OSError):
            beside.unlink()
        if not isinstance(error, OSError):
            raise
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        remedy = f"{len(content)} bytes are needed" if full else "name another folder with --data-dir or $FULLBAND_DATA"
        raise Fault(path, f"cannot be written: {error.strerror}", remedy, stop=True) from error


@contextlib.contextmanager
def only_one(folder, tell):
    """Holds back a second process that fetches into the folder; it then finds what the first has fetched."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError as error:
        raise Fault(folder, f"cannot be made or opened: {error.strerror}",
                    "name another folder with --data-dir or $FULLBAND_DATA", stop=True) from error
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            tell(f"waiting for another process that fetches into {folder}")
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        except OSError:
            pass  # a file system without locks: each file is still put in place whole
        yield
    finally:
        os.close(descriptor)
