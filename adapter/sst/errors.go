package bloomsst

import (
	"errors"
)

// The errors of [Open] and of the methods of a [Table] wrap one of these errors or an error of the caller's
// [io.ReaderAt]. Test for these errors with [errors.Is].
var (
	// ErrTable means that the bytes are not a table that this package supports, or that the table is
	// truncated.
	ErrTable = errors.New("bloomsst: not a supported table file")
	// ErrEncrypted means that the end of the file looks random, so the engine may have encrypted the table.
	ErrEncrypted = errors.New("bloomsst: encrypted, or not a table")
	// ErrDamaged means that a checksum is wrong, or that a part of the table is malformed.
	ErrDamaged = errors.New("bloomsst: damaged table")
	// ErrVersion means that this package does not know the table's version or its compression.
	ErrVersion = errors.New("bloomsst: unknown table version")
)

// If queries do not use the filter of a table, [Table.Ignored] returns an error that wraps one of these
// errors. The queries then test only the table's range, if it is known.
var (
	// ErrNoFilter means that the table has no filter.
	ErrNoFilter = errors.New("bloomsst: no filter")
	// ErrPolicy means that the filter's policy is unknown, that the filter's bytes do not match the policy,
	// or that the filter does not contain the table's keys. See [Named].
	ErrPolicy = errors.New("bloomsst: unknown filter policy")
	// ErrRibbon means that the filter is a Ribbon filter of a size that RocksDB itself does not support.
	ErrRibbon = errors.New("bloomsst: unsupported Ribbon filter")
	// ErrPrefix means that the filter contains only prefixes of the keys, and that the option [Split] is
	// missing or wrong.
	ErrPrefix = errors.New("bloomsst: a filter of prefixes")
	// ErrComparator means that the order of the keys is not known. This order determines which of the table's
	// filters may contain a key. See [Comparator].
	ErrComparator = errors.New("bloomsst: unknown key order")
)

// ErrMissing means that the MANIFEST of the database lists the table, but the table cannot be opened because
// its file is missing, damaged or in another folder. [Table.Ignored] returns this error. Every key may be in
// the table.
var ErrMissing = errors.New("bloomsst: a table of the database is missing")

// ErrManifest means that the folder has no MANIFEST that this package can read. See [View.Manifest].
var ErrManifest = errors.New("bloomsst: no readable MANIFEST")

// isOfBytes reports whether an error is of the bytes of a table, which stay as they are, and not of reading them.
func isOfBytes(err error) bool {
	return errors.Is(err, ErrDamaged) || errors.Is(err, ErrVersion) || errors.Is(err, ErrComparator) ||
		errors.Is(err, ErrPolicy) || errors.Is(err, ErrRibbon)
}
