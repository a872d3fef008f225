// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package gotemplate

// unavailableFunction explains why a function of Helm is not available in this package, and names an alternative.
type unavailableFunction struct {
	reason  string
	instead string
}

// unavailableFunctions returns the functions of Helm and sprig that are not available, by name. The result of these
// functions depends on more than the values, or they create or handle key material. A sidecar that differs
// between two renderings would restart its pods without need.
func unavailableFunctions() map[string]unavailableFunction {
	refused := map[string]unavailableFunction{}
	refuse := func(reason, instead string, names ...string) {
		for _, name := range names {
			refused[name] = unavailableFunction{reason: reason, instead: instead}
		}
	}
	const fixed = "write the value into the values file"
	refuse("reads the clock", fixed,
		"now", "ago", "date", "date_in_zone", "dateInZone", "htmlDate", "htmlDateInZone")
	refuse("handles dates, which come from the clock and the local time zone", fixed,
		"date_modify", "dateModify", "must_date_modify", "mustDateModify", "toDate", "mustToDate", "unixEpoch")
	refuse("returns random results", fixed,
		"randAlpha", "randAlphaNum", "randAscii", "randNumeric", "randBytes", "randInt", "shuffle", "uuidv4",
		"bcrypt", "htpasswd", "encryptAES")
	refuse("creates or handles key material", "keep keys in a Secret and name the Secret in the values",
		"genPrivateKey", "genCA", "genCAWithKey", "genSelfSignedCert", "genSelfSignedCertWithKey",
		"genSignedCert", "genSignedCertWithKey", "buildCustomCert", "derivePassword", "decryptAES")
	refuse("queries the network", fixed, "getHostByName")
	refuse("reads the environment of the process", fixed, "env", "expandenv")
	refuse("reads the cluster", "use .Values.target, which describes the workload", "lookup")
	refuse("depends on the operating system", "use base, dir, ext, clean or isAbs",
		"osBase", "osDir", "osExt", "osClean", "osIsAbs")
	refuse("calls a function value, and templates have no function values", "use include", "call")
	return refused
}
