// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import "kontroloop.ai/vector-sidecar-operator/internal/tree"

// PredecessorFile is the file of a chart with what its values said in releases that noted
// nothing in workloads of what they were asked for, where they say otherwise now:
// values for all environments, and environments by name. A chart need not have it.
const PredecessorFile = "templates/_predecessor.yaml"

// predecessor is what that file has.
type predecessor struct {
	values       *Layer
	environments map[string]*Layer
	// isUsed has it count.
	isUsed bool
}

func (s *Set) readPredecessor(text []byte) (predecessor, error) {
	found := predecessor{environments: map[string]*Layer{}}
	whole, err := ParseLayer(PredecessorFile, text)
	if err != nil {
		return found, err
	}
	part := func(path ...string) (*Layer, error) {
		layer := &Layer{Name: PredecessorFile, Tree: tree.At(whole.Tree, path...), lines: whole.lines.find(path...)}
		return layer, s.schema.Check(layer)
	}
	if found.values, err = part("values"); err != nil {
		return found, err
	}
	for name := range tree.At(whole.Tree, "environments") {
		if found.environments[name], err = part("environments", name); err != nil {
			return found, err
		}
	}
	return found, nil
}

// of are the layers of an environment, which come between those of values.yaml and of
// the environment's own file.
func (p *predecessor) of(environment string) []Layer {
	if !p.isUsed {
		return nil
	}
	layers := []Layer{*p.values}
	if own := p.environments[environment]; own != nil {
		layers = append(layers, *own)
	}
	return layers
}

// Predecessor returns the Set with the values that the chart had in releases which noted
// nothing in workloads. What is given beside those stays.
func (s *Set) Predecessor() *Set {
	all := *s
	all.predecessor.isUsed = true
	return &all
}
