package cli

import (
	"fmt"
	"os"

	"github.com/lanebloom/bloom/cmd/internal/show"
)

// Folders says which files a folder stands for where files are named.
type Folders struct {
	Names string // what their names do: "end with .parquet"
	List  func(folder string) (files []string, err error)
}

// Files returns the names, with each folder replaced by its files. A folder without files is an error.
func Files[S ~string](f *Folders, names []S) (files []S, err error) {
	for _, name := range names {
		info, err := os.Stat(string(name))
		if err != nil || !info.IsDir() {
			files = append(files, name) // reading it tells what is wrong
			continue
		}
		in, err := f.List(string(name))
		if err != nil {
			return nil, err
		}
		if len(in) == 0 {
			return nil, fmt.Errorf("%s: the folder has no files whose names %s", show.Name(name), f.Names)
		}
		for _, file := range in {
			files = append(files, S(file))
		}
	}
	return files, nil
}
