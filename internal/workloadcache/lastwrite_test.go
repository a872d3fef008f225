// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workloadcache

import (
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// After a write, its result is used instead of the cached object, until the cache has a later version.
func TestLastWrite_ReplacesCacheUntilLaterVersion(t *testing.T) {
	object := func(uid, version string) metav1.Object {
		return &metav1.ObjectMeta{UID: types.UID(uid), ResourceVersion: version}
	}
	for name, test := range map[string]struct {
		read metav1.Object
		want bool
	}{
		"read before the write":   {object("a", "9"), true},
		"read of the write":       {object("a", "12"), true},
		"read of a later version": {object("a", "100"), false},
		"another object":          {object("b", "9"), false},
		"read without a version":  {object("a", ""), true},
		"another object, later":   {object("b", "100"), false},
	} {
		t.Run(name, func(t *testing.T) {
			var write LastWrite[string]
			_, ok := write.Get(test.read)
			require.False(t, ok, "without a write")
			value := "written"
			write.Set(object("a", "12"), &value)
			got, ok := write.Get(test.read)
			require.Equal(t, test.want, ok)
			if ok {
				require.Equal(t, "written", *got)
			} else {
				require.Nil(t, write.Value, "the value is not needed anymore")
			}
		})
	}
}
