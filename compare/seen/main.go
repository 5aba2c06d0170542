// Command seen tells of URLs whether they were asked for in the last 24 hours. It has metrics, and keeps its window in a file.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/google/renameio/v2"
	"github.com/lanebloom/bloom/window"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

func main() {
	address, path := flag.String("address", "127.0.0.1:8123", ""), flag.String("file", "seen.bloom", "")
	keys, rate := flag.Int("per-hour", 200_000, "new URLs"), flag.Float64("rate", 0.01, "new URLs that are taken for seen")
	flag.Parse()
	seen := must(window.New(window.Options{Generations: 25, Keys: *keys, Rate: *rate}))
	if file, err := os.Open(*path); !os.IsNotExist(err) {
		saved := must(must(file, err).Stat()).ModTime()
		log.Printf("%s: %+v", *path, must(seen.Load(file)))
		for range min(int(time.Since(saved)/time.Hour), seen.Options().Generations) { // the hours since then
			seen.Rotate()
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	go seen.Run(ctx, time.Hour)
	gauge := func(name, generation string, value func(window.Stats) float64) {
		o := prometheus.GaugeOpts{Name: name, ConstLabels: prometheus.Labels{"generation": generation}}
		prometheus.MustRegister(prometheus.NewGaugeFunc(o, func() float64 { return value(seen.Stats()) }))
	}
	gauge("seen_false_positive_rate", "all", func(s window.Stats) float64 { return s.FalsePositiveRate })
	for i := range seen.Options().Generations {
		gauge("seen_fill_ratio", fmt.Sprint(i), func(s window.Stats) float64 { return s.Generations[i].Fill })
	}
	http.Handle("/metrics", promhttp.Handler())
	http.HandleFunc("/seen", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintln(w, seen.TestAndAddString(r.URL.Query().Get("url")))
	})
	go func() { log.Fatal(http.ListenAndServe(*address, nil)) }()
	<-ctx.Done()
	file := must(renameio.NewPendingFile(*path))
	must(seen.WriteTo(file))
	must(0, file.CloseAtomicallyReplace()) // in one step
}

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}
