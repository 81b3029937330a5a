#include <fmt/format.h>

#include "bench/rates.h"
#include "bench/report.h"
#include "evals/aligned_table.h"

namespace fullband {
namespace {

using Rows = std::vector<std::vector<std::string>>;

// A table after an empty line; nothing where there is only its head.
std::string Paragraph(const Rows& rows, size_t left) {
  return rows.size() > 1 ? fmt::format("\n{}", AlignedTable(rows, left)) : "";
}

std::string Mebibytes(int64_t bytes) {
  return fmt::format("{:.0f} MiB", static_cast<double>(bytes) / (1 << 20));
}

std::string Share(const std::optional<double>& share) {
  return share ? fmt::format("{:.0f} %", 100 * *share) : "";
}

// Rates below 100 keep a decimal.
std::string Rate(double rate) {
  return rate < 100 ? fmt::format("{:.1f}", rate) : fmt::format("{:.0f}", rate);
}

std::string MachineText(const MachineFigures& machine) {
  std::string text =
      fmt::format("machine  {}, {}, {} threads", machine.processor, machine.target, machine.threads);
  for (const CacheSize& cache : machine.caches) {
    if (cache.type == "Instruction") continue;
    text += fmt::format(
        ", L{} {}", cache.level,
        cache.bytes < (1 << 20) ? fmt::format("{} KiB", cache.bytes >> 10) : Mebibytes(cache.bytes));
  }
  text += "\n";
  if (!machine.bounds) return text;
  text += fmt::format("memory   read {:.1f} GB/s, triad {:.1f} GB/s (fastest of some, buffers of {})\n",
                      machine.bounds->read_bandwidth / 1e9, machine.bounds->triad_bandwidth / 1e9,
                      Mebibytes(machine.probe_bytes));
  text += "peak    ";
  for (const MachineBounds::Peak& peak : machine.bounds->peaks)
    text += fmt::format(" {} {:.0f} GFLOP/s{}", peak.target, peak.flops / 1e9,
                        &peak == &machine.bounds->peaks.back() ? "\n" : ",");
  return text;
}

std::string SubjectText(const BenchSubject& subject, const MemoryFigures& memory) {
  const ModelConfig& c = subject.model->config;
  std::string text = fmt::format(
      "model    {}: {:.1f} M parameters, {}; {} layers, width {}, inner {}, {} heads on {}, vocabulary {}\n",
      subject.name, static_cast<double>(subject.model->parameter_count) / 1e6,
      DTypeName(subject.model->weights.embedding.dtype), c.layers, c.hidden_size, c.intermediate_size,
      c.heads, c.kv_heads, c.vocab_size);
  if (subject.random_feedback)
    text += fmt::format(
        "         its latent feedback is RANDOM (seed {}): it shows what such settings cost on this shape, "
        "and "
        "nothing else\n",
        *subject.random_feedback);
  return text + fmt::format("bytes    weights {}, pages {}, resident {}, peak {}\n",
                            Mebibytes(memory.weights), Mebibytes(memory.pages), Mebibytes(memory.resident),
                            Mebibytes(memory.peak));
}

std::string LoadingText(const std::optional<LoadingFigure>& loading) {
  if (!loading) return "";
  const Spread spread = SpreadOf(loading->seconds);
  return fmt::format(
      "loading  {:.3f} s until the first step may run ({:.3f} to {:.3f}; the first time {:.3f})\n",
      spread.median, spread.least, spread.most, loading->first);
}

void AddFigure(const Figure& figure, const MachineFigures& machine, std::vector<std::string>* cells) {
  const Rates rates = RatesOf(figure, machine);
  for (double rate : {rates.tokens.median, rates.tokens.least, rates.tokens.most})
    cells->push_back(Rate(rate));
  cells->push_back(Rate(rates.flops / 1e9));
  cells->push_back(Rate(rates.bytes / 1e9));
  cells->push_back(Share(rates.roofline_share));
}

const std::vector<std::string> kFigureHead = {"tokens/s", "min", "max", "GFLOP/s", "GB/s", "roofline"};

std::string PrefillText(const BenchReport& report) {
  Rows rows = {{"prefill", "tokens", "chunk"}};
  rows.front().insert(rows.front().end(), kFigureHead.begin(), kFigureHead.end());
  for (const PrefillFigure& f : report.prefill) {
    rows.push_back({f.setting, std::to_string(f.prompt), std::to_string(f.chunk)});
    AddFigure(f.figure, report.machine, &rows.back());
  }
  return Paragraph(rows, 1);
}

std::string DecodeText(const BenchReport& report) {
  Rows rows = {{"decode", "context", "batch"}};
  rows.front().insert(rows.front().end(), kFigureHead.begin(), kFigureHead.end());
  for (const DecodeFigure& f : report.decode) {
    rows.push_back({f.setting, std::to_string(f.context), std::to_string(f.batch)});
    AddFigure(f.figure, report.machine, &rows.back());
  }
  return Paragraph(rows, 1);
}

void AddPairs(const Pairs& pairs, std::vector<std::string>* cells) {
  const MedianInterval interval = MedianIntervalOf(pairs.ratios);
  cells->push_back(fmt::format("{:.4f}", SpreadOf(pairs.ratios).median));
  cells->push_back(fmt::format("{:.4f} to {:.4f}", interval.low, interval.high));
  cells->push_back(fmt::format("{:.0f} %", 100 * interval.confidence));
  cells->push_back(std::to_string(pairs.ratios.size()));
}

std::string PairsText(const BenchReport& report) {
  Rows rows = {{"in turn", "of", "ratio", "interval", "confidence", "pairs"}};
  for (const DecodeOverhead& f : report.decode_overhead) {
    rows.push_back({fmt::format("time of {} / {}", f.setting, f.over),
                    fmt::format("decode, batch {}, context {}", f.batch, f.context)});
    AddPairs(f.pairs, &rows.back());
  }
  for (const PrefillOverhead& f : report.prefill_overhead) {
    rows.push_back({fmt::format("time of {} / {} x {}", f.setting, f.passes, f.over),
                    fmt::format("prefill, {} tokens, chunk {}", f.prompt, f.chunk)});
    AddPairs(f.pairs, &rows.back());
  }
  for (const SharedPrefix& f : report.shared_prefix) {
    rows.push_back({fmt::format("speed of {} sharing {} / apart", f.setting, f.shared),
                    fmt::format("decode, batch {}, context {}", f.batch, f.context)});
    AddPairs(f.pairs, &rows.back());
  }
  return Paragraph(rows, 2);
}

std::string SuitesText(const BenchReport& report) {
  Rows rows = {
      {"suite", "setting", "items", "seconds", "items/s", "tokens/s", "rows", "saved", "prefill", "decode"}};
  for (const SuiteFigure& f : report.suites) {
    const double steps = f.prefill_seconds + f.decode_seconds;
    const auto share = [&](double part) {
      return fmt::format("{:.0f} %", steps > 0 ? 100 * part / steps : 0);
    };
    rows.push_back({f.suite, f.setting, std::to_string(f.items), fmt::format("{:.2f}", f.seconds),
                    fmt::format("{:.2f}", static_cast<double>(f.items) / f.seconds),
                    Rate(static_cast<double>(f.prompt_tokens + f.decoded_tokens) / f.seconds),
                    std::to_string(f.rows), std::to_string(f.saved_rows), share(f.prefill_seconds),
                    share(f.decode_seconds)});
  }
  return Paragraph(rows, 2);
}

std::string ProfileText(const StepProfile& profile) {
  Rows rows = {{fmt::format("a step of {} ({})", profile.what, profile.setting), "ms", "share"}};
  double sum = 0;
  for (const StepProfile::Part& part : profile.parts) sum += part.seconds;
  for (const StepProfile::Part& part : profile.parts)
    rows.push_back({part.name, fmt::format("{:.3f}", 1e3 * part.seconds),
                    fmt::format("{:.1f} %", 100 * part.seconds / sum)});
  rows.push_back({"all", fmt::format("{:.3f}", 1e3 * sum), ""});
  return Paragraph(rows, 1);
}

}  // namespace

std::string BenchText(const BenchReport& report, const BenchSubject& subject) {
  std::string text =
      MachineText(report.machine) + SubjectText(subject, report.memory) + LoadingText(report.loading);
  text += StepWork::Formula() + "\n";
  text += PrefillText(report) + DecodeText(report) + PairsText(report) + SuitesText(report);
  for (const StepProfile& profile : report.profiles) text += ProfileText(profile);
  if (!report.left_out.empty()) text += "\n";
  for (const LeftOut& left : report.left_out) text += fmt::format("left out: {}: {}\n", left.what, left.why);
  return text;
}

}  // namespace fullband
