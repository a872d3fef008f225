// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package policy

import "fmt"

// WithCurrent returns the policy of an earlier revision for VectorSidecars that still have that revision. The current
// policy must also allow the injected content, so a stricter policy applies at once to all VectorSidecars. A looser
// policy applies only with its revision.
func (p *Policy) WithCurrent(current *Policy, revision string) *Policy {
	if p.ExplicitDigest == current.ExplicitDigest {
		return current
	}
	combined := *p
	combined.Digest, combined.current, combined.revision = p.Digest+" of "+revision+" under "+current.Digest, current, revision
	return &combined
}

// CheckEach calls a check with each policy that must allow the injected content, the current policy first. It stops
// at the first policy that rejects the content.
func (p *Policy) CheckEach(check func(rules *Policy) error) error {
	if p.current == nil {
		return check(p)
	}
	if err := p.current.CheckEach(check); err != nil {
		return err
	}
	earlier := *p
	earlier.current = nil
	if err := check(&earlier); err != nil {
		return fmt.Errorf("%w\nrejected by the policy of revision %s, which this VectorSidecar has; the current policy allows it; run kubectl vectorsidecar rollout status", err, p.revision)
	}
	return nil
}
