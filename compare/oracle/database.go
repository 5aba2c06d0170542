package oracle

import "fmt"

// Options say how a database is opened.
type Options struct {
	IgnoreTag bool   // the comparator ignores keys from the first '#' on
	Policy    Policy // how filters are made and read, at 10 bits per key
	Name      string // under which tables store them
}

// Policy is a kind of filter policy.
type Policy string

// The policies.
const (
	Bloom    Policy = "bloom"    // LevelDB's own
	Identity Policy = "identity" // the same for keys without their tags, '#' and what follows
	Poison   Policy = "poison"   // the same with all bits clear: no key may be there
)

// Counts tell what happened while keys were looked up.
type Counts struct {
	Found int // keys
	Calls int // of a filter
	Yes   int // answers of these
}

// Database is the C++ LevelDB, a compiled program.
type Database struct{ file string }

// CompileDatabase compiles the program in dir, as [Compile] does.
func CompileDatabase(dir string) (*Database, error) {
	file, err := compile(dir, program{source: "leveldb/database.cc", library: leveldb})
	return &Database{file}, err
}

// Write writes keys to the tables of a database, a new one or one that is there.
func (d *Database) Write(folder string, keys [][]byte, o Options) error {
	_, err := d.run("write", folder, keys, o)
	return err
}

// Get looks keys up.
func (d *Database) Get(folder string, keys [][]byte, o Options) (c Counts, err error) {
	out, err := d.run("get", folder, keys, o)
	if err != nil {
		return c, err
	}
	_, err = fmt.Sscan(string(out), &c.Found, &c.Calls, &c.Yes)
	return c, err
}

func (d *Database) run(command, folder string, keys [][]byte, o Options) ([]byte, error) {
	comparator := "bytewise"
	if o.IgnoreTag {
		comparator = "ignore-tag"
	}
	return run([]string{d.file}, keys, command, folder, comparator, string(o.Policy), o.Name)
}
