// Command seen reports of URLs whether they were asked for in the last 24 hours. It keeps its window in a folder, and has metrics.
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

	"github.com/lanebloom/bloom/window"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

func main() {
	address, folder, save := flag.String("address", "127.0.0.1:8123", ""), flag.String("folder", "seen", ""), flag.Duration("save", time.Minute, "")
	keys, rate := flag.Int("per-hour", 200_000, "new URLs"), flag.Float64("rate", 0.01, "new URLs that are taken for seen")
	flag.Parse()
	seen, loaded, err := window.Open(*folder, window.Options{Generations: 25, Keys: *keys, Rate: *rate})
	check(err)
	log.Printf("%s: %+v", *folder, loaded)
	prometheus.MustRegister(metrics{seen})
	http.Handle("/metrics", promhttp.Handler())
	http.HandleFunc("/seen", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintln(w, seen.TestAndAddString(r.URL.Query().Get("url")))
	})
	ctx, end := context.WithCancel(context.Background())
	server, kept, signals := &http.Server{Addr: *address}, make(chan error), make(chan os.Signal, 1)
	go func() { check(server.ListenAndServe()) }()
	go func() { kept <- keep(ctx, seen, *save) }()
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	<-signals
	server.Shutdown(ctx) // every URL that was answered is saved
	end()
	check(<-kept)
}

func check(err error) {
	if err != nil && err != http.ErrServerClosed {
		log.Fatal(err)
	}
}

// keep rotates the window by the hour and saves it at intervals, until the context ends. It closes the window then.
func keep(ctx context.Context, seen *window.Window, every time.Duration) error {
	go seen.Run(ctx, time.Hour)
	for tick := time.NewTicker(every); ; {
		select {
		case <-ctx.Done():
			return seen.Close()
		case <-tick.C:
			if err := seen.Save(); err != nil {
				log.Print(err) // the folder has the last one, and the next may succeed
			}
		}
	}
}

// metrics calls Stats once for each scrape.
type metrics struct{ seen *window.Window }

func (m metrics) Describe(ch chan<- *prometheus.Desc) { prometheus.DescribeByCollect(m, ch) }

func (m metrics) Collect(ch chan<- prometheus.Metric) {
	gauge := func(name string, value float64, labels prometheus.Labels) {
		ch <- prometheus.MustNewConstMetric(prometheus.NewDesc(name, "", nil, labels), prometheus.GaugeValue, value)
	}
	s := m.seen.Stats()
	gauge("seen_false_positive_rate", s.FalsePositiveRate, nil)
	gauge("seen_bytes", float64(s.Bytes), nil)
	gauge("seen_over", map[bool]float64{true: 1}[s.Over], nil)
	for i, g := range s.Generations {
		gauge("seen_fill_ratio", g.Fill, prometheus.Labels{"generation": fmt.Sprint(i)})
	}
}
