package bloom

import (
	"runtime"
	"sync"
	"unsafe"

	"github.com/lanebloom/bloom/internal/memory"
)

// To set a bit of a filter beyond the caches, the CPU waits for memory. So for a large filter, the code first sorts the numbers of
// the bits, here called places, by region. A region fits the caches. When a region has many places, the code sets their bits
// together: a cache line is loaded once for several bits. Workers share the regions. The order in which bits are set does not
// change the bytes.

const linePlaces = memory.CacheLine / 4 // that a cache line holds

// addColumn sets the bits of every key of a column.
func (s *prober) addColumn(keys Keys) {
	if s.scheme == 0 {
		panic(noBits)
	}
	size := s.bytes()
	if size > 1<<32/8 {
		s.addEach(keys)
		return
	}
	workers := 1
	if size >= shareBytes {
		workers = max(1, min(runtime.GOMAXPROCS(0), keys.n/workerKeys, maxWorkers))
	}
	// With fewer keys than cache lines, few bits share a line. A kernel that sets all bits of a
	// key in one line requests the lines ahead.
	if workers == 1 && (size < regionsBytes || uint64(keys.n) < size/64) || s.kernel != Generic && s.setsLines() {
		s.addDirectly(&keys)
	} else {
		s.addByRegion(keys, workers)
	}
}

// addEach sets the bits of a filter key by key, or all bits of a key at once. It is for
// filters of more than 2^32 bits: places have 32 bits.
func (s *prober) addEach(keys Keys) {
	keys.eachWindow(s.scheme, s.kernel, false, func(_ int, h hashes) {
		if h.len() > 0 && s.setsLines() {
			s.setLines(&h)
			return
		}
		for i := range h.len() {
			s.addHash(h.at(i, s.scheme))
		}
	})
}

// addByRegion sets the bits region by region. It repeats the panic of a worker on the
// goroutine of the caller, who can recover it.
func (s *prober) addByRegion(keys Keys, workers int) {
	shared := &regionBuild{prober: *s, regions: make([]sync.Mutex, (8*s.bytes()-1)>>regionShift+1)}
	kernel, capacity := s.kernel, regionPlaces/workers/linePlaces*linePlaces
	size := len(shared.regions) * capacity
	kept := memory.HugeWords(workers * size)
	panics := make([]any, workers)
	var group sync.WaitGroup
	group.Add(workers)
	for w := range workers {
		from, to := keys.n/workers*w, keys.n/workers*(w+1)
		if w == workers-1 {
			to = keys.n
		}
		go func() {
			defer group.Done()
			defer func() { panics[w] = recover() }()
			shared.add(keys.slice(from, to), newRegionBuffers(kernel, len(shared.regions), capacity, kept[w*size:][:size]))
		}()
	}
	group.Wait()
	for _, p := range panics {
		if p != nil {
			panic(p)
		}
	}
}

// addDirectly sets the bits in the order of the keys.
func (s *prober) addDirectly(keys *Keys) {
	if keys.n <= leastHashes {
		s.addRows(keys)
		return
	}
	w := takeWindow()
	room := w.hashes(schemes[s.scheme].words, keys.n)
	if keys.n <= room.len() { // to slice the column would cost few keys as much as the rest
		s.addWindow(keys, &room, w.places[:])
	} else {
		for i := 0; i < keys.n; i += room.len() {
			part := keys.slice(i, min(i+room.len(), keys.n))
			h := room.slice(0, part.n)
			s.addWindow(&part, &h, w.places[:])
		}
	}
	w.giveBack()
}

// addRows is addDirectly for few keys, one by one.
func (s *prober) addRows(keys *Keys) {
	for i := range keys.n {
		if keys.validity == nil || keys.valid(i, 1) != 0 {
			s.addHash(keys.hashRow(s.scheme, i))
		}
	}
}

