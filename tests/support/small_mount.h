// A small tmpfs, for tests of full disks and read-only media. Needs root; ok() is false where it cannot be
// had.
#pragma once

#include <sys/mount.h>

#include <filesystem>
#include <string>

#include "tests/support/temp_folder.h"

namespace fullband {

class SmallMount {
 public:
  explicit SmallMount(const std::string& size) {
    const std::string options = "size=" + size;
    ok_ = mount("none", folder_.path().c_str(), "tmpfs", 0, options.c_str()) == 0;
  }
  ~SmallMount() {
    if (ok_) umount2(folder_.path().c_str(), MNT_DETACH);
  }
  bool ok() const { return ok_; }
  const std::filesystem::path& path() const { return folder_.path(); }
  bool MakeReadOnly() const {
    return mount("none", folder_.path().c_str(), nullptr, MS_REMOUNT | MS_RDONLY, nullptr) == 0;
  }
  bool Resize(const std::string& size) const {
    const std::string options = "size=" + size;
    return mount("none", folder_.path().c_str(), nullptr, MS_REMOUNT, options.c_str()) == 0;
  }

 private:
  TempFolder folder_;
  bool ok_ = false;
};

}  // namespace fullband
