// Where the program finds its own files and the user's.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace fullband {

// The program's version, e.g. "0.1.0".
std::string Version();

// The folder that holds tasks/ and scripts/: $FULLBAND_HOME, else the source folder the program was built
// from.
std::filesystem::path HomeFolder();

// $FULLBAND_CACHE, else $XDG_CACHE_HOME/fullband, else ~/.cache/fullband.
std::filesystem::path CacheFolder();

// Where data files are looked for, in order: `given` if not empty, $FULLBAND_DATA, CacheFolder()/data.
std::vector<std::filesystem::path> DataFolders(const std::filesystem::path& given);

// The interpreter of the worker processes: $FULLBAND_PYTHON, else HomeFolder()/.venv/bin/python3.
std::filesystem::path PythonInterpreter();

}  // namespace fullband
