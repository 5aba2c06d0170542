package records

import (
	"bytes"
	"errors"
	"regexp"
	"regexp/syntax"
	"slices"
	"unicode/utf8"
)

// Matcher finds keys inside of a text: what group 1 of an expression matches, or all of it if there is no group.
type Matcher struct {
	Expression *regexp.Regexp
	group      int
	sequence   *sequence // finds the same without package regexp; nil if the expression is no such one
}

// UnmarshalText reads an expression.
func (m *Matcher) UnmarshalText(text []byte) (err error) {
	if len(text) == 0 {
		return errors.New("the expression is empty")
	}
	if m.Expression, err = regexp.Compile(string(text)); err != nil {
		return err
	}
	m.group = min(1, m.Expression.NumSubexp())
	m.sequence = sequenceOf(string(text), m.group)
	return nil
}

// AppendKeys appends the keys in a text, from left to right.
func (m *Matcher) AppendKeys(keys [][]byte, text []byte) [][]byte {
	if m.sequence != nil {
		if all, ok := m.sequence.appendKeys(keys, text); ok {
			return all
		}
	}
	for _, match := range m.Expression.FindAllSubmatchIndex(text, -1) {
		if from, end := match[2*m.group], match[2*m.group+1]; from >= 0 {
			keys = append(keys, text[from:end:end])
		}
	}
	return keys
}

// sequence is an expression whose parts are characters and repeated classes of characters, such as /u/([0-9a-f-]+).
// No part can begin with a byte of a repeated part before it, so that a match is found without going back: package
// regexp takes twenty times as long.
type sequence struct {
	parts    []part
	from, to int    // the parts of the group
	literal  []byte // the first parts, which are single bytes
}

// part is a byte of a set, repeated.
type part struct {
	set         [256]bool
	least, most int // most is -1 if there is no limit
}

// sequenceOf returns the sequence of an expression, or nil.
func sequenceOf(expression string, group int) *sequence {
	tree, err := syntax.Parse(expression, syntax.Perl)
	if err != nil {
		return nil
	}
	s := &sequence{from: -1}
	if !s.add(tree, group) {
		return nil
	}
	if group == 0 {
		s.from, s.to = 0, len(s.parts)
	}
	for i := range s.parts {
		if !s.isCertain(i) {
			return nil
		}
	}
	s.findLiteral()
	if len(s.literal) == 0 {
		return nil
	}
	return s
}

// add adds the parts of a tree. It returns false if the tree has others.
func (s *sequence) add(tree *syntax.Regexp, group int) bool {
	switch tree.Op {
	case syntax.OpConcat:
		return !slices.ContainsFunc(tree.Sub, func(sub *syntax.Regexp) bool { return !s.add(sub, group) })
	case syntax.OpCapture:
		from := len(s.parts)
		if !s.add(tree.Sub[0], group) {
			return false
		}
		if tree.Cap == group {
			s.from, s.to = from, len(s.parts)
		}
		return true
	case syntax.OpLiteral:
		return s.addLiteral(tree)
	case syntax.OpStar, syntax.OpPlus, syntax.OpQuest, syntax.OpRepeat:
		return tree.Flags&syntax.NonGreedy == 0 && s.addRepeated(tree)
	}
	return s.addSet(tree, 1, 1)
}

func (s *sequence) addLiteral(tree *syntax.Regexp) bool {
	if tree.Flags&syntax.FoldCase != 0 || slices.Contains(tree.Rune, utf8.RuneError) { // U+FFFD matches bytes that are no UTF-8
		return false
	}
	for _, b := range []byte(string(tree.Rune)) {
		p := part{least: 1, most: 1}
		p.set[b] = true
		s.parts = append(s.parts, p)
	}
	return true
}

