#include "engine/compute/cpu/cpu_weights.h"

#include <algorithm>
#include <array>
#include <exception>
#include <memory>
#include <span>

namespace fullband {
namespace {

// Matrices with the same input are packed as one.
std::array<LinearWeights, 3> AttentionInputs(const LayerWeights& w) {
  return {{{w.q, w.q_bias}, {w.k, w.k_bias}, {w.v, w.v_bias}}};
}
std::array<LinearWeights, 2> MlpInputs(const LayerWeights& w) {
  return {{{w.gate, w.gate_bias}, {w.up, w.up_bias}}};
}

std::array<Tensor, 7> MatricesOf(const LayerWeights& w) { return {w.q, w.k, w.v, w.o, w.gate, w.up, w.down}; }

// A tied head is the embedding.
std::array<Tensor, 4> MatricesBesideLayers(const Weights& w) {
  return {w.embedding, w.head.data == w.embedding.data ? Tensor() : w.head, w.state_proj, w.token_gate};
}

int64_t StoredBytes(std::span<const Tensor> tensors) {
  int64_t bytes = 0;
  for (const Tensor& tensor : tensors)
    if (tensor) bytes += tensor.size() * static_cast<int64_t>(DTypeSize(tensor.dtype));
  return bytes;
}

int64_t PackedLayerBytes(const LayerWeights& w) {
  return PackedBytes(AttentionInputs(w)) + PackedBytes(w.o, w.o_bias) + PackedBytes(MlpInputs(w)) +
         PackedBytes(w.down, w.down_bias);
}

void PackLayer(const LayerWeights& w, CpuLayer* layer) {
  layer->input_norm = PackVector(w.input_norm);
  layer->post_attention_norm = PackVector(w.post_attention_norm);
  layer->query_norm = PackVector(w.q_norm);
  layer->key_norm = PackVector(w.k_norm);
  const auto attention = AttentionInputs(w);
  layer->query_key_value = PackMatrix(attention);
  layer->output = PackMatrix(w.o, w.o_bias);
  const auto gate_up = MlpInputs(w);
  layer->gate_up = PackMatrix(gate_up);
  layer->down = PackMatrix(w.down, w.down_bias);
}

void Release(const Model& model, std::span<const Tensor> tensors) {
  if (!model.release) return;
  for (const Tensor& tensor : tensors) model.release(tensor);
}

// Memory for all weights of a model that fills some large pages; of a smaller one each buffer has its own.
std::shared_ptr<BufferBlock> BlockFor(int64_t packed) {
  constexpr int64_t kSmall = int64_t{16} << 20;
  constexpr int64_t kVectors = int64_t{1} << 20;  // norms and biases; more of them have memory of their own
  return packed < kSmall ? nullptr : std::make_shared<BufferBlock>(packed + kVectors);
}

// Threads take layers as they get to them: one that has less of the processor, with the tokenizer being read
// beside it, keeps nobody waiting. Within a layer its thread is alone (regions within regions have one).
void PackLayers(const Model& model, int threads, const std::shared_ptr<BufferBlock>& block,
                std::vector<CpuLayer>* layers) {
  const int64_t count = model.weights.layers.size();
  layers->resize(count);
  std::exception_ptr fault;
#pragma omp parallel num_threads(threads)
  {
    const BufferBlock::Use use(block);
#pragma omp for schedule(dynamic)
    for (int64_t i = 0; i < count; ++i) {
      try {
        PackLayer(model.weights.layers[i], &(*layers)[i]);
        Release(model, MatricesOf(model.weights.layers[i]));
      } catch (...) {
#pragma omp critical
        fault = std::current_exception();
      }
    }
  }
  if (fault) std::rethrow_exception(fault);
}

}  // namespace

CpuWeights PackWeights(const Model& model, int threads) {
  const Weights& w = model.weights;
  const std::shared_ptr<BufferBlock> block = BlockFor(BytesOfPacking(w, threads).packed());
  const BufferBlock::Use use(block);
  CpuWeights packed;
  PackLayers(model, threads, block, &packed.layers);
  packed.final_norm = PackVector(w.final_norm);
  packed.head = PackMatrix(w.head);
  if (w.state_proj) packed.state_proj = PackMatrix(w.state_proj);
  if (w.token_gate) packed.token_gate = PackMatrix(w.token_gate);
  Release(model, MatricesBesideLayers(w));
  return packed;
}

PackingBytes BytesOfPacking(const Weights& w, int threads) {
  PackingBytes bytes;
  bytes.stored = StoredBytes(MatricesBesideLayers(w));
  for (const LayerWeights& layer : w.layers) bytes.stored += StoredBytes(MatricesOf(layer));
  int64_t mapped = bytes.stored;
  const auto pack = [&](int64_t& part, int64_t packed) {
    part += packed;
    bytes.peak = std::max(bytes.peak, mapped + bytes.packed());
  };
  // So many layers are packed at once, and only then given back.
  const int64_t count = w.layers.size(), at_once = std::min<int64_t>(threads, count);
  for (int64_t i = 0; i < count; ++i) {
    pack(bytes.layers, PackedLayerBytes(w.layers[i]));
    if (i + 1 >= at_once) mapped -= StoredBytes(MatricesOf(w.layers[i + 1 - at_once]));
  }
  for (int64_t i = count - at_once + 1; i < count; ++i) mapped -= StoredBytes(MatricesOf(w.layers[i]));
  pack(bytes.head, PackedBytes(w.head));
  if (w.state_proj) pack(bytes.state_proj, PackedBytes(w.state_proj));
  if (w.token_gate) pack(bytes.token_gate, PackedBytes(w.token_gate));
  return bytes;
}

}  // namespace fullband
