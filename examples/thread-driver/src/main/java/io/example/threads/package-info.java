/**
 * A driver that is complete and has no hardware: threads are its streams, memory of the process is its memory, functions in Java are its
 * code. Written against what iree4j exports, as an example of a driver in a project of its own.
 */
@NullMarked
package io.example.threads;

import org.jspecify.annotations.NullMarked;
