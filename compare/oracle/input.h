// Functions that read the programs' input.

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
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

inline std::string ReadFile(const char* name) {
  std::ifstream file(name, std::ios::binary | std::ios::ate);
  std::string bytes(file ? static_cast<size_t>(file.tellg()) : 0, '\0');
  if (!file.seekg(0).read(&bytes[0], bytes.size())) {
    std::cerr << "cannot read " << name << "\n";
    std::exit(2);
  }
  return bytes;
}
