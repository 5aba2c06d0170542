package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/lanebloom/bloom/cmd/internal/cli"
)

// foldersHelp is the part of the help that the commands that take Parquet files share.
const foldersHelp = `Files: A folder stands for the .parquet files in it and in its subfolders, sorted by name. The suffix .parquet can be in upper or lower case. As in Spark and Hadoop, files and folders whose names begin with . or _ are skipped, and so are symbolic links to folders. They are not skipped if you name them on the command line.`

// parquetFolders says that a folder stands for the Parquet files in it and below.
var parquetFolders = &cli.Folders{Names: "end with .parquet", List: func(root string) (files []string, err error) {
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
			files = append(files, path)
		}
		return nil
	})
	return files, err
}}

// parquetFiles returns files, and in the place of a folder its Parquet files.
func parquetFiles[S ~string](names []S) ([]S, error) { return cli.Files(parquetFolders, names) }
