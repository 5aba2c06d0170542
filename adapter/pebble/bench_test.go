package bloompebble

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"
	own "github.com/cockroachdb/pebble/v2/bloom"

	"github.com/lanebloom/bloom/internal/inturn"
)

// The benchmarks run Pebble's own policy and another in turn inside one process. A round gives
// one ratio. The metrics are medians over the rounds:
//
//	ns/…          the time with the policy that the sub-benchmark names
//	x-own         how many times faster that is than with Pebble's own policy
//	x-p10, x-p90  the spread of that ratio: its first and last decile

// policies are what the benchmarks compare with Pebble's own. The first is the same, to show the
// noise.
var policies = []struct {
	name   string
	policy pebble.FilterPolicy
}{{"own", own.FilterPolicy(10)}, {"pebble", FilterPolicy(10)}, {"leveldb", NewNamed("leveldb", leveldb)}}

// benchmarkKey returns key i, of 16 bytes that look random.
func benchmarkKey(i int) []byte { return fmt.Appendf(nil, "%016x", uint64(i+1)*0x9e3779b97f4a7c15) }

// writing times AddKey and Finish of a table's filter, or Finish alone. The writer is new for
// every table, as in Pebble.
func writing(p pebble.FilterPolicy, keys [][]byte, finishAlone bool) time.Duration {
	start := time.Now()
	w := p.NewWriter(pebble.TableFilter)
	for _, key := range keys {
		w.AddKey(key)
	}
	if finishAlone {
		start = time.Now()
	}
	w.Finish(nil)
	return time.Since(start)
}

// BenchmarkWriter makes the filters of tables of different sizes.
func BenchmarkWriter(b *testing.B) {
	for _, n := range []int{1000, 50_000, 1_000_000} {
		keys := make([][]byte, n)
		for i := range keys {
			keys[i] = benchmarkKey(i)
		}
		for _, what := range []string{"finish", "addkey+finish"} {
			for _, other := range policies {
				b.Run(fmt.Sprintf("keys=%d/what=%s/filter=%s", n, what, other.name), func(b *testing.B) {
					inturn.Run(b, "key", n, "own",
						func() time.Duration { return writing(policies[0].policy, keys, what == "finish") },
						func() time.Duration { return writing(other.policy, keys, what == "finish") })
				})
			}
		}
	}
}

// BenchmarkMayContain tests keys, absent or present, in the filter of a table.
func BenchmarkMayContain(b *testing.B) {
	const tests = 20_000
	for _, n := range []int{1000, 50_000, 1_000_000} {
		filters := map[string][]byte{}
		for _, p := range policies {
			w := p.policy.NewWriter(pebble.TableFilter)
			for i := range n {
				w.AddKey(benchmarkKey(2 * i))
			}
			filters[p.name] = w.Finish(nil)
		}
		for present, which := range []string{"present", "absent"} {
			random := rand.New(rand.NewPCG(3, 4))
			keys := make([][]byte, tests)
			for i := range keys {
				keys[i] = benchmarkKey(2*random.IntN(n) + present)
			}
			test := func(i int) time.Duration {
				p, filter := policies[i].policy, filters[policies[i].name]
				start := time.Now()
				yes := 0
				for _, key := range keys {
					if p.MayContain(pebble.TableFilter, filter, key) {
						yes++
					}
				}
				took := time.Since(start)
				if which == "present" && yes != tests || which == "absent" && yes > tests/10 {
					b.Fatalf("%d of %d keys pass, and all are %s", yes, tests, which)
				}
				return took
			}
			for i, other := range policies {
				b.Run(fmt.Sprintf("keys=%d/%s/filter=%s", n, which, other.name), func(b *testing.B) {
					inturn.Run(b, "key", tests, "own", func() time.Duration { return test(0) }, func() time.Duration { return test(i) })
				})
			}
		}
	}
}
