package bloom

// testFull is prober.test in assembly. It returns false, and does nothing, if Go must test the hashes.
func (s *prober) testFull(w *fullProbes, h *hashes, hits []uint64, dense bool) bool {
	return probeFull64(s, h, &hits[0], w, dense || slowPDEP)
}

// placeFull is prober.place in assembly, for the first hashes: it returns how many.
func (s *prober) placeFull(w *fullProbes, h *hashes, places []uint32) (done int) {
	if h.len() >= leastHashes {
		done, _ = placeFull64(s, h, &places[:h.len()*s.K][0], w)
	}
	return done
}
