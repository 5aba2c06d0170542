package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// foldersHelp is the part of the help that the commands that take Parquet files share.
const foldersHelp = `A folder stands for the files in it, and in the folders in it, whose names end with .parquet, in capitals or not, in the order of their names. Names that begin with . or _ are left out, as Spark and Hadoop do, and so are symbolic links to folders that are not named.
`

// parquetFiles returns files, and in the place of a folder its Parquet files.
func parquetFiles[S ~string](names []S) (files []S, err error) {
	for _, name := range names {
		info, err := os.Stat(string(name))
		if err != nil || !info.IsDir() {
			files = append(files, name) // reading it tells what is wrong
			continue
		}
		before, root := len(files), string(name)
		if !os.IsPathSeparator(root[len(root)-1]) {
			root += string(filepath.Separator) // a link that is named is followed
		}
		err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			switch hidden := path != root && strings.ContainsRune("._", rune(entry.Name()[0])); {
			case err != nil:
				return err
			case hidden && entry.IsDir():
				return filepath.SkipDir
			case !hidden && !entry.IsDir() && strings.EqualFold(filepath.Ext(path), ".parquet"):
				files = append(files, S(path))
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		if len(files) == before {
			return nil, fmt.Errorf("%s: the folder has no files whose names end with .parquet", name)
		}
	}
	return files, nil
}

// filesIn returns the files that a name of an input stands for: those of a folder, or itself.
func filesIn(name string) []string {
	files, err := parquetFiles([]string{name})
	if err != nil {
		return []string{name} // reading it tells
	}
	return files
}
