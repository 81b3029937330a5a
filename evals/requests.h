// What a question becomes for the engine.
#pragma once

#include <vector>

#include "engine/decode/request.h"
#include "tasks/task.h"

namespace fullband {

// Generate suites. The caller gives the id.
GenerateRequest RequestOf(const Task& task, const Question& question, const Setting& setting,
                          const Sampling& sampling, int sample);

// Choose suites: one request a choice, in their order. The caller gives the ids.
std::vector<ScoreRequest> RequestsOf(const Question& question, const Setting& setting);

// Identifies an item in the random stream: the first 64 bits of its id's SHA-256.
uint64_t ItemKey(const std::string& item);

}  // namespace fullband
