/** Front door: find devices, load a program, call it. */
@NullMarked
package io.github.iree4j;

import org.jspecify.annotations.NullMarked;
