#include "engine/decode/prefix_tree.h"

#include <algorithm>
#include <utility>

namespace fullband {
namespace {

int Common(std::span<const int32_t> a, std::span<const int32_t> b) {
  return static_cast<int>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
}

}  // namespace

PrefixTree::PrefixTree(Places* places, int max_pages) : places_(places), max_pages_(max_pages) {}

PrefixTree::~PrefixTree() {
  while (Evict()) {
  }
}

// The child that shares most with the beginning of `tokens`: in sorted order, next to where they would stand.
PrefixTree::Node* PrefixTree::Nearest(Children* children, std::span<const int32_t> tokens, int* common) {
  Node* nearest = nullptr;
  *common = 0;
  auto at = children->lower_bound(std::vector<int32_t>(tokens.begin(), tokens.end()));
  if (at != children->begin()) --at;
  for (int i = 0; i < 2 && at != children->end(); ++i, ++at) {
    const int shared = Common(at->first, tokens);
    if (shared <= *common) continue;
    *common = shared;
    nearest = at->second.get();
  }
  return nearest;
}

PrefixTree::Match PrefixTree::Find(const PrefixLine& line, std::span<const int32_t> tokens) {
  Match match;
  std::vector<Node*> path;
  const size_t page_size = static_cast<size_t>(places_->page_size);
  Children* children = &lines_[line];
  while (!tokens.empty()) {
    int common = 0;
    Node* node = Nearest(children, tokens.first(std::min(page_size, tokens.size())), &common);
    if (node == nullptr) break;
    path.push_back(node);
    match.positions += common;
    match.pages.push_back(node->page.page);
    match.states.insert(match.states.end(), node->page.states.begin(), node->page.states.begin() + common);
    match.state_rms.insert(match.state_rms.end(), node->page.state_rms.begin(),
                           node->page.state_rms.begin() + common);
    if (static_cast<size_t>(common) < page_size) break;
    tokens = tokens.subspan(page_size);
    children = &node->children;
  }
  Touch(path);
  return match;
}

void PrefixTree::Insert(const PrefixLine& line, std::span<const int32_t> tokens, const PrefixPage& page) {
  const size_t page_size = static_cast<size_t>(places_->page_size);
  std::vector<Node*> path;
  Children* children = &lines_[line];
  while (tokens.size() > page_size) {
    const auto at = children->find(std::vector<int32_t>(tokens.begin(), tokens.begin() + page_size));
    if (at == children->end()) return;
    path.push_back(at->second.get());
    children = &at->second->children;
    tokens = tokens.subspan(page_size);
  }
  const auto [at, is_new] = children->try_emplace({tokens.begin(), tokens.end()});
  if (is_new) {
    at->second = std::make_unique<Node>();
    Node* node = at->second.get();
    node->page = page;
    node->siblings = children;
    node->self = at;
    node->use = by_use_.insert(by_use_.begin(), node);
    places_->pages.Share(page.page);
    for (int32_t state : page.states) places_->states.Share(state);
  }
  path.push_back(at->second.get());
  Touch(path);
  while (pages() > max_pages_) Evict();
}

void PrefixTree::Touch(const std::vector<Node*>& path) {
  for (auto node = path.rbegin(); node != path.rend(); ++node)
    by_use_.splice(by_use_.begin(), by_use_, (*node)->use);
}

bool PrefixTree::Evict() {
  if (by_use_.empty()) return false;
  Node* node = by_use_.back();  // none follows it: those would have been used no later
  by_use_.pop_back();
  places_->pages.Release(node->page.page);
  for (int32_t state : node->page.states) places_->states.Release(state);
  node->siblings->erase(node->self);
  return true;
}

}  // namespace fullband
