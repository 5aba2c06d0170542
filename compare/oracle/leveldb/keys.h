// Keys as the programs read them from standard input: the length, 4 little-endian
// bytes, and the bytes of each.

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

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
