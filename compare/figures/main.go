// Command figures takes the figures of the documents on this CPU, and writes their tables:
//
//	go run ./figures measure --name "Zen 5" [PART...]    (in compare/)
//	go run ./figures pages
//
// measure runs the parts, or all, and puts what they measure into docs/measurements/NAME.json in place of
// what it had of them. All take some 12 minutes, in which nothing else should run. The part index needs root.
//
// pages writes the tables of the documents anew, a page for each CPU with the part report, and README's
// picture. README shows a CPU with AVX-512 and one without it; as long as none without it has the part
// libraries, the kernel avx2 of the first stands for it. A test fails if the tables differ from the files.
package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/lanebloom/bloom/compare/internal/race"
)

type measureCommand struct {
	Name  string   `required:"" placeholder:"NAME" help:"What people call the CPU, such as Zen 5."`
	Parts []string `arg:"" optional:"" help:"The parts to measure: ${parts} (all)."`
}

// stem is the name of the CPU's files.
func (m *measureCommand) stem() string {
	return strings.ToLower(strings.NewReplacer(" ", "", "-", "").Replace(m.Name))
}

func (m *measureCommand) Run() error {
	chosen, err := choose(m.Parts)
	if err != nil {
		return err
	}
	for _, p := range chosen {
		if err := measure(m, p); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	return nil
}

// takeCommand takes figures in this program, which is another process than that which measures: the system counts the memory of the
// process that starts a tool as the tool's.
type takeCommand struct {
	Part string `arg:"" enum:"lines,uuids,bits"`
}

func (c *takeCommand) Run() error {
	figures, err := map[string]func() ([]figure, error){"lines": timeLines, "uuids": timeUUIDs, "bits": timeBits}[c.Part]()
	race.Exit(race.Figures{List: figures}, err)
	return nil
}

type pagesCommand struct{}

func (*pagesCommand) Run() error { return rewrite(root) }

func main() {
	var cli struct {
		Measure measureCommand `cmd:"" help:"Take figures on this CPU."`
		Take    takeCommand    `cmd:"" hidden:""`
		Pages   pagesCommand   `cmd:"" help:"Write the tables of the documents."`
	}
	c := kong.Parse(&cli, kong.Vars{"parts": strings.Join(partNames(), ", ")})
	if err := c.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "figures:", err)
		os.Exit(1)
	}
}
