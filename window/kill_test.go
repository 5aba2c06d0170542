package window

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
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
		if err := serve(filepath.Join(folder, "seen.bloom")); err != nil {
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

// serve loads the window of a file and goes on from its last round: it adds keys, saves, says so, and rotates.
func serve(path string) error {
	w, err := load(path)
	if errors.Is(err, fs.ErrNotExist) {
		w, err = New(serviceOptions)
	}
	if err != nil {
		return err
	}
	last := 0
	if text, err := os.ReadFile(path + ".round"); err == nil {
		fmt.Sscan(string(text), &last)
	}
	for i := last + 1; ; i++ {
		w.AddBatch(round(i))
		if err := save(w, path); err != nil {
			return err
		}
		fmt.Println(i)
		w.Rotate()
	}
}

// save replaces the file in one step.
func save(w *Window, path string) error {
	file, err := os.CreateTemp(filepath.Dir(path), "new")
	if err != nil {
		return err
	}
	if _, err = w.WriteTo(file); err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(file.Name(), path)
	}
	return errors.Join(err)
}

func load(path string) (*Window, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	w := new(Window)
	_, err = w.ReadFrom(bufio.NewReader(file))
	return w, err
}

// TestKilled kills a service again and again while it saves. Its file must be whole, and have every key of the rounds that it
// said were saved, as long as the window promises them.
func TestKilled(t *testing.T) {
	times := 12
	if testing.Short() {
		times = 4
	}
	folder := t.TempDir()
	path := filepath.Join(folder, "seen.bloom")
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
		w, err := load(path)
		if err != nil {
			t.Fatalf("after round %d: %v", last, err)
		}
		// The last save may have been the next round's.
		for i := max(last-(serviceOptions.Generations-2), 1); i <= last; i++ {
			if n := w.MayContainBatch(round(i), words(perRound)); n != perRound {
				t.Fatalf("after round %d: %d of the %d keys of round %d", last, n, perRound, i)
			}
		}
		if err := os.WriteFile(path+".round", []byte(fmt.Sprint(last)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
