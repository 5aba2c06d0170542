package answers

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/lanebloom/bloom"
)

// keyList is the keys of a question.
type keyList []string

// unique returns every key once.
func (l keyList) unique() ([]string, error) {
	if len(l) > maxKeys {
		return nil, fmt.Errorf("there are more keys than the limit of %d", maxKeys)
	}
	seen := make(map[string]bool, len(l))
	unique := l[:0]
	for _, key := range l {
		if len(key) > maxKeyBytes {
			return nil, fmt.Errorf("a key has %d bytes, more than the limit of %d: %.30q…", len(key), maxKeyBytes, key)
		}
		if !seen[key] {
			seen[key] = true
			unique = append(unique, key)
		}
	}
	return unique, nil
}

// patterns make numbered keys, such as tables have. LevelDB's hash is equal for many of them.
var patterns = []string{"order-2026-%09d-EU", "user-%08d", "key%06d", "https://example.com/items/%d?ref=mail"}

// numbered is keys that differ in a number: of each two numbers from 0 on, one is added, by chance, and
// the other is absent.
type numbered struct {
	Pattern string `json:"pattern"`
	Count   int    `json:"count"` // of those that are added, and of those that are absent
}

func (n numbered) check() error {
	if n.Count != 0 && !slices.Contains(patterns, n.Pattern) {
		return fmt.Errorf("%.100q is not a pattern of numbered keys", n.Pattern)
	}
	return within("the number of numbered keys", n.Count, 0, maxNumbered)
}

// columns calls do with columns of the keys, those that are added or those that are absent.
func (n numbered) columns(added bool, do func(keys []string)) {
	const most = 1 << 12
	random := rand.New(rand.NewPCG(0, 0))
	keys := make([]string, 0, most)
	for i := range n.Count {
		number := 2*i + random.IntN(2)
		if !added {
			number ^= 1
		}
		if keys = append(keys, fmt.Sprintf(n.Pattern, number)); len(keys) == most || i == n.Count-1 {
			do(keys)
			keys = keys[:0]
		}
	}
}

// randomColumns calls do with columns of absent keys: random letters, which nobody has added.
func randomColumns(count int, do func(keys []string)) {
	const most, length = 1 << 12, 16
	random := rand.NewChaCha8([32]byte{})
	for ; count > 0; count -= most {
		keys := make([]string, min(count, most))
		for i := range keys {
			var key [length]byte
			_, _ = random.Read(key[:]) // never fails
			for j := range key {
				key[j] = 'a' + key[j]%26
			}
			keys[i] = string(key[:])
		}
		do(keys)
	}
}

// passes calls do with the keys of a column that pass a filter.
func passes(f *bloom.Filter, keys []string, do func(key string)) {
	for _, i := range f.AppendHits(nil, bloom.Strings(keys)) {
		do(keys[i])
	}
}
