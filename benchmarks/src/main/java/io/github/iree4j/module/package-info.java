/** Benchmarks of modules written in Java. */
@NullMarked
package io.github.iree4j.module;

import org.jspecify.annotations.NullMarked;
