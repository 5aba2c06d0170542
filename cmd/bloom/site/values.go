//go:build js && wasm

package main

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"syscall/js"
)

// Questions and answers as values of JavaScript, with the names that their fields have in JSON. With
// encoding/json, a browser would load an eighth more.

// fromJS writes a value of JavaScript to a variable. It takes what encoding/json would take as JSON, without
// unknown fields.
func fromJS(value js.Value, to reflect.Value) error {
	if value.IsNull() || value.IsUndefined() {
		return nil
	}
	is, isArray := value.Type(), value.InstanceOf(js.Global().Get("Array"))
	switch kind := to.Kind(); {
	case kind == reflect.Pointer:
		to.Set(reflect.New(to.Type().Elem()))
		return fromJS(value, to.Elem())
	case kind == reflect.Struct && is == js.TypeObject && !isArray:
		return fromObject(value, to)
	case kind == reflect.Slice && isArray:
		to.Set(reflect.MakeSlice(to.Type(), value.Length(), value.Length()))
		for i := range to.Len() {
			if err := fromJS(value.Index(i), to.Index(i)); err != nil {
				return err
			}
		}
	case kind == reflect.String && is == js.TypeString:
		to.SetString(value.String())
	case kind == reflect.Bool && is == js.TypeBoolean:
		to.SetBool(value.Bool())
	case kind == reflect.Float64 && is == js.TypeNumber:
		to.SetFloat(value.Float())
	case kind == reflect.Int && isWhole(value):
		to.SetInt(int64(value.Float()))
	case kind == reflect.Uint64 && isWhole(value) && value.Float() >= 0:
		to.SetUint(uint64(value.Float()))
	default:
		return fmt.Errorf("%v is no %v", value, kind)
	}
	return nil
}

// isWhole reports whether a value is a whole number that JavaScript tells from its neighbours.
func isWhole(value js.Value) bool {
	return value.Type() == js.TypeNumber && value.Float() == math.Trunc(value.Float()) && math.Abs(value.Float()) < 1<<53
}

func fromObject(object js.Value, to reflect.Value) error {
	names := js.Global().Get("Object").Call("keys", object)
	for i := range names.Length() {
		name := names.Index(i).String()
		at := fieldOf(to.Type(), name)
		if at < 0 {
			return fmt.Errorf("unknown field %.100q", name)
		}
		if err := fromJS(object.Get(name), to.Field(at)); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// fieldOf returns which field of a struct has a name in JSON, or -1.
func fieldOf(t reflect.Type, name string) int {
	for i := range t.NumField() {
		if has, _ := tagOf(t.Field(i)); has == name {
			return i
		}
	}
	return -1
}

// tagOf returns the name of a field in JSON, and whether a zero is left out.
func tagOf(field reflect.StructField) (name string, omitZero bool) {
	name, option, _ := strings.Cut(field.Tag.Get("json"), ",")
	return name, option == "omitempty"
}

// toJS returns what js.ValueOf takes, of a value of an answer.
func toJS(value reflect.Value) any {
	switch value.Kind() {
	case reflect.Pointer, reflect.Interface:
		if value.IsNil() {
			return nil
		}
		return toJS(value.Elem())
	case reflect.Struct:
		object := map[string]any{}
		toObject(value, object)
		return object
	case reflect.Slice:
		if value.IsNil() {
			return nil
		}
		list := make([]any, value.Len())
		for i := range list {
			list[i] = toJS(value.Index(i))
		}
		return list
	case reflect.Map:
		object := map[string]any{}
		for _, key := range value.MapKeys() {
			object[key.String()] = toJS(value.MapIndex(key))
		}
		return object
	case reflect.String:
		return value.String()
	case reflect.Bool:
		return value.Bool()
	case reflect.Float64:
		return value.Float()
	case reflect.Int:
		return float64(value.Int())
	case reflect.Uint64:
		return float64(value.Uint())
	}
	panic(fmt.Sprint("answers hold no ", value.Kind()))
}

func toObject(value reflect.Value, object map[string]any) {
	for i := range value.NumField() {
		field := value.Type().Field(i)
		if field.Anonymous {
			toObject(value.Field(i), object)
		} else if name, omitZero := tagOf(field); name != "-" && !(omitZero && value.Field(i).IsZero()) {
			object[name] = toJS(value.Field(i))
		}
	}
}
