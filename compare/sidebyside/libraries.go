package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/FastFilter/xorfilter"
	bitsbloom "github.com/bits-and-blooms/bloom/v3"
	"github.com/cespare/xxhash/v2"
	"github.com/dgraph-io/badger/v4/y"
	"github.com/dgraph-io/ristretto/v2/z"
	"github.com/greatroar/blobloom"
	holiman "github.com/holiman/bloomfilter/v2"
	parquet "github.com/parquet-go/parquet-go/bloom"
	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/lanebloom/bloom"
	"github.com/lanebloom/bloom/compare/oracle"
	"github.com/lanebloom/bloom/compare/pebblebloom"
)

// library builds a filter and tests keys with it, key by key or a column at once.
type library struct {
	name string
	// nil if the library has no such call.
	build, test  [2]way // by call
	untimedBuild bool   // because it is that of another library
}

// way does a job on a column the given number of times. It returns the time of all
// times together, and the result of one: the bytes of the filter it built, or the number
// of keys that may be in the filter.
type way func(keys *column, times int) (took time.Duration, result int, err error)

// call says how a library takes keys.
type call int

const (
	keyByKey call = iota
	atOnce
)

func (c call) String() string { return [...]string{"key by key", "at once"}[c] }

// timed returns a way that calls once, which does the job on a column one time.
func timed(once func(keys *column) (result int, err error)) way {
	return func(keys *column, times int) (took time.Duration, result int, err error) {
		start := time.Now()
		for range times {
			if result, err = once(keys); err != nil {
				return 0, 0, err
			}
		}
		return time.Since(start), result, nil
	}
}

// builder returns a way to build that cannot fail.
func builder(build func(keys *column) (size int)) way {
	return timed(func(keys *column) (int, error) { return build(keys), nil })
}

// tester returns a way to test keys one by one.
func tester(mayContain func(keys *column, i int) bool) way {
	return builder(func(keys *column) (hits int) {
		for i := range keys.len {
			if mayContain(keys, i) {
				hits++
			}
		}
		return hits
	})
}

// own are the formats of this library that are timed, the default first. The first three are also timed with kernels that are
// not the fastest: on a CPU with AVX-512, avx2 shows about what one without it does.
var own = []struct {
	name   string
	format bloom.Format
}{{"RocksDB", bloom.RocksDB}, {"LevelDB", bloom.LevelDB}, {"Parquet", bloom.Parquet}, {"Pebble", bloom.Pebble}, {"BitsAndBlooms", bloom.BitsAndBlooms}}

const formatsOfOtherKernels = 3

// otherKernels returns the assembly kernels of this CPU but the fastest.
func otherKernels() []bloom.Kernel {
	return slices.DeleteFunc(bloom.Kernels()[1:], func(k bloom.Kernel) bool { return k == bloom.Generic })
}

// libraries has the names of the libraries, in the order of newLibraries.
var libraries = append(ownNames(),
	"C++ LevelDB", "C++ RocksDB", "C++ RocksDB before 5", "Pebble",
	"goleveldb", "Badger", "bits-and-blooms", "holiman", "blobloom", "ristretto", "parquet-go", "BinaryFuse8",
)

func ownNames() (names []string) {
	for _, o := range own {
		names = append(names, "lanebloom, "+o.name)
	}
	for _, kernel := range otherKernels() {
		for _, o := range own[:formatsOfOtherKernels] {
			names = append(names, fmt.Sprintf("lanebloom, %s, %v", o.name, kernel))
		}
	}
	return names
}

// modules are those whose versions the figures have.
var modules = []string{
	"github.com/syndtr/goleveldb", "github.com/dgraph-io/badger/v4", "github.com/bits-and-blooms/bloom/v3", "github.com/dgraph-io/ristretto/v2",
	"github.com/holiman/bloomfilter/v2", "github.com/greatroar/blobloom", "github.com/parquet-go/parquet-go", "github.com/FastFilter/xorfilter",
}

// newLibraries returns the libraries, in the order of their names, with filters
// of about the given bits per key. It leaves out those of C++ that have no timer.
func newLibraries(bitsPerKey int, kind kind, cpp []*oracle.Timer) (all []library) {
	for _, o := range own {
		all = append(all, lanebloom(o.format, bloom.Kernels()[0], bitsPerKey))
	}
	for _, kernel := range otherKernels() {
		for _, o := range own[:formatsOfOtherKernels] {
			l := lanebloom(o.format, kernel, bitsPerKey)
			l.untimedBuild = true
			all = append(all, l)
		}
	}
	all = append(all,
		cppFilter(cpp[0], keyByKey), cppFilter(cpp[1], atOnce), cppFilter(cpp[2], atOnce), pebble(bitsPerKey),
		goleveldb(bitsPerKey), badger(bitsPerKey),
		bitsAndBlooms(bitsPerKey), holimanFilter(bitsPerKey), blobloomFilter(bitsPerKey), ristretto(bitsPerKey),
		parquetGo(bitsPerKey, kind), binaryFuse8(kind))
	for i := range all {
		all[i].name = libraries[i]
	}
	return slices.DeleteFunc(all, func(l library) bool { return l.build[keyByKey] == nil && l.build[atOnce] == nil })
}

