#include "tests/evals/sandbox/hostile_programs.h"

namespace fullband {
namespace {

const std::vector<HostileProgram> kLeaving = {
    {"os_exit", "    import os\n    os._exit(0)\n", "exited_early"},
    {"os_exit_at_import", "    return 0\nimport os\nos._exit(0)\n", "exited_early"},
    {"sys_exit", "    import sys\n    sys.exit(0)\n", "exited_early"},
    {"sys_exit_no_status", "    import sys\n    sys.exit()\n", "exited_early"},
    {"system_exit_at_import", "    return 0\nraise SystemExit(0)\n", "exited_early"},
    {"system_exit_class", "    raise SystemExit\n", "exited_early"},
    {"exit_function", "    exit()\n", "exited_early"},
    {"quit_function", "    quit()\n", "exited_early"},
    {"exec_true", "    import os\n    os.execv('/bin/true', ['true'])\n", "exited_early"},
    {"exec_python_printing",
     "    import os\n    os.execv('/usr/bin/python3', ['python3', '-c', 'print(\"ok\")'])\n", "exited_early"},
    {"exit_in_thread",
     "    import os, threading\n    t = threading.Thread(target=os._exit, args=(0,))\n"
     "    t.start(); t.join()\n    return 0\n",
     "exited_early"},
    {"exit_in_eq", "    import os\n    class A:\n        def __eq__(self, o): os._exit(0)\n    return A()\n",
     "exited_early"},
    {"atexit_exit", "    return 0\nimport atexit, os\natexit.register(os._exit, 0)\n", "assertion"},
    {"excepthook", "    return 0\nimport os, sys\nsys.excepthook = lambda *a: os._exit(0)\n", "assertion"},
    {"fork_and_leave_parent", "    import os\n    if os.fork():\n        os._exit(0)\n    return 0\n",
     "exited_early|assertion"},
    {"interrupt_itself", "    import os, signal\n    os.kill(os.getpid(), signal.SIGINT)\n    return 0\n",
     "exception|assertion"},
    {"alarm", "    import signal\n    signal.alarm(1)\n    while True: pass\n",
     "signal_14|cpu_limit|timeout"},
    {"generator_exit", "    raise GeneratorExit\n", "exception"},
    {"own_base_exception",
     "    class E(BaseException):\n        def __str__(self):\n            import os; os._exit(0)\n"
     "    raise E()\n",
     "exception|exited_early"},
};

const std::vector<HostileProgram> kLying = {
    {"always_equal",
     "    class A:\n        def __eq__(self, o): return True\n        def __ne__(self, o): return False\n"
     "        def __lt__(self, o): return True\n        def __bool__(self): return True\n    return A()\n",
     "always_equal"},
    {"always_equal_in_list", "    class A:\n        def __eq__(self, o): return True\n    return [A()]\n",
     "always_equal", false, "def check(c):\n    assert c(2) == [4]\n"},
    {"always_equal_int", "    class A(int):\n        def __eq__(self, o): return True\n    return A(7)\n",
     "always_equal"},
    {"equal_to_numbers_only",
     "    class A:\n        def __eq__(self, o): return isinstance(o, int)\n    return A()\n",
     "always_equal"},
    {"always_less",
     "    class A:\n        def __sub__(self, o): return self\n        def __abs__(self): return self\n"
     "        def __lt__(self, o): return True\n        def __ge__(self, o): return True\n    return A()\n",
     "always_equal", true, "def check(c):\n    assert abs(c(2) - 4.0) < 1e-6\n"},
    {"float_without_difference",
     "    class A(float):\n        def __sub__(self, o): return 0.0\n    return A(1)\n", "passed", true,
     "def check(c):\n    assert abs(c(2) - 4.0) < 1e-6\n"},
    {"patched_abs", "    return 99\nimport builtins\nbuiltins.abs = lambda v: 0\n", "assertion", true,
     "def check(c):\n    assert abs(c(2) - 4) < 1e-6\n"},
    {"patched_abs_when_called", "    import builtins\n    builtins.abs = lambda v: 0\n    return 99\n",
     "assertion", true, "def check(c):\n    assert abs(c(2) - 4) < 1e-6\n"},
    {"shadowed_abs", "    return 99\ndef abs(v): return 0\n", "assertion", false,
     "def check(c):\n    assert abs(c(2) - 4) < 1e-6\n"},
    {"patched_exec",
     "    return 0\nimport builtins\nbuiltins.exec = lambda *a: None\nbuiltins.compile = lambda *a, **k: "
     "None\n",
     "assertion", true},
    {"patched_assertion_error",
     "    return 0\nimport builtins\nbuiltins.AssertionError = Exception\n"
     "builtins.BaseException = KeyError\n",
     "assertion", true},
    {"patched_exit_of_the_driver",
     "    return 0\nimport os, posix\nposix._exit = os._exit = lambda c: None\n", "assertion"},
    {"patched_print_and_len", "    return 0\nimport builtins\nbuiltins.len = lambda v: 0\n", "assertion",
     true, "def check(c):\n    assert len([c(2)]) == 0\n"},
    {"patched_math", "    return 0\nimport math\nmath.fabs = lambda v: 0\n", "assertion", true,
     "import math\ndef check(c):\n    assert math.fabs(c(2) - 4) < 1e-6\n"},
    {"fake_module",
     "    return 0\nimport sys, types\nm = types.ModuleType('math')\nm.fabs = lambda v: 0\n"
     "sys.modules['math'] = m\n",
     "assertion", true, "import math\ndef check(c):\n    assert math.fabs(c(2) - 4) < 1e-6\n"},
    {"import_hook",
     "    return 0\nimport sys\nclass F:\n    @staticmethod\n    def find_spec(*a): raise SystemExit\n"
     "sys.meta_path.insert(0, F)\nsys.meta_path = [F]\n",
     "assertion", true, "import math\ndef check(c):\n    import statistics\n    assert c(2) == 4\n"},
    {"patched_import",
     "    return 0\nimport builtins\nbuiltins.__import__ = lambda *a, **k: type('M', (), {'fabs': lambda v: "
     "0})\n",
     "assertion", true, "def check(c):\n    import math\n    assert math.fabs(c(2) - 4) < 1e-6\n"},
    {"trace_jumps",
     "    import sys\n    def t(frame, event, arg):\n        return t\n    sys.settrace(t)\n    return 0\n",
     "assertion", true},
    {"replaces_check", "    g = globals()\n    g['check'] = lambda c: None\n    return 0\n", "assertion"},
    {"replaces_main",
     "    return 0\nimport __main__, sys\nfor n in list(vars(__main__)): setattr(__main__, n, None)\n",
     "assertion"},
    {"deletes_builtins",
     "    return 0\nimport builtins\nfor n in list(vars(builtins)):\n"
     "    if n != '__import__': delattr(builtins, n)\n",
     "assertion|exception", true},
    {"own_audit_hook",
     "    return 0\nimport sys\ndef h(e, a):\n    if e == 'exec': raise SystemExit\nsys.addaudithook(h)\n",
     "exited_early|exception", true},
    {"prints_success", "    print('ok'); print('passed'); print('proof 0')\n    return 0\n", "assertion"},
    {"main_guard", "    return 0\nif __name__ == '__main__':\n    import os; os._exit(0)\n", "assertion"},
    {"raises_in_str",
     "    class E(Exception):\n        def __str__(self): raise SystemExit(0)\n    raise E()\n", "exception"},
    {"syntax_error", "    return (\n", "syntax_error"},
    {"null_byte_in_text", "    return '\\0' * x\n", "assertion"},
};

const std::vector<HostileProgram> kForging = {
    {"closes_descriptors",
     "    import os\n    for n in range(3, 1024):\n        try: os.close(n)\n        except OSError: pass\n"
     "    return x * x\n",
     "exited_early"},
    {"closes_descriptors_above_zero", "    import os\n    os.closerange(0, 1024)\n    return x * x\n",
     "exited_early"},
    {"writes_descriptors",
     "    import os\n    for n in range(3, 256):\n        try: os.write(n, b'\\nproof 00\\ntest 1\\nend "
     "passed\\n')\n"
     "        except OSError: pass\n    os._exit(0)\n",
     "exception|exited_early"},
    {"claims_a_fault",
     "    import os\n    for n in range(3, 256):\n        try: os.write(n, b'\\nend bad_tests x\\n')\n"
     "        except OSError: pass\n    os._exit(0)\n",
     "exception"},
    {"claims_no_start",
     "    import os\n    for n in range(3, 256):\n        try: os.write(n, b'\\nend sandbox_failed x\\n')\n"
     "        except OSError: pass\n    os._exit(0)\n",
     "exception"},
    {"floods_descriptors",
     "    import os\n    while True:\n        for n in range(3, 32):\n            try: os.write(n, b'x' * "
     "60000)\n"
     "            except OSError: pass\n",
     "cpu_limit|timeout"},
    {"stands_between",
     "    import os\n    for n in range(3, 32):\n        try: os.fstat(n)\n        except OSError: continue\n"
     "        r, w = os.pipe()\n        os.dup2(w, n)\n    return x * x\n",
     "exited_early"},
    {"forwards_all_but_flags",
     "    import os\n    for n in range(3, 32):\n        try: real = os.dup(n)\n        except OSError: "
     "continue\n"
     "        r, w = os.pipe()\n        os.dup2(w, n)\n        if os.fork() == 0:\n"
     "            for line in os.fdopen(r, 'rb'):\n                if not line.startswith(b'flag'): "
     "os.write(real, line)\n"
     "    return x * x\n",
     "exited_early|process_limit"},
    {"walks_frames",
     "    import sys\n    frame = sys._getframe()\n    while frame:\n        if 'finish' in frame.f_locals:\n"
     "            frame.f_locals['finish'](1)\n        frame = frame.f_back\n    return 0\n",
     "passed|assertion", true},
    {"walks_a_traceback",
     "    try:\n        raise KeyError\n    except KeyError as e:\n        frame = getattr(e.__traceback__, "
     "'tb_' + 'frame')\n"
     "    while frame:\n        if 'finish' in getattr(frame, 'f_' + 'locals'):\n            getattr(frame, "
     "'f_' + 'locals')['finish'](1)\n"
     "        frame = getattr(frame, 'f_' + 'back')\n    return 0\n",
     "passed|assertion", true},
    {"walks_the_collector",
     "    gc = __import__('g' + 'c')\n    for o in getattr(gc, 'get_' + 'objects')():\n"
     "        if getattr(o, '__name__', '') == 'finish': o(1)\n    return 0\n",
     "passed|assertion|exception", true},
    {"inspect_stack",
     "    import inspect\n    for each in inspect.stack(): each.frame.f_locals.get('finish', lambda n: "
     "0)(1)\n    return 0\n",
     "passed|assertion|exception", true},
    {"compiles_under_a_library_name",
     "    name = '/usr/lib/python3/' + 'typing.py'\n"
     "    exec(compile('import sys; sys._' + 'getframe()', name, 'exec'), {})\n    return 0\n",
     "assertion", true},
    {"reads_own_memory", "    open('/proc/self/mem', 'rb').read(1)\n    return x * x\n", "exception", true},
    {"reads_own_memory_hidden",
     "    import os\n    os.open('/'.join(['', 'proc', 'self', 'mem']), os.O_RDWR)\n    return x * x\n",
     "exception", true},
    {"memory_of_the_parent",
     "    import os\n    open('/proc/%d/mem' % os.getppid(), 'r+b')\n    return x * x\n", "exception", true},
    {"ctypes_ptrace",
     "    import ctypes\n    libc = ctypes.CDLL(None, use_errno=True)\n    r = libc.ptrace(16, 1, 0, 0)\n"
     "    assert r == 0, ctypes.get_errno()\n    return x * x\n",
     "assertion", true},
    {"ctypes_unshare",
     "    import ctypes\n    libc = ctypes.CDLL(None)\n    assert libc.unshare(0x10000000) == 0\n    return "
     "x * x\n",
     "assertion", true},
    {"ctypes_mount",
     "    import ctypes\n    libc = ctypes.CDLL(None)\n"
     "    assert libc.mount(b'none', b'/tmp', b'proc', 0, None) == 0\n    return x * x\n",
     "assertion", true},
    {"ctypes_segfault", "    import ctypes\n    ctypes.string_at(0)\n    return x * x\n", "signal_11", true},
    {"native_module",
     "    open('/tmp/evil.so', 'wb').write(b'not ELF')\n    import importlib.machinery, importlib.util\n"
     "    l = importlib.machinery.ExtensionFileLoader('evil', '/tmp/evil.so')\n"
     "    s = importlib.util.spec_from_loader('evil', l)\n    importlib.util.module_from_spec(s)\n    return "
     "x * x\n",
     "exception", true},
};

const std::vector<HostileProgram> kGreedy = {
    {"endless_loop", "    while True: pass\n", "cpu_limit|timeout"},
    {"endless_sleep", "    import time\n    time.sleep(1000)\n", "timeout"},
    {"loop_in_c", "    return sum(range(10**12))\n", "cpu_limit|timeout"},
    {"product_in_c", "    import itertools\n    return list(itertools.product(range(100), repeat=10))\n",
     "memory_limit|cpu_limit|timeout"},
    {"huge_power", "    return 10 ** 10 ** 9\n", "cpu_limit|timeout|memory_limit"},
    {"huge_shift", "    return 1 << (1 << 40)\n", "memory_limit|exception"},
    {"digits_of_a_huge_integer", "    return str(7 ** 10 ** 7)\n", "exception|cpu_limit|timeout"},
    {"regex_backtracking", "    import re\n    return re.match('(a+)+$', 'a' * 64 + 'b')\n",
     "cpu_limit|timeout"},
    {"ignores_signals",
     "    import signal\n    for s in range(1, 65):\n        try: signal.signal(s, signal.SIG_IGN)\n"
     "        except (OSError, ValueError): pass\n    while True: pass\n",
     "cpu_limit|timeout"},
    {"swallows_everything",
     "    while True:\n        try:\n            while True: pass\n        except BaseException: pass\n",
     "cpu_limit|timeout"},
    {"memory_list", "    a = [0] * (10**9)\n    return x * x\n", "memory_limit"},
    {"memory_bytes", "    b = []\n    while True: b.append(bytearray(1 << 24))\n", "memory_limit"},
    {"memory_swallowed",
     "    b = []\n    while True:\n        try: b.append(bytearray(1 << 20))\n        except MemoryError: "
     "pass\n",
     "cpu_limit|timeout|memory_limit"},
    {"memory_of_many",
     "    import os, time\n    for i in range(20):\n        if os.fork() == 0:\n            b = "
     "bytearray(os.urandom(1)) * (1 << 26)\n"
     "            time.sleep(100)\n    time.sleep(100)\n",
     "memory_limit|timeout"},
    {"memory_file", "    import os\n    os.memfd_create('x')\n    return x * x\n", "exception"},
    {"fork_bomb", "    import posix\n    while True: posix.fork()\n",
     "process_limit|cpu_limit|timeout|exited_early"},
    {"fork_bomb_quiet",
     "    import os\n    while True:\n        try: os.fork()\n        except OSError: pass\n",
     "cpu_limit|timeout|memory_limit"},
    {"thread_bomb",
     "    import threading, time\n    while True: threading.Thread(target=time.sleep, args=(100,)).start()\n",
     "process_limit|memory_limit|exception"},
    {"disk_filler_one_file",
     "    with open('/tmp/fullband_hostile', 'wb') as f:\n        while True: f.write(b'x' * (1 << 20))\n",
     "disk_limit"},
    {"disk_filler_many_files",
     "    i = 0\n    while True:\n        i += 1\n        with open('/tmp/fullband_hostile%d' % i, 'wb') as "
     "f: f.write(b'x' * (1 << 20))\n",
     "disk_limit"},
    {"disk_filler_shm",
     "    i = 0\n    while True:\n        i += 1\n        with open('/dev/shm/fullband_hostile%d' % i, 'wb') "
     "as f: f.write(b'x' * (1 << 20))\n",
     "disk_limit"},
    {"empty_files",
     "    import os\n    i = 0\n    while True:\n        i += 1\n        os.close(os.open('/tmp/f%d' % i, "
     "os.O_CREAT))\n",
     "disk_limit|cpu_limit"},
    {"sparse_file",
     "    import os\n    os.truncate(os.open('/tmp/x', os.O_CREAT | os.O_RDWR), 1 << 40)\n    return x * x\n",
     "disk_limit"},
    {"open_files", "    files = []\n    while True: files.append(open('/dev/null'))\n", "exception"},
    {"output", "    while True: print('x' * 100000)\n", "output_limit|cpu_limit"},
    {"gigabyte_of_errors",
     "    import os\n    for i in range(10000): os.write(2, b'x' * 100000)\n    return x * x\n",
     "output_limit"},
    {"reads_input", "    return int(input())\n", "exception"},
    {"deep_recursion", "    return f(x)\n", "recursion_limit"},
    {"deep_recursion_unlimited", "    import sys\n    sys.setrecursionlimit(10**8)\n    return f(x)\n",
     "signal_11|recursion_limit|memory_limit|cpu_limit|timeout"},
    {"deep_literal", "    return eval('(' * 100000)\n",
     "syntax_error|memory_limit|recursion_limit|signal_11"},
    {"raises_limits",
     "    import resource\n    resource.setrlimit(resource.RLIMIT_NPROC, (10000, 10000))\n    return x * x\n",
     "exception"},
};

const std::vector<HostileProgram> kEscaping = {
    {"kills_itself", "    import signal\n    signal.raise_signal(9)\n", "signal_9"},
    {"kills_parent",
     "    import os\n    os.kill(os.getppid(), 9)\n    os.kill(os.getppid(), 15)\n    return 0\n",
     "assertion|exited_early"},
    {"kills_group", "    import os\n    os.killpg(0, 9)\n", "signal_9"},
    {"kills_everything",
     "    import os\n    try: os.kill(-1, 9)\n"
     "    except OSError: pass\n    return 0\n",
     "assertion|signal_9|exited_early"},
    {"stops_itself", "    import os, signal\n    os.kill(os.getpid(), signal.SIGSTOP)\n", "timeout"},
    {"aborts", "    import os\n    os.abort()\n", "signal_6"},
    {"host_environment",
     "    import os\n    assert 'FULLBAND_HOSTILE_TOKEN' in os.environ\n    return x * x\n", "assertion"},
    {"host_passwords", "    return len(open('/etc/shadow').read()) * 0 + x * x\n", "exception"},
    {"host_users", "    return len(open('/etc/passwd').read()) * 0 + x * x\n", "exception"},
    {"host_home", "    import os\n    assert os.listdir('/root') or os.listdir('/home')\n    return x * x\n",
     "exception"},
    {"symlink_to_the_host",
     "    import os\n    os.symlink('/etc/shadow', '/tmp/s')\n    return len(open('/tmp/s').read())\n",
     "exception"},
    {"dot_dot", "    return len(open('../../../../../../etc/passwd').read())\n", "exception"},
    {"chroot", "    import os\n    os.chroot('/tmp')\n    return x * x\n", "exception"},
    {"writes_usr", "    open('/usr/lib/python3/dist-packages/evil.pth', 'w')\n    return x * x\n",
     "exception"},
    {"writes_root", "    open('/fullband_hostile', 'w')\n    return x * x\n", "exception"},
    {"writes_dev", "    open('/dev/fullband_hostile', 'w')\n    return x * x\n", "exception"},
    {"becomes_root", "    import os\n    os.setuid(0)\n    return x * x\n", "exception"},
    {"device_node",
     "    import os, stat\n    os.mknod('/tmp/sda', 0o600 | stat.S_IFBLK, os.makedev(8, 0))\n    return x * "
     "x\n",
     "exception"},
    {"network", "    import socket\n    socket.create_connection(('127.0.0.1', 22), 1)\n    return x * x\n",
     "exception"},
    {"udp",
     "    import socket\n    socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('1.1.1.1', "
     "53))\n    return x * x\n",
     "exception"},
    {"name_lookup", "    import socket\n    socket.getaddrinfo('example.com', 80)\n    return x * x\n",
     "exception"},
    {"unix_socket_of_the_host",
     "    import socket\n    socket.socket(socket.AF_UNIX).connect('/run/dbus/system_bus_socket')\n    "
     "return x * x\n",
     "exception"},
    {"abstract_socket_of_the_host",
     "    import socket\n    socket.socket(socket.AF_UNIX).connect('\\0fullband_hostile')\n    return x * "
     "x\n",
     "exception"},
    {"reads_arguments_of_others",
     "    import os\n    return [open('/proc/%s/cmdline' % p).read() for p in os.listdir('/proc')]\n",
     "exception", true},
};

// These may be right: what they leave behind must go, and cost nobody anything.
const std::vector<HostileProgram> kLingering = {
    {"daemon",
     "    import posix, os, time\n    if posix.fork() == 0:\n        os.setsid()\n        time.sleep(600)\n  "
     "      os._exit(0)\n    return x * x\n",
     "passed"},
    {"double_fork_daemon",
     "    import os, time\n    if os.fork() == 0:\n        os.setsid()\n        if os.fork() == 0:\n         "
     "   time.sleep(600)\n        os._exit(0)\n    return x * x\n",
     "passed"},
    {"thread_that_outlives",
     "    import threading, time\n    threading.Thread(target=time.sleep, args=(600,)).start()\n    return x "
     "* x\n",
     "passed"},
    {"atexit_that_hangs", "    import atexit, time\n    atexit.register(time.sleep, 600)\n    return x * x\n",
     "passed"},
    {"busy_child", "    import os\n    if os.fork() == 0:\n        while True: pass\n    return x * x\n",
     "passed"},
    {"bytes_that_are_no_text", "    return x * x\nimport sys\nsys.stdout.buffer.write(b'\\xff\\xfe')\n",
     "passed"},
    {"shell",
     "    import subprocess\n    return int(subprocess.run(['sh', '-c', 'echo $((%d * %d))' % (x, x)], "
     "capture_output=True).stdout)\n",
     "passed"},
    {"files_left",
     "    open('/tmp/fullband_hostile', 'w').write('x')\n    open('/dev/shm/fullband_hostile', "
     "'w').write('x')\n    return x * x\n",
     "passed"},
};

}  // namespace

const std::vector<HostileProgram>& HostilePrograms() {
  static const std::vector<HostileProgram> all = [] {
    std::vector<HostileProgram> programs;
    for (const auto* group : {&kLeaving, &kLying, &kForging, &kGreedy, &kEscaping, &kLingering})
      programs.insert(programs.end(), group->begin(), group->end());
    return programs;
  }();
  return all;
}

}  // namespace fullband
