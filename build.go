package bloom

import (
	"runtime"
	"sync"
	"unsafe"
)

// Setting a bit of a filter beyond the caches waits for memory. So the places of
// the bits of large filters are first scattered by regions that fit the caches,
// and set region by region, when many are there: a cache line comes once for
// several bits. Workers share the regions. The bits are the same whatever the
// order, and so are the bytes.
const (
	scatterFrom  = 16 << 20  // bytes: smaller filters are set directly by one worker
	shareFrom    = 2 << 20   // bytes: smaller filters are built by one worker
	regionShift  = 19        // a region has 2^19 bits, 64 KiB
	regionPlaces = 1 << 13   // that are set at a time, by all workers together
	workerKeys   = 1 << 17   // fewer are not worth another worker
	placesOnce   = 1 << 12   // places computed at a time: those of a key at least
	placesFew    = 8 * short // computed at a time for few keys
	linePlaces   = 16        // in a cache line
)

// addColumn sets the bits of every key of a column.
func (s scheme) addColumn(keys Keys) {
	size := s.length()
	if size > 1<<32/8 {
		s.addEach(keys)
		return
	}
	workers := 1
	if size >= shareFrom {
		workers = max(1, min(runtime.GOMAXPROCS(0), keys.n/workerKeys))
	}
	// With fewer keys than cache lines, few bits share a line.
	if workers == 1 && (size < scatterFrom || uint64(keys.n) < size/64) {
		s.addDirectly(keys)
	} else {
		s.addScattered(keys, workers)
	}
}

// addEach sets bits of filters whose bits have numbers of more than 32 bits.
func (s scheme) addEach(keys Keys) {
	hashed := s.buildBuffer(nil)
	for i := 0; i < keys.n; i += window {
		part := keys.slice(i, min(i+window, keys.n))
		h := part.hashKeys(&hashed)
		for j := range h.h1 {
			s.wide.add(Hash{h.h1[j], h.h2[j]})
		}
	}
}

// buildBuffer returns room for the hashes of a window: narrow, if those have 32 bits.
func (s scheme) buildBuffer(narrow *[window]uint32) hashes {
	if s.isWide() {
		return hashes{h1: make([]uint64, window), h2: make([]uint64, window)}
	}
	return hashes{narrow: narrow[:]}
}

func (d scheme) addScattered(keys Keys, workers int) {
	s := &scatter{scheme: d, regions: make([]sync.Mutex, (8*d.length()-1)>>regionShift+1)}
	capacity := max(regionPlaces/workers/linePlaces*linePlaces, 1<<11)
	var group sync.WaitGroup
	for w := range workers {
		part := keys.slice(keys.n/workers*w, keys.n/workers*(w+1))
		if w == workers-1 {
			part = keys.slice(keys.n/workers*w, keys.n)
		}
		group.Go(func() { s.add(part, capacity) })
	}
	group.Wait()
}

func (s scheme) addDirectly(keys Keys) {
	// Clearing the large buffers costs more than a few keys do, and storage
	// engines have a filter for every block.
	if keys.n <= short && s.probes() <= placesFew {
		var places [placesFew]uint32
		if s.isWide() {
			var h1, h2 [short]uint64
			s.addWindow(&keys, &hashes{h1: h1[:], h2: h2[:]}, places[:])
		} else {
			var narrow [short]uint32
			s.addWindow(&keys, &hashes{narrow: narrow[:]}, places[:])
		}
		return
	}
	var places [placesOnce]uint32
	if s.isWide() {
		var h1, h2 [windowWide]uint64
		s.addWindows(&keys, &hashes{h1: h1[:], h2: h2[:]}, places[:])
	} else {
		var narrow [window]uint32
		s.addWindows(&keys, &hashes{narrow: narrow[:]}, places[:])
	}
}

// addWindows is addDirectly with room for the hashes of a window, and for the places
// of one key at least.
func (s *scheme) addWindows(keys *Keys, room *hashes, places []uint32) {
	for i := 0; i < keys.n; i += room.len() {
		part := keys.slice(i, min(i+room.len(), keys.n))
		s.addWindow(&part, room, places)
	}
}