func lanebloom(format bloom.Format, kernel bloom.Kernel, bitsPerKey int) (l library) {
	policy := bloom.Policy{Format: format, BitsPerKey: bitsPerKey}
	var f *bloom.Filter
	open := func(encoded []byte) (int, error) {
		opened, err := bloom.Open(format, encoded)
		if err != nil {
			return 0, err
		}
		if f, err = opened.WithKernel(kernel); err == nil && f.Kernel() != kernel {
			err = fmt.Errorf("the filter runs on kernel %v, not on %v", f.Kernel(), kernel)
		}
		return len(encoded), err
	}
	l.build[keyByKey] = timed(func(keys *column) (int, error) {
		b := policy.NewBuilder()
		for i := range keys.len {
			b.Add(keys.key(i))
		}
		return open(b.AppendFilter(nil))
	})
	l.build[atOnce] = timed(func(keys *column) (int, error) {
		return open(policy.AppendFilter(nil, keys.all()))
	})
	integer := tester(func(keys *column, i int) bool { return f.MayContainUint64(keys.ints[i]) })
	text := tester(func(keys *column, i int) bool { return f.MayContainString(keys.texts[i]) })
	l.test[keyByKey] = func(keys *column, times int) (time.Duration, int, error) {
		if keys.ints != nil {
			return integer(keys, times)
		}
		return text(keys, times)
	}
	var hits []uint64
	l.test[atOnce] = builder(func(keys *column) int {
		if len(hits) < (keys.len+63)/64 {
			hits = make([]uint64, (keys.len+63)/64)
		}
		return f.MayContainBatch(keys.all(), hits)
	})
	return l
}

// inCPP has the formats that are also timed in C++.
var inCPP = []bloom.Format{bloom.LevelDB, bloom.RocksDB, bloom.Pebble}

// cppFilter is a filter in C++, which tests key by key or 32 keys at once.
func cppFilter(timer *oracle.Timer, test call) (l library) {
	if timer == nil {
		return l
	}
	l.build[atOnce] = func(keys *column, times int) (time.Duration, int, error) { return timer.Build(keys.number, times) }
	l.test[test] = func(keys *column, times int) (time.Duration, int, error) { return timer.Test(keys.number, times) }
	return l
}

func pebble(bitsPerKey int) (l library) {
	var p pebblebloom.Pebble
	var f []byte
	l.build[keyByKey] = timed(func(keys *column) (size int, err error) {
		f = p.Build(keys.len, keys.key, bitsPerKey)
		return len(f), nil
	})
	l.test[keyByKey] = tester(func(keys *column, i int) bool { return p.MayContain(f, keys.key(i)) })
	return l
}

func goleveldb(bitsPerKey int) (l library) {
	policy := filter.NewBloomFilter(bitsPerKey)
	var f []byte
	l.build[keyByKey] = builder(func(keys *column) int {
		g := policy.NewGenerator()
		for i := range keys.len {
			g.Add(keys.key(i))
		}
		var b util.Buffer
		g.Generate(&b)
		f = b.Bytes()
		return len(f)
	})
	l.test[keyByKey] = tester(func(keys *column, i int) bool { return policy.Contains(f, keys.key(i)) })
	return l
}

func badger(bitsPerKey int) (l library) {
	var f y.Filter
	l.build[keyByKey] = builder(func(keys *column) int {
		var hashes []uint32 // grows, as in Badger's table builder
		for i := range keys.len {
			hashes = append(hashes, y.Hash(keys.key(i)))
		}
		f = y.NewFilter(hashes, bitsPerKey)
		return len(f)
	})
	l.test[keyByKey] = tester(func(keys *column, i int) bool { return f.MayContainKey(keys.key(i)) })
	return l
}

func bitsAndBlooms(bitsPerKey int) (l library) {
	var f *bitsbloom.BloomFilter
	l.build[keyByKey] = builder(func(keys *column) int {
		m := keys.len * bitsPerKey
		f = bitsbloom.New(uint(m), uint(holiman.OptimalK(uint64(m), uint64(keys.len))))
		for i := range keys.len {
			f.Add(keys.key(i))
		}
		return m / 8
	})
	l.test[keyByKey] = tester(func(keys *column, i int) bool { return f.Test(keys.key(i)) })
	return l
}

