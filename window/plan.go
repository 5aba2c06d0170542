package window

import (
	"fmt"
	"math"

	"github.com/lanebloom/bloom"
	"github.com/lanebloom/bloom/internal/memory"
	"github.com/lanebloom/bloom/internal/rates"
)

// Options describes a Window.
type Options struct {
	Format      bloom.Format // format of the filters; the zero Format is [bloom.Default]
	Generations int          // number of generations, 2 to 1,024
	Keys        int          // planned keys per generation; with more keys, a generation gets more memory, up to MaxBytes
	Rate        float64      // false-positive rate, 0 to 1, of a query of all generations, for up to twice the planned keys
	MaxBytes    int64        // limit for the total size of all filters in bytes; 0 means 4 times Bytes
}

// mostGenerations bounds the time of a query.
const mostGenerations = 1024

// Bytes returns the total size of the filters in bytes if no generation gets more than Keys keys. The
// result does not depend on MaxBytes. Like [New], Bytes returns [bloom.ErrFormat], [bloom.ErrCapacity] or
// [bloom.ErrRate].
func (o Options) Bytes() (int64, error) {
	p, err := o.plan()
	return int64(o.Generations) * p.bytes(), err
}

// shape is the geometry of a filter.
type shape struct {
	bits   uint64
	probes int
}

// plan is how a set is made, and when it has its keys.
type plan struct {
	policy bloom.Policy
	keys   int
	shape  shape   // of a set
	rate   float64 // of a set that has its keys, at most

	half, full float64 // the share of bits that is set in a set with half of its keys, and with more than all of them
	rarely     uint32  // a new key is followed by a look at the bits if a random number has none of these bits
}

// plan returns the plan of a generation. Each set gets the rate of one of twice as many generations: in any
// order, the keys of a whole window, twice as many as planned, fill no more sets than that.
func (o Options) plan() (*plan, error) {
	switch {
	case o.Generations < 2 || o.Generations > mostGenerations:
		return nil, fmt.Errorf("window: %w: %d generations: the number must be 2 to %d", bloom.ErrCapacity, o.Generations, mostGenerations)
	case o.Keys < 1:
		return nil, fmt.Errorf("window: %w: %d keys: the number must be 1 or more", bloom.ErrCapacity, o.Keys)
	case !(o.Rate > 0 && o.Rate < 1): // not a number is neither
		return nil, fmt.Errorf("window: %w: the rate %v is not between 0 and 1", bloom.ErrRate, o.Rate)
	}
	p := &plan{keys: o.Keys, rate: rateOf(o.Rate, 2*o.Generations)}
	var err error
	if p.policy, err = bloom.PolicyFor(o.Format, o.Keys, p.rate); err != nil {
		return nil, fmt.Errorf("window: a rate of %.3g for %d generations needs a rate of %.3g in each filter: %w", o.Rate, o.Generations, p.rate, err)
	}
	if p.shape.bits, p.shape.probes, err = p.policy.Size(o.Keys); err != nil {
		return nil, fmt.Errorf("window: %w", err)
	}
	if each := p.bytes(); o.MaxBytes != 0 && o.MaxBytes/each < int64(o.Generations) {
		return nil, fmt.Errorf("window: %w: MaxBytes is %d, but %d generations need %d bytes", bloom.ErrCapacity, o.MaxBytes, o.Generations, int64(o.Generations)*each)
	}
	p.full = expectedSet(o.Format)(slack*float64(o.Keys), float64(p.shape.bits), p.shape.probes) / float64(p.shape.bits)
	p.half = 1 - math.Sqrt(1-p.full)
	for looks := o.Keys / 64; p.rarely < uint32(min(looks, math.MaxInt32))/2; {
		p.rarely = 2*p.rarely + 1
	}
	return p, nil
}

// slack is how many times its keys a set has when it is full: one that has just them shall need no other.
const slack = 1.01

// rateOf returns the rate of each of n filters that have a rate together.
func rateOf(together float64, n int) float64 { return -math.Expm1(math.Log1p(-together) / float64(n)) }

