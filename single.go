package bloom

import (
	"unsafe"

	"github.com/lanebloom/bloom/internal/detect"
	"github.com/lanebloom/bloom/internal/keyhash"
	"github.com/lanebloom/bloom/internal/load"
	"github.com/lanebloom/bloom/internal/probes"
)

// addKey adds the key of n bytes at p, and reports whether it was certainly new. It is not atomic: an AtomicSet must not call it.
func (s *prober) addKey(p unsafe.Pointer, n int) (isNew bool) {
	if n == 8 {
		return addUint64(&s.Base, load.Uint64(p, 0))
	}
	switch s.scheme {
	case schemeLevelDB:
		return probes.LevelDB(s.Array).Add(keyhash.LevelDB(p, n, keyhash.UnsignedBytes))
	case schemeNori:
		return (*probes.Nori)(&s.Array).Add(keyhash.XXH64x2(p, n))
	case schemeParquet:
		h := keyhash.XXH64(p, n)
		if isNew, ok := addOneSplit256(s.kernel, &s.Base, h); ok { // in addOne, it would be a call more: a seventh of the time
			return isNew
		}
		return (*probes.Parquet)(&s.Array).Add(h)
	case schemeRocksDB:
		h := uint64(0)
		if n <= keyhash.ShortXXPH3 {
			h = keyhash.XXPH3Short(p, n)
		} else {
			h = xxph3At(p, n)
		}
		if s.K <= maxHasProbes {
			if isNew, ok := addOneLine512(s.kernel, &s.Base, h); ok {
				return isNew
			}
		}
		return (*probes.RocksDB)(&s.Array).Add(h)
	case schemePebble:
		return (*probes.Pebble)(&s.Array).Add(keyhash.LevelDB(p, n, keyhash.SignedBytes))
	case schemeBitsAndBlooms:
		return (*probes.BitsAndBlooms)(&s.Array).Add(keyhash.Murmur3x2(p, n))
	case schemeGuava:
		return (*probes.Guava)(&s.Array).Add(keyhash.Murmur3(p, n))
	}
	panic(noBits)
}

// probeHash reports whether the key of a hash of the prober may be in the filter.
func (s *prober) probeHash(h Hash) bool {
	if detect.Races && s.atomic {
		return s.probeHashAtomic(h)
	}
	if s.scheme == schemeBitsAndBlooms { // it takes any words
		return (*probes.BitsAndBlooms)(&s.Array).Has(h.h1, h.h2, h.h3, h.h4)
	}
	return probeHash(&s.Base, h.h1, h.h2, h.h3, h.h4)
}
