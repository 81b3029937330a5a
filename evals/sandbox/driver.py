"""Runs one program inside the sandbox and proves that its last test ran to the end.

This text is handed to the interpreter with the job (evals/sandbox/job.h) and executed in a namespace of its own,
whose built-ins are a private copy: what the program does to `builtins` changes nothing here. Names given from
outside: JOB, the list of the job's fields as bytes; PROOF, the descriptor of the pipe to the parent.

Lines on that pipe, each `word text`:
    ready            the program is about to start; what fails before is the sandbox's own fault
    test N           N tests have run to the end (unproven, for the report)
    flag REASON      the program did what could reach the proof; written at once, so it cannot be taken back
    end KIND TEXT    a test or the program failed
    proof HEX        SHA-256 of the secret and the number of tests: all of them ran to the end
The secret exists here only inside a hash object, whose state Python cannot read.
"""
import _operator
import _thread
import ast
import builtins
import posix
import sys

try:
    from _sha2 import sha256
except ImportError:
    try:
        from _sha256 import sha256
    except ImportError:
        from hashlib import sha256

HEAP_TYPE = 1 << 9  # Py_TPFLAGS_HEAPTYPE: made while running, not part of the interpreter
MODULE = "program"
# Standard modules that tests use without importing them, or that a program may have patched for them.
WATCHED = ("collections", "copy", "functools", "heapq", "itertools", "math", "operator", "random", "re", "string",
           "typing")
# Library code that looks at its caller's frame without handing the frame out.
HARMLESS_CALLERS = ("/collections/__init__.py", "/typing.py", "/enum.py", "/warnings.py", "/dataclasses.py")
FRAME_FIELDS = ("tb_frame", "gi_frame", "cr_frame", "ag_frame", "f_code", "f_globals", "f_locals")
ALARMS = ("ctypes", "gc.get_", "sys._current_", "sys._getframe", "sys.settrace", "sys.setprofile", "sys.monitoring",
          "sys.addaudithook", "code.__new__", "function.__new__", "marshal.load")
NATIVE_MODULES = ("_xxsubinterpreters", "_interpreters", "_testcapi", "_testinternalcapi", "_testbuffer")


class Liar(Exception):
    """A compared object claims whatever it is asked."""


# Functions of modules that the program may patch, as they are now.
leave, write, fstat, get_ident = posix._exit, posix.write, posix.fstat, _thread.get_ident
settrace, setprofile, modules = sys.settrace, sys.setprofile, sys.modules
equal = _operator.eq
pipe = fstat(PROOF)


def send(text):
    """Writes one line to the parent. Ends the process where the descriptor is no longer the pipe it was."""
    line = text.encode("ascii", "backslashreplace").replace(b"\n", b"\\n").replace(b"\r", b"\\r")
    try:
        now = fstat(PROOF)
        if (now.st_dev, now.st_ino) == (pipe.st_dev, pipe.st_ino):
            write(PROOF, line[:1000] + b"\n")
            return
    except OSError:
        pass
    while True:
        leave(1)


# ---- Watching for what could reach the proof.

def is_library(filename):
    return filename.startswith(("/usr/lib/python3", "<frozen ", "<driver>")) or "/dist-packages/" in filename


def program_is_near(frame):
    """Whether the program itself, and not an import that it caused, is what led here. `frame`: the innermost."""
    while frame is not None:
        name = frame.f_code.co_filename
        if name == "<driver>" or name.startswith("<frozen importlib"):
            return False
        if not is_library(name):
            return True
        frame = frame.f_back
    return False


def is_harmless(event, args, frame):
    name = frame.f_code.co_filename
    if event == "sys._getframe":
        return is_library(name) and (name.endswith(HARMLESS_CALLERS) or "/numpy/" in name)
    if event == "object.__getattr__":
        back = frame.f_back
        return args[1] not in FRAME_FIELDS or (name.endswith("/traceback.py") and back is not None and
                                               back.f_code.co_filename.endswith("/traceback.py"))
    return False


