// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package corpus generates workloads of every kind, in which every field of a pod is present, absent or empty, and
// shared with a second owner in each way of writing. The same seed gives the same workloads. It uses no cluster and
// no code of the product; its tests use both.
package corpus

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// Way is the way in which an owner writes.
type Way string

// The ways of writing of common tools.
const (
	// Create is kubectl create, or another client that sends the whole object.
	Create Way = "create"
	// ClientSide is kubectl apply, which stores the applied manifest in an annotation.
	ClientSide Way = "client-side apply"
	// ServerSide is kubectl apply --server-side. If it is rejected for a conflict, the owner continues with Forced,
	// as the error suggests.
	ServerSide Way = "server-side apply"
	// Forced is the same with --force-conflicts.
	Forced Way = "forced apply"
	// Edit is kubectl edit: a patch of the difference.
	Edit Way = "edit"
)

// Manager returns the field manager of a way.
func (w Way) Manager() string {
	switch w {
	case Create:
		return "kubectl-create"
	case ClientSide:
		return "kubectl-client-side-apply"
	case Edit:
		return "kubectl-edit"
	}
	return "kubectl"
}

// Other is the field manager of a second owner.
const Other = "platform-team"

// Write is one write of an owner.
type Write struct {
	Way     Way
	Manager string
	// Object is the part of the workload that the owner writes, in the form of a Deployment and without its name.
	Object map[string]any
}

// Workload is a workload as a list of writes. The first one creates it.
type Workload struct {
	Kind *Kind
	// About describes the workload in one line.
	About  string
	Writes []Write
}

// part is a value of a field, and how its owners write it.
type part struct {
	variant
	// second is how the second owner writes the field; "" if it does not.
	second Way
	// alone reports that the first owner does not write the field.
	alone bool
	// value is the second owner's value.
	value any
}

func (p *part) String() string {
	text := p.variant.String()
	switch {
	case p.second == "":
		return text
	case p.alone:
		return text + " only by " + string(p.second)
	}
	return fmt.Sprintf("%s and %s by %s", text, short(p.value), p.second)
}

// build returns a workload with the fields that an owner writes in a way.
func build(kind *Kind, way Way, base map[string]any, parts ...part) Workload {
	first := Write{way, way.Manager(), base}
	others := map[Way]map[string]any{}
	var about []string
	for i := range parts {
		p := &parts[i]
		about = append(about, p.String())
		first.Object = merged(first.Object, p.needs())
		if !p.alone {
			first.Object = merged(first.Object, p.tree(p.variant.value))
		}
		if p.second != "" {
			if others[p.second] == nil {
				others[p.second] = empty()
			}
			others[p.second] = merged(others[p.second], p.tree(p.value))
		}
	}
	workload := Workload{Kind: kind, About: kind.Name + " by " + string(way) + ": " + strings.Join(about, ", "), Writes: []Write{first}}
	for _, second := range []Way{ServerSide, Forced, Edit} {
		if object, ok := others[second]; ok {
			manager := Other
			if second == Edit {
				manager = second.Manager()
			}
			workload.Writes = append(workload.Writes, Write{second, manager, object})
		}
	}
	return workload
}

// Redeployed returns the first owner's write for the next version of the application: the same fields, and an
// additional item in each list that sidecars use.
func (w *Workload) Redeployed() Write {
	next := w.Writes[0]
	next.Object = merged(next.Object, template("metadata", map[string]any{"annotations": map[string]any{"shop.example.com/next": "2"}}))
	next.Object = merged(next.Object, pod(map[string]any{
		"initContainers": []any{map[string]any{"name": "next", "image": "registry.example/next:2"}},
		"containers": []any{map[string]any{
			"name": "app", "env": []any{map[string]any{"name": "NEXT", "value": "2"}},
			"volumeMounts": []any{map[string]any{"name": "next", "mountPath": "/next"}},
		}},
		"volumes": []any{map[string]any{"name": "next", "emptyDir": map[string]any{}}},
	}))
	return next
}

// Singles returns workloads that differ from the base in one field each: every value of every field, null and
// empty, for every way of writing, alone and shared.
func Singles(kind *Kind, base map[string]any) ([]Workload, error) {
	fields, err := kind.Fields()
	if err != nil {
		return nil, err
	}
	base = kind.Base(base)
	var all []Workload
	for _, way := range firsts {
		all = append(all, build(kind, way, base))
	}
	for _, field := range fields {
		for i, one := range field.variants(base) {
			for _, way := range firsts {
				all = append(all, build(kind, way, base, part{variant: one}))
			}
			if field.Unshared {
				continue
			}
			other := field.other(i)
			for j, shared := range []part{
				{variant: one, second: Edit, alone: true, value: one.value},
				{variant: one, second: Edit, value: other},
				{variant: one, second: ServerSide, alone: true, value: one.value},
				{variant: one, second: ServerSide, value: one.value},
				{variant: one, second: Forced, value: other},
			} {
				if kind.takes(shared.second) {
					all = append(all, build(kind, firsts[(i+j)%len(firsts)], base, shared))
				}
			}
		}
	}
	return all, nil
}

var firsts = []Way{Create, ClientSide, ServerSide}

// Random returns a number of workloads that differ from the base in two to ten fields each.
func Random(kind *Kind, seed uint64, number int, base map[string]any) ([]Workload, error) {
	fields, err := kind.Fields()
	if err != nil {
		return nil, err
	}
	base = kind.Base(base)
	random := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // the same seed is to give the same
	var all []Workload
	for range number {
		var parts []part
		var taken []*Field
		wanted := 2 + random.IntN(9)
		for _, at := range random.Perm(len(fields)) {
			field := fields[at]
			if len(parts) == wanted {
				break
			}
			if field.excludes(taken) {
				continue
			}
			taken = append(taken, field)
			drawn := field.draw(random, base)
			if !kind.takes(drawn.second) {
				drawn = part{variant: drawn.variant}
			}
			parts = append(parts, drawn)
		}
		all = append(all, build(kind, firsts[random.IntN(len(firsts))], base, parts...))
	}
	return all, nil
}

// draw picks a variant of the field and its owners.
func (f *Field) draw(random *rand.Rand, base map[string]any) part {
	variants := f.variants(base)
	at := random.IntN(len(variants))
	one := part{variant: variants[at], value: variants[at].value}
	if f.Unshared {
		return one
	}
	switch random.IntN(8) {
	case 0:
		one.second, one.alone = Edit, true
	case 1:
		one.second, one.value = Edit, f.other(at)
	case 2:
		one.second, one.alone = ServerSide, true
	case 3:
		one.second = ServerSide
	case 4:
		one.second, one.value = Forced, f.other(at)
	}
	return one
}
