"""Opens HTML reports in Chromium: they show, sort, filter, compare, stay quiet, and take every text for text.

    browser_test.py PATH/TO/fullband PATH/TO/html_page [--screenshots FOLDER]

Skipped (77) where there is no Chromium (scripts/setup installs it where it can). --screenshots keeps pictures to look
at. With FULLBAND_TIMES=1 a report of 10,000 samples must open within 2 s; on a busy machine that says little.
"""

import json
import os
import random
import sqlite3
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
from browser import Browser, BrowserError, find_browser  # noqa: E402

HOME = Path(__file__).resolve().parents[2]
SETTINGS = ["standard", "latent", "latent@2"]
HOSTILE = ("</script><img src=x onerror=\"window.hurt=1\"><!-- <script>window.hurt=2</script> javascript:window.hurt=3 "
           "\u2028\u2029 \u202egnp.exe \u0000\u001b[2J &amp; ]]> ${7*7} \U0001F642 e\u0301")
SEEN = HOSTILE.translate({0x2028: "U+2028", 0x2029: "U+2029", 0x202e: "U+202E", 0: "\u2400", 0x1b: "\u241b"})
WORDS = "the sum of all numbers between seven and twenty is then divided by two times three plus more".split()
NOT_UTF8 = HOSTILE.encode() + b"\xff\xed\xa0\x80"

# For scripts in the page: elements by selector, one's text, a choice in a list.
TOOLS = """
window.all = (selector) => [...document.querySelectorAll(selector)];
window.texts = (selector) => all(selector).map((element) => element.textContent);
window.choose = (label, text) => {
  const labels = all("#items .bar label");
  pick(labels.find((element) => element.firstChild.textContent === label).querySelector("select"), text);
};
window.pick = (list, text) => {
  list.value = [...list.options].find((option) => option.textContent.startsWith(text)).value;
  list.dispatchEvent(new Event("change"));
};
window.type = (selector, text) => {
  const field = document.querySelector(selector);
  field.value = text;
  field.dispatchEvent(new Event("input"));
};
"""

FULLBAND, PAGE, SCREENSHOTS = None, None, None