def alarm_of(event, args):
    """The reason for which `event` (as sys.addaudithook has them) is suspicious, or None."""
    if event.startswith(ALARMS) or event == "object.__getattr__":
        return event
    if event == "open":
        path = args[0]
        if isinstance(path, bytes):
            path = path.decode("utf-8", "replace")
        return "open /proc" if isinstance(path, str) and "proc" in path.split("/") else None
    if event in ("os.chdir", "os.symlink", "os.link"):
        return event + " /proc" if "proc" in str(args[0]).split("/") else None
    if event == "import":
        if args[0] in NATIVE_MODULES:
            return "import " + args[0]
        if args[1] and not str(args[1]).startswith("/usr/"):
            return "import of native code"
    if event == "compile":
        name = args[1] if isinstance(args[1], str) else ""
        return "compile under a library's name" if args[0] is not None and is_library(name) else None
    return None


def watch(audit_frame):
    """Installs the hook; it stays, there is no call that removes one."""
    told, busy = set(), set()

    def hook(event, args):
        thread = get_ident()
        if thread in busy:
            return
        busy.add(thread)
        try:
            reason = alarm_of(event, args)
            if reason is None or reason in told or len(told) > 50:
                return
            frame = audit_frame(1)
            native = reason.startswith("import ")
            if native or (program_is_near(frame) and not is_harmless(event, args, frame)):
                told.add(reason)
                send("flag " + reason)
        finally:
            busy.discard(thread)
    sys.addaudithook(hook)


# ---- Comparing in tests: an object that equals everything must not pass.

class Sentinel:
    """Equal to nothing that any program knows of."""


def is_own(kind):
    """Whether a type was made by the program, as far as its module's name tells."""
    if not kind.__flags__ & HEAP_TYPE:
        return False
    module = modules.get(kind.__module__) if type(kind.__module__) is str else None
    file = getattr(module, "__file__", None) if type(module) is type(sys) else None
    return not (type(file) is str and is_library(file) and vars(module).get(kind.__name__) is kind)


def own_objects(value, limit=2000):
    """Instances of types made at run time, in nested plain containers; looks at `limit` objects at most."""
    found, waiting = [], [value]
    while waiting and limit > 0:
        limit -= 1
        item = waiting.pop()
        kind = type(item)
        if kind in (list, tuple, set, frozenset):
            waiting.extend(item if len(item) <= limit else list(item)[:limit])
        elif kind is dict:
            waiting.extend(item.keys())
            waiting.extend(item.values())
        elif kind.__flags__ & HEAP_TYPE:
            found.append(item)
    return found


def says_yes(compare, left, right):
    try:
        return bool(compare(left, right))
    except Exception:
        return False


def altered(value):
    """A plain value of the same type as `value` and not equal to it."""
    kind = type(value)
    if kind is bool:
        return not value
    if kind in (int, float, complex):
        return value + 1 + abs(value)
    if kind is str:
        return value + "\0"
    if kind is bytes:
        return value + b"\0"
    if kind is list:
        return value + [Sentinel()]
    if kind is tuple:
        return value + (Sentinel(),)
    if kind is dict:
        return {**value, Sentinel(): 0}
    return Sentinel()


COMPARE = {"Eq": equal, "NotEq": _operator.ne, "Lt": _operator.lt, "LtE": _operator.le, "Gt": _operator.gt,
           "GtE": _operator.ge, "In": lambda a, b: a in b, "NotIn": lambda a, b: a not in b,
           "Is": lambda a, b: a is b, "IsNot": lambda a, b: a is not b}
OPPOSITE = {"Eq": "NotEq", "NotEq": "Eq", "Lt": "GtE", "GtE": "Lt", "Gt": "LtE", "LtE": "Gt"}


def check_honest(name, left, right):
    own = own_objects(left) + own_objects(right)
    if not own:
        return
    for item in own:
        if says_yes(equal, item, Sentinel()):
            raise Liar("an object of type %s equals everything" % type(item).__name__)
    if name in OPPOSITE and says_yes(COMPARE[OPPOSITE[name]], left, right):
        raise Liar("an object says yes to %s and to %s" % (name, OPPOSITE[name]))
    if name == "Eq" and (says_yes(equal, left, altered(right)) or says_yes(equal, altered(left), right)):
        raise Liar("an object equals different values")