func holimanFilter(bitsPerKey int) (l library) {
	var f *holiman.Filter
	l.build[keyByKey] = timed(func(keys *column) (size int, err error) {
		m := uint64(keys.len * bitsPerKey)
		// Its own seeds are random; these give the same rate in every run.
		random := rand.New(rand.NewPCG(1, 2))
		ks := make([]uint64, holiman.OptimalK(m, uint64(keys.len)))
		for i := range ks {
			ks[i] = random.Uint64()
		}
		if f, err = holiman.NewWithKeys(m, ks); err != nil {
			return 0, err
		}
		for i := range keys.len {
			f.AddHash(xxhash.Sum64(keys.key(i)))
		}
		return int(m / 8), nil
	})
	l.test[keyByKey] = tester(func(keys *column, i int) bool { return f.ContainsHash(xxhash.Sum64(keys.key(i))) })
	return l
}

func blobloomFilter(bitsPerKey int) (l library) {
	var f *blobloom.Filter
	l.build[keyByKey] = builder(func(keys *column) int {
		// NewOptimized takes 6 probes for these bits, and 7 are better.
		n := uint64(keys.len)
		f = blobloom.New(n*uint64(bitsPerKey), int(holiman.OptimalK(n*uint64(bitsPerKey), n)))
		for i := range keys.len {
			f.Add(xxhash.Sum64(keys.key(i)))
		}
		return int(f.NumBits() / 8)
	})
	l.test[keyByKey] = tester(func(keys *column, i int) bool { return f.Has(xxhash.Sum64(keys.key(i))) })
	return l
}

// ristretto's filter takes hashes. It has a power of two of bits, at least as many as it is asked for.
func ristretto(bitsPerKey int) (l library) {
	var f *z.Bloom
	l.build[keyByKey] = builder(func(keys *column) int {
		m := float64(keys.len * bitsPerKey)
		f = z.NewBloomFilter(m, float64(holiman.OptimalK(uint64(m), uint64(keys.len))))
		for i := range keys.len {
			f.Add(xxhash.Sum64(keys.key(i)))
		}
		return f.TotalSize()
	})
	l.test[keyByKey] = tester(func(keys *column, i int) bool { return f.Has(xxhash.Sum64(keys.key(i))) })
	return l
}

func parquetGo(bitsPerKey int, kind kind) (l library) {
	var f parquet.SplitBlockFilter
	var hash parquet.XXH64
	empty := func(keys *column) {
		f = make(parquet.SplitBlockFilter, parquet.NumSplitBlocksOf(int64(keys.len), uint(bitsPerKey)))
	}
	l.build[keyByKey] = builder(func(keys *column) int {
		empty(keys)
		if kind == texts {
			for i := range keys.len {
				f.Insert(hash.Sum64(keys.key(i)))
			}
		}
		for _, key := range keys.ints {
			f.Insert(hash.Sum64Uint64(key))
		}
		return len(f.Bytes())
	})
	if kind == texts {
		l.test[keyByKey] = tester(func(keys *column, i int) bool { return f.Check(hash.Sum64(keys.key(i))) })
		return l
	}
	l.build[atOnce] = builder(func(keys *column) int {
		empty(keys)
		var hashes [1024]uint64
		for rest := keys.ints; len(rest) > 0; {
			n := hash.MultiSum64Uint64(hashes[:], rest)
			f.InsertBulk(hashes[:n])
			rest = rest[n:]
		}
		return len(f.Bytes())
	})
	l.test[keyByKey] = tester(func(keys *column, i int) bool { return f.Check(hash.Sum64Uint64(keys.ints[i])) })
	return l
}

// binaryFuse8 takes integers, and hashes of strings.
func binaryFuse8(kind kind) (l library) {
	var f *xorfilter.BinaryFuse8
	l.build[atOnce] = timed(func(keys *column) (size int, err error) {
		ints := keys.ints
		if kind == texts {
			for i := range keys.len {
				ints = append(ints, xxhash.Sum64(keys.key(i)))
			}
		}
		if f, err = xorfilter.PopulateBinaryFuse8(ints); err != nil {
			return 0, fmt.Errorf("BinaryFuse8: %w", err)
		}
		return len(f.Fingerprints), nil
	})
	l.test[keyByKey] = tester(func(keys *column, i int) bool { return f.Contains(keys.ints[i]) })
	if kind == texts {
		l.test[keyByKey] = tester(func(keys *column, i int) bool { return f.Contains(xxhash.Sum64(keys.key(i))) })
	}
	return l
}
