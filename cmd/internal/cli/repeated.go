package cli

// oftenEnough is about how many files the same message is printed.
const oftenEnough = 3

// repeated counts messages of the same words about different files.
type repeated struct {
	files map[string]int
	words []string // in the order in which they came first
}

// SayOf prints a message about a file. If many files have a message of the same words, it prints the first
// three, and SayRest prints how many more files there are. Only one goroutine calls both.
func (s *Streams) SayOf(file, words string) {
	r := &s.repeated
	if r.files == nil {
		r.files = map[string]int{}
	}
	if r.files[words]++; r.files[words] == 1 {
		r.words = append(r.words, words)
	}
	if r.files[words] <= oftenEnough {
		s.Say("%s: %s", file, words)
	}
}

// SayRest prints how many more files have the messages that SayOf printed three times.
func (s *Streams) SayRest() {
	for _, words := range s.repeated.words {
		switch more := s.repeated.files[words] - oftenEnough; {
		case more == 1:
			s.Say("and 1 more file: %s", words)
		case more > 1:
			s.Say("and %d more files: %s", more, words)
		}
	}
	s.repeated = repeated{}
}

// ofFile is an error that names a file: an error of the same words of another file is the same error again.
type ofFile interface{ OfFile() (file, words string) }

// SayError prints an error, as SayOf does if it names a file.
func (s *Streams) SayError(err error) {
	if e, ok := err.(ofFile); ok {
		s.SayOf(e.OfFile())
		return
	}
	s.Say("%v", err)
}
