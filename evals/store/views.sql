-- Views with plain names, for sqlite3, pandas, Datasette and whatever else reads SQLite; docs/store.md describes them.
-- Their figures are those of `fullband report`. They are made anew with every version of the schema (open.cc), so that a
-- change here takes a new version. `run` is the beginning of the run's key, as reports show it. What is not known of an
-- imported run, or has no meaning for its suite, is NULL and not 0.
DROP VIEW IF EXISTS run_details;
DROP VIEW IF EXISTS newest_grades;
DROP VIEW IF EXISTS sample_results;
DROP VIEW IF EXISTS item_results;
DROP VIEW IF EXISTS run_accuracy;
DROP VIEW IF EXISTS grader_accuracy;
DROP VIEW IF EXISTS run_cost;
DROP VIEW IF EXISTS run_pairs;
DROP VIEW IF EXISTS paired_results;
DROP VIEW IF EXISTS paired_accuracy;
DROP VIEW IF EXISTS budget_results;
DROP VIEW IF EXISTS budget_accuracy;
DROP VIEW IF EXISTS choice_scores;

-- What was run: one row a run.
CREATE VIEW run_details AS
SELECT r.id AS run_id, substr(r.key, 1, 8) AS run, m.name AS model, r.setting, r.suite, r.format, r.shots, r.ask,
  r.temperature, r.seed, r.headline AS grader, json_extract(r.identity, '$.max_new_tokens') AS max_new_tokens,
  r.items_total, r.created, r.program_version, r.model_id, m.weights_sha256, m.fusion, m.parameters,
  json_type(r.identity, '$.imported') IS NOT NULL AS imported,
  -- Which figures of an imported run's samples are known.
  r.ask = 'generate' AND (json_type(r.identity, '$.imported') IS NULL OR 'trace_tokens' IN
    (SELECT value FROM json_each(r.identity, '$.imported.fields'))) AS knows_trace_tokens,
  r.ask = 'generate' AND (json_type(r.identity, '$.imported') IS NULL OR 'generated_tokens' IN
    (SELECT value FROM json_each(r.identity, '$.imported.fields'))) AS knows_generated_tokens,
  r.ask = 'generate' AND (json_type(r.identity, '$.imported') IS NULL OR 'stop_reason' IN
    (SELECT value FROM json_each(r.identity, '$.imported.fields'))) AS knows_stop_reason,
  r.key
FROM runs r JOIN models m ON m.id = r.model_id;

-- Every sample's newest verdict of each grader.
CREATE VIEW newest_grades AS
SELECT g.sample_id, g.grader, g.grader_version, g.outcome, g.score, g.extracted, g.detail
FROM grades g
WHERE g.grader_version = (SELECT MAX(n.grader_version) FROM grades n
                          WHERE n.sample_id = g.sample_id AND n.grader = g.grader);

-- One row a sample, with its newest verdict of the run's headline grader. `correct` is 1, 0, or NULL where the sample does
-- not count: a fault, or not graded yet.
CREATE VIEW sample_results AS
WITH details AS MATERIALIZED (SELECT * FROM run_details)  -- once, not for every sample
SELECT r.run_id, r.run, r.model, r.setting, r.suite, r.format, r.shots, i.item, i.position, s.sample,
  r.grader, g.grader_version,
  CASE WHEN s.fault <> '' THEN 'fault' ELSE g.outcome END AS outcome,
  CASE WHEN s.fault <> '' OR g.outcome = 'fault' THEN NULL ELSE g.outcome = 'correct' END AS correct,
  g.extracted, i.gold,
  CASE WHEN s.fault = '' AND r.knows_trace_tokens THEN s.trace_tokens END AS trace_tokens,
  CASE WHEN s.fault = '' AND r.knows_generated_tokens THEN s.generated_tokens END AS generated_tokens,
  CASE WHEN s.fault = '' AND r.knows_stop_reason THEN s.stop_reason END AS stop_reason,
  CASE WHEN s.fault = '' AND r.knows_stop_reason THEN s.stop_reason IN ('length', 'context') END AS truncated,
  s.text, i.prompt, i.groups, s.fault, s.prompt_tokens, s.prefill_forwards, s.saved_forwards, s.decode_forwards,
  s.prefill_seconds, s.decode_seconds, s.finished, s.id AS sample_id, i.id AS item_id
