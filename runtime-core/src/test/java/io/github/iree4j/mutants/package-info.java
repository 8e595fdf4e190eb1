/** Mistakes that tests must find: see {@link io.github.iree4j.mutants.Mutate}. */
@NullMarked
package io.github.iree4j.mutants;

import org.jspecify.annotations.NullMarked;
