package bloombeam

import (
	"reflect"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/util/reflectx"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
)

// Register registers the transforms for a Keyer with Beam. Call it in an init function, so that every worker
// process calls it.
//
// Use Register instead of the functions of Beam's package register. Those functions instantiate code for
// every list of parameters that a DoFn may have, and this code can take more than ten minutes to compile.
func Register[T any, K Keyer[T]](K) {
	registerMethod("AddInput", func(f *buildFn[T, K]) reflectx.Func { return call2[*accumulator, T, *accumulator]{f.AddInput} })
	registerMethod("ProcessElement", func(f *filterFn[T, K]) reflectx.Func {
		return call4[eventTime, T, filters, func(eventTime, T)]{f.ProcessElement}
	})
	registerMethod("ProcessElement", func(f *filterKVFn[T, K]) reflectx.Func {
		return call5[eventTime, T, beam.V, filters, func(eventTime, T, beam.V)]{f.ProcessElement}
	})
	registerMethod("ProcessElement", func(f *filterWindowsFn[T, K]) reflectx.Func {
		return call4[beam.Window, T, filters, func(T)]{f.ProcessElement}
	})
	registerMethod("ProcessElement", func(f *filterKVWindowsFn[T, K]) reflectx.Func {
		return call5[beam.Window, T, beam.V, filters, func(T, beam.V)]{f.ProcessElement}
	})
	register.Emitter1[T]()
	register.Emitter2[T, beam.V]()
	register.Emitter2[eventTime, T]()
	register.Emitter3[eventTime, T, beam.V]()
}

// registerMethod registers a type, whose values are saved as JSON, and how to call the method that
// is called for each element. Beam calls the others by reflection.
func registerMethod[F any](name string, method func(*F) reflectx.Func) {
	t := reflect.TypeFor[F]()
	beam.RegisterType(t)
	reflectx.RegisterStructWrapper(t, func(f any) map[string]reflectx.Func {
		return map[string]reflectx.Func{name: method(f.(*F))}
	})
}

// as returns the value of an argument, which is nil where the parameter is a nil interface.
func as[T any](argument any) (value T) {
	if argument != nil {
		value = argument.(T)
	}
	return value
}

// result returns an error as a result. A nil error is nil, and not an error that is nil.
func result(err error) any {
	if err != nil {
		return err
	}
	return nil
}

// call2, call4 and call5 are functions of two, four and five parameters, called without reflection.
type call2[A, B, R any] struct{ f func(A, B) (R, error) }

func (c call2[A, B, R]) Name() string       { return reflectx.FunctionName(c.f) }
func (c call2[A, B, R]) Type() reflect.Type { return reflect.TypeOf(c.f) }

func (c call2[A, B, R]) Call(a []any) []any {
	r, err := c.Call2x2(a[0], a[1])
	return []any{r, err}
}

func (c call2[A, B, R]) Call2x2(a, b any) (r, err any) {
	value, e := c.f(as[A](a), as[B](b))
	return value, result(e)
}

type call4[A, B, C, D any] struct{ f func(A, B, C, D) error }

func (c call4[A, B, C, D]) Name() string       { return reflectx.FunctionName(c.f) }
func (c call4[A, B, C, D]) Type() reflect.Type { return reflect.TypeOf(c.f) }

func (c call4[A, B, C, D]) Call(a []any) []any {
	return []any{c.Call4x1(a[0], a[1], a[2], a[3])}
}

func (c call4[A, B, C, D]) Call4x1(a, b, x, d any) any {
	return result(c.f(as[A](a), as[B](b), as[C](x), as[D](d)))
}

type call5[A, B, C, D, E any] struct{ f func(A, B, C, D, E) error }

func (c call5[A, B, C, D, E]) Name() string       { return reflectx.FunctionName(c.f) }
func (c call5[A, B, C, D, E]) Type() reflect.Type { return reflect.TypeOf(c.f) }

func (c call5[A, B, C, D, E]) Call(a []any) []any {
	return []any{c.Call5x1(a[0], a[1], a[2], a[3], a[4])}
}

func (c call5[A, B, C, D, E]) Call5x1(a, b, x, d, e any) any {
	return result(c.f(as[A](a), as[B](b), as[C](x), as[D](d), as[E](e)))
}