// addWindow is addDirectly for as many keys as h has room for. places has room for at least one key.
func (s *prober) addWindow(keys *Keys, h *hashes, places []uint32) {
	if keys.n >= vectorKeys || !keys.hashFew(s.scheme, s.kernel, h, true) {
		keys.hashKeys(s.scheme, s.kernel, h)
	}
	if h.len() == 0 {
		return
	}
	if s.setsLines() {
		s.setLines(h)
		return
	}
	for n := s.placeAndSet(h, places); n < h.len(); n = s.placeAndSet(h, places) {
		*h = h.slice(n, h.len())
	}
}

// placeAndSet sets the bits of as many hashes, from the first on, as places has room for,
// and returns their number.
func (s *prober) placeAndSet(h *hashes, places []uint32) int {
	n := s.place(h, places)
	s.setPlaces(places[:n*s.K])
	return n
}

// setPlaces sets bits by number.
func (s *prober) setPlaces(places []uint32) {
	if s.atomic {
		s.setPlacesAtomic(places)
		return
	}
	base, fours := s.Base, len(places)/4
	if fours > 0 && setPlaces(s.kernel, base, s.wholeBits(), &places[0], fours) {
		places = places[4*fours:]
	}
	for _, p := range places {
		*(*byte)(unsafe.Add(unsafe.Pointer(base), p/8)) |= 1 << (p % 8)
	}
}

// regionBuild is a filter that workers set region by region.
type regionBuild struct {
	prober
	regions []sync.Mutex
}

// add is the work of one worker.
func (s *regionBuild) add(keys Keys, buffers *regionBuffers) {
	places := make([]uint32, windowPlaces)
	keys.eachWindow(s.scheme, s.kernel, false, func(_ int, h hashes) {
		for h.len() > 0 {
			n := s.place(&h, places)
			h = h.slice(n, h.len())
			s.keep(buffers, places[:n*s.K])
		}
	})
	for region := range s.regions {
		s.setRegion(buffers, uint32(region))
	}
}

// keep keeps places by region. When a region is full, it sets the bits of the region.
func (s *regionBuild) keep(buffers *regionBuffers, places []uint32) {
	for len(places) > 0 {
		left := buffers.sort(places)
		done := len(places) - left
		if last := places[done-1] >> regionShift; buffers.isFull(last) {
			s.setRegion(buffers, last)
		}
		places = places[done:]
	}
}

// setRegion sets the bits at the places that are kept for a region, and forgets the places.
func (s *regionBuild) setRegion(b *regionBuffers, region uint32) {
	s.regions[region].Lock()
	s.setPlaces(b.whole(region))
	s.setPlaces(b.rest(region))
	s.regions[region].Unlock()
	b.numbers[region] = 0
}

// regionBuffers keeps places by region. The places that fill whole cache lines are in
// kept, which has room for capacity places of each region. The places after them are in
// lines, which has one cache line for each region.
type regionBuffers struct {
	kernel      Kernel
	capacity    int // a multiple of linePlaces
	numbers     []uint32
	lines, kept []uint32
}

// newRegionBuffers returns empty buffers. Its caller gives the memory for regions·capacity
// places in kept.
func newRegionBuffers(kernel Kernel, regions, capacity int, kept []uint32) *regionBuffers {
	return &regionBuffers{
		kernel:   kernel,
		capacity: capacity,
		numbers:  make([]uint32, regions),
		lines:    make([]uint32, regions*linePlaces),
		kept:     kept,
	}
}

// sort sorts places, at least one, into the regions until a region is full, and returns the number
// of places that are left.
func (b *regionBuffers) sort(places []uint32) (left int) {
	left, ok := sortPlaces(b.kernel, &places[0], len(places), &b.numbers[0], &b.lines[0], &b.kept[0], b.capacity)
	if !ok {
		return b.sortGeneric(places)
	}
	return left
}

func (b *regionBuffers) sortGeneric(places []uint32) (left int) {
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

// whole and rest return the places of a region in kept and in lines.

func (b *regionBuffers) whole(region uint32) []uint32 {
	return b.kept[int(region)*b.capacity:][:b.numbers[region]/linePlaces*linePlaces]
}

func (b *regionBuffers) rest(region uint32) []uint32 {
	return b.lines[region*linePlaces:][:b.numbers[region]%linePlaces]
}
