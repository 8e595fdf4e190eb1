/**
 * A complete driver without hardware: its streams are threads, its memory is that of the process, and its code is Java functions.
 * Written against the exported packages of iree4j only, as an example of a driver in a separate project.
 */
@NullMarked
package io.example.threads;

import org.jspecify.annotations.NullMarked;
