package main

import (
	"github.com/lanebloom/bloom"
	"github.com/lanebloom/bloom/cmd/internal/filterfile"
	"github.com/lanebloom/bloom/cmd/internal/outputfile"
)

// filterFlags say how the commands read a filter.
type filterFlags struct {
	Format *string `placeholder:"NAME" help:"Format of a bare filter: ${formats}. A file that says its format must agree."`
	Raw    bool    `help:"Take the bytes as a bare filter, whatever they look like."`
}

// filterHelp is the part of the help that the commands that read a filter share.
const filterHelp = `The files of bloom build are recognised by their first bytes, and their checksums are verified.
Other files are the bare bytes of a storage engine, in the format that --format names. It can be left out if the bytes say their format: those of rocksdb, pebble, nori, bits-and-blooms and guava do. Bytes that look like text, like a compressed file, a table or a filter of another format are refused unless --raw insists, and so are files of 0 bytes.
`

// options say how to take the bytes of a filter.
func (f filterFlags) options() (o filterfile.Options, err error) {
	o = filterfile.Options{Asked: f.Format != nil, Raw: f.Raw}
	if o.Asked {
		o.Format, err = chosenFormat(*f.Format)
	}
	return o, err
}

// openFilter reads a filter. It warns of bare bytes that no writer of the format writes.
func (f filterFlags) openFilter(s *streams, path string) (filter filterfile.Filter, err error) {
	options, err := f.options()
	if err != nil {
		return filter, err
	}
	filter, doubt, err := options.Read(path, outputfile.Read)
	if doubt != "" {
		s.warn(path, doubt)
	}
	return filter, err
}

// openText is openFilter for a filter that is asked for keys of text, or gets them.
func (f filterFlags) openText(s *streams, path string) (filterfile.Filter, error) {
	filter, err := f.openFilter(s, path)
	if err == nil {
		err = filter.CheckKeys(shown(path), "the keys here are", bloom.KeysText)
	}
	return filter, err
}

// fromLibrary returns an error of the library without its prefix.
var fromLibrary = filterfile.WithoutPrefix
