// The store: every model, run, item, sample and grade in one SQLite file. This is its C++ face; reports read
// it through the same class.
//
// Write-ahead logging, short transactions, a busy time-out: several processes may use one store. What a
// function has committed survives the death of the process at any moment. A power cut leaves the store whole,
// but may take the last commits before it (synchronous = NORMAL: the log reaches the disk at checkpoints);
// those items are asked again. Every failure is an Error that names the file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace fullband {

struct ModelRecord {
  int64_t id = 0;
  std::string weights_sha256;
  std::string name;  // the folder's last part
  std::string folder;
  std::string architecture;
  std::string fusion;  // "none", "glu", "additive"
  int64_t parameters = 0;
  std::string dtype;
  std::string config;  // canonical JSON
};

struct RunRecord {
  int64_t id = 0;
  std::string key;       // SHA-256 of `identity`
  std::string identity;  // canonical JSON
  int64_t model_id = 0;
  std::string suite;
  int suite_version = 1;
  std::string ask;     // "generate", "choose"
  std::string format;  // "completion", "chat"
  int shots = 0;
  std::string setting;
  double temperature = 0;
  uint64_t seed = 0;
  std::string headline;     // the grader whose accuracy is quoted
  int64_t items_total = 0;  // of the suite, before any limit
  std::string created;
  std::string program_version;
};

// Who is working on a run.
struct LeaseRecord {
  std::string host;
  int64_t pid = 0;
  std::string process;    // boot, process namespace and start time
  std::string token;      // random
  std::string heartbeat;  // UTC
};

struct ItemRecord {
  int64_t id = 0;
  std::string item;      // the data set's id
  int64_t position = 0;  // in data order
  std::string prompt;
  std::string gold;
  int shots_dropped = 0;
  std::string groups = "{}";  // JSON object: the fields that reports break accuracy down by, and its values
};

struct ChoiceRecord {
  std::string text;
  int tokens = 0;
  int characters = 0;
  int bytes = 0;
  double logprob = 0;           // natural, summed
  std::vector<float> logprobs;  // one per token
  bool greedy = false;
  bool gold = false;
};

struct SampleRecord {
  int64_t id = 0;
  int64_t item_id = 0;
  std::string item;  // read only: the item's id and position in data order
  int64_t position = 0;
  std::string prompt_end;  // read only: the last 200 characters of the item's prompt
  int sample = 0;
  std::string fault;  // why there is no valid result, or empty
  std::string text;
  std::string stop_reason;  // "end", "stop_string", "length", "context"; empty for choices and faults
  std::vector<int32_t> tokens, text_ends, runner_ups;  // one per generated token
  std::vector<float> logprobs, runner_up_logprobs;
  std::vector<ChoiceRecord> choices;
  int64_t prompt_tokens = 0;
  int64_t generated_tokens = 0;
  int64_t trace_tokens = 0;
  int64_t prefill_forwards = 0;
  int64_t saved_forwards = 0;
  int64_t decode_forwards = 0;
  double min_state_rms = 0, max_state_rms = 0;
  double queue_seconds = 0, prefill_seconds = 0, decode_seconds = 0;
  std::string finished;        // UTC
  std::string content_sha256;  // set by AddSample
};

struct GradeRecord {
  int64_t sample_id = 0;
  std::string grader;
  int version = 1;
  std::string outcome;  // "correct", "incorrect", "no_answer", "timeout", "fault"
  double score = 0;
  std::string extracted;
  std::string detail;
};

// A verdict on a sample as it would be, had its trace been cut (evals/cuts.h).
struct BudgetGradeRecord {
  GradeRecord grade;
  int64_t budget = 0;      // generated tokens
  bool truncated = false;  // a run with this limit would have ended by it, or by the context
  int64_t text_bytes = 0;  // of the cut text
  bool certain = true;     // false: the store does not tell the cut's last characters, and they decide
};

// The same, as reports read it.
struct BudgetOutcome {
  std::string item;
  int sample = 0;
  int64_t budget = 0;
  int version = 0;  // of the grader
  std::string outcome;
  bool truncated = false, certain = true;
};

struct SessionRecord {
  int64_t id = 0;
  int64_t run_id = 0;
  std::string host;
  std::string machine;  // processor and dispatch target
  int threads = 0;
  int batch = 0;
  int chunk = 0;
  std::string started;
  double seconds = 0;
  int64_t samples = 0;  // committed by the process
  int64_t peak_memory_bytes = 0;
};

// SHA-256 of everything in a sample that does not depend on time or on what a cache saved, floats by their
// bits.
std::string ContentSha256(const SampleRecord& sample);

// "2026-01-31T23:59:59.123Z"
std::string UtcNow();

enum class StoreMode {
  kReadWrite,  // made where it does not exist, migrated where it is older
  // A snapshot of this moment; nothing is changed; works on read-only media. An older store is read as it
  // would be migrated.
  kReadOnly,
};

