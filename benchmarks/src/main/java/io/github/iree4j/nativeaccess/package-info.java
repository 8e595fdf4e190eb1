/** Benchmarks of calls into native code. */
@NullMarked
package io.github.iree4j.nativeaccess;

import org.jspecify.annotations.NullMarked;
