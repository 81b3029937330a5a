// Which file systems a store may live on.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace fullband {

// Name of the network file system that `magic` (statfs f_type) stands for, or empty. FUSE is both local and
// remote: `mount_type` (as in /proc/self/mountinfo, e.g. "fuse.sshfs") decides.
std::string NetworkFileSystemName(unsigned long magic, std::string_view mount_type);

// The same for an existing folder.
std::string NetworkFileSystemOf(const std::filesystem::path& folder);

}  // namespace fullband
