/**
 * FlatBuffers: reading those that nobody has checked, and writing. What tables mean is known to those who use them: modules of bytecode
 * and executables.
 */
@NullMarked
package io.github.iree4j.flatbuffer;

import org.jspecify.annotations.NullMarked;
