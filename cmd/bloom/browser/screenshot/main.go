// Command screenshot writes the picture of bloom explore in the README:
//
//	go run ./screenshot ../../../docs/explore.png    (in cmd/bloom/browser/)
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/lanebloom/bloom/cmd/bloom/browser"
)

func main() {
	width := flag.Int64("width", 1200, "width of the page in CSS pixels")
	height := flag.Int64("height", 1290, "height of the page, 0 for all of it")
	scale := flag.Float64("scale", 1, "pixels of a CSS pixel")
	theme := flag.String("theme", "light", "light or dark")
	examples := flag.Int("examples", 3, "how many times ten example keys are added")
	test := flag.String("test", "pear\nkey 7\nstone", "keys to test")
	flag.Parse()
	if flag.NArg() != 1 {
		flag.Usage()
		os.Exit(2)
	}
	picture, err := take(*width, *height, *scale, *theme, *examples, *test)
	if err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(flag.Arg(0), picture, 0o644); err != nil {
		log.Fatal(err)
	}
}

func take(width, height int64, scale float64, theme string, examples int, test string) (picture []byte, err error) {
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
	steps := []chromedp.Action[chromedp.Void]{
		browser.Theme(theme),
		chromedp.EmulateViewport(width, max(height, 800), chromedp.EmulateScale(scale)),
		chromedp.Navigate(url + "#n=48"),
	}
	wait := func(condition string) { steps = append(steps, chromedp.Poll[chromedp.Void](condition)) }
	wait(`document.querySelector("#grid .bit")`)
	for i := range examples {
		steps = append(steps, chromedp.Click(chromedp.CSS("#examples")))
		wait(fmt.Sprintf(`document.querySelector("#n-keys").textContent === "%d"`, 10*(i+1)))
	}
	steps = append(steps,
		chromedp.SetValue(chromedp.CSS("#test-keys"), test),
		chromedp.Click(chromedp.CSS("#test [type=submit]")))
	wait(`document.querySelector("#results button")`)
	steps = append(steps, chromedp.Evaluate[chromedp.Void]("document.activeElement.blur(); scrollTo(0, 0)"))
	if err := chromedp.Do(ctx, steps...); err != nil {
		return nil, err
	}
	if height == 0 {
		return chromedp.Run(ctx, chromedp.FullScreenshot(100))
	}
	return chromedp.Run(ctx, chromedp.CaptureScreenshot())
}