FROM details r
JOIN items i ON i.run_id = r.run_id
JOIN samples s ON s.item_id = i.id
LEFT JOIN newest_grades g ON g.sample_id = s.id AND g.grader = r.grader;

-- One row an item of a run: means over its samples. `score` is the mean of `correct`, NULL where no sample counts.
CREATE VIEW item_results AS
SELECT run_id, run, model, setting, suite, item, position, item_id, AVG(correct) AS score, COUNT(*) AS samples,
  COUNT(correct) AS counted, SUM(outcome = 'fault') AS faults, SUM(outcome IS NULL) AS ungraded,
  AVG(trace_tokens) AS trace_tokens, MAX(truncated) AS truncated
FROM sample_results
GROUP BY run_id, item_id;

-- One row a run and grader: the accuracy over items and its Wilson interval of 95 %, as in reports' accuracy table;
-- no interval where items have several samples, since reports then give Student's.
-- Samples that are faults are left out. Square roots are Newton's, as not every SQLite has sqrt().
CREATE VIEW grader_accuracy AS
WITH RECURSIVE scores AS (
  SELECT i.run_id, g.grader, AVG(CASE WHEN g.outcome = 'fault' THEN NULL ELSE g.outcome = 'correct' END) AS score,
    SUM(g.outcome <> 'fault') AS counted, SUM(g.outcome IN ('correct', 'incorrect')) AS answered,
    SUM(g.outcome = 'timeout') AS timeouts, MIN(g.grader_version) AS oldest, MAX(g.grader_version) AS newest
  FROM items i JOIN samples s ON s.item_id = i.id AND s.fault = '' JOIN newest_grades g ON g.sample_id = s.id
  GROUP BY i.run_id, i.id, g.grader
), counts AS MATERIALIZED (
  SELECT run_id, grader, COUNT(score) AS items, TOTAL(score) AS correct, AVG(score) AS accuracy,
    CASE WHEN grader NOT LIKE 'imported%' THEN TOTAL(answered) / NULLIF(SUM(counted), 0) END AS answer_found,
    MAX(counted) AS most,
    SUM(timeouts) AS timeouts, MIN(oldest) AS oldest_version, MAX(newest) AS newest_version
  FROM scores GROUP BY run_id, grader
), roots (run_id, grader, square, root, step) AS (
  SELECT run_id, grader, accuracy * (1 - accuracy) / items + 3.8414588206941285 / (4.0 * items * items), 1.0, 0
  FROM counts WHERE items > 0
  UNION ALL SELECT run_id, grader, square, (root + square / root) / 2, step + 1 FROM roots WHERE step < 50
)
SELECT c.run_id, d.run, d.model, d.setting, d.suite, c.grader, c.grader = d.grader AS headline, c.items, c.correct,
  c.accuracy,
  CASE WHEN c.most > 1 THEN NULL WHEN c.correct = 0 THEN 0.0 ELSE (c.accuracy + 3.8414588206941285 / (2 * c.items)
    - 1.9599639845400545 * r.root) / (1 + 3.8414588206941285 / c.items) END AS accuracy_low,
  CASE WHEN c.most > 1 THEN NULL WHEN c.correct = c.items THEN 1.0 ELSE (c.accuracy + 3.8414588206941285 / (2 * c.items)
    + 1.9599639845400545 * r.root) / (1 + 3.8414588206941285 / c.items) END AS accuracy_high,
  CASE WHEN d.ask = 'generate' THEN c.answer_found END AS answer_found, c.timeouts, c.oldest_version, c.newest_version
FROM counts c JOIN run_details d ON d.run_id = c.run_id JOIN roots r ON r.run_id = c.run_id AND r.grader = c.grader
WHERE r.step = 50;

