// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package policy

import "fmt"

// Under returns the policy of an earlier revision for VectorSidecars that still have that revision.
// The present policy must also allow the injected content, so a stricter policy applies at once to
// all VectorSidecars. A looser policy applies only with its revision.
func (p *Policy) Under(present *Policy, revision string) *Policy {
	if p.Given == present.Given {
		return present
	}
	both := *p
	both.Digest, both.present, both.revision = p.Digest+" of "+revision+" under "+present.Digest, present, revision
	return &both
}

// Each calls a check with each policy that must allow the injected content, the present policy
// first. It stops at the first policy that rejects it.
func (p *Policy) Each(check func(rules *Policy) error) error {
	if p.present == nil {
		return check(p)
	}
	if err := p.present.Each(check); err != nil {
		return err
	}
	earlier := *p
	earlier.present = nil
	if err := check(&earlier); err != nil {
		return fmt.Errorf("%w\nrejected by the policy of revision %s, which this VectorSidecar has; the current policy allows it; run kubectl vectorsidecar rollout status", err, p.revision)
	}
	return nil
}
