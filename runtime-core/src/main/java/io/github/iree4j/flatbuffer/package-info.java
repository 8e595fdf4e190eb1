/**
 * Reading untrusted FlatBuffers, and writing FlatBuffers. The meaning of tables is left to the users of this package:
 * bytecode modules and executables.
 */
@NullMarked
package io.github.iree4j.flatbuffer;

import org.jspecify.annotations.NullMarked;
