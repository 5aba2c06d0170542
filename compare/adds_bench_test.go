package compare

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	bitsbloom "github.com/bits-and-blooms/bloom/v3"
	"github.com/cespare/xxhash/v2"
	"github.com/parquet-go/parquet-go/bloom"

	lanebloom "github.com/lanebloom/bloom"
	"github.com/lanebloom/bloom/compare/internal/race"
)

// BenchmarkAdds adds new keys one by one to sets of 16 KiB and 8 MiB, beside parquet-go and bits-and-blooms:
// integers, and strings of 24 bytes and of 8 to 32. The ways take turns, a round of 1,024 keys each, and the
// metrics are the medians over the rounds.
func BenchmarkAdds(b *testing.B) {
	for _, bytes := range []int{16 << 10, 8 << 20} {
		b.Run(fmt.Sprintf("set=%dKiB", bytes>>10), func(b *testing.B) { benchmarkAdds(b, newAdds(b, bytes)) })
	}
}

// addWay adds the keys [from, to).
type addWay struct {
	name  string
	run   func(from, to int)
	clear func()
}

// newAdds returns the ways to add to sets of this number of bytes.
func newAdds(b *testing.B, bytes int) (ways []*addWay) {
	random := rand.New(rand.NewPCG(83, 84))
	integers, hashes := make([]uint64, addKeys), make([]uint64, addKeys)
	equal, mixed := make([]string, addKeys), make([]string, addKeys)
	text := func(n int) string {
		key := make([]byte, n)
		for i := range key {
			key[i] = byte(random.Uint32())
		}
		return string(key)
	}
	for i := range integers {
		integers[i], hashes[i] = random.Uint64(), random.Uint64()
		equal[i], mixed[i] = text(24), text(8+random.IntN(25))
	}
	add := func(name string, clear func(), run func(from, to int)) {
		ways = append(ways, &addWay{name: name, run: run, clear: clear})
	}

	blocks := make(bloom.SplitBlockFilter, bytes/len(bloom.Block{})/4)
	emptyBlocks := func() { clear(blocks) }
	add("parquet-go-hash", emptyBlocks, func(from, to int) { // the hash is known
		for _, h := range hashes[from:to] {
			blocks.Insert(h)
		}
	})
	add("parquet-go-integer", emptyBlocks, func(from, to int) {
		for _, key := range integers[from:to] {
			blocks.Insert(bloom.XXH64{}.Sum64Uint64(key))
		}
	})
	add("parquet-go-24", emptyBlocks, func(from, to int) {
		for _, key := range equal[from:to] {
			blocks.Insert(xxhash.Sum64String(key))
		}
	})
	other := bitsbloom.New(uint(8*bytes), 7)
	for name, keys := range map[string][]string{"24": equal, "8-32": mixed} {
		add("bits-and-blooms-"+name, func() { other.ClearAll() }, func(from, to int) {
			for _, key := range keys[from:to] {
				other.AddString(key)
			}
		})
	}
	for _, format := range []lanebloom.Format{lanebloom.LevelDB, lanebloom.Nori, lanebloom.Parquet, lanebloom.RocksDB, lanebloom.Pebble} {
		set, err := lanebloom.Policy{Format: format, BitsPerKey: 10}.NewSet(bytes * 8 / 10)
		if err != nil {
			b.Fatal(err)
		}
		add(fmt.Sprintf("%v-integer", format), set.Clear, func(from, to int) {
			for _, key := range integers[from:to] {
				set.AddUint64(key)
			}
		})
		for name, keys := range map[string][]string{"24": equal, "8-32": mixed} {
			add(fmt.Sprintf("%v-%s", format, name), set.Clear, func(from, to int) {
				for _, key := range keys[from:to] {
					set.AddString(key)
				}
			})
		}
	}
	slices.SortFunc(ways, func(x, y *addWay) int { return cmp.Compare(x.name, y.name) })
	return ways
}

// addKeys is how many keys there are, and addRound how many of them a round adds.
const addKeys, addRound = 1 << 15, 1 << 10

func benchmarkAdds(b *testing.B, ways []*addWay) {
	raced := make([]*race.Way, len(ways))
	for i, way := range ways {
		from := -addRound
		raced[i] = &race.Way{Name: way.name, Ready: func(int) error {
			if from = (from + addRound) % addKeys; from == 0 {
				way.clear()
			}
			return nil
		}, Run: func(int) (int, error) {
			way.run(from, from+addRound)
			return 0, nil
		}}
	}
	oneRound(b, addRound, raced)
	for _, way := range raced {
		b.ReportMetric(way.Figure("").Ns, way.Name+"-ns/key")
	}
}
