/** Benchmarks of the virtual machine. */
@NullMarked
package io.github.iree4j.vm;

import org.jspecify.annotations.NullMarked;
