//go:build (amd64 || arm64) && !purego

package bloom

import (
	"fmt"
	"testing"
)

// BenchmarkForms compares the forms over mixtures of present and absent keys. AVX-512 gathers here on every CPU, and AVX2
// loads: a CPU on which AVX-512 takes less time belongs in the list of gathersWell.
func BenchmarkForms(b *testing.B) {
	defer func(g, p bool) { gathers, slowPDEP = g, p }(gathers, slowPDEP)
	gathers = true
	eachMixture(b, []int{0, 10, 25, 50, 75, 90, 100}, func(b *testing.B, w *workload) {
		hits := make([]uint64, queries/64)
		for _, kernel := range kernels[:len(kernels)-1] {
			filter := onKernel(b, w.filter, kernel)
			for _, form := range []string{"switched", "dense"} {
				b.Run(fmt.Sprintf("kernel=%v/form=%s", kernel, form), func(b *testing.B) {
					slowPDEP = form == "dense"
					inTurn(b, queries, w.reference, func() { sink += filter.MayContainBatch(Integers(w.keys), hits) })
				})
			}
		}
	})
}
