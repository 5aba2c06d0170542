package encoding

// levelDB is the format of LevelDB (google/leveldb util/bloom.cc): an array of bits, then one byte k, the number of probes.
// It has n·bitsPerKey bits, rounded up to whole bytes, and at least 64.
var levelDB = row{
	text: "leveldb", after: 1,
	probes: probesLevelDB,
	bits:   func(n, bitsPerKey float64) float64 { return roundUp(max(n*bitsPerKey, 64), 8) },
	most:   8 * MostBytes,
}

// probesLevelDB returns trunc(0.69·bitsPerKey), at least 1 and at most 30: LevelDB rounds ln 2 to 0.69.
func probesLevelDB(bitsPerKey int) int {
	return min(max(int(float64(bitsPerKey)*0.69), 1), MaxProbes)
}

// parseLevelDB accepts every byte string. One of fewer than two bytes holds no key.
func parseLevelDB(data []byte, e *Filter) {
	if len(data) < 2 {
		return
	}
	last := len(data) - 1
	e.To, e.Bits, e.Probes = last, 8*uint64(last), int(data[last])
	if e.Probes > MaxProbes {
		e.Probes = 0
	}
	e.All = e.Probes == 0
}