func (s *sequence) addRepeated(tree *syntax.Regexp) bool {
	least, most := 0, -1
	switch tree.Op {
	case syntax.OpPlus:
		least = 1
	case syntax.OpQuest:
		most = 1
	case syntax.OpRepeat:
		least, most = tree.Min, tree.Max
	}
	return s.addSet(tree.Sub[0], least, most)
}

// addSet adds a class of characters. One that has characters of several bytes must have all of them, and be
// repeated without a limit: then bytes can be taken for characters.
func (s *sequence) addSet(tree *syntax.Regexp, least, most int) bool {
	p := part{least: least, most: most}
	runes := tree.Rune
	switch {
	case tree.Op == syntax.OpAnyChar:
		runes = []rune{0, utf8.MaxRune}
	case tree.Op == syntax.OpAnyCharNotNL:
		runes = []rune{0, '\n' - 1, '\n' + 1, utf8.MaxRune}
	case tree.Op == syntax.OpLiteral && len(runes) == 1 && tree.Flags&syntax.FoldCase == 0:
		runes = []rune{runes[0], runes[0]}
	case tree.Op != syntax.OpCharClass:
		return false
	}
	others := 0 // characters of several bytes
	for i := 0; i < len(runes); i += 2 {
		for r := runes[i]; r <= min(runes[i+1], utf8.RuneSelf-1); r++ {
			p.set[r] = true
		}
		others += max(0, int(runes[i+1])+1-max(utf8.RuneSelf, int(runes[i])))
	}
	if others > 0 {
		if others != utf8.MaxRune+1-utf8.RuneSelf || least > 1 || most >= 0 {
			return false
		}
		for b := utf8.RuneSelf; b < len(p.set); b++ {
			p.set[b] = true
		}
	}
	s.parts = append(s.parts, p)
	return true
}

// isCertain reports whether a part ends where no byte of its set follows, however the match goes on.
func (s *sequence) isCertain(i int) bool {
	p := &s.parts[i]
	if p.least == p.most {
		return true
	}
	for _, next := range s.parts[i+1:] {
		for b, in := range p.set {
			if in && next.set[b] {
				return false
			}
		}
		if next.least > 0 {
			break
		}
	}
	return true
}

// findLiteral finds the single bytes that every match begins with.
func (s *sequence) findLiteral() {
	for _, p := range s.parts {
		b := slices.Index(p.set[:], true)
		if p.least != 1 || p.most != 1 || b < 0 || slices.Contains(p.set[b+1:], true) {
			break
		}
		s.literal = append(s.literal, byte(b))
	}
}

// appendKeys appends the keys in a text. It gives up where parts of the text would be read many times.
func (s *sequence) appendKeys(keys [][]byte, text []byte) (all [][]byte, ok bool) {
	left := 4*len(text) + 64 // bytes to read in vain
	for pos := 0; ; {
		i := bytes.Index(text[pos:], s.literal)
		if i < 0 {
			return keys, true
		}
		pos += i
		from, to, end, matches := s.match(text, pos)
		if matches {
			keys = append(keys, text[from:to:to])
			pos = end
			continue
		}
		if left -= end - pos; left < 0 {
			return nil, false
		}
		pos++
	}
}

// match matches a text from a place on where the literal is. It returns the place of the group, and where the match
// ends, or the reading if there is none.
func (s *sequence) match(text []byte, pos int) (from, to, end int, matches bool) {
	from, to, end = pos+s.from, pos+s.to, pos+len(s.literal)
	for i := len(s.literal); i < len(s.parts); i++ {
		p := &s.parts[i]
		if i == s.from {
			from = end
		}
		if i == s.to {
			to = end
		}
		rest := text[end:]
		if p.most >= 0 && p.most < len(rest) {
			rest = rest[:p.most]
		}
		n := 0
		for n < len(rest) && p.set[rest[n]] {
			n++
		}
		if end += n; n < p.least {
			return 0, 0, end, false
		}
	}
	if s.from == len(s.parts) {
		from = end
	}
	if s.to == len(s.parts) {
		to = end
	}
	return from, to, end, true
}
