package oracle

import (
	"cmp"
	"fmt"
)

// Options are the options of a database.
type Options struct {
	Comparator Comparator // Bytewise if it is empty
	Policy     Policy     // makes and reads the filters, at 10 bits per key
	Name       string     // of the filters in tables
}

// Comparator is an order of keys.
type Comparator string

// The comparators.
const (
	Bytewise  Comparator = "bytewise"
	IgnoreTag Comparator = "ignore-tag" // ignores keys from the first '#' on
	Reverse   Comparator = "reverse"
	Shortlex  Comparator = "shortlex" // shorter keys come first
)

// Policy is a kind of filter policy.
type Policy string

// The policies.
const (
	Bloom    Policy = "bloom"    // LevelDB's own
	Identity Policy = "identity" // the same for keys without their tags: '#' and the bytes after it
	Poison   Policy = "poison"   // the same with all bits clear: no key may be there
	Signed   Policy = "signed"   // as LevelDB's was until 2014: the hash takes the last bytes of a key as signed
	Prime    Policy = "prime"    // built otherwise, as in a fork of LevelDB
)

// Counts are the counts of a lookup of keys.
type Counts struct {
	Found int // keys that the database has
	Calls int // of the filters
	Yes   int // calls that a filter answered with yes
}

// Database is the C++ LevelDB, a compiled program.
type Database struct{ command []string }

// CompileDatabase compiles the program in dir, as [Compile] does.
func CompileDatabase(dir string) (*Database, error) {
	command, err := compile(dir, program{source: "leveldb/database.cc", library: leveldb})
	return &Database{command}, err
}

// Write writes keys to the tables of a database. It creates the database if the folder
// has none.
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
	return run(d.command, keys, command, folder, string(cmp.Or(o.Comparator, Bytewise)), string(o.Policy), o.Name)
}

// Answers looks keys up, and returns a byte for each: '0' if a filter denies it, '+' if it is found, '-' if no filter
// is asked, and '1' else.
func (d *Database) Answers(folder string, keys [][]byte, o Options) ([]byte, error) {
	return d.run("answers", folder, keys, o)
}

// Levels writes keys to many small tables of a new database, and returns LevelDB's list of them: a line for each level, and
// lines of tables, which begin with a number and a colon.
func (d *Database) Levels(folder string, keys [][]byte, o Options) (string, error) {
	out, err := d.run("levels", folder, keys, o)
	return string(out), err
}
