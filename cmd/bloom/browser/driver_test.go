// Package browser tests the page of bloom explore in a real browser, and takes its pictures for the README. It is a
// separate module, so that the command does not depend on the driver.
package browser

import (
	"bufio"
	"bytes"
	"context"
	"flag"
	"image"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// programs are the names of browsers that the driver speaks to.
var programs = []string{"chromium", "chromium-browser", "google-chrome"}

// start runs a browser without a window, until the test ends.
func start(t *testing.T) context.Context {
	program := ""
	for _, name := range programs {
		if path, err := exec.LookPath(name); err == nil {
			program = path
			break
		}
	}
	if program == "" {
		t.Fatalf("none of %v is installed", programs)
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(program),
		chromedp.Flag("font-render-hinting", "none"), // the same picture everywhere
	)
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox) // the browser's sandbox is not for root
	}
	ctx, endAllocator := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(endAllocator)
	ctx, endBrowser := chromedp.NewContext(ctx)
	t.Cleanup(endBrowser)
	t.Cleanup(func() { _ = chromedp.Cancel(ctx) }) // lets the browser tidy up; the rest ends it anyway
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("%s: %v", program, err)
	}
	return ctx
}

var address = regexp.MustCompile(`http://[0-9.:]+/`)

// explore builds the command, runs its explore until the test ends, and returns the address of the page. An interrupt
// must end it well.
func explore(t *testing.T) string {
	program := filepath.Join(t.TempDir(), "bloom")
	if out, err := exec.Command("go", "build", "-o", program, "github.com/lanebloom/bloom/cmd/bloom").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	command := exec.Command(program, "explore")
	command.Stderr = os.Stderr
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := command.Process.Signal(os.Interrupt); err != nil {
			t.Error(err)
		}
		if err := command.Wait(); err != nil {
			t.Errorf("bloom explore: %v", err)
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return address.FindString(line)
}

// colours makes the page ask for light or dark.
func colours(name string) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{
				{Name: "prefers-color-scheme", Value: name},
				{Name: "prefers-reduced-motion", Value: "reduce"},
			},
		})
		return err
	})
}

var update = flag.Bool("update", false, "write the pictures of docs")

// TestPictures takes the pictures of docs: of a wide screen, and of a phone. With -update, it writes them.
func TestPictures(t *testing.T) {
	browser, url := start(t), explore(t)
	for name, size := range map[string]image.Point{"explore.png": {1200, 800}, "explore-phone.png": {390, 844}} {
		var phone []chromedp.EmulateViewportOption
		if size.X < 640 {
			phone = append(phone, chromedp.EmulateMobile)
		}
		ctx, end := chromedp.NewContext(browser)
		t.Cleanup(end)
		if err := chromedp.Do(ctx,
			colours("light"),
			chromedp.EmulateViewport(int64(size.X), int64(size.Y), phone...),
			chromedp.Navigate(url),
			chromedp.Poll[chromedp.Void](`globalThis.page?.points.list.length === 32 && document.querySelector("#calc-sizes tr")`),
			chromedp.Evaluate[chromedp.Void]("document.activeElement.blur(); scrollTo(0, 0)"),
		); err != nil {
			t.Fatal(err)
		}
		picture, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
		if err != nil {
			t.Fatal(err)
		}
		if drawn, err := png.DecodeConfig(bytes.NewReader(picture)); err != nil || (image.Point{drawn.Width, drawn.Height}) != size {
			t.Errorf("%s has %d × %d pixels, want %v: %v", name, drawn.Width, drawn.Height, size, err)
		}
		if *update {
			if err := os.WriteFile(filepath.Join("../../../docs", name), picture, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}
