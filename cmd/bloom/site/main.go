//go:build js && wasm

// Command site answers the questions of the page of bloom explore in a browser, as WebAssembly. make site
// builds it, with the page around it.
package main

import (
	"reflect"
	"syscall/js"

	"github.com/lanebloom/bloom/cmd/bloom/internal/answers"
)

func main() {
	desk := answers.NewDesk(nil)
	// bloomAnswer takes a name, a question and the bytes of a file. It returns the answer and its bytes, or
	// a refusal and null.
	js.Global().Set("bloomAnswer", js.FuncOf(func(_ js.Value, args []js.Value) any {
		var file []byte
		if n := args[2].Length(); n > 0 {
			file = make([]byte, n)
			js.CopyBytesToGo(file, args[2])
		}
		read := func(question any) error { return fromJS(args[1], reflect.ValueOf(question).Elem()) }
		answer, data, err := desk.Ask(args[0].String(), read, file)
		if err != nil {
			return []any{toJS(reflect.ValueOf(answers.Refuse(err))), nil}
		}
		array := js.Global().Get("Uint8Array").New(len(data))
		js.CopyBytesToJS(array, data)
		return []any{toJS(reflect.ValueOf(answer)), array}
	}))
	select {}
}
