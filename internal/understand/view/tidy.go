package view

import (
	"errors"
	"math"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"
)

// digits is how many significant digits a number keeps: more are no
// information, and take room.
const digits = 7

var errNaN = errors.New("a number of the result is not a number")

// tidy gives a deep copy that JSON can hold and that is small: numbers
// rounded, pointers to what is not a finite number nil, texts valid UTF-8 and not
// without end. Text is not escaped: it is data.
func tidy[T any](v T) (T, error) {
	in := reflect.ValueOf(&v).Elem()
	out, err := tidied(in)
	if err != nil {
		return v, err
	}
	return out.Interface().(T), nil
}

func tidied(v reflect.Value) (reflect.Value, error) {
	out := reflect.New(v.Type()).Elem()
	out.Set(v)
	switch v.Kind() {
	case reflect.String:
		out.SetString(clip(v.String(), maxText))
	case reflect.Float64:
		f := v.Float()
		if math.IsNaN(f) {
			return out, errNaN
		}
		out.SetFloat(round(f))
	case reflect.Pointer:
		if v.IsNil() {
			break
		}
		if f, ok := v.Interface().(*float64); ok && (math.IsNaN(*f) || math.IsInf(*f, 0)) {
			out.SetZero()
			break
		}
		elem, err := tidied(v.Elem())
		if err != nil {
			return out, err
		}
		out.Set(reflect.New(v.Type().Elem()))
		out.Elem().Set(elem)
	case reflect.Slice:
		if v.IsNil() {
			break
		}
		out.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
		for i := range v.Len() {
			elem, err := tidied(v.Index(i))
			if err != nil {
				return out, err
			}
			out.Index(i).Set(elem)
		}
	case reflect.Map:
		if v.IsNil() {
			break
		}
		out.Set(reflect.MakeMapWithSize(v.Type(), v.Len()))
		for it := v.MapRange(); it.Next(); {
			key, err := tidied(it.Key())
			if err != nil {
				return out, err
			}
			elem, err := tidied(it.Value())
			if err != nil {
				return out, err
			}
			out.SetMapIndex(key, elem)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if !v.Type().Field(i).IsExported() {
				continue // as a time's, which is copied whole
			}
			field, err := tidied(v.Field(i))
			if err != nil {
				return out, err
			}
			out.Field(i).Set(field)
		}
	}
	return out, nil
}

// round keeps the digits that count; what is beyond any number becomes the
// largest there is.
func round(f float64) float64 {
	if math.IsInf(f, 0) {
		return math.Copysign(math.MaxFloat64, f)
	}
	if f == math.Trunc(f) && math.Abs(f) < 1e7 {
		return f
	}
	r, err := strconv.ParseFloat(strconv.FormatFloat(f, 'g', digits, 64), 64)
	if err != nil { // rounded up beyond the largest
		return f
	}
	return r
}

// clip makes a text valid and bounds it, in bytes.
func clip(s string, most int) string {
	if len(s) > most {
		for most > 0 && !utf8.RuneStart(s[most]) {
			most--
		}
		s = s[:most] + "…"
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}
