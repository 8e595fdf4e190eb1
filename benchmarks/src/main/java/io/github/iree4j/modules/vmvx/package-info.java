/** Benchmarks of the microkernels of portable executables. */
@NullMarked
package io.github.iree4j.modules.vmvx;

import org.jspecify.annotations.NullMarked;
