#include "engine/checkpoint/layout.h"

#include <fmt/format.h>

#include <algorithm>

namespace fullband {
namespace {

void AddLayer(const ModelConfig& c, int index, LayerWeights* w, std::vector<TensorSlot>* slots) {
  const int64_t width = c.hidden_size, inner = c.intermediate_size;
  const int64_t queries = int64_t{c.heads} * c.head_dim, keys = int64_t{c.kv_heads} * c.head_dim;
  const auto add = [&](const char* name, std::vector<int64_t> shape, Tensor* tensor) {
    slots->push_back({fmt::format("model.layers.{}.{}", index, name), std::move(shape), tensor});
  };
  add("input_layernorm.weight", {width}, &w->input_norm);
  add("self_attn.q_proj.weight", {queries, width}, &w->q);
  add("self_attn.k_proj.weight", {keys, width}, &w->k);
  add("self_attn.v_proj.weight", {keys, width}, &w->v);
  if (c.qkv_bias) {
    add("self_attn.q_proj.bias", {queries}, &w->q_bias);
    add("self_attn.k_proj.bias", {keys}, &w->k_bias);
    add("self_attn.v_proj.bias", {keys}, &w->v_bias);
  }
  if (c.qk_norm) {
    add("self_attn.q_norm.weight", {c.head_dim}, &w->q_norm);
    add("self_attn.k_norm.weight", {c.head_dim}, &w->k_norm);
  }
  add("self_attn.o_proj.weight", {width, queries}, &w->o);
  if (c.output_bias) add("self_attn.o_proj.bias", {width}, &w->o_bias);
  add("post_attention_layernorm.weight", {width}, &w->post_attention_norm);
  add("mlp.gate_proj.weight", {inner, width}, &w->gate);
  add("mlp.up_proj.weight", {inner, width}, &w->up);
  add("mlp.down_proj.weight", {width, inner}, &w->down);
  if (c.mlp_bias) {
    add("mlp.gate_proj.bias", {inner}, &w->gate_bias);
    add("mlp.up_proj.bias", {inner}, &w->up_bias);
    add("mlp.down_proj.bias", {width}, &w->down_bias);
  }
}

}  // namespace

std::vector<TensorSlot> TensorSlots(const ModelConfig& c, Weights* weights) {
  const int64_t width = c.hidden_size, vocab = c.vocab_size;
  weights->layers.resize(static_cast<size_t>(c.layers));
  std::vector<TensorSlot> slots;
  slots.push_back({"model.embed_tokens.weight", {vocab, width}, &weights->embedding});
  slots.push_back({"model.norm.weight", {width}, &weights->final_norm});
  if (!c.tied_embeddings) slots.push_back({"lm_head.weight", {vocab, width}, &weights->head});
  if (c.fusion != Fusion::kNone)
    slots.push_back({"latent_feedback.state_proj.weight", {width, width}, &weights->state_proj});
  if (c.fusion == Fusion::kGlu)
    slots.push_back({"latent_feedback.token_gate.weight", {width, width}, &weights->token_gate});
  for (int i = 0; i < c.layers; ++i) AddLayer(c, i, &weights->layers[static_cast<size_t>(i)], &slots);
  std::sort(slots.begin(), slots.end(),
            [](const TensorSlot& a, const TensorSlot& b) { return a.name < b.name; });
  return slots;
}

}  // namespace fullband