// addWindow is addDirectly for as many keys as there is room for hashes, or fewer.
// There must be room for the places of one key.
func (s *scheme) addWindow(keys *Keys, room *hashes, places []uint32) {
	k := s.probes()
	for rest := keys.hashKeys(room); rest.len() > 0; {
		n := s.place(&rest, places)
		s.set(places[:n*k])
		rest = rest.slice(n, rest.len())
	}
}

// place writes the numbers of the bits of some hashes, from the first on, to
// places, k for each, in any order. It returns the number of hashes.
func (s *scheme) place(h *hashes, places []uint32) int {
	k := s.probes()
	n := min(h.len(), len(places)/k)
	if s.isWide() {
		s.wide.placeGeneric(h.h1[:n], h.h2[:n], places)
		return n
	}
	done := s.placeAssembly(kernels[0], h.narrow[:n], places)
	s.placeGeneric(h.narrow[done:n], places[done*k:])
	return n
}

// set sets bits by number.
func (s *scheme) set(places []uint32) {
	base, whole := s.base, uint64(s.size)
	if s.isWide() {
		base, whole = s.wide.base, s.wide.size()
	}
	for _, p := range places[setAssembly(base, whole, places):] {
		*(*byte)(unsafe.Add(unsafe.Pointer(base), p/8)) |= 1 << (p % 8)
	}
}

// scatter is a filter that workers set region by region.
type scatter struct {
	scheme
	regions []sync.Mutex
}

// add is the work of one worker, which keeps up to capacity places a region.
func (s *scatter) add(keys Keys, capacity int) {
	buffers := newRegionBuffers(len(s.regions), capacity)
	var narrow [window]uint32
	var places [placesOnce]uint32
	hashed, k := s.buildBuffer(&narrow), s.probes()
	for i := 0; i < keys.n; i += window {
		part := keys.slice(i, min(i+window, keys.n))
		for rest := part.hashKeys(&hashed); rest.len() > 0; {
			n := s.place(&rest, places[:])
			rest = rest.slice(n, rest.len())
			for unkept := places[:n*k]; len(unkept) > 0; {
				left := buffers.scatter(unkept)
				done := len(unkept) - left
				if last := unkept[done-1] >> regionShift; buffers.isFull(last) {
					s.setRegion(buffers, last)
				}
				unkept = unkept[done:]
			}
		}
	}
	for region := range s.regions {
		s.setRegion(buffers, uint32(region))
	}
}

// setRegion sets and forgets the places kept for a region.
func (s *scatter) setRegion(b *regionBuffers, region uint32) {
	s.regions[region].Lock()
	s.set(b.whole(region))
	s.set(b.rest(region))
	s.regions[region].Unlock()
	b.numbers[region] = 0
}

// regionBuffers keep places by region: those that fill cache lines in kept, with
// room for capacity of each region, and those after them in lines.
type regionBuffers struct {
	capacity    int // a multiple of linePlaces
	numbers     []uint32
	lines, kept []uint32
}

func newRegionBuffers(regions, capacity int) *regionBuffers {
	return &regionBuffers{
		capacity: capacity,
		numbers:  make([]uint32, regions),
		lines:    make([]uint32, regions*linePlaces),
		kept:     hugeWords(regions * capacity),
	}
}

// scatter keeps places, up to one that makes a region full, and returns the
// number of those left.
func (b *regionBuffers) scatter(places []uint32) (left int) {
	if left, ok := b.scatterAssembly(places); ok {
		return left
	}
	return b.scatterGeneric(places)
}

func (b *regionBuffers) scatterGeneric(places []uint32) (left int) {
	for i, p := range places {
		region := p >> regionShift
		b.lines[region*linePlaces+b.numbers[region]%linePlaces] = p
		b.numbers[region]++
		if b.numbers[region]%linePlaces == 0 {
			end := int(region)*b.capacity + int(b.numbers[region])
			copy(b.kept[end-linePlaces:end], b.lines[region*linePlaces:])
			if b.isFull(region) {
				return len(places) - i - 1
			}
		}
	}
	return 0
}

func (b *regionBuffers) isFull(region uint32) bool { return int(b.numbers[region]) == b.capacity }

// whole and rest are the places kept for a region.

func (b *regionBuffers) whole(region uint32) []uint32 {
	return b.kept[int(region)*b.capacity:][:b.numbers[region]/linePlaces*linePlaces]
}

func (b *regionBuffers) rest(region uint32) []uint32 {
	return b.lines[region*linePlaces:][:b.numbers[region]%linePlaces]
}
