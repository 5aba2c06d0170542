package bloombeam

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/lanebloom/bloom"
)

// A column of keys is added or tested when it has this many keys, or this many bytes.
const (
	batchKeys  = 4096
	batchBytes = 1 << 20
)

// column is keys, one after the other.
type column struct {
	data    []byte
	offsets []int32 // those of the ends of keys, after a 0; empty if there are no keys
}

// appendKey appends the key of an element.
func appendKey[T any, K Keyer[T]](c *column, key K, element T) {
	if len(c.offsets) == 0 {
		c.offsets = append(c.offsets, 0)
	}
	c.data = key.AppendKey(c.data, element)
	c.offsets = append(c.offsets, int32(len(c.data)))
}

func (c *column) len() int   { return max(len(c.offsets)-1, 0) }
func (c *column) full() bool { return c.len() >= batchKeys || len(c.data) >= batchBytes }
func (c *column) clear()     { c.data, c.offsets = c.data[:0], c.offsets[:0] }

// at returns key i.
func (c *column) at(i int) []byte { return c.data[c.offsets[i]:c.offsets[i+1]] }

// keys returns the column for the library.
func (c *column) keys() (bloom.Keys, error) { return bloom.Offsets(c.data, c.offsets) }

// buildFn is the CombineFn of BuildFilter.
type buildFn[T any, K Keyer[T]] struct {
	Policy   bloom.Policy
	Capacity int
	Key      K
}

// accumulator is a set, and keys that it does not have yet. There is no set before the first full
// column, so that a worker with few keys sends no zeros.
type accumulator struct {
	set  *bloom.Set
	keys column
}

func (f *buildFn[T, K]) CreateAccumulator() *accumulator { return new(accumulator) }

func (f *buildFn[T, K]) AddInput(a *accumulator, element T) (*accumulator, error) {
	appendKey(&a.keys, f.Key, element)
	if !a.keys.full() {
		return a, nil
	}
	return a, f.flush(a)
}

// flush adds the keys of a to its set.
func (f *buildFn[T, K]) flush(a *accumulator) (err error) {
	if a.set == nil {
		if a.set, err = f.Policy.NewSet(f.Capacity); err != nil {
			return fmt.Errorf("lanebloom.BuildFilter: %w", err)
		}
	}
	return a.addKeys()
}

// addKeys adds the keys to the set.
func (a *accumulator) addKeys() error {
	keys, err := a.keys.keys()
	if err != nil {
		return err
	}
	a.set.AddBatch(keys)
	a.keys.clear()
	return nil
}

func (f *buildFn[T, K]) MergeAccumulators(a, b *accumulator) (*accumulator, error) {
	if a.set == nil {
		a, b = b, a
	}
	if b.set != nil { // and so has a
		if err := a.set.Merge(b.set); err != nil {
			return nil, fmt.Errorf("lanebloom.BuildFilter: %w", err)
		}
	}
	for i := range b.keys.len() {
		appendKey(&a.keys, Bytes{}, b.keys.at(i))
		if a.keys.full() {
			if err := f.flush(a); err != nil {
				return nil, err
			}
		}
	}
	return a, nil
}

func (f *buildFn[T, K]) ExtractOutput(a *accumulator) ([]byte, error) {
	if err := f.flush(a); err != nil {
		return nil, err
	}
	filter, err := a.set.Filter().WithKeyKind(kindOf(f.Key))
	if err != nil {
		return nil, fmt.Errorf("lanebloom.BuildFilter: %w", err)
	}
	return filter.MarshalBinary()
}

// The coder of accumulators writes a byte that tells what follows: the file of the set, or the keys. A key is the number of its
// bytes as a varint, and the bytes.
const (
	codedKeys byte = iota
	codedSet
)

func encodeAccumulator(a *accumulator) ([]byte, error) {
	if a.set != nil {
		if err := a.addKeys(); err != nil {
			return nil, err
		}
		return a.set.AppendBinary([]byte{codedSet})
	}
	encoded := append(make([]byte, 0, 1+len(a.keys.data)+3*a.keys.len()), codedKeys)
	for i := range a.keys.len() {
		key := a.keys.at(i)
		encoded = append(binary.AppendUvarint(encoded, uint64(len(key))), key...)
	}
	return encoded, nil
}

var errAccumulator = errors.New("lanebloom.BuildFilter: the accumulator is damaged")

func decodeAccumulator(encoded []byte) (*accumulator, error) {
	a := new(accumulator)
	switch {
	case len(encoded) == 0:
		return nil, errAccumulator
	case encoded[0] == codedSet:
		a.set = new(bloom.Set)
		if err := a.set.UnmarshalBinary(encoded[1:]); err != nil {
			return nil, err
		}
		if len(a.set.Bytes()) == 0 {
			return nil, errAccumulator // the zero Set, which takes no keys
		}
		return a, nil
	case encoded[0] != codedKeys:
		return nil, errAccumulator
	}
	for encoded = encoded[1:]; len(encoded) > 0; {
		n, size := binary.Uvarint(encoded)
		if size <= 0 || n > uint64(len(encoded)-size) {
			return nil, errAccumulator
		}
		appendKey(&a.keys, Bytes{}, encoded[size:][:n])
		encoded = encoded[size+int(n):]
	}
	return a, nil
}