-- One row a run, by its headline grader: reports' accuracy table.
CREATE VIEW run_accuracy AS
WITH details AS MATERIALIZED (SELECT * FROM run_details),
totals AS MATERIALIZED (
  SELECT run_id, COUNT(*) AS samples, SUM(outcome = 'fault') AS faults, SUM(outcome IS NULL) AS ungraded,
    AVG(truncated) AS truncated, AVG(trace_tokens) AS trace_tokens,
    AVG(CASE WHEN truncated = 0 THEN correct END) AS accuracy_of_finished
  FROM sample_results GROUP BY run_id
)
SELECT d.run_id, d.run, d.model, d.setting, d.suite, d.format, d.shots, d.temperature, d.max_new_tokens, d.grader,
  COALESCE(a.items, 0) AS items, COALESCE(a.correct, 0) AS correct, a.accuracy, a.accuracy_low, a.accuracy_high,
  a.answer_found, t.truncated, CASE WHEN d.ask = 'generate' THEN t.accuracy_of_finished END AS accuracy_of_finished,
  t.trace_tokens, COALESCE(t.samples, 0) AS samples, COALESCE(t.faults, 0) AS faults,
  COALESCE(t.ungraded, 0) AS ungraded, COALESCE(a.timeouts, 0) AS timeouts, d.items_total
FROM details d LEFT JOIN totals t ON t.run_id = d.run_id
LEFT JOIN grader_accuracy a ON a.run_id = d.run_id AND a.headline;

-- One row a run: reports' cost table. Seconds are wall time of all its sessions.
CREATE VIEW run_cost AS
WITH work AS (
  SELECT i.run_id, SUM(s.generated_tokens) AS generated_tokens, SUM(s.prefill_forwards) AS prefill_forwards,
    SUM(s.saved_forwards) AS saved_forwards, SUM(s.decode_forwards) AS decode_forwards,
    SUM(s.decode_seconds) AS decode_seconds
  FROM items i JOIN samples s ON s.item_id = i.id GROUP BY i.run_id
), wall AS (
  SELECT run_id, COUNT(*) AS sessions, SUM(seconds) AS seconds, MAX(peak_memory_bytes) AS peak_memory_bytes
  FROM sessions GROUP BY run_id
)
SELECT d.run_id, d.run, d.model, d.setting, d.suite,
  CASE WHEN d.knows_generated_tokens THEN w.generated_tokens END AS generated_tokens,
  CASE WHEN NOT (d.imported AND wall.seconds = 0) THEN wall.seconds END AS seconds,
  CASE WHEN d.knows_generated_tokens AND wall.seconds > 0 THEN w.generated_tokens / wall.seconds END
    AS tokens_per_second,
  CASE WHEN NOT d.imported THEN w.prefill_forwards + w.decode_forwards END AS position_forwards,
  CASE WHEN NOT d.imported THEN w.saved_forwards END AS saved_forwards,
  CASE WHEN NOT d.imported THEN wall.peak_memory_bytes END AS peak_memory_bytes, wall.sessions
FROM run_details d LEFT JOIN work w ON w.run_id = d.run_id LEFT JOIN wall ON wall.run_id = d.run_id;

-- Which runs make a pair: the same weights, suite, format and shots, A's setting before B's as reports list them. `alike`
-- is 1 where nothing else differs between them; where it is 0, no difference can be put down to the setting.
CREATE VIEW run_pairs AS
WITH ranked AS MATERIALIZED (
  SELECT r.id AS run_id, r.model_id, r.suite, r.format, r.shots, r.ask, r.setting,
    CASE WHEN r.setting GLOB 'standard*' THEN 0 WHEN r.setting GLOB 'latent*' THEN 1
         WHEN r.setting GLOB 'parallel*' THEN 2 ELSE 3 END AS mode_rank,
    CASE WHEN instr(r.setting, '@') = 0 THEN 1
         WHEN substr(r.setting, instr(r.setting, '@') + 1) GLOB 'exact*' THEN 9223372036854775807
         ELSE CAST(substr(r.setting, instr(r.setting, '@') + 1) AS INTEGER) END AS passes,
    CASE WHEN instr(r.setting, ':') = 0 THEN '' ELSE substr(r.setting, instr(r.setting, ':') + 1) END AS control,
    json_remove(r.identity, '$.setting', '$.imported.file_sha256', '$.imported.fields') AS but_setting
  FROM runs r
)
SELECT a.run_id AS run_a, b.run_id AS run_b, m.name AS model, a.suite, a.format, a.shots, a.setting AS setting_a,
  b.setting AS setting_b, a.but_setting = b.but_setting AS alike
