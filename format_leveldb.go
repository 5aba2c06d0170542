package bloom

import (
	"math"
	"math/bits"
	"math/rand/v2"

	"github.com/lanebloom/bloom/internal/rates"
)

// encodingLevelDB is the format of LevelDB (google/leveldb util/bloom.cc and util/hash.cc):
// an array of bits, then one byte k, the number of probes.
type encodingLevelDB struct{}

// shape has trunc(0.69·bitsPerKey) probes, at least 1 and at most 30; LevelDB rounds ln 2 to
// 0.69. It has n·bitsPerKey bits, rounded up to whole bytes, and at least 8 bytes. A negative
// number of bits per key counts as 0.
func (encodingLevelDB) shape(n, bitsPerKey int) (shape, bool) {
	bitsPerKey = max(bitsPerKey, 0)
	k := min(max(int(float64(bitsPerKey)*0.69), 1), maxProbes)
	hi, lo := bits.Mul64(uint64(n), uint64(bitsPerKey))
	if hi != 0 || lo > 8*mostBytes {
		return shape{}, false
	}
	return shape{(max(lo, 64) + 7) &^ 7, k}, true
}

func (encodingLevelDB) frame(s shape, _ int) frame {
	return frame{bytes: [24]byte{byte(s.probes)}, after: 1}
}

// reshape has nothing to do: the frame does not have the number of bits.
func (encodingLevelDB) reshape([]byte, shape) {}

// parse accepts every byte string. One of fewer than two bytes holds no key.
func (encodingLevelDB) parse(data []byte) ([]byte, shape, error) {
	if len(data) < 2 {
		return data[:0], shape{}, nil
	}
	last := len(data) - 1
	k := int(data[last])
	if k > maxProbes {
		k = 0
	}
	return data[:last], shape{8 * uint64(last), k}, nil
}

func (encodingLevelDB) decode(data []byte) (bitArray, error) {
	if len(data) < 2 {
		return bitArray(newDouble32(nothing, 1)), nil
	}
	last := len(data) - 1
	k := int(data[last])
	if k < 1 || k > maxProbes {
		return bitArray(newDouble32(everything, 1)), nil
	}
	return bitArray(newDouble32(data[:last], k)), nil
}

func (e encodingLevelDB) size(n, bitsPerKey int) (m float64, k int) {
	s, _ := e.shape(0, bitsPerKey)
	return math.Ceil(max(64, float64(n)*float64(max(bitsPerKey, 0)))/8) * 8, s.probes
}

// rate is that of random hashes. Keys that differ in the last byte of a whole word have hashes that
// differ in two bytes only, and a higher rate: docs/false-positives.md.
func (encodingLevelDB) rate(n, m float64, k int) float64 {
	if k > maxProbes {
		return 1 // such a number is reserved: the filter answers yes to every key
	}
	return rates.LevelDB(n, m, k, measureLevelDB)
}

// measureLevelDB returns the share of random hashes that pass filters of n random hashes. The
// filters have some 2^17 hashes in all, because small ones differ.
func measureLevelDB(n, m, k, queries int) float64 {
	data := append(make([]byte, m/8, m/8+1), byte(k))
	v, _ := openView(LevelDB, data) // never fails
	random := rand.NewPCG(1, 2)     // the same at every call
	var hashes [windowKeys]uint32
	column := func(n int) Keys {
		for i := range hashes[:n] {
			hashes[i] = uint32(random.Uint64())
		}
		return LevelDB.Hashes32(hashes[:n])
	}
	var hits [windowKeys / 64]uint64
	filters := max(1<<17/n, 1)
	windows, yes := max(queries/filters/windowKeys, 1), 0
	for range filters {
		clear(data[:m/8])
		for i := 0; i < n; i += windowKeys {
			v.addColumn(column(min(windowKeys, n-i)))
		}
		for range windows {
			yes += v.MayContainBatch(column(windowKeys), hits[:])
		}
	}
	return float64(yes) / float64(filters*windows*windowKeys)
}

func (encodingLevelDB) expectedSet(s shape, n float64) float64 {
	return rates.LevelDBSet(n, float64(s.bits), s.probes)
}
