// The oracle: the Bloom filter of Guava, behind standard input and output.
//
//   Oracle FUNNEL build BITS_PER_KEY    reads keys, writes what writeTo writes
//   Oracle FUNNEL query FILTER_FILE...  reads keys, writes a line for each filter: '0' or '1' for each key,
//                                       or none if the file is no filter
//   Oracle FUNNEL size KEYS RATE        writes the bytes that writeTo writes of such an empty filter
//
// Keys are as in input.h. FUNNEL is bytes, chars (a key is a string in UTF-16, little-endian) or longs (8 bytes,
// little-endian). The exit status is 3 if Guava makes no filter of the size.

import com.google.common.hash.BloomFilter;
import com.google.common.hash.Funnel;
import com.google.common.hash.Funnels;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.FileInputStream;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

class Oracle {
  // The keys of a filter are of a type.
  record Keys<T>(Funnel<? super T> funnel, Function<byte[], T> fromBytes) {
    void run(String command, String[] args) throws IOException {
      try (OutputStream out = new BufferedOutputStream(System.out)) {
        switch (command) {
          case "build" -> build(read(System.in), Double.parseDouble(args[0])).writeTo(out);
          case "query" -> query(args, read(System.in), out);
          case "size" -> create(Long.parseLong(args[0]), Double.parseDouble(args[1])).writeTo(out);
          default -> throw new IllegalStateException(command);
        }
      }
    }

    // build makes a filter with the bits and probes of a rate: it is a little lower than the one that takes so many
    // bits, so that the number of bits, which is truncated, is not one less.
    BloomFilter<T> build(List<T> keys, double bitsPerKey) {
      double ln2 = Math.log(2);
      BloomFilter<T> filter = create(keys.size(), Math.exp(-bitsPerKey * (1 + 1e-12) * ln2 * ln2));
      keys.forEach(filter::put);
      return filter;
    }

    BloomFilter<T> create(long keys, double rate) {
      try {
        return BloomFilter.create(funnel, keys, rate);
      } catch (IllegalArgumentException e) {
        throw exit(e, 3);
      }
    }

    void query(String[] files, List<T> keys, OutputStream out) throws IOException {
      for (String file : files) {
        try (InputStream in = new BufferedInputStream(new FileInputStream(file))) {
          BloomFilter<T> filter = BloomFilter.readFrom(in, funnel);
          for (T key : keys) {
            out.write(filter.mightContain(key) ? '1' : '0');
          }
        } catch (FileNotFoundException e) {
          throw e;
        } catch (IOException e) {
          out.write("none".getBytes());
        }
        out.write('\n');
      }
    }

    List<T> read(InputStream stream) throws IOException {
      DataInputStream in = new DataInputStream(new BufferedInputStream(stream));
      List<T> keys = new ArrayList<>();
      while (true) {
        int length;
        try {
          length = Integer.reverseBytes(in.readInt());
        } catch (EOFException e) {
          return keys;
        }
        byte[] key = new byte[length];
        in.readFully(key);
        keys.add(fromBytes.apply(key));
      }
    }
  }

  public static void main(String[] args) throws IOException {
    Keys<?> keys =
        switch (args[0]) {
          case "bytes" -> new Keys<>(Funnels.byteArrayFunnel(), key -> key);
          case "chars" -> new Keys<>(Funnels.unencodedCharsFunnel(), key -> new String(key, StandardCharsets.UTF_16LE));
          case "longs" -> new Keys<>(Funnels.longFunnel(), key -> ByteBuffer.wrap(key).order(ByteOrder.LITTLE_ENDIAN).getLong());
          default -> throw new IllegalArgumentException(args[0]);
        };
    keys.run(args[1], java.util.Arrays.copyOfRange(args, 2, args.length));
  }

  static RuntimeException exit(Exception cause, int status) {
    System.err.println(cause);
    System.exit(status);
    return new IllegalStateException(cause);
  }
}
