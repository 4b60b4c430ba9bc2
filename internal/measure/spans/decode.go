package spans

import (
	"errors"
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"

	"plimsoll/internal/record"
)

// The fields of OTLP that are read (opentelemetry-proto, trace/v1 and collector/trace/v1).
// Their numbers never change; all others are passed over.
const (
	requestResourceSpans = 1
	resourceSpansOf      = 1 // the resource
	resourceSpansScopes  = 2
	resourceAttributes   = 1
	scopeSpans           = 2
	attributeKey         = 1
	attributeValue       = 2
	valueText            = 1
	spanTrace            = 1
	spanID               = 2
	spanParent           = 4
	spanName             = 5
	spanBegin            = 7
	spanEnd              = 8
	spanStatus           = 15
	statusCode           = 3
	statusIsError        = 2

	serviceName = "service.name"
)

// longest is how much of a name is kept, in bytes.
const longest = 200

// field is one of a message: bytes, or a number.
type field struct {
	number protowire.Number
	bytes  []byte
	value  uint64
}

// fields calls f for each field of a message. One of another kind than is expected has no
// bytes, or no value.
func fields(message []byte, f func(field) error) error {
	for len(message) > 0 {
		number, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			return protowire.ParseError(n)
		}
		message = message[n:]
		x := field{number: number}
		switch kind {
		case protowire.BytesType:
			x.bytes, n = protowire.ConsumeBytes(message)
		case protowire.Fixed64Type:
			x.value, n = protowire.ConsumeFixed64(message)
		case protowire.VarintType:
			x.value, n = protowire.ConsumeVarint(message)
		default:
			n = protowire.ConsumeFieldValue(number, kind, message)
		}
		if n < 0 {
			return protowire.ParseError(n)
		}
		if err := f(x); err != nil {
			return err
		}
		message = message[n:]
	}
	return nil
}

// decode reads a request, and calls f for each of its spans, whose times are as they came.
func decode(request []byte, f func(record.TraceSpan)) error {
	return fields(request, func(x field) error {
		if x.number != requestResourceSpans {
			return nil
		}
		return ofResource(x.bytes, f)
	})
}

// ofResource reads the spans of one service. It says its name in one field and has its
// spans in others, in any order.
func ofResource(message []byte, f func(record.TraceSpan)) error {
	service := ""
	err := fields(message, func(x field) error {
		if x.number != resourceSpansOf {
			return nil
		}
		return fields(x.bytes, func(x field) error {
			if x.number != resourceAttributes {
				return nil
			}
			key, value, err := attribute(x.bytes)
			if key == serviceName {
				service = value
			}
			return err
		})
	})
	if err != nil {
		return err
	}
	return fields(message, func(x field) error {
		if x.number != resourceSpansScopes {
			return nil
		}
		return fields(x.bytes, func(x field) error {
			if x.number != scopeSpans {
				return nil
			}
			s, err := span(x.bytes)
			if s.Service = service; err == nil {
				f(s)
			}
			return err
		})
	})
}

func attribute(message []byte) (key, value string, err error) {
	err = fields(message, func(x field) error {
		switch x.number {
		case attributeKey:
			key = text(x.bytes)
		case attributeValue:
			return fields(x.bytes, func(x field) error {
				if x.number == valueText {
					value = text(x.bytes)
				}
				return nil
			})
		}
		return nil
	})
	return key, value, err
}

func span(message []byte) (record.TraceSpan, error) {
	var s record.TraceSpan
	var begin, end uint64
	err := fields(message, func(x field) error {
		switch x.number {
		case spanTrace:
			return id(s.Trace[:], x.bytes)
		case spanID:
			return id(s.ID[:], x.bytes)
		case spanParent:
			if len(x.bytes) > 0 {
				return id(s.Parent[:], x.bytes)
			}
		case spanName:
			s.Name = text(x.bytes)
		case spanBegin:
			begin = x.value
		case spanEnd:
			end = x.value
		case spanStatus:
			return fields(x.bytes, func(x field) error {
				if x.number == statusCode {
					s.Failed = x.value == statusIsError
				}
				return nil
			})
		}
		return nil
	})
	switch {
	case err != nil:
		return s, err
	case s.ID == [8]byte{} || s.Trace == [16]byte{}:
		return s, errors.New("a span without an identity")
	case begin == 0 || begin > end || end > 1<<62:
		return s, fmt.Errorf("a span from %d to %d ns", begin, end)
	}
	s.From, s.To = int64(begin), int64(end)
	return s, nil
}

func id(to, from []byte) error {
	if len(from) != len(to) {
		return fmt.Errorf("an identity of %d bytes: expected %d", len(from), len(to))
	}
	copy(to, from)
	return nil
}

func text(b []byte) string { return string(b[:min(len(b), longest)]) }
