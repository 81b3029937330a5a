"""scripts/fetch_data against a server on this machine, with a table and files of its own."""
import bz2
import dataclasses
import hashlib
import http.server
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

HOME = pathlib.Path(__file__).resolve().parent.parent.parent
SCRIPT = HOME / "scripts" / "fetch_data"
sys.path.insert(0, str(HOME / "scripts"))
sys.dont_write_bytecode = True
from data import conversions, fault, generated, sources  # noqa: E402

HELLASWAG_TEXT = "Sky: It is \u2014\n2\none\ntwo\n\"three\"\nfour\nSea: She\n0\nswims.\nd\u00efves.\nflies.\n\n"
HELLASWAG_JSONL = (
    '{"query": "Sky: It is \u2014", "choices": ["one", "two", "\\"three\\"", "four"], "gold": 2}\n'
    '{"query": "Sea: She", "choices": ["swims.", "d\u00efves.", "flies.", ""], "gold": 0}\n'
)
PRETTY = b'[\n    {\n        "task_id": 2,\n        "code": "caf\xc3\xa9\\n"\n    }\n]\n'
REWRITTEN = b'[{"task_id": 2, "code": "caf\\u00e9\\n"}]'
BIG = bytes(range(256)) * 4096  # 1 MiB

# What is kept as each file, and what its origin has where that is something else.
KEPT = {
    "sums/test.jsonl": b'{"q": "1+1"}\n', "sums/train.jsonl": b'{"q": "2+2"}\n', "big/big.bin": BIG,
    "scenes/scenes.txt.bz2": bz2.compress(HELLASWAG_TEXT.encode()), "scenes/scenes.jsonl": HELLASWAG_JSONL.encode(),
    "code/code.json": REWRITTEN, "many/easy/a.jsonl": b"a\n", "many/hard/b.jsonl": b"b\n",
}
TABLE = """
[sums]
repository = "someone/sums"
commit = "1234567"
folder = "data files"
licence = "MIT"
files = [
  {file = "test.jsonl", source = "test_ori.jsonl", %(sums/test.jsonl)s},
  {file = "train.jsonl", %(sums/train.jsonl)s},
]
[big]
repository = "someone/big"
commit = "1"
licence = "MIT"
files = [{file = "big.bin", %(big/big.bin)s}]
[scenes]
repository = "someone/scenes"
commit = "2"
licence = "CC BY 4.0"
files = [
  {file = "scenes.txt.bz2", %(scenes/scenes.txt.bz2)s},
  {file = "scenes.jsonl", convert = "hellaswag_jsonl", from = "scenes.txt.bz2", %(scenes/scenes.jsonl)s},
]
[code]
repository = "someone/code"
commit = "3"
licence = "MIT"
files = [{file = "code.json", convert = "json_rewritten", %(code/code.json)s}]
[many]
repository = "someone/many"
commit = "4"
licence = "MIT"
files = [
  {name = "a", file = "easy/a.jsonl", licence = "AFL 3.0", %(many/easy/a.jsonl)s},
  {name = "b", file = "hard/b.jsonl", %(many/hard/b.jsonl)s},
]
"""
SERVED = {
    "/someone/sums/1234567/data%20files/test_ori.jsonl": KEPT["sums/test.jsonl"],
    "/someone/sums/1234567/data%20files/train.jsonl": KEPT["sums/train.jsonl"],
    "/someone/big/1/big.bin": BIG, "/someone/scenes/2/scenes.txt.bz2": KEPT["scenes/scenes.txt.bz2"],
    "/someone/code/3/code.json": PRETTY, "/someone/many/4/easy/a.jsonl": b"a\n", "/someone/many/4/hard/b.jsonl": b"b\n",
}


def table():
    pins = {path: f'bytes = {len(content)}, sha256 = "{hashlib.sha256(content).hexdigest()}"'
            for path, content in KEPT.items()}
    return TABLE % pins


