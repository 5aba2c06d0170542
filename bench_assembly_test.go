//go:build (amd64 || arm64) && !purego

package bloom

import (
	"fmt"
	"strings"
	"testing"
)

// BenchmarkForms compares the forms over mixtures of present and absent keys.
func BenchmarkForms(b *testing.B) {
	defer func(s, d form, g bool) { staged, dense, gathers = s, d, g }(staged, dense, gathers)
	eachMixture(b, []int{0, 10, 25, 50, 75, 90, 100}, func(b *testing.B, w *workload) {
		hits := make([]uint64, queries/64)
		for _, kernel := range kernels[:len(kernels)-1] {
			filter := onKernel(b, w.filter, kernel)
			for i, f := range forms {
				way, _, _ := strings.Cut(f.name, "-")
				if way != "switched" && way != "dense" && way != "staged" {
					continue
				}
				b.Run(fmt.Sprintf("kernel=%v/form=%s", kernel, f.name), func(b *testing.B) {
					staged, dense = f.form, f.form
					gathers = !f.loads
					if way == "switched" {
						dense = forms[i+1].form // dense as well
					}
					inTurn(b, queries, w.reference, func() { sink += filter.MayContainBatch(Integers(w.keys), hits) })
				})
			}
		}
	})
}
