// Memory of the process and of the system, and its sizes as they are written.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace fullband {

int64_t ResidentBytes();   // of this process, now
int64_t AvailableBytes();  // that the system could still give; 0 where it does not say

// A whole number of bytes, of KiB, MiB or GiB where K, M or G follows; nothing for other texts.
std::optional<int64_t> ParseSize(const std::string& text);

// "123 bytes", "12.3 KiB", "1.2 MiB", "3.4 GiB".
std::string SizeText(int64_t bytes);

// Gives back to the system what the allocator keeps of memory that was freed: worth it after parsing large
// files, whose trees would count towards the process for as long as it runs.
void ReleaseFreedMemory();

}  // namespace fullband
