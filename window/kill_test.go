package window

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/lanebloom/bloom"
)

// The test of a service that is killed runs this binary as the service, with the folder of its file in a variable.
const serviceFolder = "WINDOW_TEST_FOLDER"

func TestMain(m *testing.M) {
	if folder := os.Getenv(serviceFolder); folder != "" {
		if err := serve(folder); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	os.Exit(m.Run())
}

const perRound = 200 // keys

var serviceOptions = Options{Generations: 20, Keys: perRound, Rate: 1e-3}

// round returns the keys of a round.
func round(i int) bloom.Keys { return bloom.Integers(addition{from: i * perRound, n: perRound}.keys()) }

// serve opens the window of a folder and goes on from its last round: it adds keys, saves, reports it, and rotates.
func serve(folder string) error {
	w, _, err := Open(filepath.Join(folder, "seen"), serviceOptions)
	if err != nil {
		return err
	}
	last := 0
	if text, err := os.ReadFile(filepath.Join(folder, "round")); err == nil {
		fmt.Sscan(string(text), &last)
	}
	for i := last + 1; ; i++ {
		w.AddBatch(round(i))
		if err := w.Save(); err != nil {
			return err
		}
		fmt.Println(i)
		w.Rotate()
	}
}

// TestKilled kills a service again and again while it saves. Its folder must be whole, and have every key of the rounds
// that it said were saved, as long as the window promises them.
func TestKilled(t *testing.T) {
	times := 12
	if testing.Short() {
		times = 4
	}
	folder := t.TempDir()
	random := rand.New(rand.NewPCG(1, 2))
	last := 0
	for range times {
		command := exec.Command(os.Args[0])
		command.Env = append(os.Environ(), serviceFolder+"="+folder)
		out, err := command.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := command.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		rounds := 0
		for most := 1 + random.IntN(60); rounds < most && lines.Scan(); rounds++ {
			fmt.Sscan(lines.Text(), &last)
		}
		time.Sleep(time.Duration(random.IntN(3000)) * time.Microsecond)
		if err := command.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		for lines.Scan() {
			fmt.Sscan(lines.Text(), &last)
		}
		if err := lines.Err(); err != nil {
			t.Fatal(err)
		}
		command.Wait()
		if rounds == 0 {
			t.Fatal("the service has not saved once")
		}
		w, _, err := Open(filepath.Join(folder, "seen"), serviceOptions)
		if err != nil {
			t.Fatalf("after round %d: %v", last, err)
		}
		// The last save may have been the next round's.
		for i := max(last-(serviceOptions.Generations-2), 1); i <= last; i++ {
			if n := w.MayContainBatch(round(i), words(perRound)); n != perRound {
				t.Fatalf("after round %d: %d of the %d keys of round %d", last, n, perRound, i)
			}
		}
		w.folder.lock.Close() // without a Save
		if err := os.WriteFile(filepath.Join(folder, "round"), []byte(fmt.Sprint(last)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
