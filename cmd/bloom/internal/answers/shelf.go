package answers

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"

	"github.com/lanebloom/bloom/cmd/internal/filterfile"
)

// mostKept bounds the bytes of the filters that a desk keeps, beside the last one.
const mostKept = 256 << 20

// shelf keeps filters. New ones push out old ones.
type shelf struct {
	mu   sync.Mutex
	kept []kept // the last used last
}

// kept is a filter under a name that no other desk gives, also not one that starts anew.
type kept struct {
	id   string
	file []byte // as it came
	filterfile.Filter
}

var errGone = errors.New("the filter is no longer here")

func (s *shelf) put(file []byte, f filterfile.Filter) kept {
	k := kept{strconv.FormatUint(rand.Uint64(), 36), file, f}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept = append(s.kept, k)
	total := 0
	for i, old := range slices.Backward(s.kept) {
		if total += len(old.file); total > mostKept && i < len(s.kept)-1 {
			s.kept = slices.Delete(s.kept, 0, i+1)
			break
		}
	}
	const most = 16 // however small
	s.kept = slices.Delete(s.kept, 0, max(0, len(s.kept)-most))
	return k
}

func (s *shelf) get(id string) (kept, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.kept, func(k kept) bool { return k.id == id })
	if i < 0 {
		return kept{}, errGone
	}
	k := s.kept[i]
	s.kept = append(slices.Delete(s.kept, i, i+1), k)
	return k, nil
}
