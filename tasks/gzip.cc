#include "tasks/gzip.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <climits>

#include "common/error.h"

namespace fullband {
namespace {

constexpr int kGzipOnly = 16 + MAX_WBITS;  // as inflateInit2 has it
constexpr char kRemedy[] = "fetch the file again";

// zlib's stream, ended with its scope.
class Stream {
 public:
  explicit Stream(const std::string& name) {
    if (inflateInit2(&z_, kGzipOnly) != Z_OK) throw Error(name, "cannot be decompressed: no memory");
  }
  ~Stream() { inflateEnd(&z_); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  z_stream* operator->() { return &z_; }
  z_stream* get() { return &z_; }

 private:
  z_stream z_ = {};
};

}  // namespace

bool IsGzip(std::string_view bytes) { return bytes.starts_with("\x1f\x8b"); }

std::string Gunzip(std::string_view bytes, const std::string& name, size_t most) {
  Stream stream(name);
  std::string text;
  size_t given = 0;
  for (int status = Z_OK; status != Z_STREAM_END || given < bytes.size();) {
    // Another member; zlib takes no more than 32 bits of size at once.
    if (status == Z_STREAM_END && inflateReset(stream.get()) != Z_OK)
      throw Error(name, "cannot be decompressed: no memory");
    const size_t portion = std::min<size_t>(bytes.size() - given, UINT_MAX);
    // NOLINTNEXTLINE: zlib reads there and does not write
    stream->next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data() + given));
    stream->avail_in = static_cast<uInt>(portion);
    char block[64 << 10];
    stream->next_out = reinterpret_cast<Bytef*>(block);
    stream->avail_out = sizeof block;
    status = inflate(stream.get(), Z_NO_FLUSH);
    given += portion - stream->avail_in;
    const size_t made = sizeof block - stream->avail_out;
    if (status == Z_BUF_ERROR || (status == Z_OK && made == 0 && given == bytes.size()))
      throw Error(name, "is a gzip file that is cut off", kRemedy);
    if (status != Z_OK && status != Z_STREAM_END)
      throw Error(name, fmt::format("is no whole gzip file: {}", stream->msg ? stream->msg : "damaged"),
                  kRemedy);
    if (text.size() + made > most)
      throw Error(name, fmt::format("holds more than {} bytes once decompressed", most),
                  "is it the right file?");
    text.append(block, made);
  }
  return text;
}

}  // namespace fullband