FROM ranked a JOIN ranked b ON b.model_id = a.model_id AND b.suite = a.suite AND b.format = a.format
  AND b.shots = a.shots AND b.ask = a.ask
  AND (a.mode_rank, a.passes, a.control, a.setting) < (b.mode_rank, b.passes, b.control, b.setting)
JOIN models m ON m.id = a.model_id;

-- One row an item and pair of runs that both asked it. Where `counts` is 0, some sample is a fault or not graded yet, and
-- comparisons leave the item out.
CREATE VIEW paired_results AS
WITH results AS MATERIALIZED (SELECT * FROM item_results)
SELECT p.model, p.suite, p.setting_a, p.setting_b, a.item, a.score AS score_a, b.score AS score_b,
  a.trace_tokens AS trace_tokens_a, b.trace_tokens AS trace_tokens_b, a.truncated AS truncated_a,
  b.truncated AS truncated_b, a.samples AS samples_a, b.samples AS samples_b,
  a.faults + a.ungraded + b.faults + b.ungraded = 0 AS counts, a.run AS run_a, b.run AS run_b, p.alike
FROM run_pairs p CROSS JOIN results a ON a.run_id = p.run_a CROSS JOIN results b ON b.run_id = p.run_b AND b.item = a.item;

-- One row a pair of runs: reports' paired table but for its intervals and tests. The four counts are of runs with one
-- sample an item. Numbers are summed by the runs' ids and named afterwards: texts in between would take most of the time.
CREATE VIEW paired_accuracy AS
WITH results AS MATERIALIZED (
  SELECT run_id, item, score, trace_tokens, samples, faults + ungraded AS open FROM item_results
), pairs AS MATERIALIZED (SELECT * FROM run_pairs), sums AS (
  SELECT p.run_a, p.run_b, COUNT(*) AS items, AVG(a.score) AS accuracy_a, AVG(b.score) AS accuracy_b,
    AVG(b.score - a.score) AS difference, MAX(MAX(a.samples, b.samples)) AS samples,
    SUM(a.score = 1 AND b.score = 1) AS both_right, SUM(a.score = 1 AND b.score = 0) AS only_a,
    SUM(a.score = 0 AND b.score = 1) AS only_b, SUM(a.score = 0 AND b.score = 0) AS neither,
    AVG(b.trace_tokens - a.trace_tokens) AS trace_difference,
    AVG(CASE WHEN a.score = 1 AND b.score = 1 THEN b.trace_tokens - a.trace_tokens END) AS trace_difference_both_right
  FROM pairs p CROSS JOIN results a ON a.run_id = p.run_a CROSS JOIN results b ON b.run_id = p.run_b AND b.item = a.item
  WHERE a.open = 0 AND b.open = 0
  GROUP BY p.run_a, p.run_b
)
SELECT p.model, p.suite, p.setting_a, p.setting_b, s.items, s.accuracy_a, s.accuracy_b, s.difference,
  CASE WHEN s.samples = 1 THEN s.both_right END AS both_right, CASE WHEN s.samples = 1 THEN s.only_a END AS only_a,
  CASE WHEN s.samples = 1 THEN s.only_b END AS only_b, CASE WHEN s.samples = 1 THEN s.neither END AS neither,
  s.trace_difference, s.trace_difference_both_right, substr(a.key, 1, 8) AS run_a, substr(b.key, 1, 8) AS run_b, p.alike
FROM pairs p JOIN sums s ON s.run_a = p.run_a AND s.run_b = p.run_b
JOIN runs a ON a.id = p.run_a JOIN runs b ON b.id = p.run_b;

