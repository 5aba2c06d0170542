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
	untimedBuild bool   // because another library builds it
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

// inCPP are the libraries in C++, each with the format that it has, and how it tests: 32 keys at once, or key by key.
var inCPP = []struct {
	name   string
	format bloom.Format
	test   call
}{{"C++ LevelDB", bloom.LevelDB, keyByKey}, {"C++ RocksDB", bloom.RocksDB, atOnce}, {"C++ RocksDB before 5", bloom.Pebble, atOnce}}

// other is a library in Go. The figures have the version of its module.
type other struct {
	name, module string
	make         func(bitsPerKey int, kind kind) library
}

var others = []other{
	{"Pebble", pebblebloom.Module, pebble},
	{"goleveldb", "github.com/syndtr/goleveldb", goleveldb},
	{"Badger", "github.com/dgraph-io/badger/v4", badger},
	{"bits-and-blooms", "github.com/bits-and-blooms/bloom/v3", bitsAndBlooms},
	{"holiman", "github.com/holiman/bloomfilter/v2", holimanFilter},
	{"blobloom", "github.com/greatroar/blobloom", blobloomFilter},
	{"ristretto", "github.com/dgraph-io/ristretto/v2", ristretto},
	{"parquet-go", "github.com/parquet-go/parquet-go", parquetGo},
	{"BinaryFuse8", "github.com/FastFilter/xorfilter", binaryFuse8},
}

// newLibraries returns the libraries with filters of about the given bits per key. It leaves out those of C++ that have no timer.
func newLibraries(bitsPerKey int, kind kind, cpp []*oracle.Timer) (all []library) {
	add := func(name string, l library) {
		l.name = name
		all = append(all, l)
	}
	for _, o := range own {
		add("lanebloom, "+o.name, lanebloom(o.format, bloom.Kernels()[0], bitsPerKey))
	}
	for _, kernel := range otherKernels() {
		for _, o := range own[:formatsOfOtherKernels] {
			l := lanebloom(o.format, kernel, bitsPerKey)
			l.untimedBuild = true
			add(fmt.Sprintf("lanebloom, %s, %v", o.name, kernel), l)
		}
	}
	for i, c := range inCPP {
		if cpp[i] != nil {
			add(c.name, cppFilter(cpp[i], c.test))
		}
	}
	for _, o := range others {
		add(o.name, o.make(bitsPerKey, kind))
	}
	return all
}

