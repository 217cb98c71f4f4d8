package server_test

import (
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"leveret/frame"
)

// A dialogue is a file in testdata. Each line is what a client sends (C) or what the server must answer (S); C2 and S2 are a second
// client, and so on. A client connects with its first line. Lines in a row of the same client are sent together.
//
//	C open                       opens the connection and channel 1; options: plain user=NAME frame-max=N channel-max=N heartbeat=N
//	C 1 queue.declare queue="q"  a frame in the form of frame.Dump
//	S 1 basic.ack delivery-tag=* a frame; * stands for anything, $name for a value that later lines may use
//	C 1 content "hello" type="t" the header and the body of a message, S the same
//	S 1 acked 3                  publisher confirms, one or several, up to that tag
//	C hex 41 4d 51 50            octets, S the same
//	C text "GET /"               octets as text
//	C wait 5s                    lets time pass
//	C hangup                     closes the socket
//	S end 3s                     the server closes the socket, after about that time if one is given
//
// A file that begins with the line "slow" plays on a clock of its own only, since real time would be too long. One that begins with
// "together" is not cut: what stands in a row is about frames that come before the answer to the first of them can have gone out.
type dialogue struct {
	file  string
	lines []string
	steps []step
	slow  bool
	whole bool // not to be cut
}

// step is one line.
type step struct {
	line   int // from 0
	server bool
	client int
	text   string
}

var stepPattern = regexp.MustCompile(`^([CS])(\d*) (.*)$`)

func readDialogues(t testing.TB) []*dialogue {
	files, err := filepath.Glob("testdata/*.amqp")
	if err != nil || len(files) == 0 {
		t.Fatalf("no dialogues: %v", err)
	}
	var list []*dialogue
	for _, file := range files {
		d, err := readDialogue(file)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		list = append(list, d)
	}
	return list
}

func readDialogue(file string) (*dialogue, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	d := &dialogue{file: file, lines: strings.Split(strings.TrimRight(string(text), "\n"), "\n")}
	for i, line := range d.lines {
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
			continue
		case line == "slow":
			d.slow = true
			continue
		case line == "together":
			d.whole = true
			continue
		}
		m := stepPattern.FindStringSubmatch(line)
		if m == nil {
			return nil, fmt.Errorf("line %d: C or S expected", i+1)
		}
		client, _ := strconv.Atoi(m[2])
		d.steps = append(d.steps, step{i, m[1] == "S", max(client, 1), m[3]})
	}
	return d, nil
}

// contentStep splits `1 content "hello" type="t"`; ok is false for any other text.
func contentStep(text string) (channel, body, properties string, ok bool) {
	channel, rest, found := strings.Cut(text, " content ")
	if !found {
		return "", "", "", false
	}
	literal, err := strconv.QuotedPrefix(rest)
	if err != nil {
		return "", "", "", false
	}
	body, _ = strconv.Unquote(literal)
	return channel, body, rest[len(literal):], true
}

// encode turns what a client sends into octets.
func encode(text string) ([]byte, error) {
	if digits, ok := strings.CutPrefix(text, "hex "); ok {
		return hex.DecodeString(strings.ReplaceAll(digits, " ", ""))
	}
	if literal, ok := strings.CutPrefix(text, "text "); ok {
		s, err := strconv.Unquote(literal)
		return []byte(s), err
	}
	if channel, body, properties, ok := contentStep(text); ok {
		out, err := encode(fmt.Sprintf("%s header class=60 body-size=%d%s", channel, len(body), properties))
		if err != nil || body == "" {
			return out, err
		}
		n, err := strconv.ParseUint(channel, 10, 16)
		return frame.AppendBody(out, uint16(n), []byte(body), 0), err
	}
	f, err := frame.ParseLine(text)
	return frame.Append(nil, f), err
}

// expectation turns an S line into the frames that must come, as patterns.
func expectation(text string) []string {
	channel, body, properties, ok := contentStep(text)
	if !ok {
		return []string{text}
	}
	list := []string{fmt.Sprintf("%s header class=60 body-size=%d%s", channel, len(body), properties)}
	if body != "" {
		list = append(list, fmt.Sprintf("%s body %q", channel, body))
	}
	return list
}

// names hold what $name stood for.
type names map[string]string

var namePattern = regexp.MustCompile(`\\?\$[a-z]+`)

// fill puts the values into what a client sends.
func (n names) fill(text string) string {
	return namePattern.ReplaceAllStringFunc(text, func(name string) string { return n[name[1:]] })
}

// match compares a frame's text with a pattern and keeps the values of new names.
func (n names) match(pattern, text string) bool {
	var fresh []string
	expression := strings.ReplaceAll(regexp.QuoteMeta(pattern), `\*`, `.*`)
	expression = namePattern.ReplaceAllStringFunc(expression, func(name string) string {
		name = strings.TrimLeft(name, `\$`)
		if value, known := n[name]; known {
			return regexp.QuoteMeta(value)
		}
		fresh = append(fresh, name)
		return `([^"]*)`
	})
	got := regexp.MustCompile("^(?s:" + expression + ")$").FindStringSubmatch(text)
	if got == nil {
		return false
	}
	for i, name := range fresh {
		n[name] = got[i+1]
	}
	return true
}

// parseOpening reads the options of `C open`.
func parseOpening(options string) (o opening, err error) {
	for word := range strings.FieldsSeq(options) {
		name, value, _ := strings.Cut(word, "=")
		n, numberErr := strconv.ParseUint(value, 10, 32)
		switch name {
		case "plain":
			o.plain, numberErr = true, nil
		case "user":
			o.user, numberErr = value, nil
		case "frame-max":
			o.frameMax = uint32(n)
		case "channel-max":
			o.channelMax = uint16(n)
		case "heartbeat":
			o.heartbeat = uint16(n)
		default:
			return o, fmt.Errorf("unknown option %q", name)
		}
		if numberErr != nil {
			return o, numberErr
		}
	}
	return o, nil
}