-- One row a sample and budget, by the run's headline grader in its newest version: what fullband regrade --budgets found.
CREATE VIEW budget_results AS
SELECT r.id AS run_id, substr(r.key, 1, 8) AS run, m.name AS model, r.setting, r.suite, b.budget, i.item, i.position,
  s.sample, b.outcome, CASE WHEN b.outcome <> 'fault' THEN b.outcome = 'correct' END AS correct, b.extracted, i.gold,
  CASE WHEN s.fault = '' THEN b.truncated END AS truncated,
  CAST(substr(CAST(s.text AS BLOB), 1, b.text_bytes) AS TEXT) AS text, b.certain, b.grader, b.grader_version,
  s.id AS sample_id, i.id AS item_id
FROM runs r JOIN models m ON m.id = r.model_id JOIN items i ON i.run_id = r.id JOIN samples s ON s.item_id = i.id
JOIN budget_grades b ON b.sample_id = s.id AND b.grader = r.headline
WHERE b.grader_version = (SELECT MAX(n.grader_version) FROM budget_grades n
                          WHERE n.sample_id = b.sample_id AND n.grader = b.grader AND n.budget = b.budget);

-- One row a run and budget: accuracy, had every trace been cut there, with the interval that run_accuracy has.
CREATE VIEW budget_accuracy AS
WITH RECURSIVE scores AS (
  SELECT run_id, run, model, setting, suite, budget, AVG(correct) AS score, TOTAL(truncated) AS truncated,
    COUNT(truncated) AS known, COUNT(correct) AS counted
  FROM budget_results GROUP BY run_id, item_id, budget
), counts AS MATERIALIZED (
  SELECT run_id, run, model, setting, suite, budget, COUNT(score) AS items, TOTAL(score) AS correct,
    AVG(score) AS accuracy, TOTAL(truncated) / NULLIF(SUM(known), 0) AS truncated, MAX(counted) AS most
  FROM scores GROUP BY run_id, budget
), roots (run_id, budget, square, root, step) AS (
  SELECT run_id, budget, accuracy * (1 - accuracy) / items + 3.8414588206941285 / (4.0 * items * items), 1.0, 0
  FROM counts WHERE items > 0
  UNION ALL SELECT run_id, budget, square, (root + square / root) / 2, step + 1 FROM roots WHERE step < 50
)
SELECT c.run_id, c.run, c.model, c.setting, c.suite, c.budget, c.items, c.correct, c.accuracy,
  CASE WHEN c.most > 1 THEN NULL WHEN c.correct = 0 THEN 0.0 ELSE (c.accuracy + 3.8414588206941285 / (2 * c.items)
    - 1.9599639845400545 * r.root) / (1 + 3.8414588206941285 / c.items) END AS accuracy_low,
  CASE WHEN c.most > 1 THEN NULL WHEN c.correct = c.items THEN 1.0 ELSE (c.accuracy + 3.8414588206941285 / (2 * c.items)
    + 1.9599639845400545 * r.root) / (1 + 3.8414588206941285 / c.items) END AS accuracy_high,
  c.truncated
FROM counts c JOIN roots r ON r.run_id = c.run_id AND r.budget = c.budget
WHERE r.step = 50;

-- Suites that choose: one row a scored continuation, with every way of normalising its log-probability.
CREATE VIEW choice_scores AS
SELECT r.id AS run_id, substr(r.key, 1, 8) AS run, m.name AS model, r.setting, r.suite, i.item, s.sample, c.choice,
  c.text, c.gold, c.greedy, c.logprob, c.logprob / NULLIF(c.tokens, 0) AS logprob_per_token,
  c.logprob / NULLIF(c.characters, 0) AS logprob_per_character, c.logprob / NULLIF(c.bytes, 0) AS logprob_per_byte,
  c.tokens, c.characters, c.bytes, s.id AS sample_id
FROM runs r JOIN models m ON m.id = r.model_id JOIN items i ON i.run_id = r.id JOIN samples s ON s.item_id = i.id
JOIN choices c ON c.sample_id = s.id;
