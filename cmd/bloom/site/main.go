//go:build js && wasm

// Command site answers the questions of the page of bloom explore in a browser, as WebAssembly. make site
// builds it, with the page around it.
package main

import (
	"syscall/js"

	"github.com/lanebloom/bloom/cmd/bloom/internal/answers"
)

func main() {
	desk := answers.NewDesk(nil)
	// bloomAnswer takes a name, a question in JSON and the bytes of a file. It returns the answer in JSON and its
	// bytes, or a refusal in JSON and null.
	js.Global().Set("bloomAnswer", js.FuncOf(func(_ js.Value, args []js.Value) any {
		var file []byte
		if n := args[2].Length(); n > 0 {
			file = make([]byte, n)
			js.CopyBytesToGo(file, args[2])
		}
		answer, data, err := desk.Answer(args[0].String(), []byte(args[1].String()), file)
		if err != nil {
			return []any{string(answers.Refuse(err).JSON()), nil}
		}
		array := js.Global().Get("Uint8Array").New(len(data))
		js.CopyBytesToJS(array, data)
		return []any{string(answer), array}
	}))
	select {}
}
