package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// figures are the figures of a part. In the file, each is a list: its name, and its values in the order of valuesOf, without the
// zeros at the end. If a name begins with some elements of the name before, their number stands for them:
//
//	["Test/format=rocksdb/way=avx2",1.4]
//	["2/way=generic",5.2]
type figures []figure

func valuesOf(f *figure) []*float64 {
	return []*float64{&f.Ns, &f.X, &f.Low, &f.High, &f.Rate, &f.Bits, &f.MB, &f.Allocs}
}

func (all figures) MarshalJSON() ([]byte, error) {
	lists := make([][]any, len(all))
	var before []string
	for i, f := range all {
		name := strings.Split(f.Name, "/")
		same := 0
		for same < min(len(before), len(name)-1) && before[same] == name[same] {
			same++
		}
		before = name
		if same > 0 {
			name = append([]string{strconv.Itoa(same)}, name[same:]...)
		}
		lists[i] = []any{strings.Join(name, "/")}
		for _, v := range valuesOf(&f) {
			lists[i] = append(lists[i], *v)
		}
		for last := len(lists[i]) - 1; lists[i][last] == 0.0; last-- {
			lists[i] = lists[i][:last]
		}
	}
	return json.Marshal(lists)
}

func (all *figures) UnmarshalJSON(text []byte) error {
	var lists [][]json.RawMessage
	if err := json.Unmarshal(text, &lists); err != nil {
		return err
	}
	var before []string
	for _, list := range lists {
		var f figure
		values := valuesOf(&f)
		if len(list) == 0 || len(list) > 1+len(values) {
			return fmt.Errorf("a figure has %d elements", len(list))
		}
		if err := json.Unmarshal(list[0], &f.Name); err != nil {
			return err
		}
		for i, value := range list[1:] {
			if err := json.Unmarshal(value, values[i]); err != nil {
				return fmt.Errorf("%s: %w", f.Name, err)
			}
		}
		name := strings.Split(f.Name, "/")
		if same, err := strconv.Atoi(name[0]); err == nil {
			if same < 1 || same > len(before) {
				return fmt.Errorf("%s: the name before has %d elements", f.Name, len(before))
			}
			name = slices.Concat(before[:same], name[1:])
		}
		f.Name, before = strings.Join(name, "/"), name
		*all = append(*all, f)
	}
	return nil
}