// names returns the names of all libraries.
func names() (names []string) {
	for _, l := range newLibraries(1, integers, make([]*oracle.Timer, len(inCPP))) {
		names = append(names, l.name)
	}
	for _, c := range inCPP {
		names = append(names, c.name)
	}
	return names
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

// cppFilter is a filter in C++, which tests key by key or 32 keys at once.
func cppFilter(timer *oracle.Timer, test call) (l library) {
	l.build[atOnce] = func(keys *column, times int) (time.Duration, int, error) { return timer.Build(keys.number, times) }
	l.test[test] = func(keys *column, times int) (time.Duration, int, error) { return timer.Test(keys.number, times) }
	return l
}

// oneByOne is a library whose filter of type F is built and tested key by key. Building returns its size, too.
func oneByOne[F any](build func(keys *column) (f F, size int), has func(f F, keys *column, i int) bool) (l library) {
	var f F
	l.build[keyByKey] = builder(func(keys *column) (size int) {
		f, size = build(keys)
		return size
	})
	l.test[keyByKey] = builder(func(keys *column) (hits int) {
		for i := range keys.len {
			if has(f, keys, i) {
				hits++
			}
		}
		return hits
	})
	return l
}

func pebble(bitsPerKey int, _ kind) library {
	var p pebblebloom.Pebble
	return oneByOne(func(keys *column) ([]byte, int) {
		f := p.Build(keys.len, keys.key, bitsPerKey)
		return f, len(f)
	}, func(f []byte, keys *column, i int) bool { return p.MayContain(f, keys.key(i)) })
}

func goleveldb(bitsPerKey int, _ kind) library {
	policy := filter.NewBloomFilter(bitsPerKey)
	return oneByOne(func(keys *column) ([]byte, int) {
		g := policy.NewGenerator()
		for i := range keys.len {
			g.Add(keys.key(i))
		}
		var b util.Buffer
		g.Generate(&b)
		return b.Bytes(), b.Len()
	}, func(f []byte, keys *column, i int) bool { return policy.Contains(f, keys.key(i)) })
}

func badger(bitsPerKey int, _ kind) library {
	return oneByOne(func(keys *column) (y.Filter, int) {
		var hashes []uint32 // grows, as in Badger's table builder
		for i := range keys.len {
			hashes = append(hashes, y.Hash(keys.key(i)))
		}
		f := y.NewFilter(hashes, bitsPerKey)
		return f, len(f)
	}, func(f y.Filter, keys *column, i int) bool { return f.MayContainKey(keys.key(i)) })
}

// bitsAndProbes returns the bits of a filter, and the number of probes that is best for them.
func bitsAndProbes(keys *column, bitsPerKey int) (m, k uint64) {
	m = uint64(keys.len * bitsPerKey)
	return m, holiman.OptimalK(m, uint64(keys.len))
}

func bitsAndBlooms(bitsPerKey int, _ kind) library {
	return oneByOne(func(keys *column) (*bitsbloom.BloomFilter, int) {
		m, k := bitsAndProbes(keys, bitsPerKey)
		f := bitsbloom.New(uint(m), uint(k))
		for i := range keys.len {
			f.Add(keys.key(i))
		}
		return f, int(m / 8)
	}, func(f *bitsbloom.BloomFilter, keys *column, i int) bool { return f.Test(keys.key(i)) })
}

func holimanFilter(bitsPerKey int, _ kind) library {
	return oneByOne(func(keys *column) (*holiman.Filter, int) {
		m, k := bitsAndProbes(keys, bitsPerKey)
		// Its own seeds are random; these give the same rate in every run.
		random := rand.New(rand.NewPCG(1, 2))
		seeds := make([]uint64, k)
		for i := range seeds {
			seeds[i] = random.Uint64()
		}
		f, err := holiman.NewWithKeys(m, seeds)
		if err != nil {
			panic(err) // the sizes are ours
		}
		for i := range keys.len {
			f.AddHash(xxhash.Sum64(keys.key(i)))
		}
		return f, int(m / 8)
	}, func(f *holiman.Filter, keys *column, i int) bool { return f.ContainsHash(xxhash.Sum64(keys.key(i))) })
}

func blobloomFilter(bitsPerKey int, _ kind) library {
	return oneByOne(func(keys *column) (*blobloom.Filter, int) {
		// NewOptimized takes 6 probes for these bits, and 7 are better.
		m, k := bitsAndProbes(keys, bitsPerKey)
		f := blobloom.New(m, int(k))
		for i := range keys.len {
			f.Add(xxhash.Sum64(keys.key(i)))
		}
		return f, int(f.NumBits() / 8)
	}, func(f *blobloom.Filter, keys *column, i int) bool { return f.Has(xxhash.Sum64(keys.key(i))) })
}

// ristretto's filter takes hashes. It has a power of two of bits, at least as many as it is asked for.
func ristretto(bitsPerKey int, _ kind) library {
	return oneByOne(func(keys *column) (*z.Bloom, int) {
		m, k := bitsAndProbes(keys, bitsPerKey)
		f := z.NewBloomFilter(float64(m), float64(k))
		for i := range keys.len {
			f.Add(xxhash.Sum64(keys.key(i)))
		}
		return f, f.TotalSize()
	}, func(f *z.Bloom, keys *column, i int) bool { return f.Has(xxhash.Sum64(keys.key(i))) })
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
func binaryFuse8(_ int, kind kind) (l library) {
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
