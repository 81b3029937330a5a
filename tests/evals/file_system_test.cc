#include "evals/store/file_system.h"

#include <gtest/gtest.h>

namespace fullband {
namespace {

TEST(FileSystem, NetworkKindsAreKnown) {
  const struct {
    unsigned long magic;
    const char* mount_type;
    const char* name;
  } cases[] = {
      {0x6969, "nfs4", "NFS"},
      {0xFF534D42, "cifs", "CIFS"},
      {0xFFFFFFFFFF534D42, "cifs", "CIFS"},  // a signed f_type
      {0xFE534D42, "smb3", "SMB2"},
      {0x0BD00BD0, "lustre", "Lustre"},
      {0x47504653, "gpfs", "GPFS"},
      {0x00C36400, "ceph", "Ceph"},
      {0x65735546, "fuse.sshfs", "sshfs"},
      {0x65735546, "fuse.glusterfs", "glusterfs"},
      {0x65735546, "fuse.rclone", "rclone"},
      {0x65735546, "fuseblk", ""},              // NTFS on a local disk
      {0x65735546, "fuse.fuse-overlayfs", ""},  // containers
      {0xEF53, "ext4", ""},
      {0x01021994, "tmpfs", ""},
      {0x794C7630, "overlay", ""},
      {0x9123683E, "btrfs", ""},
      {0x58465342, "xfs", ""},
  };
  for (const auto& one : cases)
    EXPECT_EQ(NetworkFileSystemName(one.magic, one.mount_type), one.name) << one.mount_type;
}

TEST(FileSystem, ThisMachinesOwn) {
  EXPECT_EQ(NetworkFileSystemOf("/proc"), "");
  EXPECT_EQ(NetworkFileSystemOf("/no/such/folder"), "");
}

}  // namespace
}  // namespace fullband
