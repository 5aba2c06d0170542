package answers

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/lanebloom/bloom/cmd/internal/show"
)

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