// One connection to a store. Not for use by two threads at once: a thread that needs the store opens its own.
class Store {
 public:
  ~Store();
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;
  const std::filesystem::path& path() const;

  // --- Writing. Each call is one transaction.

  // Makes one transaction of all calls in `body`: they are committed together or, where it throws, not at
  // all.
  void Together(const std::function<void()>& body);
  // Id of the model with these weights and configuration; added where it is new.
  int64_t AddModel(const ModelRecord& model);
  // Id of the run with this key; added where it is new.
  int64_t AddRun(const RunRecord& run);
  // Adds the items that the run does not have yet; those it has take over the groups, which only describe.
  // Throws Error where one it has differs in prompt or gold.
  void AddItems(int64_t run_id, const std::vector<ItemRecord>& items);
  int64_t AddSession(const SessionRecord& session);
  // Wall time, peak memory.
  void UpdateSession(int64_t session_id, double seconds, int64_t peak_memory_bytes);
  // Commits a sample with its choices and counts it in the session. Throws Error where (item, sample) is
  // there already, or where `lease_token` no longer holds the run. Returns the sample's id.
  int64_t AddSample(const SampleRecord& sample, const std::string& lease_token, const SessionRecord& session);
  // Existing verdicts of the same grader and version are kept as they are.
  void AddGrades(const std::vector<GradeRecord>& grades);
  // Puts verdicts in the place of those of the same grader and version.
  void ReplaceGrades(const std::vector<GradeRecord>& grades);
  // Puts verdicts in the place of those of the same grader, version and budget.
  void ReplaceBudgetGrades(const std::vector<BudgetGradeRecord>& grades);

  // --- Leases.

  std::optional<LeaseRecord> Lease(int64_t run_id);
  // Puts `lease` in place where the run's present lease still has token `expected` (empty: none). False where
  // not.
  bool ReplaceLease(int64_t run_id, const std::string& expected, const LeaseRecord& lease);
  // A new heartbeat; false where `token` no longer holds the run.
  bool Heartbeat(int64_t run_id, const std::string& token);
  void ReleaseLease(int64_t run_id, const std::string& token);

  // --- Reading.

  std::vector<ModelRecord> Models();
  std::vector<RunRecord> Runs();  // in order of creation
  // The run whose key starts with `prefix`. Throws a usage Error for none or several.
  RunRecord FindRun(const std::string& prefix);
  std::vector<ItemRecord> Items(int64_t run_id);  // in data order
  ItemRecord Item(int64_t item_id);
  // Samples in data order, then by sample. Without blobs the per-token vectors and the choices are left
  // empty.
  void ForEachSample(int64_t run_id, bool with_blobs, const std::function<void(const SampleRecord&)>& visit);
  std::vector<SampleRecord> Samples(int64_t run_id, bool with_blobs = false);
  // By item id of the data set: the mean number of tokens that all runs of a generate suite of this name have
  // generated for it, faults and unknown numbers left out.
  std::map<std::string, double> MeanLengths(const std::string& suite);
  // (item id of the data set, sample) of every sample committed.
  std::set<std::pair<std::string, int>> Committed(int64_t run_id);
  // Of every sample the newest verdict of each grader, in the samples' order.
  std::vector<GradeRecord> Grades(int64_t run_id);
  // All verdicts on one sample, of every version, by grader and version.
  std::vector<GradeRecord> GradesOfSample(int64_t sample_id);
  // Of all samples of a run, in data order.
  std::vector<int64_t> SampleIds(int64_t run_id);
  // Ids of the samples that lack a verdict of this grader and version, in data order.
  std::vector<int64_t> Ungraded(int64_t run_id, const std::string& grader, int version);
  // One sample with its blobs and choices, and its item's gold answer.
  std::pair<SampleRecord, std::string> SampleWithGold(int64_t sample_id);
  std::vector<SessionRecord> Sessions(int64_t run_id);
  // All of one sample by this grader and version, by budget.
  std::vector<BudgetGradeRecord> BudgetGrades(int64_t sample_id, const std::string& grader, int version);
  // Of every sample and budget the newest verdict of a grader, in the samples' order, then by budget.
  void ForEachBudgetOutcome(int64_t run_id, const std::string& grader,
                            const std::function<void(const BudgetOutcome&)>& visit);

 private:
  friend std::unique_ptr<Store> OpenStore(const std::filesystem::path& path, StoreMode mode);
  struct Impl;
  explicit Store(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// Throws Error: a folder, a file that is not SQLite's or not a store, a store of a newer version, no
// permission, a full disk, a damaged file, a network file system (whose locks cannot be relied on; read-only
// use of a store at rest is fine there).
std::unique_ptr<Store> OpenStore(const std::filesystem::path& path, StoreMode mode);

}  // namespace fullband
