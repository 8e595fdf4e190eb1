/** Mistakes due to be found by tests: see {@link io.github.iree4j.mutants.Mutate}. */
@NullMarked
package io.github.iree4j.mutants;

import org.jspecify.annotations.NullMarked;
