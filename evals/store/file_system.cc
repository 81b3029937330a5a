#include "evals/store/file_system.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <sstream>

namespace fullband {
namespace {

struct Kind {
  unsigned long magic;
  const char* name;
};

constexpr unsigned long kFuse = 0x65735546;

// Values of statfs(2) and of the file systems' own sources; none of them keeps byte-range locks and shared
// memory maps coherent between hosts, which SQLite's write-ahead log needs.
constexpr Kind kNetworkKinds[] = {
    {0x6969, "NFS"},          {0x517B, "SMB"},      {0xFF534D42, "CIFS"},   {0xFE534D42, "SMB2"},
    {0x0BD00BD0, "Lustre"},   {0x47504653, "GPFS"}, {0x00C36400, "Ceph"},   {0x5346414F, "AFS"},
    {0x6B414653, "AFS"},      {0x73757245, "Coda"}, {0x564C, "NCP"},        {0x01021997, "9P"},
    {0x7461636F, "OCFS2"},    {0x01161970, "GFS2"}, {0x19830326, "BeeGFS"}, {0xAAD7AAEA, "PanFS"},
    {0x20030528, "OrangeFS"},
};

constexpr std::array<std::string_view, 14> kRemoteFuse = {
    "sshfs", "glusterfs", "s3fs",  "goofys",  "rclone",  "gcsfuse", "blobfuse",
    "ceph",  "cephfs",    "davfs", "moosefs", "juicefs", "beegfs",  "curlftpfs",
};

// Type of the mount that holds a device, from /proc/self/mountinfo.
std::string MountType(const std::filesystem::path& folder) {
  struct stat status = {};
  if (stat(folder.c_str(), &status) != 0) return "";
  const std::string device = fmt::format("{}:{}", major(status.st_dev), minor(status.st_dev));
  std::ifstream mounts("/proc/self/mountinfo");
  for (std::string line; std::getline(mounts, line);) {
    std::istringstream fields(line);
    std::string id, parent, number, word;
    fields >> id >> parent >> number;
    if (number != device) continue;
    while (fields >> word)
      if (word == "-") break;
    fields >> word;
    return word;
  }
  return "";
}

}  // namespace

std::string NetworkFileSystemName(unsigned long magic, std::string_view mount_type) {
  magic &= 0xFFFFFFFFul;  // f_type is a signed word on some machines
  for (const Kind& kind : kNetworkKinds)
    if (kind.magic == magic) return kind.name;
  if (magic != kFuse) return "";
  std::string_view name = mount_type;
  if (const size_t dot = name.find('.'); dot != std::string_view::npos) name.remove_prefix(dot + 1);
  return std::find(kRemoteFuse.begin(), kRemoteFuse.end(), name) != kRemoteFuse.end() ? std::string(name)
                                                                                      : "";
}

std::string NetworkFileSystemOf(const std::filesystem::path& folder) {
  struct statfs status = {};
  if (statfs(folder.c_str(), &status) != 0) return "";
  return NetworkFileSystemName(static_cast<unsigned long>(status.f_type), MountType(folder));
}

}  // namespace fullband