def program(*words):
    """Runs fullband; what it says against that is in the error."""
    done = subprocess.run([FULLBAND, *map(str, words)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"fullband {words[0]}: {done.returncode}: {done.stderr[-500:]}")


def ints(blob):
    return list(struct.unpack(f"<{len(blob) // 4}i", blob)) if blob else []


class Store:
    """What a store holds, read without the program."""

    def __init__(self, path):
        self.database = sqlite3.connect(path)

    def query(self, statement, *values):
        return self.database.execute(statement, values).fetchall()

    def outcomes(self, suite, setting):
        """{item: whether it is right}, by the headline grader."""
        rows = self.query("SELECT i.item, g.outcome FROM runs r JOIN items i ON i.run_id = r.id JOIN samples s "
                          "ON s.item_id = i.id JOIN grades g ON g.sample_id = s.id AND g.grader = r.headline "
                          "WHERE r.suite = ? AND r.setting = ?", suite, setting)
        return {item: outcome == "correct" for item, outcome in rows}

    def trace(self, suite, setting, item):
        """(text, tokens, text_ends, prompt)."""
        text, tokens, ends, prompt = self.query(
            "SELECT s.text, s.tokens, s.text_ends, i.prompt FROM runs r JOIN items i ON i.run_id = r.id JOIN samples s "
            "ON s.item_id = i.id WHERE r.suite = ? AND r.setting = ? AND i.item = ?", suite, setting, item)[0]
        return text, ints(tokens), ints(ends), prompt


def make_store(path):
    """Real runs of the shipped model: 30 items that it generates, 20 that it chooses, under three settings each."""
    for suite, limit in (("mini_gsm8k", 30), ("mini_choice", 20)):
        program("run", "--model", HOME / "models" / "mini-fbt", "--suite", suite, "--setting", ",".join(SETTINGS),
                "--limit", str(limit), "--store", path, "--quiet")


def make_hostile(source, path):
    """A copy of a store whose names and texts are what they should not be."""
    path.write_bytes(source.read_bytes())
    database = sqlite3.connect(path)
    database.create_function("bad", 0, lambda: NOT_UTF8)
    for statement in ("UPDATE models SET name = CAST(bad() AS TEXT)", "UPDATE items SET prompt = CAST(bad() AS TEXT)",
                      "UPDATE items SET gold = CAST(bad() AS TEXT), item = CAST(bad() AS TEXT) || item",
                      "UPDATE samples SET text = CAST(bad() AS TEXT) || text",
                      "UPDATE choices SET text = CAST(bad() AS TEXT)",
                      "UPDATE grades SET extracted = CAST(bad() AS TEXT), detail = CAST(bad() AS TEXT)",
                      "UPDATE runs SET suite = CAST(bad() AS TEXT) WHERE suite = 'mini_choice'"):
        database.execute(statement)
    database.commit()
    database.close()


def make_large(source, path, items):
    """A copy of a store with `items` items in each run that generates: those it has, over and over."""
    path.write_bytes(source.read_bytes())
    database = sqlite3.connect(path)
    draw = random.Random(7)
    columns = {table: [row[1] for row in database.execute(f"PRAGMA table_info({table})")]
               for table in ("items", "samples", "grades")}
    for (run,) in database.execute("SELECT id FROM runs WHERE ask = 'generate'").fetchall():
        there = database.execute("SELECT id, item FROM items WHERE run_id = ? ORDER BY position", (run,)).fetchall()
        for place in range(len(there), items):
            old, name = there[place % len(there)]
            copy(database, columns, "items", "id", old, item=f"{name}-{place}", position=place)
            new = database.execute("SELECT last_insert_rowid()").fetchone()[0]
            (sample,), = database.execute("SELECT id FROM samples WHERE item_id = ?", (old,))
            words = " ".join(draw.choice(WORDS) for _ in range(180))  # about 1,000 characters, unlike any other's
            copy(database, columns, "samples", "id", sample, item_id=new, text=f"{words}. Number {place}.")
            graded = database.execute("SELECT last_insert_rowid()").fetchone()[0]
            copy(database, columns, "grades", "sample_id", sample, sample_id=graded)
    database.commit()
    database.close()


def copy(database, columns, table, key, value, **changed):
    """Adds the rows with this key again, some columns changed and with an id of their own."""
    names = [name for name in columns[table] if name != "id"]
    values = [":" + name if name in changed else name for name in names]
    if table == "samples":  # the text is put in front
        values[names.index("text")] = "text || :text"
    database.execute(f"INSERT INTO {table} ({', '.join(names)}) SELECT {', '.join(values)} FROM {table} "
                     f"WHERE {key} = :key_value", {**changed, "key_value": value})


class BrowserTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = Path(cls.temporary.name)
        cls.store_path = cls.folder / "runs.db"
        make_store(cls.store_path)
        sqlite3.connect(cls.store_path).execute("PRAGMA wal_checkpoint(TRUNCATE)")
        cls.store = Store(cls.store_path)
        cls.page = cls.make_page(cls.store_path, "plain")
        cls.browser = Browser(find_browser())

    @classmethod
    def tearDownClass(cls):
        cls.browser.__exit__()
        cls.store.database.close()
        cls.temporary.cleanup()

    @classmethod
    def make_page(cls, store, name):
        done = subprocess.run([PAGE, store, cls.folder / name], capture_output=True, text=True, check=True)
        return Path(done.stdout.strip())

    def open(self, page=None):
        self.browser.resize(1360, 900)
        self.browser.prefer("light")
        self.browser.open(page or self.page)
        self.run_script(TOOLS)

    def run_script(self, script):
        return self.browser.run(script)

    def quiet(self):
        self.assertEqual(self.browser.errors, [])
        self.assertIsNone(self.run_script("window.hurt ?? null"))

    def shot(self, name):
        if SCREENSHOTS:
            self.browser.run("new Promise((done) => setTimeout(done, 300))")
            self.browser.screenshot(str(Path(SCREENSHOTS) / f"{name}.png"))

    def rows(self):
        """Ids of the items in sight, as the table has them."""
        return self.run_script("texts('.items tbody td.item')")

    def count(self):
        return int(self.run_script("document.querySelector('.count').textContent.split(' ')[0].replace(',', '')"))

    def open_item(self, suite="mini_gsm8k", item=None):
        self.run_script(f"choose('Suite', '{suite}')")
        if item is not None:
            self.run_script(f"all('.items tbody td.item').find((cell) => cell.textContent === '{item}').click()")
        else:
            self.run_script("document.querySelector('.items tbody td.item').click()")
        self.browser.until("document.querySelectorAll('dialog.item .side').length == 2")

    # --- The page

    def test_opens_quietly(self):
        self.open()
        self.assertTrue(self.run_script("performance.getEntriesByName('fullband-ready').length === 1"))
        self.assertEqual(self.run_script("document.title"),
                         "Is latent feedback better than standard decoding? mini-fbt")
        self.assertEqual(self.run_script("all('figure img').filter((image) => image.naturalWidth === 0).length"), 0)
        self.quiet()
        self.shot("page_light")

    def test_complaints_are_seen(self):
        """What `quiet` looks at does change when something is wrong."""
        html = self.page.read_bytes()
        for bad in (b"<script>window.hurt = 1</script>", b"<img src=\"http://127.0.0.1:9/x.png\">",
                    b"<p style=\"color: red\">", b"<p onclick=\"1\">"):
            spoilt = self.folder / "spoilt.html"
            spoilt.write_bytes(html.replace(b"</main>", bad + b"</main>"))
            self.open(spoilt)
            self.assertNotEqual(self.browser.errors, [], bad)
            self.assertIsNone(self.run_script("window.hurt ?? null"))
        self.open()
        with self.assertRaises(BrowserError):
            self.run_script("document.body.innerHTML = '<b>x</b>'")

    def column(self, title):
        return f"[...table.tHead.rows[0].cells].findIndex((cell) => cell.textContent === '{title}')"

    def sorted_column(self, title, shown):
        """Clicks a header and returns another column's texts, and the header's aria-sort."""
        return self.run_script(f"""(() => {{
          const table = all("main table.figures").find((table) => table.tBodies[0].rows.length > 10);
          const header = table.tHead.rows[0].cells[{self.column(title)}];
          header.querySelector("button").click();
          return [[...table.tBodies[0].rows].map((row) => row.cells[{self.column(shown)}].textContent),
                  header.getAttribute("aria-sort")];
        }})()""")

    def test_tables_sort_by_values(self):
        self.open()
        items = [i * 37 % 100 for i in range(24)] + [1234]
        shown = [str(n) if n < 1000 else "1,234" for n in sorted(items)]
        up, how = self.sorted_column("items", "items")
        self.assertEqual((up, how), (shown, "ascending"))
        down, how = self.sorted_column("items", "items")
        self.assertEqual((down, how), (shown[::-1], "descending"))
        back, how = self.sorted_column("items", "items")
        self.assertEqual((back[:3], how), (["0", "37", "74"], None))
        names, _ = self.sorted_column("subject", "subject")
        self.assertEqual([name for name in names if name.startswith("subject")], [f"subject {i}" for i in range(24)])
        for _ in range(2):  # what has no value stays last
            shares, _ = self.sorted_column("accuracy", "accuracy")
            self.assertEqual(shares[-1], "–")
        self.quiet()

    def test_tables_filter(self):
        self.open()
        shown = "all('main tbody tr').filter((row) => !row.hidden && row.textContent.startsWith('subject')).length"
        self.assertEqual(self.run_script(shown), 24)
        self.run_script("type('.filter-table', 'SUBJECT 1')")
        with_one = [i for i in range(24) if "1" in f"{i}, {i * 37 % 100}, {i * 53 % 97}"]
        self.assertEqual(self.run_script(shown), len(with_one))
        self.run_script("type('.filter-table', '')")
        self.assertEqual(self.run_script(shown), 24)

    def test_colours(self):
        self.open()
        ground = "getComputedStyle(document.body).backgroundColor"
        light = self.run_script(ground)
        self.browser.prefer("dark")
        dark = self.run_script(ground)
        self.assertNotEqual(light, dark)
        drawn = "all('figure img').filter((image) => image.checkVisibility()).map((image) => image.className)"
        self.assertEqual(self.run_script(drawn), ["for-dark"])
        self.shot("page_dark")
        self.browser.press("t")
        self.assertEqual(self.run_script(ground), light)
        self.assertEqual(self.run_script(drawn), ["for-light"])
        self.browser.press("t")
        self.assertEqual(self.run_script(ground), dark)
        self.run_script("localStorage.clear()")

    def test_contrast(self):
        script = """(() => {
          const linear = (c) => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
          const light = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
          const colour = (text) => text.match(/[\\d.]+/g).map(Number);
          const ground = (element) => {
            for (; element; element = element.parentElement) {
              const found = colour(getComputedStyle(element).backgroundColor);
              if (found.length === 3 || found[3] === 1) return found;
            }
            return [255, 255, 255];
          };
          const low = [];
          for (const element of all("body *")) {
            const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
            if (!own || !element.checkVisibility()) continue;
            const [a, b] = [light(colour(getComputedStyle(element).color)), light(ground(element))];
            const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
            if (ratio < 4.5) low.push([element.tagName, element.className, element.textContent.slice(0, 20), ratio]);
          }
          return low;
        })()"""
        self.open()
        for scheme in ("light", "dark"):
            self.browser.prefer(scheme)
            self.assertEqual(self.run_script(script), [], scheme)
            self.open_item()
            self.assertEqual(self.run_script(script), [], scheme)
            self.run_script("document.querySelector('dialog.item').close()")
        self.run_script("document.documentElement.appendChild(Object.assign(document.createElement('p'), "
                        "{textContent: 'pale'})).style.color = 'rgb(150, 150, 150)'")
        self.run_script("document.body.append(document.documentElement.lastChild)")
        self.browser.prefer("light")
        self.assertEqual([found[2] for found in self.run_script(script)], ["pale"])

    def test_print_and_phone(self):
        self.open()
        self.browser.prefer("dark", media="print")
        self.assertEqual(self.run_script("getComputedStyle(document.body).backgroundColor"), "rgb(255, 255, 255)")
        self.assertFalse(self.run_script("document.querySelector('.items-scroll').checkVisibility()"))
        self.assertTrue(self.run_script("document.querySelector('main table').checkVisibility()"))
        self.shot("print")
        self.browser.prefer("light")
        printed = self.folder / "print.pdf"
        self.browser.pdf(str(printed))
        self.assertTrue(printed.read_bytes().startswith(b"%PDF"))
        self.browser.resize(390, 844, mobile=True)
        self.browser.open(self.page)
        self.run_script(TOOLS)
        self.assertLessEqual(self.run_script("document.documentElement.scrollWidth"), 390)
        self.shot("phone_page")
        self.run_script("document.getElementById('items').scrollIntoView({behavior: 'instant'})")
        self.shot("phone_items")
        self.open_item(item=self.parting_item()[0])
        self.assertLessEqual(self.run_script("document.querySelector('dialog.item').scrollWidth"), 390)
        self.shot("phone_traces")
        self.quiet()

    # --- Items

    def test_items_filter(self):
        self.open()
        self.assertEqual(self.count(), 50)
        self.run_script("choose('Suite', 'mini_gsm8k')")
        self.assertEqual(self.count(), 30)
        outcomes = [self.store.outcomes("mini_gsm8k", setting) for setting in SETTINGS]
        expected = {
            "runs disagree": lambda verdicts: len(set(verdicts)) > 1,
            "only A right": lambda verdicts: verdicts[0] and not verdicts[1],
            "only B right": lambda verdicts: verdicts[1] and not verdicts[0],
            "all right": all,
            "none right": lambda verdicts: not any(verdicts),
        }
        for title, passes in expected.items():
            self.run_script(f"choose('Show', '{title}')")
            items = [item for item in outcomes[0] if passes([outcome[item] for outcome in outcomes])]
            self.assertEqual(self.count(), len(items), title)
            self.assertLessEqual(set(self.rows()), set(items), title)
        self.run_script("choose('Show', 'only A right'); choose('A', 'latent@2'); choose('B', 'standard')")
        self.assertEqual(self.count(), sum(outcomes[2][item] and not outcomes[0][item] for item in outcomes[0]))
        self.quiet()

    def test_items_by_text(self):
        self.open()
        self.run_script("choose('Suite', 'mini_gsm8k')")
        text = self.store.trace("mini_gsm8k", "latent", "17")[0].strip().split("\n")[0]
        self.run_script(f"type('#items input[type=search]', {text!r})")
        self.browser.until("document.querySelector('.count').textContent.startsWith('0 ')")
        self.assertEqual(self.run_script("document.querySelector('.empty').textContent"), "No item is like that.")
        self.run_script("document.querySelector('#items input[type=checkbox]').click()")
        self.browser.until("!document.querySelector('.count').textContent.startsWith('0 ')")
        self.assertIn("17", self.rows())
        self.assertLess(self.count(), 30)

    def test_items_sort(self):
        self.open()
        self.run_script("choose('Suite', 'mini_gsm8k')")
        lengths = dict(self.store.query(
            "SELECT i.item, s.trace_tokens FROM runs r JOIN items i ON i.run_id = r.id "
            "JOIN samples s ON s.item_id = i.id WHERE r.suite = 'mini_gsm8k' AND r.setting = 'standard'"))
        click = "document.querySelector('.items th.tokens button').click()"
        self.run_script(click)
        longest = sorted(lengths.values(), reverse=True)
        self.assertEqual([lengths[item] for item in self.rows()], longest[:len(self.rows())])
        self.assertEqual(self.run_script("document.querySelector('.items th.tokens').getAttribute('aria-sort')"),
                         "descending")
        self.run_script(click)
        self.assertEqual([lengths[item] for item in self.rows()], longest[::-1][:len(self.rows())])
        self.run_script(click)
        self.assertEqual(self.rows()[:3], ["0", "1", "2"])

    def test_keys(self):
        self.open()
        active = "document.querySelector('.items tr.active td.item').textContent"
        self.run_script("choose('Suite', 'mini_gsm8k')")
        self.browser.press("j")  # goes to the table
        self.assertEqual(self.run_script("document.activeElement.className"), "items-scroll")
        for key, item in (("j", "1"), ("ArrowDown", "2"), ("k", "1"), ("ArrowUp", "0"), ("k", "0"), ("End", "29"),
                          ("j", "29"), ("Home", "0"), ("j", "1")):
            self.browser.press(key)
            self.assertEqual(self.run_script(active), item, key)
        self.assertEqual(self.run_script("document.activeElement.getAttribute('aria-activedescendant')"), "item-row-1")
        self.browser.press("Enter")
        self.browser.until("document.querySelector('dialog.item .side')")
        self.assertEqual(self.run_script("document.querySelector('#item-title .name').textContent"), "1")
        self.browser.press("j")
        self.assertEqual(self.run_script("document.querySelector('#item-title .name').textContent"), "2")
        self.browser.until("document.querySelectorAll('dialog.item .side').length == 2")
        self.assertEqual(self.run_script("texts('.side h3')"), ["standard", "latent"])
        self.browser.press("s")
        self.browser.until("texts('.side h3')[0] == 'latent'")
        self.browser.press("Escape")
        self.browser.until("!document.querySelector('dialog.item').open")
        self.assertEqual(self.run_script("document.activeElement.className"), "items-scroll")
        self.assertEqual(self.run_script(active), "2")
        self.browser.press("?")
        self.assertTrue(self.run_script("document.querySelector('dialog.keys').open"))
        self.browser.press("Escape")
        self.browser.press("/")
        self.browser.type("jkt?")  # in the field, keys are letters
        self.assertEqual(self.run_script("document.activeElement.value"), "jkt?")
        self.assertFalse(self.run_script("document.querySelector('dialog.keys').open"))
        self.quiet()

    # --- Traces

    def parting_item(self):
        """An item whose traces under the first two settings part after some tokens: (item, number of tokens)."""
        for item in self.store.outcomes("mini_gsm8k", "standard"):
            a, b = (self.store.trace("mini_gsm8k", setting, item) for setting in SETTINGS[:2])
            shared = next((i for i, (x, y) in enumerate(zip(a[1], b[1])) if x != y), None)
            if shared and shared > 2:
                return item, shared
        raise AssertionError("no item's traces part")

    def test_traces_part_where_the_tokens_do(self):
        item, shared = self.parting_item()
        self.open()
        self.open_item(item=item)
        self.shot("traces_light")
        self.browser.prefer("dark")
        self.shot("traces_dark")
        for side, setting in enumerate(SETTINGS[:2]):
            text, _, ends, prompt = self.store.trace("mini_gsm8k", setting, item)
            raw = text.encode()
            self.assertEqual(self.run_script(f"texts('.trace')[{side}]"), text)
            self.assertEqual(self.run_script(f"texts('.trace .same')[{side}]"), raw[:ends[shared - 1]].decode())
            self.assertEqual(self.run_script(f"texts('.trace mark')[{side}]"),
                             raw[ends[shared - 1]:ends[shared]].decode())
            self.assertEqual(self.run_script("texts('.prompt')"), [prompt])
        self.assertIn(f"The same for {shared} tokens", self.run_script("texts('.parting-line')[0]"))
        self.quiet()

    def test_same_traces_have_no_mark(self):
        tokens = [{item: self.store.trace("mini_gsm8k", setting, item)[1]
                   for item in self.store.outcomes("mini_gsm8k", setting)} for setting in ("latent", "latent@2")]
        same = [item for item in tokens[0] if tokens[0][item] == tokens[1][item]]
        self.assertTrue(same)
        self.open()
        self.run_script("choose('A', 'latent'); choose('B', 'latent@2')")
        self.open_item(item=same[0])
        self.assertEqual(self.run_script("texts('.parting-line')"), ["The traces are the same, token by token."])
        self.assertEqual(self.run_script("all('.trace mark').length"), 0)

    def test_choices(self):
        self.open()
        self.open_item("mini_choice")
        choices = self.store.query(
            "SELECT c.text, c.logprob, c.gold FROM runs r JOIN items i ON i.run_id = r.id "
            "JOIN samples s ON s.item_id = i.id JOIN choices c ON c.sample_id = s.id WHERE r.suite = 'mini_choice' "
            "AND r.setting = 'standard' AND i.item = '0' ORDER BY c.choice")
        best = max(logprob for _, logprob, _ in choices)
        expected = [f"{text.strip()}{'reference' * gold}{'most likely' * (logprob == best)} {logprob:.3f}"
                    for text, logprob, gold in choices]
        shown = self.run_script("[...all('.side')[0].querySelectorAll('.choices tbody tr')].map((row) => "
                                "`${row.cells[0].textContent} ${row.cells[1].textContent}`)")
        self.assertEqual(shown, expected)

    def test_an_open_item_has_an_address(self):
        self.open()
        self.run_script("choose('A', 'latent'); choose('B', 'latent@2')")
        self.open_item(item="12")
        address = self.run_script("location.hash")
        self.assertEqual(address, "#item=mini_gsm8k/12&a=1&b=2")
        self.browser.press("Escape")
        self.browser.until("location.hash === ''")
        self.browser.open("about:blank")  # else it would be the same page still
        self.browser.open(f"{self.page}{address}")
        self.run_script(TOOLS)
        self.browser.until("document.querySelectorAll('dialog.item .side').length == 2")
        self.assertEqual(self.run_script("document.querySelector('#item-title .name').textContent"), "12")
        self.assertEqual(self.run_script("texts('.side h3')"), ["latent", "latent@2"])
        self.run_script("location.hash = '#item=mini_choice/3&a=0&b=2'")
        self.browser.until("texts('#item-title .name')[0] === '3' && texts('.side h3')[0] === 'standard'")
        for wrong in ("#item=mini_gsm8k/nothing&a=0&b=1", "#item=%/%&a=0&b=1", "#item=mini_gsm8k/1&a=99&b=98"):
            self.browser.open("about:blank")
            self.browser.open(f"{self.page}{wrong}")
            self.assertTrue(self.run_script("performance.getEntriesByName('fullband-ready').length === 1"), wrong)
            self.quiet()

    def test_several_samples(self):
        path = self.folder / "samples.db"
        program("run", "--model", HOME / "models" / "mini-fbt", "--suite", "mini_gsm8k", "--setting", "standard,latent",
                "--samples", "3", "--temperature", "1.2", "--limit", "4", "--store", path, "--quiet")
        store = Store(path)
        right = dict(store.query("SELECT i.item, sum(g.outcome = 'correct') FROM runs r JOIN items i "
                                 "ON i.run_id = r.id JOIN samples s ON s.item_id = i.id JOIN grades g "
                                 "ON g.sample_id = s.id AND g.grader = r.headline WHERE r.setting = 'standard' "
                                 "GROUP BY i.item"))
        traces = store.query("SELECT s.text, s.tokens FROM runs r JOIN items i ON i.run_id = r.id JOIN samples s "
                             "ON s.item_id = i.id WHERE r.setting = 'latent' AND i.item = '2' ORDER BY s.sample")
        self.open(self.make_page(path, "samples"))
        first = "[...all('.items tbody tr')].map((row) => row.querySelector('.outcome').textContent)"
        self.assertEqual(self.run_script(first), [f"{right[item]}/3" for item in "0123"])
        self.run_script("all('.items tbody td.item')[2].click()")
        self.browser.until("document.querySelectorAll('dialog.item .trace').length == 2")
        self.assertEqual(self.run_script("texts('.trace')[1]"), traces[0][0])
        self.run_script("pick(all('dialog .bar select').at(-1), 'sample 2')")
        self.browser.until(f"texts('.trace')[1] === {json.dumps(traces[2][0])}")
        self.quiet()

    def test_imported_samples_lack_what_they_lack(self):
        """Texts without tokens part by characters; verdicts without texts stand alone."""
        path = self.folder / "imported.db"
        lines = {
            "standard": [{"item": "0", "completion": " So it is 1\U0001F642.\n#### 7"}],
            "latent": [{"item": "0", "completion": " So it is 1\U0001F643.\n#### 7"}],
            "latent@2": [{"item": "0", "verdict": True}],
            # Tokens that nothing tells apart in the text: counted by tokens, marked by characters.
            "latent@3": [{"item": "0", "completion": " It is 17", "tokens": [5, 6, 7]}],
            "latent@4": [{"item": "0", "completion": " It is 19", "tokens": [5, 6, 8]}],
        }
        for setting, samples in lines.items():
            file = self.folder / "lines.jsonl"
            file.write_text("".join(json.dumps(sample) + "\n" for sample in samples))
            program("import", "--quiet", "--partial", "--store", path, "--suite", "mini_gsm8k", "--model-name", "other",
                    "--setting", setting, file)
        self.open(self.make_page(path, "imported"))
        self.assertEqual(self.run_script("all('.items th.tokens').length"), 0)
        self.run_script("document.querySelector('.items tbody td.item').click()")
        self.browser.until("document.querySelectorAll('dialog.item .trace').length == 2")
        self.assertEqual(self.run_script("texts('.parting-line')"), ["The same for 11 characters, then they part."])
        self.assertEqual(self.run_script("texts('.trace mark')"), ["\U0001F642", "\U0001F643"])
        self.assertEqual(self.run_script("texts('.facts dt')"), ["answer", "answer"])
        self.run_script("pick(all('dialog .bar select').at(-1), 'latent@2')")
        self.browser.until("texts('.side h3')[1] === 'latent@2'")
        self.assertIn("Imported without its text.", self.run_script("texts('.side')[1]"))
        self.assertIn("correct", self.run_script("texts('.side .badge')[1]"))
        self.assertEqual(self.run_script("all('.trace mark, .parting-line').length"), 0)
        for select, setting in ((0, "latent@3"), (1, "latent@4")):
            self.run_script(f"pick(all('dialog .bar select')[{select}], '{setting}')")
            self.browser.until(f"texts('.side h3')[{select}] === '{setting}'")
        self.assertEqual(self.run_script("texts('.parting-line')"), ["The same for 2 tokens, then they part."])
        self.assertEqual(self.run_script("texts('.trace mark')"), ["7", "9"])
        self.quiet()

    # --- Texts that are no text

    def test_hostile_texts_stay_texts(self):
        make_hostile(self.store_path, self.folder / "hostile.db")
        page = self.make_page(self.folder / "hostile.db", "hostile")
        self.open(page)
        self.assertEqual(self.run_script("all('script').filter((s) => s.type !== 'application/json').length"), 1)
        self.assertEqual(self.run_script("all('img').filter((image) => !image.closest('figure')).length"), 0)
        self.run_script("choose('Suite', 'mini_gsm8k')")
        self.run_script("document.querySelector('.items tbody td.item').click()")
        self.browser.until("document.querySelectorAll('dialog.item .side').length == 2")
        bad = SEEN + "\ufffd" * 4
        self.assertEqual(self.run_script("texts('.prompt')"), [bad])
        for trace in self.run_script("texts('.trace')"):
            self.assertTrue(trace.startswith(bad), trace)
        self.assertEqual(self.run_script("texts('.gold-line bdi')"), [bad])
        name = self.run_script("document.querySelector('#item-title .name').textContent")
        self.assertTrue(name.startswith(bad.strip()), name)
        self.assertEqual(self.run_script("all('dialog img, dialog script, dialog a').length"), 0)
        self.shot("hostile_traces")
        self.browser.press("Escape")
        self.run_script("choose('Suite', '</script>')")
        self.run_script("document.querySelector('.items tbody td.item').click()")
        self.browser.until("document.querySelector('dialog.item .choices')")
        self.assertEqual(self.run_script("texts('.choices bdi')[0]"), bad)
        self.quiet()

    # --- Many items

    def test_ten_thousand_samples(self):
        make_large(self.store_path, self.folder / "large.db", 3334)
        page = self.make_page(self.folder / "large.db", "large")
        self.open(page)
        ready = self.run_script("performance.getEntriesByName('fullband-ready')[0].startTime")
        loaded = self.run_script("performance.getEntriesByType('navigation')[0].loadEventEnd")
        size = page.stat().st_size / 2**20
        print(f"10,000 samples: {size:.1f} MiB, ready after {ready:.0f} ms, loaded after {loaded:.0f} ms",
              file=sys.stderr)
        if os.environ.get("FULLBAND_TIMES") == "1":
            self.assertLess(max(ready, loaded), 2000)
        self.assertEqual(self.count(), 3354)
        elements = "document.querySelectorAll('.items tbody tr').length"
        self.assertLess(self.run_script(elements), 80)
        frames = self.run_script("""new Promise((done) => {
          const scroll = document.querySelector(".items-scroll");
          const times = [];
          const start = performance.now();
          let last = start;
          const frame = (now) => {
            times.push(now - last);
            last = now;
            scroll.scrollTop += 700;
            if (times.length < 60) requestAnimationFrame(frame);
            else done(times.sort((a, b) => a - b));
          };
          requestAnimationFrame(frame);
        })""")
        print(f"scrolling by 700 pixels a frame: median {frames[30]:.1f} ms, longest {frames[-1]:.1f} ms",
              file=sys.stderr)
        self.assertLess(self.run_script(elements), 80)
        self.run_script("document.querySelector('.items-scroll').focus()")
        self.browser.press("End")
        self.browser.until("texts('.items tbody td.item').at(-1).endsWith('-3333')")
        bottom = "document.querySelector('{}').getBoundingClientRect().bottom"
        below = f"{bottom.format('tr.active')} - {bottom.format('.items-scroll')}"
        self.assertLessEqual(self.run_script(below), 1)
        self.browser.press("Enter")
        self.browser.until("document.querySelectorAll('dialog.item .trace').length == 2")
        self.assertTrue(self.run_script("texts('.trace')[0]").endswith(" Number 3333."))
        self.quiet()


def main():
    global FULLBAND, PAGE, SCREENSHOTS
    FULLBAND, PAGE = sys.argv[1:3]
    rest = sys.argv[3:]
    if rest[:1] == ["--screenshots"]:
        SCREENSHOTS = rest[1]
        Path(SCREENSHOTS).mkdir(parents=True, exist_ok=True)
        rest = rest[2:]
    if not find_browser():
        print("skipped: no Chromium here (apt-get install chromium, or set FULLBAND_CHROMIUM)")
        return 77
    return not unittest.main(argv=[sys.argv[0], *rest], exit=False, verbosity=1).result.wasSuccessful()


if __name__ == "__main__":
    sys.exit(main())
