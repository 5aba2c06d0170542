package main

import (
	"encoding/json"
	"reflect"
	"testing"
)

// TestShortened reads figures back as they were written, and wants errors for what is none.
func TestShortened(t *testing.T) {
	all := figures{{Name: "A"}, {Name: "A/b=1/c", Ns: 1.5}, {Name: "A/b=1/d", X: 2, Allocs: 3}, {Name: "A/b=1"}, {Name: "B/b=1/d", MB: 4}, {Name: "B/b=1/d"}}
	text, err := json.Marshal(all)
	if want := `[["A"],["1/b=1/c",1.5],["2/d",0,2,0,0,0,0,0,3],["1/b=1"],["B/b=1/d",0,0,0,0,0,0,4],["2/d"]]`; err != nil || string(text) != want {
		t.Errorf("%s, %v instead of %s", text, err, want)
	}
	var read figures
	if err := json.Unmarshal(text, &read); err != nil || !reflect.DeepEqual(read, all) {
		t.Errorf("%v, %v", read, err)
	}
	for _, bad := range []string{`{}`, `[[]]`, `[[1]]`, `[["1/a"]]`, `[["a"],["2/b"]]`, `[["a","b"]]`, `[["a",1,2,3,4,5,6,7,8,9]]`} {
		if err := json.Unmarshal([]byte(bad), &read); err == nil {
			t.Errorf("%s is read", bad)
		}
	}
}
