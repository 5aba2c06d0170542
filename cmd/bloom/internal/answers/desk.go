// Package answers answers the questions of the page of bloom explore, and those of the command about
// sizes and rates. It knows neither HTTP nor a browser: bloom explore serves its answers, and the site
// has them from the same code as WebAssembly.
package answers

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/lanebloom/bloom/cmd/internal/filterfile"
	"github.com/lanebloom/bloom/cmd/internal/show"
)

// Desk answers questions, several at a time. It keeps the filters that the last ones were about, so that
// the next need not bring all of their bytes.
type Desk struct {
	given *Given
	shelf shelf
}

// Given is the filter that the page begins with.
type Given struct {
	Name   string `json:"name"`
	Format string `json:"format"`
	Bytes  []byte `json:"-"`
}

// NewDesk returns a desk. The page begins with the filter, unless it is nil.
func NewDesk(given *Given) *Desk { return &Desk{given: given} }

// answerer answers a question in JSON.
type answerer func(d *Desk, question, file []byte) (answer any, data []byte, err error)

var answerers = map[string]answerer{
	"about":   of((*Desk).about),
	"given":   of((*Desk).first),
	"filter":  of((*Desk).filter),
	"test":    of((*Desk).test),
	"passing": of((*Desk).passing),
	"curve":   of((*Desk).curve),
	"sizes":   of((*Desk).sizes),
}

// of reads a question before it is answered.
func of[Q, A any](answer func(d *Desk, q Q, file []byte) (A, []byte, error)) answerer {
	return func(d *Desk, question, file []byte) (any, []byte, error) {
		var q Q
		if err := fromJSON(question, &q); err != nil {
			return nil, nil, fmt.Errorf("the question is not understood: %w", err)
		}
		return answer(d, q, file)
	}
}

// Answer answers the question with the given name. If the question is about a file that the desk does not have, file is the
// bytes of that file. Question and answer are JSON. The data of an answer are bytes that the page does not have.
func (d *Desk) Answer(name string, question, file []byte) (answer, data []byte, err error) {
	answerer, ok := answerers[name]
	if !ok {
		return nil, nil, fmt.Errorf("there is no question %.100q", name)
	}
	a, data, err := answerer(d, question, file)
	if err != nil {
		return nil, nil, err
	}
	return toJSON(a), data, nil
}

// Refusal is the answer to a question that cannot be answered.
type Refusal struct {
	Error string `json:"error"`
	Gone  bool   `json:"gone"` // whether the filter of the question is gone: then the page has to bring its bytes once more
}

// Refuse returns an error as an answer.
func Refuse(err error) Refusal {
	return Refusal{show.Short(err.Error()), errors.Is(err, errGone)}
}

// fromLibrary returns an error of the library without its prefix.
var fromLibrary = filterfile.WithoutPrefix

// JSON returns the refusal in JSON.
func (r Refusal) JSON() []byte { return toJSON(r) }

// mostQuestion is more bytes than any question takes: in memory, a key takes several times the three bytes that it takes here.
const mostQuestion = 6*maxKeys*maxKeyBytes + 1<<20

// fromJSON reads a question, all of it.
func fromJSON(text []byte, q any) error {
	if len(text) > mostQuestion {
		return fmt.Errorf("it has more than %d bytes", mostQuestion)
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(q); err != nil {
		return errors.New(show.Short(err.Error()))
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return errors.New("there is more after its end")
	}
	return nil
}

// toJSON returns an answer in JSON. It leaves <, > and & as they are, which in HTML
// would mean something and here make it six times as long.
func toJSON(answer any) []byte {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(answer); err != nil {
		panic(err) // answers hold nothing that JSON cannot say
	}
	return text.Bytes()
}