// bytes returns the bytes of the bits of a set.
func (p *plan) bytes() int64 {
	if p == nil {
		return 0
	}
	return int64((p.shape.bits + 7) / 8)
}

// most returns the bytes of all filters, at most.
func (o Options) most(p *plan) int64 {
	if o.MaxBytes != 0 {
		return o.MaxBytes
	}
	return 4 * int64(o.Generations) * p.bytes()
}

// expectedSet returns how many bits n keys are expected to set in a filter of m bits and k probes.
func expectedSet(f bloom.Format) func(n, m float64, k int) float64 {
	switch f {
	case bloom.RocksDB:
		return rates.RocksDBSet
	case bloom.LevelDB:
		return rates.LevelDBSet
	case bloom.Pebble:
		return rates.PebbleSet
	default:
		return rates.IndependentSet
	}
}

// set is a filter, and what the methods of its AtomicSet do not tell.
type set struct {
	*bloom.AtomicSet
	filter *bloom.Filter
	shape  shape
	before int // bytes of the filter before its bits
	bits   []byte
	plan   *plan // by which it was made; nil for a set of another shape, to which nobody adds keys
}

// newSet returns an empty set.
func (p *plan) newSet() (*set, error) {
	s, err := p.policy.NewAtomicSet(p.keys)
	if err != nil {
		return nil, fmt.Errorf("window: %w", err)
	}
	return setOf(s, p.shape, p), nil
}

// makeShape returns an empty set of a shape. It is one of p if it has its shape.
func (p *plan) makeShape(f bloom.Format, of shape) (*set, error) {
	if of == p.shape && f == p.policy.Format {
		return p.newSet()
	}
	s, err := f.NewAtomicSet(of.bits, of.probes)
	if err != nil {
		return nil, err
	}
	return setOf(s, of, nil), nil
}

// openSet returns a set with a copy of the bytes of a filter. It is one of p if it has its shape.
func openSet(f bloom.Format, data []byte, p *plan) (*set, error) {
	s, err := bloom.OpenAtomicSet(f, data)
	if err != nil {
		return nil, err
	}
	stats := s.Stats()
	of := shape{stats.Bits, stats.Probes}
	if of != p.shape || f != p.policy.Format {
		p = nil
	}
	return setOf(s, of, p), nil
}

func setOf(s *bloom.AtomicSet, of shape, p *plan) *set {
	f := s.Filter()
	from, to := f.BitRange()
	return &set{AtomicSet: s, filter: f, shape: of, before: from, bits: f.Bytes()[from:to], plan: p}
}

// around returns a copy of the bytes before the bits and behind them.
func (s *set) around() []byte {
	data := s.filter.Bytes()
	return append(append([]byte(nil), data[:s.before]...), data[s.before+len(s.bits):]...)
}

// small is the size of a set, in bytes, that is made in less time than it takes until another goroutine runs.
const small = 1 << 18

const (
	line = 64      // bytes
	few  = 256     // lines: their bits give the number of keys within 2 %
	many = 1 << 16 // and within 0.2 %
)

// fill returns the share of bits that is set, 0 to 1, of a sample of cache lines. They are the same each time.
func (s *set) fill(lines int) float64 {
	n := len(s.bits) / line
	if n <= lines {
		all := s.bits[:len(s.bits)&^3]
		return float64(memory.OnesShared(all)) / float64(8*max(len(all), 1))
	}
	ones := 0
	for i := range lines {
		at := int(uint64(n)*uint64(i)/uint64(lines)) * line
		ones += memory.OnesShared(s.bits[at : at+line])
	}
	return float64(ones) / float64(8*line*lines)
}

// isFull reports whether a set has its keys. It counts many lines if few of them have nearly as many bits.
func (s *set) isFull(fill float64) bool {
	return fill >= 0.96*s.plan.full && s.fill(many) >= s.plan.full
}

// load returns how full a set of a plan is: 1 if it is full.
func (s *set) load() float64 { return math.Log1p(-min(s.fill(few), 0.999)) / math.Log1p(-s.plan.full) }
