// Package browser drives the page of bloom explore in a real browser, for the page's
// tests and for its picture in the README. It is a separate module, so that the command
// does not depend on the driver.
package browser

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// programs are the names of browsers that the driver speaks to.
var programs = []string{"chromium", "chromium-browser", "google-chrome"}

// Start runs a browser without a window. The function that it returns ends it.
func Start(ctx context.Context) (context.Context, context.CancelFunc, error) {
	program := ""
	for _, name := range programs {
		if path, err := exec.LookPath(name); err == nil {
			program = path
			break
		}
	}
	if program == "" {
		return nil, nil, fmt.Errorf("none of %v is installed", programs)
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(program),
		chromedp.Flag("font-render-hinting", "none"), // the same picture everywhere
	)
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox) // the browser's sandbox is not for root
	}
	ctx, endAllocator := chromedp.NewExecAllocator(ctx, options...)
	ctx, endBrowser := chromedp.NewContext(ctx)
	end := func() {
		_ = chromedp.Cancel(ctx) // lets the browser tidy up; the rest ends it anyway
		endBrowser()
		endAllocator()
	}
	if err := chromedp.Do(ctx); err != nil {
		end()
		return nil, nil, fmt.Errorf("%s: %w", program, err)
	}
	return ctx, end, nil
}

var address = regexp.MustCompile(`http://[0-9.:]+/`)

// Explore builds the command, runs its explore, and returns the address of the
// page. The function that it returns interrupts the command, which is an error
// if it does not end well.
func Explore(ctx context.Context) (url string, stop func() error, err error) {
	dir, err := os.MkdirTemp("", "bloom-browser-")
	if err != nil {
		return "", nil, err
	}
	defer func() {
		if err != nil {
			os.RemoveAll(dir)
		}
	}()
	program := filepath.Join(dir, "bloom")
	build := exec.CommandContext(ctx, "go", "build", "-o", program, "github.com/lanebloom/bloom/cmd/bloom")
	if out, err := build.CombinedOutput(); err != nil {
		return "", nil, fmt.Errorf("go build: %w\n%s", err, out)
	}
	command := exec.CommandContext(ctx, program, "explore")
	command.Stderr = os.Stderr
	out, err := command.StdoutPipe()
	if err != nil {
		return "", nil, err
	}
	if err := command.Start(); err != nil {
		return "", nil, err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return "", nil, errors.Join(err, command.Process.Kill(), command.Wait())
	}
	return address.FindString(line), func() error {
		defer os.RemoveAll(dir)
		return errors.Join(command.Process.Signal(os.Interrupt), command.Wait())
	}, nil
}

// Theme makes the page ask for light or dark.
func Theme(name string) chromedp.Action[chromedp.Void] {
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