def compare(name, left, right):
    """What stands for `left OP right` in tests: the same result, unless one side lies."""
    result = COMPARE[name](left, right)
    if result is not False and name not in ("Is", "IsNot"):
        check_honest(name, left, right)
    return result


def operand(value):
    """What stands for an operand of arithmetic in tests."""
    if is_own(type(value)):
        send("flag arithmetic of an own type")
    return value


class Guard(ast.NodeTransformer):
    """Puts `compare` and `operand` in, under names that no source can spell."""

    def visit_Compare(self, node):
        self.generic_visit(node)
        if len(node.ops) != 1:
            node.left = self.wrap("<operand>", node.left)
            node.comparators = [self.wrap("<operand>", each) for each in node.comparators]
            return node
        operator = ast.copy_location(ast.Constant(type(node.ops[0]).__name__), node)
        return self.wrap("<compare>", operator, node.left, node.comparators[0], at=node)

    def visit_BinOp(self, node):
        self.generic_visit(node)
        node.left, node.right = self.wrap("<operand>", node.left), self.wrap("<operand>", node.right)
        return node

    @staticmethod
    def wrap(name, *values, at=None):
        at = at or values[0]
        if isinstance(values[0], ast.Constant) and len(values) == 1:
            return values[0]
        function = ast.copy_location(ast.Name(name, ast.Load()), at)
        return ast.copy_location(ast.Call(function, list(values), []), at)


# ---- What went wrong, in a word.

KINDS = ((SystemExit, "exited_early"), (MemoryError, "memory_limit"), (RecursionError, "recursion_limit"),
         (Liar, "always_equal"), (AssertionError, "assertion"), (SyntaxError, "syntax_error"))
ERRNO = {27: "disk_limit", 28: "disk_limit", 122: "disk_limit", 11: "process_limit"}
type_name = type.__dict__["__name__"].__get__


def kind_of(error, tested):
    kind = type(error)
    for known, word in KINDS:
        if known in type.mro(kind):
            return word
    if isinstance(error, OSError) and error.errno in ERRNO:
        return ERRNO[error.errno]
    # CPython 3.11 says so where there is no memory for another frame.
    if kind is SystemError and str(error) == "error return without exception set":
        return "memory_limit"
    if kind is NameError and error.name in tested:
        return "no_entry_point"
    return "exception"


def describe(error, tested):
    try:
        word = kind_of(error, tested)
    except BaseException:
        word = "exception"
    try:
        text = str(error)[:300]
    except BaseException:
        text = "(its text cannot be had)"
    return word + " " + type_name(type(error)) + ": " + text


# ---- Running.

def fail(text):
    for stream in STREAMS:
        try:
            stream.flush()
        except BaseException:
            pass
    send("end " + text)
    while True:
        leave(1)