class Server(http.server.ThreadingHTTPServer):
    """Serves SERVED; `spoil` maps a path to a function that answers in its place; `asked` lists the paths."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.spoil, self.asked, self.released = {}, [], threading.Event()
        self.thread = threading.Thread(target=self.serve_forever, daemon=True)
        self.thread.start()

    def close(self):
        self.released.set()
        self.shutdown()
        self.server_close()
        self.thread.join()

    def handle_error(self, request, client_address):
        pass  # clients that leave early are what the tests are about


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.asked.append(self.path)
        if self.path in self.server.spoil:
            self.server.spoil[self.path](self)
        elif self.path in SERVED:
            self.give(SERVED[self.path])
        else:
            self.send_error(404)

    def give(self, content, length=None, status=200):
        self.send_response(status)
        self.send_header("Content-Length", str(len(content) if length is None else length))
        self.end_headers()
        self.wfile.write(content)
        self.wfile.flush()

    def log_message(self, *_):
        pass


class FetchDataTest(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        self.home, self.data = self.folder / "home", self.folder / "data"
        (self.home / "tasks" / "data").mkdir(parents=True)
        (self.home / "tasks" / "data" / "sources.toml").write_text(table())
        self.server = Server()
        self.addCleanup(self.server.close)

    def environment(self):
        return {**os.environ, "FULLBAND_HOME": str(self.home), "FULLBAND_DATA": str(self.data), "no_proxy": "*",
                "FULLBAND_CACHE": str(self.folder / "cache"),
                "FULLBAND_DATA_URL": f"http://127.0.0.1:{self.server.server_port}"}

    def command(self, *words):
        return [sys.executable, "-B", str(SCRIPT), *words]

    def run_script(self, *words, **environment):
        return subprocess.run(self.command(*words), capture_output=True, text=True, check=False, timeout=120,
                              env={**self.environment(), **environment})

    def fetch(self, *words, **environment):
        return self.run_script("fetch", "--retries", "0", *words, **environment)

    def on_disk(self):
        return {str(path.relative_to(self.data)): path.read_bytes() for path in self.data.rglob("*") if path.is_file()}

    def check_fails(self, done, *words, code=1):
        """One line that has all the words, and the exit status."""
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertTrue(done.stderr.startswith("fullband: ") and done.stderr.count("\n") == 1, done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)

    def check_done(self, done):
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    # --- What is fetched.

    def test_all(self):
        done = self.fetch("all")
        self.check_done(done)
        self.assertEqual(self.on_disk(), KEPT)
        self.assertEqual(sorted(self.server.asked), sorted(SERVED))
        for line in ("sums: 2 files, 26 B, licence MIT", "  sums/test.jsonl: fetched, 13 bytes",
                     "a: 1 file, 2 B, licence AFL 3.0", "8 of 8 files are at hand",
                     f"  scenes/scenes.jsonl: made, {len(HELLASWAG_JSONL.encode())} bytes"):
            self.assertIn(line, done.stdout)
        self.assertNotIn("\r", done.stdout)

    def test_names(self):
        for words, wanted in ((["sums"], {"sums/test.jsonl", "sums/train.jsonl"}), (["a"], {"many/easy/a.jsonl"}),
                              (["many/hard"], {"many/hard/b.jsonl"}),
                              (["code", "big/big.bin"], {"code/code.json", "big/big.bin"}),
                              (["scenes/scenes.jsonl"], {"scenes/scenes.txt.bz2", "scenes/scenes.jsonl"})):
            with self.subTest(words):
                self.data = self.folder / words[0].replace("/", "-")
                self.check_done(self.fetch(*words))
                self.assertEqual(set(self.on_disk()), wanted)

    def test_suites(self):
        tasks = self.home / "tasks"
        (tasks / "adding.toml").write_text('[data]\npath = "sums/test.jsonl"\n'
                                           '[shots]\npath = "sums/train.jsonl"\n')
        (tasks / "letters.toml").write_text('[data]\npath = "many/{part}/b.jsonl"\n')
        (tasks / "own.toml").write_text('[data]\npath = "mini/own.jsonl"\n')
        (tasks / "groups.toml").write_text('both = ["adding", "letters"]\n')
        (self.folder / "mine.toml").write_text('[data]\npath = "code/code.json"\n')
        for suite, wanted in (("adding", {"sums/test.jsonl", "sums/train.jsonl"}),
                              ("letters,own", {"many/hard/b.jsonl"}),
                              ("both", {"sums/test.jsonl", "sums/train.jsonl", "many/hard/b.jsonl"}), ("own", set()),
                              ("all", {"sums/test.jsonl", "sums/train.jsonl", "many/hard/b.jsonl"}),
                              (str(self.folder / "mine.toml"), {"code/code.json"})):
            with self.subTest(suite):
                self.data = self.folder / f"data of {len(suite)} {suite[:3]}"
                self.check_done(self.fetch("--suite", suite))
                self.assertEqual(set(self.on_disk()), wanted)

    def test_without_a_network_once_it_is_there(self):
        self.check_done(self.fetch("all"))
        with socket.socket() as closed:
            closed.bind(("127.0.0.1", 0))
            nowhere = f"http://127.0.0.1:{closed.getsockname()[1]}"
            self.check_done(self.fetch("all", FULLBAND_DATA_URL=nowhere))
            (self.data / "scenes" / "scenes.jsonl").unlink()  # what is made needs no network either
            self.check_done(self.fetch("scenes", FULLBAND_DATA_URL=nowhere))
            (self.data / "sums" / "test.jsonl").unlink()
            done = self.fetch("all", FULLBAND_DATA_URL=nowhere)
            self.check_fails(done, "sums/test.jsonl", "cannot be reached", "--base-url")
        self.assertEqual(set(self.on_disk()), set(KEPT) - {"sums/test.jsonl"})

    def test_what_another_folder_has_is_not_fetched(self):
        self.check_done(self.fetch("sums", FULLBAND_DATA=""))
        self.assertEqual((self.folder / "cache" / "data" / "sums" / "test.jsonl").read_bytes(), KEPT["sums/test.jsonl"])
        self.server.asked.clear()
        self.check_done(self.fetch("sums"))
        self.assertEqual((self.server.asked, self.on_disk()), ([], {}))

    def test_folder_and_address_on_the_command_line(self):
        url = self.environment()["FULLBAND_DATA_URL"]
        here = str(self.folder / "here")
        self.check_done(self.fetch("a", "--data-dir", here, "--base-url", url + "/", FULLBAND_DATA_URL="http://["))
        self.assertEqual((self.folder / "here" / "many" / "easy" / "a.jsonl").read_bytes(), b"a\n")

    # --- What is refused.

    def test_another_hash(self):
        self.server.spoil["/someone/sums/1234567/data%20files/test_ori.jsonl"] = lambda it: it.give(b'{"q": "1+3"}\n')
        done = self.fetch("sums")
        sha256 = hashlib.sha256(b'{"q": "1+3"}\n').hexdigest()
        self.check_fails(done, "sums/test.jsonl", "SHA-256 " + sha256, "--base-url")
        self.assertEqual(set(self.on_disk()), {"sums/train.jsonl"})  # the others are fetched all the same
        self.assertIn("1 of 2 files are at hand", done.stdout)

    def test_the_old_file_stays_until_the_new_one_is_right(self):
        (self.data / "sums").mkdir(parents=True)
        (self.data / "sums" / "test.jsonl").write_bytes(b"old")
        path = "/someone/sums/1234567/data%20files/test_ori.jsonl"
        self.server.spoil[path] = lambda it: it.give(b"wrong")
        self.check_fails(self.fetch("sums"), "sums/test.jsonl")
        self.assertEqual(self.on_disk()["sums/test.jsonl"], b"old")
        del self.server.spoil[path]
        done = self.fetch("sums")
        self.check_done(done)
        self.assertIn("sums/test.jsonl: fetched, in place of a wrong one", done.stdout)
        self.assertEqual(self.on_disk()["sums/test.jsonl"], KEPT["sums/test.jsonl"])

    def test_more_bytes_than_the_table_says(self):
        self.server.spoil["/someone/many/4/easy/a.jsonl"] = lambda it: it.give(b"a\n" * 1000)
        self.check_fails(self.fetch("a"), "many/easy/a.jsonl", "more than the 2 bytes")
        self.assertEqual(self.on_disk(), {})

    def test_not_found(self):
        self.server.spoil["/someone/many/4/easy/a.jsonl"] = lambda it: it.send_error(404)
        self.check_fails(self.fetch("a", "b"), "many/easy/a.jsonl", "404", "--base-url")
        self.assertEqual(set(self.on_disk()), {"many/hard/b.jsonl"})

    def test_what_cannot_be_converted(self):
        for content, word in ((b"[1, ", "Expecting value"), (b"\xff", "utf-8"), (b"[" * 100000, "code/code.json")):
            self.server.spoil["/someone/code/3/code.json"] = lambda it, content=content: it.give(content)
            self.check_fails(self.fetch("code"), "code/code.json", word)
        self.server.spoil["/someone/code/3/code.json"] = lambda it: it.give(b"[]")
        self.check_fails(self.fetch("code"), "code/code.json", "what was made of", hashlib.sha256(b"[]").hexdigest())
        self.assertEqual(self.on_disk(), {})

    # --- Transfers that break off.

    def test_truncated(self):
        self.server.spoil["/someone/big/1/big.bin"] = lambda it: it.give(BIG[:300000], length=len(BIG))
        self.check_fails(self.fetch("big"), "big/big.bin", "off after 300000 of 1048576 bytes", "same command again")
        self.assertEqual(self.on_disk(), {})

    def test_truncated_without_a_length(self):
        def give_a_chunk(it):
            it.protocol_version = "HTTP/1.1"
            it.send_response(200)
            it.send_header("Transfer-Encoding", "chunked")
            it.end_headers()
            it.wfile.write(b"2710\r\n" + BIG[:10000] + b"\r\n")
            it.close_connection = True

        self.server.spoil["/someone/big/1/big.bin"] = give_a_chunk
        self.check_fails(self.fetch("big"), "big/big.bin", "broke off after 10000 of more bytes")
        self.assertEqual(self.on_disk(), {})

    def test_silence(self):
        def stall(it):
            it.give(BIG[:1000], length=len(BIG))
            it.server.released.wait(60)

        def never_answer(it):
            it.server.released.wait(60)

        for behaviour in (stall, never_answer):
            self.server.spoil["/someone/big/1/big.bin"] = behaviour
            start = time.monotonic()
            self.check_fails(self.fetch("big", "--timeout", "0.5"), "big/big.bin", "was silent for 0.5 s")
            self.assertLess(time.monotonic() - start, 40)
        self.assertEqual(self.on_disk(), {})

    def test_another_try(self):
        answers = [lambda it: it.send_error(503), lambda it: it.give(b"a", length=2)]
        right = SERVED["/someone/many/4/easy/a.jsonl"]

        def answer(it):
            if answers:
                answers.pop(0)(it)
            else:
                it.give(right)

        self.server.spoil["/someone/many/4/easy/a.jsonl"] = answer
        self.check_done(self.run_script("fetch", "a", "--retries", "2"))
        self.assertEqual(self.on_disk(), {"many/easy/a.jsonl": b"a\n"})
        self.assertEqual(len(self.server.asked), 3)

    def start_and_stall(self):
        """A process that has got the first half of big.bin and waits for the rest."""
        half = threading.Event()

        def stall(it):
            it.give(BIG[: len(BIG) // 2], length=len(BIG))
            half.set()
            it.server.released.wait(60)

        self.server.spoil["/someone/big/1/big.bin"] = stall
        # What a shell starts in the background has SIGINT ignored, this test included.
        process = subprocess.Popen(self.command("fetch", "sums", "big"), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True, env=self.environment(),
                                   preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        self.addCleanup(process.kill)
        self.assertTrue(half.wait(60))
        return process

    def test_killed_and_run_again(self):
        for number, code in ((signal.SIGKILL, -signal.SIGKILL), (signal.SIGTERM, 1), (signal.SIGINT, 130)):
            with self.subTest(number):
                self.data = self.folder / f"killed-{number}"
                process = self.start_and_stall()
                process.send_signal(number)
                _, error = process.communicate(timeout=60)
                self.assertEqual(process.returncode, code, error)
                self.assertNotIn("Traceback", error)
                self.assertEqual(set(self.on_disk()), {"sums/test.jsonl", "sums/train.jsonl"})
                self.server.spoil.clear()
                self.server.asked.clear()
                self.check_done(self.fetch("sums", "big"))
                self.assertEqual(self.server.asked, ["/someone/big/1/big.bin"])
                self.assertEqual(self.on_disk()["big/big.bin"], BIG)

    def test_a_part_left_behind_is_written_over(self):
        (self.data / "many" / "easy").mkdir(parents=True)
        (self.data / "many" / "easy" / ".a.jsonl.part").write_bytes(b"left by a process that lost its power")
        self.check_done(self.fetch("a"))
        self.assertEqual(self.on_disk(), {"many/easy/a.jsonl": b"a\n"})

    def test_two_at_once(self):
        first = self.start_and_stall()
        second = subprocess.Popen(self.command("fetch", "sums", "big"), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  text=True, env=self.environment())
        self.addCleanup(second.kill)
        self.assertIn("waiting for another process", second.stdout.readline())
        self.server.spoil.clear()
        first.kill()
        first.communicate(timeout=60)
        _, error = second.communicate(timeout=60)
        self.assertEqual((second.returncode, error), (0, ""))
        self.assertEqual(set(self.on_disk()), {"sums/test.jsonl", "sums/train.jsonl", "big/big.bin"})
        self.assertEqual(self.server.asked.count("/someone/sums/1234567/data%20files/train.jsonl"), 1)

    # --- Folders that cannot be written.

    def test_no_folder(self):
        (self.folder / "file").write_text("")
        self.check_fails(self.fetch("a", "--data-dir", str(self.folder / "file" / "data")), "file/data", "--data-dir")
        self.data.mkdir()
        (self.data / "many").write_text("")
        self.check_fails(self.fetch("a", "b"), "many", "cannot be written", "--data-dir")

    def small_mount(self):
        self.data.mkdir()
        mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "none", str(self.data)]
        done = subprocess.run(mount, capture_output=True, check=False)
        if done.returncode:
            self.skipTest("a small tmpfs needs root")
        self.addCleanup(subprocess.run, ["umount", "--lazy", str(self.data)], check=True)

    def test_no_space(self):
        self.small_mount()
        self.check_fails(self.fetch("all"), "big/big.bin", "No space left", "1048576 bytes")
        self.assertEqual(set(self.on_disk()), {"sums/test.jsonl", "sums/train.jsonl"})

    def test_read_only(self):
        self.small_mount()
        self.check_done(self.fetch("sums"))
        subprocess.run(["mount", "-o", "remount,ro", str(self.data)], check=True, capture_output=True)
        self.check_done(self.fetch("sums"))
        self.check_fails(self.fetch("a", "b"), "many/easy/a.jsonl", "Read-only", "--data-dir")

    # --- list, verify, the command line.

    def test_list(self):
        self.check_done(self.fetch("sums", "a"))
        (self.data / "sums" / "train.jsonl").write_bytes(b"changed")
        done = self.run_script("list")
        self.check_done(done)
        rows = {line.split()[0]: line for line in done.stdout.splitlines()}
        self.assertRegex(rows["sums"], r"sums +wrong +1 of 2 +26 B +MIT")
        self.assertRegex(rows["a"], r"a +there +1 of 1 +2 B +AFL 3.0")
        self.assertRegex(rows["big"], r"big +missing +0 of 1 +1.0 MiB +MIT")
        self.assertIn("wrong    sums/train.jsonl", done.stdout)
        told = json.loads(self.run_script("list", "--json", "sums").stdout)
        self.assertEqual([(file["path"], file["state"]) for file in told["data_sets"][0]["files"]],
                         [("sums/test.jsonl", "there"), ("sums/train.jsonl", "wrong")])
        self.assertEqual(told["folders"], [str(self.data), str(self.folder / "cache" / "data")])

    def test_verify(self):
        self.assertEqual(self.run_script("verify").returncode, 0)  # nothing there is wrong
        self.check_fails(self.run_script("verify", "a"), "many/easy/a.jsonl", "missing", "fullband data fetch a")
        self.check_done(self.fetch("all"))
        done = self.run_script("verify", "all")
        self.check_done(done)
        self.assertEqual(done.stdout, "8 of 8 files are right, 0 wrong, 0 missing\n")
        content = bytearray(BIG)
        content[500000] ^= 1
        (self.data / "big" / "big.bin").write_bytes(content)
        for words in ([], ["all"], ["big"]):
            self.check_fails(self.run_script("verify", *words), "big/big.bin", "fullband data fetch big")
        self.assertEqual(self.run_script("verify", "sums").returncode, 0)

    def test_what_is_not_known(self):
        self.check_fails(self.fetch("sum"), "sum", "sums", code=2)
        self.check_fails(self.fetch("zzz"), "zzz", "fullband data list", code=2)
        self.check_fails(self.fetch("--suite", "addin"), "addin", "is not a suite", code=2)
        self.check_fails(self.fetch("--suite", "./none.toml"), "none.toml", code=2)
        self.check_fails(self.fetch(), "fetch", "all", code=2)
        for url in ("ftp://host", "host", "http://", "http://[x", "http://host:x", "http://a b"):
            self.check_fails(self.fetch("a", "--base-url", url), url, "http", code=2)
        self.assertEqual(self.run_script("get", "a").returncode, 2)
        self.check_fails(self.fetch("a", FULLBAND_HOME=str(self.folder)), "sources.toml", "FULLBAND_HOME", code=2)

    def test_progress_on_a_terminal(self):
        mine, theirs = os.openpty()
        done = subprocess.run(self.command("fetch", "big"), stdout=subprocess.PIPE, stderr=theirs, check=True,
                              env=self.environment())
        os.close(theirs)
        shown = os.read(mine, 1 << 16).decode()
        os.close(mine)
        self.assertIn("big/big.bin: 100 %", shown)
        self.assertTrue(shown.endswith("\r\x1b[K"), shown[-40:])
        self.assertNotIn(b"\r", done.stdout)


class ConversionsTest(unittest.TestCase):
    def test_hellaswag(self):
        self.assertEqual(conversions.hellaswag_jsonl(bz2.compress(HELLASWAG_TEXT.encode())), HELLASWAG_JSONL.encode())

    def test_hellaswag_of_another_layout(self):
        for text in ("", "a\n1\nb\nc\nd\n", HELLASWAG_TEXT.replace("2", "4"), HELLASWAG_TEXT + "more\n"):
            with self.assertRaises(ValueError, msg=text):
                conversions.hellaswag_jsonl(bz2.compress(text.encode()))
        with self.assertRaises(ValueError):
            conversions.hellaswag_jsonl(b"not packed")

    def test_json(self):
        self.assertEqual(conversions.json_rewritten(PRETTY), REWRITTEN)
        self.assertEqual(conversions.json_rewritten(REWRITTEN), REWRITTEN)


class TableTest(unittest.TestCase):
    """tasks/data/sources.toml itself."""

    def setUp(self):
        self.files = sources.read_sources()

    def test_it_is_sound(self):
        self.assertEqual(len(self.files), 173)
        names = {}
        for file in self.files:
            self.assertRegex(file.sha256, "^[0-9a-f]{64}$")
            if file.generate:
                self.assertIn(file.generate, generated.GENERATORS)
                self.assertEqual((file.url_path, file.convert), ("", ""))
            else:
                self.assertRegex(file.url_path, r"^[\w.-]+/[\w.-]+/[0-9a-f]{12,40}/")
            self.assertNotIn("..", file.path.split("/"))
            self.assertTrue(file.licence and file.size > 0)
            self.assertIn(file.convert, {"", *conversions.CONVERSIONS})
            # A name stands for files of one folder, so that no two data sets share one.
            self.assertEqual(names.setdefault(file.data_set, file.path.split("/")[0]), file.path.split("/")[0])

    def test_suites_state_the_same_hashes(self):
        hashes = {file.path: file.sha256 for file in self.files}
        compared = 0
        for toml in (HOME / "tasks").glob("*.toml"):
            for place in sources.read_toml(toml).values():
                if isinstance(place, dict) and place.get("path") in hashes and "sha256" in place:
                    self.assertEqual(place["sha256"], hashes[place["path"]], f"{toml.name}: {place['path']}")
                    compared += 1
        self.assertGreaterEqual(compared, 3)

    def test_generated_files(self):
        made = [file for file in self.files if file.generate]
        self.assertEqual({file.path for file in made}, {"long/needle.jsonl", "long/state_tracking.jsonl"})
        for file in made:
            self.assertEqual(len(generated.bytes_of(file)), file.size)  # which checks the hash, too
            with self.assertRaisesRegex(fault.Fault, f"{file.path}: .* has SHA-256 {file.sha256}, not 00"):
                generated.bytes_of(dataclasses.replace(file, sha256="00"))

    def test_real_files(self):
        """The public files, where they are at hand, and what the conversions make of them."""
        shared = os.environ.get("FULLBAND_SHARED")
        folders = [pathlib.Path(shared)] if shared else [parent / "shared" for parent in HOME.parents]
        folder = next((one / "datasets" for one in folders if (one / "datasets").is_dir()), None)
        if folder is None:
            self.skipTest("the public data files are not at hand")
        for file in self.files:
            if file.generate:
                continue
            content = (folder / file.path).read_bytes()
            self.assertEqual((len(content), hashlib.sha256(content).hexdigest()), (file.size, file.sha256), file.path)
            if file.convert:
                # The origin of sanitized MBPP is the same JSON, laid out for people.
                source = ((folder / file.made_from.path).read_bytes() if file.made_from
                          else json.dumps(json.loads(content), indent=4).encode())
                made = conversions.CONVERSIONS[file.convert](source)
                self.assertEqual(hashlib.sha256(made).hexdigest(), file.sha256, file.path)


if __name__ == "__main__":
    unittest.main(verbosity=1)
