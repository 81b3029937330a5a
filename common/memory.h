// Memory of the process as a whole.
#pragma once

namespace fullband {

// Gives back to the system what the allocator keeps of memory that was freed: worth it after parsing large
// files, whose trees would count towards the process for as long as it runs.
void ReleaseFreedMemory();

}  // namespace fullband