def set_limits(text):
    """`text`: CPU seconds, bytes of memory (0: none), processes, open files, bytes of a file."""
    import resource
    cpu, memory, processes, files, size = map(int, text.split())
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu + 1))
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_NPROC, (processes, processes))
    resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def compile_tests(texts):
    """[(code, names it loads, names it calls, modules)], comparisons guarded. Faulty tests end the run: a fault."""
    tests = []
    for index, text in enumerate(texts):
        try:
            tree = ast.parse(text.decode("utf-8"), "<test %d>" % index)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            fail("bad_tests " + str(error))
        names, calls, imported = set(), set(), set()
        for node in ast.walk(tree):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                names.add(node.id)
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                calls.add(node.func.id)
        for node in tree.body:
            if isinstance(node, ast.Import):
                imported.update(alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                imported.add(node.module)
        for name in sorted(imported):
            try:
                __import__(name)
            except ImportError as error:
                fail("bad_tests " + str(error))
        tree = ast.fix_missing_locations(Guard().visit(tree))
        tests.append((compile(tree, "<test %d>" % index, "exec"), names, calls, imported))
    return tests


class Originals:
    """Built-ins and modules as they were before the program, to be put back before each test."""

    def __init__(self, imported):
        self.builtins = dict(vars(builtins))
        self.modules = {name: modules[name] for name in set(WATCHED) | set(imported) if name in modules}
        self.contents = {name: dict(vars(module)) for name, module in self.modules.items()}
        self.imports = {name: (getattr(sys, name), list(getattr(sys, name)))
                        for name in ("meta_path", "path_hooks", "path")}
        self.told = set()

    def tell(self, what):
        if what not in self.told and len(self.told) < 20:
            self.told.add(what)
            send("flag patched " + what)

    def put_back(self):
        for where, now, before in [("builtins", vars(builtins), self.builtins)] + [
                (name, vars(self.modules[name]), self.contents[name]) for name in self.modules]:
            for key, value in before.items():
                if now.get(key, self) is not value:
                    self.tell(where + "." + key)
                    now[key] = value
        for name, module in self.modules.items():
            if modules.get(name) is not module:
                self.tell("module " + name)
                modules[name] = module
        sys.modules = modules
        for name, (place, content) in self.imports.items():
            setattr(sys, name, place)
            place[:] = content
        settrace(None)
        setprofile(None)


def new_module():
    module = type(sys)(MODULE)
    modules[MODULE] = module
    return module


def tested_names(tests, entry, originals):
    """The functions under test: the entry point, else what the tests call (built-ins only if nothing else)."""
    called = set().union(*(calls for _, _, calls, _ in tests))
    return {entry} if entry else called - set(originals.builtins) or called


def test_scope(program, helpers, tests, tested, originals):
    """The tests' own namespace: the program's names, but helpers and built-ins as they should be."""
    scope = dict(program)
    scope.update(helpers)
    for _, names, _, _ in tests:
        for name in names & set(originals.builtins) - tested:
            scope.pop(name, None)
    scope["__builtins__"] = dict(originals.builtins)
    scope["<compare>"], scope["<operand>"] = compare, operand
    return scope


def helper_names(text, entry):
    """Functions that the prompt itself defines beside the entry point, made apart from the program."""
    if not text:
        return {}
    scope = {"__name__": MODULE}
    exec(compile(text.decode("utf-8"), "<prompt>", "exec"), scope)
    return {name: value for name, value in scope.items()
            if type(value) is type(new_module) and name != entry and value.__code__.co_filename == "<prompt>"}


def run(source, setup, helpers, entry, tests, finish):
    """Runs program, set-up code and tests, in this order; `finish` proves it."""
    originals = Originals(set().union(*(imported for _, _, _, imported in tests)))
    tested = tested_names(tests, entry, originals)
    program = vars(new_module())
    watch(sys._getframe)
    send("ready")
    try:
        exec(compile(source.decode("utf-8"), "<program>", "exec"), program)
        exec(compile(setup.decode("utf-8"), "<setup>", "exec"), program)
    except BaseException as error:
        fail(describe(error, tested))
    scope = test_scope(program, helpers, tests, tested, originals)
    for number, (code, _, _, _) in enumerate(tests, 1):
        originals.put_back()
        try:
            exec(code, scope)
        except BaseException as error:
            fail(describe(error, tested))
        send("test %d" % number)
    originals.put_back()
    finish(len(tests))


def make_finish(secret):
    state = sha256(secret)

    def finish(count):
        for stream in STREAMS:
            try:
                stream.flush()
            except BaseException:
                pass
        state.update(b" %d" % count)
        send("proof " + state.hexdigest())
        leave(0)
    return finish


def main():
    limits, secret, source, setup, helpers, entry, *texts = JOB
    JOB.clear()
    modules["__main__"].__dict__.clear()
    sys.argv[:] = [""]
    sys.path[:] = [place for place in sys.path if place]
    finish = make_finish(secret)
    del secret
    try:
        set_limits(limits)
        entry = entry.decode()
        for name in WATCHED:
            __import__(name)
        tests = compile_tests(texts)
        helpers = helper_names(helpers, entry)
    except Exception as error:
        fail("bad_tests " + type(error).__name__ + ": " + str(error))
    del texts
    run(source, setup, helpers, entry, tests, finish)


STREAMS = (sys.stdout, sys.stderr)
main()
