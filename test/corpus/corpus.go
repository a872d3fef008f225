// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package corpus generates workloads of every kind, in which every field of a pod is
// present, absent and empty, and shared with another owner in every way that owners
// have to write. The same seed gives the same workloads. It knows no cluster and
// nothing of the product; its tests put both to the workloads.
package corpus

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// Way is how an owner writes.
type Way string

// The ways of the tools that owners have.
const (
	// Create is kubectl create, or any other client that sends the whole object.
	Create Way = "create"
	// ClientSide is kubectl apply, which keeps what it applied in an annotation.
	ClientSide Way = "client-side apply"
	// ServerSide is kubectl apply --server-side. Who is refused for a conflict with a
	// default, say, goes on with Forced, as the refusal advises.
	ServerSide Way = "server-side apply"
	// Forced is the same with --force-conflicts.
	Forced Way = "forced apply"
	// Edit is kubectl edit: a patch of the difference.
	Edit Way = "edit"
)

// Manager is the field manager that writes in a way.
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

// Other is the field manager of an owner that applies beside the first one.
const Other = "platform-team"

// Write is what one owner writes.
type Write struct {
	Way     Way
	Manager string
	// Object is the workload as far as the owner writes it, in the form of a Deployment
	// and without its name.
	Object map[string]any
}

// Workload is a workload, as the writes by which it comes to be. The first one makes it.
type Workload struct {
	Kind *Kind
	// About says what is particular of it, in a line.
	About  string
	Writes []Write
}

// part is a value of a field, and who writes it how.
type part struct {
	variant
	// second is how another owner writes the field; "" for nobody.
	second Way
	// alone says that the first owner does not.
	alone bool
	// value is what the second one writes.
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

// build makes a workload of what an owner writes in a way.
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

// Redeployed is what the first owner writes with the next version of the application:
// the same, with one more of what sidecars bring as well.
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

// Singles are workloads that have one field each that is not the base's: every value
// of every field, null and empty, by every way of writing, alone and shared.
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

// Random returns a number of workloads with two to ten fields each that are not the
// base's.
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

// draw picks a variant of the field and who writes it.
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
