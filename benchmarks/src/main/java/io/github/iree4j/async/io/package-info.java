/** Benchmarks of files. */
@NullMarked
package io.github.iree4j.async.io;

import org.jspecify.annotations.NullMarked;
