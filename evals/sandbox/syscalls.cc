#include "evals/sandbox/syscalls.h"

#include <errno.h>
#include <sched.h>
#include <seccomp.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <memory>

#include "common/error.h"

namespace fullband {
namespace {

// Reach into other processes, into the kernel, or memory that no limit counts. By name, since a kernel's
// headers may lack the newest; libseccomp says which exist on this machine.
constexpr const char* kRefused[] = {
    // other processes' memory, descriptors, events
    "ptrace",
    "process_vm_readv",
    "process_vm_writev",
    "process_madvise",
    "pidfd_getfd",
    "kcmp",
    "perf_event_open",
    "userfaultfd",
    // namespaces, mounts, handles
    "mount",
    "umount",
    "umount2",
    "pivot_root",
    "chroot",
    "setns",
    "unshare",
    "open_tree",
    "move_mount",
    "fsopen",
    "fsconfig",
    "fsmount",
    "fspick",
    "mount_setattr",
    "open_by_handle_at",
    "name_to_handle_at",
    "quotactl",
    "quotactl_fd",
    "swapon",
    "swapoff",
    "fanotify_init",
    "fanotify_mark",
    // the kernel
    "bpf",
    "keyctl",
    "add_key",
    "request_key",
    "kexec_load",
    "kexec_file_load",
    "init_module",
    "finit_module",
    "delete_module",
    "reboot",
    "syslog",
    "acct",
    "iopl",
    "ioperm",
    "modify_ldt",
    "vm86",
    "vm86old",
    "lookup_dcookie",
    "personality",
    "settimeofday",
    "clock_settime",
    "clock_adjtime",
    "adjtimex",
    "stime",
    "sethostname",
    "setdomainname",
    "vhangup",
    "nfsservctl",
    "uselib",
    "sysfs",
    "_sysctl",
    "io_uring_setup",
    "io_uring_enter",
    "io_uring_register",
    "seccomp",
    "landlock_create_ruleset",
    // memory outside address spaces and of files that no limit of the sandbox's mounts counts
    "memfd_create",
    "memfd_secret",
    "shmget",
    "shmat",
    "msgget",
    "semget",
    "mq_open",
    "move_pages",
    "mbind",
    "set_mempolicy",
    "migrate_pages",
};

void Check(int failed, const char* what) {
  if (failed != 0) throw Error("libseccomp", std::string(what) + ": " + strerror(-failed));
}

using Filter = std::unique_ptr<void, void (*)(scmp_filter_ctx)>;

void Refuse(const Filter& filter, const char* name, int error) {
  const int number = seccomp_syscall_resolve_name(name);
  // Negative numbers below -1 are pseudo ones: other architectures have that call.
  if (number < 0) return;
  Check(seccomp_rule_add(filter.get(), SCMP_ACT_ERRNO(static_cast<uint16_t>(error)), number, 0), name);
}

void RefuseNamespaces(const Filter& filter) {
  for (const int flag :
       {CLONE_NEWUSER, CLONE_NEWNS, CLONE_NEWPID, CLONE_NEWNET, CLONE_NEWIPC, CLONE_NEWUTS, CLONE_NEWCGROUP})
    Check(seccomp_rule_add(
              filter.get(), SCMP_ACT_ERRNO(EPERM), SCMP_SYS(clone), 1,
              SCMP_A0(SCMP_CMP_MASKED_EQ, static_cast<scmp_datum_t>(flag), static_cast<scmp_datum_t>(flag))),
          "clone");
  // Its flags are behind a pointer; the C library falls back to clone where it does not exist.
  Refuse(filter, "clone3", ENOSYS);
}

void RefuseSockets(const Filter& filter) {
  // Unix sockets of the sandbox's own files are all that is left: there is no network to reach anyway.
  Check(seccomp_rule_add(filter.get(), SCMP_ACT_ERRNO(EACCES), SCMP_SYS(socket), 1,
                         SCMP_A0(SCMP_CMP_NE, AF_UNIX)),
        "socket");
}

void RefuseTerminals(const Filter& filter) {
  // Typing into a terminal. Compared in 32 bits, as the kernel does.
  for (const unsigned request : {unsigned{TIOCSTI}, unsigned{TIOCLINUX}})
    Check(seccomp_rule_add(filter.get(), SCMP_ACT_ERRNO(EPERM), SCMP_SYS(ioctl), 1,
                           SCMP_A1(SCMP_CMP_MASKED_EQ, 0xffffffffu, request)),
          "ioctl");
}

}  // namespace

std::string SyscallFilter() {
  Filter filter(seccomp_init(SCMP_ACT_ALLOW), seccomp_release);
  if (!filter) throw Error("libseccomp", "cannot make a filter");
  // Calls in another architecture's convention (32-bit, x32) would go around the rules.
  Check(seccomp_attr_set(filter.get(), SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS), "architecture");
  for (const char* name : kRefused) Refuse(filter, name, EPERM);
  RefuseNamespaces(filter);
  RefuseSockets(filter);
  RefuseTerminals(filter);
  const int file = memfd_create("filter", MFD_CLOEXEC);
  if (file < 0) throw Error("libseccomp", std::string("no memory file: ") + strerror(errno));
  const int failed = seccomp_export_bpf(filter.get(), file);
  std::string bytes(static_cast<size_t>(lseek(file, 0, SEEK_END)), '\0');
  const ssize_t count = pread(file, bytes.data(), bytes.size(), 0);
  close(file);
  Check(failed, "export");
  if (count != static_cast<ssize_t>(bytes.size())) throw Error("libseccomp", "the filter was cut short");
  return bytes;
}

}  // namespace fullband
