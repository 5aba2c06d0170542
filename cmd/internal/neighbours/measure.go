package neighbours

import "github.com/lanebloom/bloom"

// counts are the answers of a filter for absent keys.
type counts struct {
	asked, passed int

	// equalHash counts those that passed and have the hash of a key. They pass however many bits per key the filter has.
	equalHash int
}

// rate returns the share, 0 to 1, of absent keys that passed. The share of none is not a number.
func (c counts) rate() float64 { return float64(c.passed) / float64(c.asked) }

// measure asks the filter of a column of keys for absent neighbours of its keys: those with numbers between theirs, and
// after them. It asks for none if the keys have no numbers, or more than 1,024 bytes.
func measure(filter *bloom.Filter, keys column) (between, after counts) {
	data, length, firstAfter := keys.neighbours()
	if len(data) == 0 {
		return between, after
	}
	asked := must(bloom.FixedWidth(data, length))
	all := must(bloom.Offsets(keys.data, keys.offsets))

	absent := make(map[string]int, asked.Len()) // each neighbour that is no key, and its first row
	for row, text := 0, string(data); row < asked.Len(); row++ {
		key := text[row*length:][:length]
		if _, twice := absent[key]; !twice {
			absent[key] = row
		}
	}
	for row := range (bloom.Policy{BitsPerKey: 16}).NewFilter(asked).Hits(all) { // nearly all other keys are left out
		delete(absent, string(keys.key(row)))
	}

	format := filter.Format()
	hashes := make(map[bloom.Hash]bool) // of the keys whose hash a neighbour may have
	for row := range (bloom.Policy{Format: format, BitsPerKey: 32}).NewFilter(asked).Hits(all) {
		hashes[format.Hash(keys.key(row))] = true
	}

	side := func(row int) *counts {
		if row < firstAfter {
			return &between
		}
		return &after
	}
	for _, row := range absent {
		side(row).asked++
	}
	for row := range filter.Hits(asked) {
		key := data[row*length:][:length]
		if first, ok := absent[string(key)]; !ok || first != row {
			continue
		}
		c := side(row)
		c.passed++
		if hashes[format.Hash(key)] {
			c.equalHash++
		}
	}
	return between, after
}

// must returns a column whose numbers are this package's own.
func must(keys bloom.Keys, err error) bloom.Keys {
	if err != nil {
		panic(err)
	}
	return keys
}
