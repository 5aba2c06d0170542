package bloomsst

import (
	"errors"
)

// The errors of Open and of a table's methods wrap these with details. Test for them with errors.Is. They
// also return errors of the caller's [io.ReaderAt].
var (
	// ErrTable: the bytes are not a table of an engine that this package knows, or they are truncated.
	ErrTable = errors.New("bloomsst: no table that this package reads")
	// ErrEncrypted: the end of the file looks random, so it may be a table that the engine encrypted.
	ErrEncrypted = errors.New("bloomsst: encrypted table, or no table")
	// ErrDamaged: a checksum is wrong, or a part of the table is malformed.
	ErrDamaged = errors.New("bloomsst: damaged table")
	// ErrVersion: the table has a version or a compression that this package does not know.
	ErrVersion = errors.New("bloomsst: unknown version of a table")
)

// The reasons why a table's filter is not queried. Every key may be in such a table.
var (
	// ErrNoFilter: the table has no filter.
	ErrNoFilter = errors.New("bloomsst: no filter")
	// ErrPolicy: the filter has a policy, or bytes, that this package does not know. See [Named].
	ErrPolicy = errors.New("bloomsst: unknown filter policy")
	// ErrRibbon: the filter is a Ribbon filter, and RocksDB does not read a filter of its size, either.
	ErrRibbon = errors.New("bloomsst: a Ribbon filter")
	// ErrPrefix: the filter has only prefixes of the keys, and the length of the prefixes is not known
	// without [Split].
	ErrPrefix = errors.New("bloomsst: a filter of prefixes")
	// ErrComparator: the order of the keys is not known, but it determines which filter a key needs. See
	// [Comparator].
	ErrComparator = errors.New("bloomsst: unknown order of the keys")
)

// ErrMissing is the error that [Table.Ignored] returns for a table that cannot be opened, although the
// MANIFEST of the database lists it. The file of the table is gone, damaged or in another folder. Every key
// may be in the table.
var ErrMissing = errors.New("bloomsst: a table of the database is missing")

// ErrManifest: the folder has no MANIFEST that this package can read. See [View.Manifest].
var ErrManifest = errors.New("bloomsst: no MANIFEST of a database")

// isOfBytes reports whether an error is of the bytes of a table, which stay as they are, and not of reading them.
func isOfBytes(err error) bool {
	return errors.Is(err, ErrDamaged) || errors.Is(err, ErrVersion) || errors.Is(err, ErrComparator) ||
		errors.Is(err, ErrPolicy) || errors.Is(err, ErrRibbon)
}
