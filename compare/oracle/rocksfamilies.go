package oracle

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
)

// RocksFamilies is RocksDB, a compiled program that writes databases of several families.
type RocksFamilies struct{ command []string }

// Families are the families, in the order in which they get keys.
var Families = []string{"default", "small", "wide", "partitions", "prefix", "ribbon", "none", "reverse", "times", "hits"}

// Table is a table that a database lists.
type Table struct {
	Name, Family string
	Level        int
	Parts        bool // the database has parts of the file as tables
	Keys         [][]byte
}

// CompileRocksFamilies compiles the program in dir, as [Compile] does.
func CompileRocksFamilies(dir string) (*RocksFamilies, error) {
	command, err := compile(dir, program{source: "rocksdb/families.cc", library: rocksdb})
	return &RocksFamilies{command}, err
}

// Write puts key i into family i modulo their number. Whenever step more keys are in tables, it calls flushed with the number of those
// that are. Meanwhile RocksDB goes on, and compacts tables. A seed other than 0 chooses options of tables.
func (r *RocksFamilies) Write(folder string, keys [][]byte, step, seed int, flushed func(n int)) error {
	var errOut bytes.Buffer
	cmd := exec.Command(r.command[0], "write", folder, strconv.Itoa(step), strconv.Itoa(seed))
	cmd.Stdin, cmd.Stderr = bytes.NewReader(input(keys)), &errOut
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		var n int
		if _, err := fmt.Sscanf(lines.Text(), "flushed %d", &n); err != nil {
			return fmt.Errorf("families: %q: %w", lines.Text(), err)
		}
		flushed(n)
	}
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("families: %w: %s", err, errOut.Bytes())
	}
	return nil
}

// Tables lists the tables of a database, with their keys.
func (r *RocksFamilies) Tables(folder string) (tables []Table, err error) {
	out, err := run(r.command, nil, "list", folder)
	if err != nil {
		return nil, err
	}
	numbers := map[string]int{}
	for line := range strings.Lines(string(out)) {
		columns := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		level, err := strconv.Atoi(columns[2])
		if err != nil {
			return nil, err
		}
		numbers[columns[0]] = len(tables)
		tables = append(tables, Table{Name: columns[0], Family: columns[1], Level: level})
	}
	if out, err = run(r.command, nil, "keys", folder); err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(out)) {
		name, digits, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		key, err := hex.DecodeString(digits)
		if err != nil {
			return nil, err
		}
		t := &tables[numbers[name]]
		t.Keys = append(t.Keys, key)
	}
	return tables, nil
}
