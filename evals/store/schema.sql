-- The store: one SQLite file. Schema version in user_version, kind of file in application_id; both and the migrations
-- in open.cc. Views for people and other programs are in views.sql; nothing of ours reads through them. Times are UTC in
-- ISO 8601, durations in seconds. Texts are kept as they were asked and answered.

CREATE TABLE models (
  id INTEGER PRIMARY KEY,
  weights_sha256 TEXT NOT NULL,    -- empty for models of imported runs: nothing but a name is known of them
  name TEXT NOT NULL,              -- the folder's last part, for people
  folder TEXT NOT NULL,            -- as given
  architecture TEXT NOT NULL,
  fusion TEXT NOT NULL,            -- none, glu, additive
  parameters INTEGER NOT NULL,
  dtype TEXT NOT NULL,
  config TEXT NOT NULL,            -- canonical JSON of all that the engine reads of config.json
  UNIQUE (weights_sha256, config)
);

-- model x suite x setting x prompt format, and everything else that changes an answer.
CREATE TABLE runs (
  id INTEGER PRIMARY KEY,
  key TEXT NOT NULL UNIQUE,        -- SHA-256 of the canonical JSON in `identity`
  identity TEXT NOT NULL,          -- `imported` in it: of another engine, with the fields that its samples came with
  model_id INTEGER NOT NULL REFERENCES models(id),
  suite TEXT NOT NULL,
  suite_version INTEGER NOT NULL,
  ask TEXT NOT NULL,               -- generate, choose
  format TEXT NOT NULL,            -- completion, chat
  shots INTEGER NOT NULL,
  setting TEXT NOT NULL,
  temperature REAL NOT NULL,
  seed INTEGER NOT NULL,           -- the 64 bits, as a signed number
  headline TEXT NOT NULL,          -- the grader (or metric) whose accuracy is quoted
  items_total INTEGER NOT NULL,    -- of the suite, before any limit
  created TEXT NOT NULL,
  program_version TEXT NOT NULL,
  -- Lease: who is working on it. NULL when nobody is.
  lease_host TEXT,
  lease_pid INTEGER,
  lease_process TEXT,              -- boot, process namespace and start time: a pid alone is used again
  lease_token TEXT,                -- random; what a holder shows with every commit
  lease_heartbeat TEXT
);

-- What was asked, once per run.
CREATE TABLE items (
  id INTEGER PRIMARY KEY,
  run_id INTEGER NOT NULL REFERENCES runs(id),
  item TEXT NOT NULL,              -- the data set's id
  position INTEGER NOT NULL,       -- in data order
  prompt TEXT NOT NULL,
  gold TEXT NOT NULL,
  shots_dropped INTEGER NOT NULL DEFAULT 0,
  groups TEXT NOT NULL DEFAULT '{}',  -- JSON object: by which fields reports break accuracy down, and its values
  UNIQUE (run_id, item)
);

-- One completion of one item. Committed as soon as the engine has finished it.
CREATE TABLE samples (
  id INTEGER PRIMARY KEY,
  item_id INTEGER NOT NULL REFERENCES items(id),
  sample INTEGER NOT NULL,         -- 0 .. n-1
  fault TEXT NOT NULL DEFAULT '',  -- why there is no valid result
  text TEXT NOT NULL DEFAULT '',
  stop_reason TEXT NOT NULL DEFAULT '',
  tokens BLOB,                     -- int32 little-endian, as the next three
  text_ends BLOB,                  -- int32 per token
  runner_ups BLOB,                 -- int32 per token
  logprobs BLOB,                   -- float32 per token
  runner_up_logprobs BLOB,         -- float32 per token
  prompt_tokens INTEGER NOT NULL DEFAULT 0,
  generated_tokens INTEGER NOT NULL DEFAULT 0,
  trace_tokens INTEGER NOT NULL DEFAULT 0,
  prefill_forwards INTEGER NOT NULL DEFAULT 0,
  saved_forwards INTEGER NOT NULL DEFAULT 0,
  decode_forwards INTEGER NOT NULL DEFAULT 0,
  min_state_rms REAL,
  max_state_rms REAL,
  queue_seconds REAL,
  prefill_seconds REAL,
  decode_seconds REAL,
  finished TEXT NOT NULL,
  content_sha256 TEXT NOT NULL,    -- of all above and the choices, but the times and what a cache saved
  UNIQUE (item_id, sample)
);

-- Likelihood suites: the scored continuations of a sample.
CREATE TABLE choices (
  sample_id INTEGER NOT NULL REFERENCES samples(id),
  choice INTEGER NOT NULL,
  text TEXT NOT NULL,
  tokens INTEGER NOT NULL,
  characters INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  logprob REAL NOT NULL,           -- natural, summed
  logprobs BLOB NOT NULL,          -- float32 per token
  greedy INTEGER NOT NULL,         -- every token was the arg max
  gold INTEGER NOT NULL,
  PRIMARY KEY (sample_id, choice)
) WITHOUT ROWID;

-- Verdicts. A newer grader version adds a row and keeps the earlier one.
CREATE TABLE grades (
  sample_id INTEGER NOT NULL REFERENCES samples(id),
  grader TEXT NOT NULL,            -- imported, imported:…: the verdict came with the sample
  grader_version INTEGER NOT NULL,
  outcome TEXT NOT NULL,           -- correct, incorrect, no_answer, timeout, fault
  score REAL NOT NULL,
  extracted TEXT NOT NULL,
  detail TEXT NOT NULL,
  PRIMARY KEY (sample_id, grader, grader_version)
) WITHOUT ROWID;

-- Verdicts on samples as they would be, had their traces been cut at `budget` generated tokens (evals/cuts.h), given by
-- fullband regrade --budgets. Apart from `grades`, which are about samples as they are.
CREATE TABLE budget_grades (
  sample_id INTEGER NOT NULL REFERENCES samples(id),
  grader TEXT NOT NULL,
  grader_version INTEGER NOT NULL,
  budget INTEGER NOT NULL,         -- the end token counts, as for a run's limit
  outcome TEXT NOT NULL,           -- this and the next three: as in grades
  score REAL NOT NULL,
  extracted TEXT NOT NULL,
  detail TEXT NOT NULL,
  truncated INTEGER NOT NULL,      -- a run with this limit would have ended by it (or by the context)
  text_bytes INTEGER NOT NULL,     -- length of the cut text
  certain INTEGER NOT NULL,        -- 0: the store does not tell the cut's last characters, and the verdict hangs on them
  PRIMARY KEY (sample_id, grader, grader_version, budget)
) WITHOUT ROWID;

-- One row for each process that worked on a run: machine, options that never change a result, wall time, peak memory.
-- Brought up to date with every commit, so that a killed process leaves its row right.
CREATE TABLE sessions (
  id INTEGER PRIMARY KEY,
  run_id INTEGER NOT NULL REFERENCES runs(id),
  host TEXT NOT NULL,
  machine TEXT NOT NULL,           -- processor and its dispatch target
  threads INTEGER NOT NULL,
  batch INTEGER NOT NULL,
  chunk INTEGER NOT NULL,
  started TEXT NOT NULL,
  seconds REAL NOT NULL,           -- wall time so far
  samples INTEGER NOT NULL,        -- committed by this session
  peak_memory_bytes INTEGER NOT NULL
);
