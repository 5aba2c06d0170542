// Functions that read the programs' input.

#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// ReadKeys reads keys. Each is its length, 4 little-endian bytes, and then its bytes.
inline std::vector<std::string> ReadKeys(std::istream& in) {
  std::vector<std::string> keys;
  unsigned char head[4];
  while (in.read(reinterpret_cast<char*>(head), sizeof head)) {
    uint32_t n = head[0] | head[1] << 8 | head[2] << 16 | uint32_t{head[3]} << 24;
    std::string key(n, '\0');
    if (!in.read(&key[0], n)) {
      std::cerr << "input ends inside a key\n";
      std::exit(2);
    }
    keys.push_back(std::move(key));
  }
  return keys;
}

// MapFile maps a file, for as long as the program runs. Of a large file, it is quick to map what is read.
inline std::string_view MapFile(const char* name) {
  const int file = open(name, O_RDONLY);
  struct stat status;
  if (file >= 0 && fstat(file, &status) == 0) {
    const size_t size = static_cast<size_t>(status.st_size);
    if (size == 0) return {"", 0};  // which mmap refuses
    const void* bytes = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
    if (bytes != MAP_FAILED) return {static_cast<const char*>(bytes), size};
  }
  std::cerr << "cannot read " << name << "\n";
  std::exit(2);
}
