#include "evals/identity.h"

#include <set>

#include "common/hash.h"
#include "evals/sample_thoughts.h"

namespace fullband {
namespace {

nlohmann::json RopeJson(const RopeConfig& rope) {
  const char* names[] = {"default", "linear", "llama3"};
  return {{"type", names[static_cast<int>(rope.type)]},
          {"theta", rope.theta},
          {"factor", rope.factor},
          {"low_freq_factor", rope.low_freq_factor},
          {"high_freq_factor", rope.high_freq_factor},
          {"original_max_positions", rope.original_max_positions}};
}

void AddDtype(const Tensor& tensor, std::set<std::string>& names) {
  if (tensor) names.insert(DTypeName(tensor.dtype));
}

}  // namespace

const char* FusionName(Fusion fusion) {
  switch (fusion) {
    case Fusion::kNone:
      return "none";
    case Fusion::kGlu:
      return "glu";
    case Fusion::kAdditive:
      return "additive";
  }
  return "none";
}

nlohmann::json ConfigIdentity(const ModelConfig& config) {
  return {{"architecture", config.architecture},
          {"hidden_size", config.hidden_size},
          {"layers", config.layers},
          {"heads", config.heads},
          {"kv_heads", config.kv_heads},
          {"head_dim", config.head_dim},
          {"intermediate_size", config.intermediate_size},
          {"vocab_size", config.vocab_size},
          {"max_positions", config.max_positions},
          {"rms_norm_eps", config.rms_norm_eps},
          {"rope", RopeJson(config.rope)},
          {"tied_embeddings", config.tied_embeddings},
          {"qkv_bias", config.qkv_bias},
          {"output_bias", config.output_bias},
          {"mlp_bias", config.mlp_bias},
          {"qk_norm", config.qk_norm},
          {"fusion", FusionName(config.fusion)}};
}

std::string WeightsDtype(const Model& model) {
  std::set<std::string> names;
  const Weights& weights = model.weights;
  for (const Tensor* tensor :
       {&weights.embedding, &weights.final_norm, &weights.head, &weights.state_proj, &weights.token_gate})
    AddDtype(*tensor, names);
  for (const LayerWeights& layer : weights.layers)
    for (const Tensor* tensor :
         {&layer.input_norm, &layer.q, &layer.k, &layer.v, &layer.q_bias, &layer.k_bias, &layer.v_bias,
          &layer.q_norm, &layer.k_norm, &layer.o, &layer.o_bias, &layer.post_attention_norm, &layer.gate,
          &layer.up, &layer.down, &layer.gate_bias, &layer.up_bias, &layer.down_bias})
      AddDtype(*tensor, names);
  std::string joined;
  for (const std::string& name : names) joined += (joined.empty() ? "" : "+") + name;
  return joined;
}

ModelIdentity IdentifyModel(const Engine& engine, const std::string& weights_sha256) {
  ModelIdentity identity;
  identity.weights_sha256 = weights_sha256;
  identity.config = ConfigIdentity(engine.config());
  identity.end_tokens = engine.end_tokens();
  if (engine.tokenizer()) identity.tokenizer_sha256 = engine.tokenizer()->sha256();
  identity.numerics = engine.backend_info().numerics;
  identity.device = engine.backend_info().device;
  identity.target = engine.backend_info().target;
  identity.kv_dtype = KvDtypeName(engine.backend_info().kv_dtype);
  if (engine.model()) identity.weights_dtype = WeightsDtype(*engine.model());
  return identity;
}

TaskIdentity IdentifyTask(const Task& task) {
  TaskIdentity identity;
  identity.suite = task.suite.name;
  identity.suite_version = task.suite.version;
  identity.definition = task.suite.definition;
  identity.data_sha256 = task.data_sha256;
  identity.shot_ids = task.shot_ids;
  identity.shot_text_sha256 = task.shot_text_sha256;
  identity.format = FormatName(task.format);
  identity.chat_template_sha256 = task.chat_template_sha256;
  identity.system = task.system;
  if (task.suite.ask == Ask::kGenerate) {
    identity.max_new_tokens = task.max_new_tokens;
    identity.stop_strings = task.stop_strings;
  }
  return identity;
}

RunIdentity Identify(const ModelIdentity& model, const Task& task, const Setting& setting,
                     const Sampling& sampling) {
  RunIdentity identity{model, IdentifyTask(task), setting.Name(), {}};
  if (task.suite.ask == Ask::kGenerate)
    identity.sampling = sampling;
  else
    identity.model.thoughts = {};
  return identity;
}

nlohmann::json IdentityJson(const RunIdentity& identity) {
  const ModelIdentity& model = identity.model;
  const TaskIdentity& task = identity.task;
  const Sampling& sampling = identity.sampling;
  nlohmann::json json = {
      {"weights", model.weights_sha256},
      {"config", model.config},
      {"end_tokens", model.end_tokens},
      {"tokenizer", model.tokenizer_sha256},
      {"numerics",
       {{"version", model.numerics},
        {"device", model.device},
        {"target", model.target},
        {"weights", model.weights_dtype},
        {"activations", model.activations_dtype}}},
      {"suite", {{"name", task.suite}, {"version", task.suite_version}, {"definition", task.definition}}},
      {"data", task.data_sha256},
      {"shots", {{"ids", task.shot_ids}, {"text_sha256", task.shot_text_sha256}}},
      {"format", task.format},
      {"chat_template", task.chat_template_sha256},
      {"system", task.system},
      {"max_new_tokens", task.max_new_tokens},
      {"stop_strings", task.stop_strings},
      {"setting", identity.setting},
      {"sampling",
       {{"temperature", sampling.temperature}, {"top_k", sampling.top_k}, {"top_p", sampling.top_p}}},
      {"seed", sampling.seed},
  };
  // Left out where they are the usual ones: runs of stores that know of no others go on.
  if (nlohmann::json thoughts = MarkersJson(model.thoughts); !thoughts.is_null())
    json["thoughts"] = std::move(thoughts);
  if (model.kv_dtype != "f32") json["numerics"]["kv"] = model.kv_dtype;
  return json;
}

std::string RunKey(const RunIdentity& identity) { return Sha256HexOfJson(IdentityJson(identity)); }

}  // namespace fullband
