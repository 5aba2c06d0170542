//go:build go1.25

package window_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lanebloom/bloom/window"
)

// TestSynctest runs a window with a clock of the test's own.
func TestSynctest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seen, err := window.New(window.Options{Generations: 25, Keys: 1000, Rate: 0.001})
		if err != nil {
			t.Fatal(err)
		}
		go seen.Run(t.Context(), time.Hour)
		seen.AddString("key")
		time.Sleep(24*time.Hour + time.Minute)
		synctest.Wait()
		fmt.Println(seen.MayContainString("key")) // true
		if !seen.MayContainString("key") {
			t.Error("the key is lost")
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		fmt.Println(seen.MayContainString("key")) // false
		if seen.MayContainString("key") {
			t.Error("the key is there after 25 hours")
		}
	})
}

// TestDown has a service in a folder that is down for some hours, and forgets what has become too old meanwhile.
func TestDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		folder, options := filepath.Join(t.TempDir(), "seen"), window.Options{Generations: 25, Keys: 1000, Rate: 1e-6}
		run := func(add string, found map[string]bool) {
			seen, loaded, err := window.Open(folder, options)
			if err != nil {
				t.Fatal(err)
			}
			for key, want := range found {
				if seen.MayContainString(key) != want {
					t.Errorf("%s: %v, %+v", key, !want, loaded)
				}
			}
			go seen.Run(t.Context(), time.Hour)
			seen.AddString(add)
			time.Sleep(50 * time.Minute)
			synctest.Wait()
			if err := seen.Close(); err != nil {
				t.Fatal(err)
			}
		}
		run("a", nil)
		time.Sleep(20 * time.Hour)
		run("b", map[string]bool{"a": true})
		time.Sleep(150 * time.Minute)
		run("c", map[string]bool{"a": true, "b": true})
		time.Sleep(20 * time.Minute)
		run("d", map[string]bool{"a": false, "b": true, "c": true})
		time.Sleep(1000 * time.Hour)
		run("e", map[string]bool{"b": false, "c": false, "d": false})
	})
}
