// Command screenshot writes the pictures of bloom explore in docs, in cmd/bloom/browser:
//
//	go run ./screenshot ../../../docs/explore.png
//	go run ./screenshot -width 390 -height 844 ../../../docs/explore-phone.png
package main

import (
	"cmp"
	"context"
	"flag"
	"log"
	"os"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/lanebloom/bloom/cmd/bloom/browser"
)

func main() {
	width := flag.Int64("width", 1200, "width of the page in CSS pixels; up to 640 as a phone")
	height := flag.Int64("height", 800, "height of the page, 0 for all of it")
	scale := flag.Float64("scale", 1, "pixels of a CSS pixel")
	theme := flag.String("theme", "light", "light or dark")
	state := flag.String("state", "", "what the address says after #; without it, the example")
	flag.Parse()
	if flag.NArg() != 1 {
		flag.Usage()
		os.Exit(2)
	}
	picture, err := take(*width, *height, *scale, *theme, *state)
	if err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(flag.Arg(0), picture, 0o644); err != nil {
		log.Fatal(err)
	}
}

func take(width, height int64, scale float64, theme, state string) (picture []byte, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	url, stop, err := browser.Explore(ctx)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err2 := stop(); err == nil {
			err = err2
		}
	}()
	ctx, end, err := browser.Start(ctx)
	if err != nil {
		return nil, err
	}
	defer end()
	options := []chromedp.EmulateViewportOption{chromedp.EmulateScale(scale)}
	if width <= 640 {
		options = append(options, chromedp.EmulateMobile)
	}
	if state != "" {
		state = "#" + state
	}
	if err := chromedp.Do(ctx,
		browser.Theme(theme),
		chromedp.EmulateViewport(width, cmp.Or(height, 800), options...),
		chromedp.Navigate(url+state),
		chromedp.Poll[chromedp.Void](`globalThis.page?.points.list.length === 32 && document.querySelector("#calc-sizes tr")`),
		chromedp.Evaluate[chromedp.Void]("document.activeElement.blur(); scrollTo(0, 0)"),
	); err != nil {
		return nil, err
	}
	if height == 0 {
		return chromedp.Run(ctx, chromedp.FullScreenshot(100))
	}
	return chromedp.Run(ctx, chromedp.CaptureScreenshot())
}
