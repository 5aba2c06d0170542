package main

import "github.com/lanebloom/bloom/asm/arm64"

// neon emits the kernels of arm64.
func neon() *arm64.File {
	file := arm64.NewFile("!purego")
	tables := newNEONTables(file)
	for _, family := range families {
		for _, form := range family.forms {
			if form.neon != nil {
				form.neon(file.Function(family.name+form.name+"NEON", arm64.Splits, family.avoSignature()), tables)
			}
		}
	}
	return file
}

// neonVector is the number of keys that a kernel hashes at a time: two vectors of 4
// words.
const neonVector = 8

// broadcast returns a vector with the low 32 bits of a register in each word.
func broadcast(f *arm64.Function, r arm64.GP) arm64.V {
	v := f.V()
	f.VDUP(r, arm64.S4, v)
	return v
}

// broadcastConstant returns a vector with x in each word.
func broadcastConstant(f *arm64.Function, x uint32) arm64.V {
	r := f.GP()
	f.MOVD(arm64.Imm(x), r)
	return broadcast(f, r)
}

// neonConstant returns a vector of data.
func neonConstant(f *arm64.Function, s arm64.Symbol) arm64.V {
	address, v := f.GP(), f.V()
	f.Address(s, address)
	f.FMOVQ(address.At(0), v)
	return v
}

// neonArray emits the loads of where the array of the argument s begins, and of the number of its units. neonField returns
// where another field of s is, and neonWindow emits the loads of where some words of the argument h begin, and of their number.

func neonArray(f *arm64.Function) (base, n arm64.GP) {
	base, n = f.Argument("s"), f.GP()
	f.LDP(base.At(bloom.offset("prober.Array.Base")), base, n)
	return base, n
}

func neonField(f *arm64.Function, name string) arm64.Mem {
	return f.Argument("s").At(bloom.offset("prober." + name))
}

func neonWindow(f *arm64.Function, words string) (start, n arm64.GP) {
	start, n = f.Argument("h"), f.GP()
	f.LDP(start.At(bloom.offset("hashes."+words)), start, n)
	return start, n
}

// neonBranch emits a comparison of n with m, and a branch that depends on it. neonCount subtracts m from n.

func neonBranch(f *arm64.Function, m arm64.Source, n arm64.GP, branch func(label string), label string) {
	f.CMP(m, n)
	branch(label)
}

func neonCount(f *arm64.Function, m arm64.Source, n arm64.GP, branch func(label string), label string) {
	f.SUBS(m, n, n)
	branch(label)
}

// fillVectors fills slices with new registers.
func fillVectors(f *arm64.Function, slices ...[]arm64.V) {
	for _, vectors := range slices {
		for i := range vectors {
			vectors[i] = f.V()
		}
	}
}

// setLong emits code that sets a lane of long words. Set lane 0 first: it does not wait for the old contents of the vector.
func setLong(f *arm64.Function, from arm64.GP, to arm64.V, i int) {
	if i == 0 {
		f.FMOVD(from, to)
	} else {
		f.ToLane(from, 'D', i, to)
	}
}
